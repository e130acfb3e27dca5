//! Every id and name of the system. Those that tell who a person is print as `…` when debugged.

use std::fmt;

use serde::{Deserialize, Serialize};
use ulid::Ulid;

/// Why a text is not an id of this kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} {problem}")]
pub struct IdError {
    /// The kind of id that was asked for.
    pub what: &'static str,
    /// What is wrong and what would be right; never the text itself.
    pub problem: &'static str,
}

/// Declares a text newtype. `personal` ones redact their `Debug`, so no log or panic can show them.
macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident, $what:literal, $check:expr, $problem:literal, personal) => {
        text_id!(@base $(#[$doc])* $name, $what, $check, $problem);
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(concat!(stringify!($name), "(…)"))
            }
        }
    };
    ($(#[$doc:meta])* $name:ident, $what:literal, $check:expr, $problem:literal) => {
        text_id!(@base $(#[$doc])* $name, $what, $check, $problem);
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }
    };
    (@base $(#[$doc:meta])* $name:ident, $what:literal, $check:expr, $problem:literal) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            #[doc = concat!("Reads ", $what, "; an error says what a right one looks like.")]
            pub fn parse(text: impl Into<String>) -> Result<Self, IdError> {
                let text = text.into();
                let check: fn(&str) -> bool = $check;
                if check(&text) {
                    Ok(Self(text))
                } else {
                    Err(IdError { what: $what, problem: $problem })
                }
            }

            /// The text itself.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = IdError;
            fn try_from(text: String) -> Result<Self, IdError> {
                Self::parse(text)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

/// `#` separates the parts of a table key, so no part may hold one.
fn is_key_part(text: &str, length_max: usize) -> bool {
    !text.is_empty() && text.len() <= length_max && !text.contains(['#', '\0'])
}

text_id!(
    /// A persona of this installation, for instance `recepcao`.
    AgentId,
    "an agent id",
    |text| is_key_part(text, 40)
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'),
    "must be 1 to 40 of a-z, 0-9 and -"
);

text_id!(
    /// The business's own number as the provider names it (Meta: `phone_number_id`).
    BusinessNumber,
    "a business number id",
    |text| is_key_part(text, 128),
    "must be 1 to 128 bytes without #"
);

text_id!(
    /// What kind of message it was, in the provider's word (`image`, `sticker`, ...).
    Kind,
    "a message kind",
    |text| is_key_part(text, 40)
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')),
    "must be 1 to 40 letters, digits, _ or -"
);

text_id!(
    /// A person within one agent, for ONE life: after a `forget` the next life gets a suffix (`~2`).
    ContactId,
    "a contact id",
    |text| is_key_part(text, 160),
    "must be 1 to 160 bytes without #",
    personal
);

impl ContactId {
    /// The alias that the id was made of when the life began; it may be somebody else's by now. Nothing where it is of
    /// another make.
    pub fn named_after(&self) -> Option<Alias> {
        let is_count = |count: &str| count.bytes().all(|b| b.is_ascii_digit());
        let base = match self.0.rsplit_once('~') {
            Some((base, count)) if is_count(count) => base,
            _ => &self.0,
        };
        Alias::parse(base).ok()
    }
}

text_id!(
    /// A phone as digits without `+`, exactly as the provider gave it.
    Phone,
    "a phone",
    |text| (5..=20).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit()),
    "must be 5 to 20 digits, country code first",
    personal
);

text_id!(
    /// A business-scoped user id: two letters of the country, a dot, an opaque rest that keeps its case.
    Bsuid,
    "a BSUID",
    is_bsuid,
    "must look like BR.1502576394655843 (or BR.ENT.…)",
    personal
);

text_id!(
    /// The provider's own id of a message: at most 512 bytes.
    MessageId,
    "a message id",
    |text| !text.is_empty() && text.len() <= 512 && !text.contains('\0'),
    "must be 1 to 512 bytes",
    personal
);

text_id!(
    /// A tool's name, as every provider takes it.
    ToolName,
    "a tool's name",
    |text| (1..=64).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')),
    "must be 1 to 64 letters, digits, _ or -"
);

text_id!(
    /// The provider's own id of a call: ties its result to it.
    CallId,
    "a call id",
    |text| (1..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic()),
    "must be 1 to 64 visible ASCII characters"
);

text_id!(
    /// An entry of a person's agenda: the idempotency key of the call that made it.
    EntryId,
    "an entry's id",
    |text| (1..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric()),
    "must be 1 to 64 letters or digits"
);

fn is_bsuid(text: &str) -> bool {
    let Some((country, rest)) = text.split_once('.') else {
        return false;
    };
    let rest = rest.strip_prefix("ENT.").unwrap_or(rest);
    country.len() == 2
        && country.bytes().all(|b| b.is_ascii_uppercase())
        && (1..=128).contains(&rest.len())
        && rest.bytes().all(|b| b.is_ascii_alphanumeric())
}

/// One of the ids a person is known by: what memory is found with. Phones are in canonical form.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Alias {
    /// A phone in canonical form (see `policy::identity::canonical`).
    Phone(Phone),
    /// A business-scoped user id.
    Bsuid(Bsuid),
}

impl Alias {
    /// The alias as a part of a table key. Digits and BSUIDs cannot be taken for each other.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Phone(phone) => phone.as_str(),
            Self::Bsuid(bsuid) => bsuid.as_str(),
        }
    }

    /// Reads back what [`Alias::as_str`] gave.
    pub fn parse(text: &str) -> Result<Self, IdError> {
        Phone::parse(text)
            .map(Self::Phone)
            .or_else(|_| Bsuid::parse(text).map(Self::Bsuid))
    }
}

/// Where an answer goes: exactly the id that wrote, never its canonical form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Address {
    /// A phone as the provider gave it.
    Phone(Phone),
    /// A business-scoped user id, where no phone was given.
    Bsuid(Bsuid),
}

