//! Words that name themselves: wherever they turn up, it is known whose they are.

use std::fmt;

use recado::domain::MessageId;

/// What a message says that no other does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Canary(pub u32);

impl fmt::Display for Canary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "k{:05}q", self.0)
    }
}

impl Canary {
    /// The id of its message.
    pub fn message_id(self) -> MessageId {
        MessageId::parse(self.to_string()).expect("short and plain")
    }
}

/// Every canary in `text` that stands as a word of its own.
pub fn canaries(text: &str) -> impl Iterator<Item = Canary> + '_ {
    text.split(|c: char| !c.is_ascii_alphanumeric())
        .filter_map(|word| {
            let digits = word.strip_prefix('k')?.strip_suffix('q')?;
            (digits.len() == 5).then(|| digits.parse().ok().map(Canary))?
        })
}