/// One agent with one contact: the unit of order, of locking and of memory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConversationId {
    /// The persona.
    pub agent: AgentId,
    /// The person, for one life.
    pub contact: ContactId,
}

impl ConversationId {
    /// The table's partition key, `<agent>#<contact>`.
    pub fn key(&self) -> String {
        format!("{}#{}", self.agent, self.contact)
    }

    /// Reads back what [`ConversationId::key`] gave.
    pub fn parse(key: &str) -> Result<Self, IdError> {
        let (agent, contact) = key.split_once('#').ok_or(IdError {
            what: "a conversation key",
            problem: "must be <agent>#<contact>",
        })?;
        Ok(Self {
            agent: AgentId::parse(agent)?,
            contact: ContactId::parse(contact)?,
        })
    }
}

/// Declares an id made of a ULID: sorted by the time it was made.
macro_rules! ulid_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(Ulid);

        impl $name {
            /// The id made at `ms` milliseconds since 1970 from 80 bits of chance.
            pub fn from_parts(ms: u64, chance: u128) -> Self {
                Self(Ulid::from_parts(ms, chance))
            }

            /// When it was made, in milliseconds since 1970.
            pub fn made_at_ms(self) -> u64 {
                self.0.timestamp_ms()
            }

            /// Reads the 26 letters that `Display` wrote.
            pub fn parse(text: &str) -> Result<Self, IdError> {
                text.parse().map(Self).map_err(|_| IdError {
                    what: stringify!($name),
                    problem: "must be a ULID of 26 characters",
                })
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", self.0)
            }
        }
    };
}

ulid_id!(
    /// A reply, chosen when its run claims the conversation; turns are ordered by it.
    ReplyId
);
ulid_id!(
    /// One run of the processor on a conversation; also the token of who may send.
    RunId
);
ulid_id!(
    /// A durable fact.
    FactId
);
