//! What work costs: each call to a model and each fee, as numbers that can be added. Nothing here names anybody.

use std::collections::BTreeMap;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::ids::{ConversationId, RunId};
use super::prompt::Usage;
use super::time::Timestamp;

/// What was paid for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChargeKind {
    /// A call whose answer was used: words for the person, or calls of tools.
    Answer,
    /// A call of a run that was dropped, by its own report where it had answered, else by an estimate.
    Discarded,
    /// A call that failed and was metered all the same.
    Failed,
    /// A call for summary and facts.
    Compaction,
    /// The channel's fee for a message.
    Send,
}

impl ChargeKind {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Answer,
        Self::Discarded,
        Self::Failed,
        Self::Compaction,
        Self::Send,
    ];

    /// The word stored in the table and shown to the operator.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Answer => "answer",
            Self::Discarded => "discarded",
            Self::Failed => "failed",
            Self::Compaction => "compaction",
            Self::Send => "send",
        }
    }

    /// Reads back what [`ChargeKind::as_str`] gave.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

/// One call, or one fee.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Charge {
    /// The model as its provider names it, as configured where it never said; the channel for a fee.
    pub model: String,
    /// What was paid for.
    pub kind: ChargeKind,
    /// Its tokens.
    pub usage: Usage,
    /// What it cost, in millionths of a US dollar: the provider's own figure, else by the list of prices. Absent where
    /// neither tells.
    pub micro_usd: Option<u64>,
    /// Whether tokens and cost are our estimate.
    pub is_estimate: bool,
}

/// Sums over charges; what cannot be counted stops at the largest number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Calls, or fees.
    pub calls: u64,
    /// Input tokens paid in full.
    pub input_uncached: u64,
    /// Input tokens read from a provider's cache.
    pub input_cache_read: u64,
    /// Input tokens written to it.
    pub input_cache_write: u64,
    /// Output tokens.
    pub output: u64,
    /// Known cost, in millionths of a US dollar.
    pub micro_usd: u64,
    /// Calls whose cost nobody tells: they are not in `micro_usd`.
    pub calls_of_unknown_cost: u64,
    /// Calls that are estimates.
    pub estimated_calls: u64,
    /// The part of `micro_usd` that is an estimate.
    pub estimated_micro_usd: u64,
    /// Turns that were answered.
    pub turns: u64,
    /// Sessions that began.
    pub sessions: u64,
}

impl Counters {
    /// One charge alone.
    pub fn of(charge: &Charge) -> Self {
        let cost = charge.micro_usd.unwrap_or(0);
        let estimated = u64::from(charge.is_estimate);
        Self {
            calls: 1,
            input_uncached: charge.usage.input_uncached,
            input_cache_read: charge.usage.input_cache_read,
            input_cache_write: charge.usage.input_cache_write,
            output: charge.usage.output,
            micro_usd: cost,
            calls_of_unknown_cost: u64::from(charge.micro_usd.is_none()),
            estimated_calls: estimated,
            estimated_micro_usd: estimated * cost,
            turns: 0,
            sessions: 0,
        }
    }

    /// Everything together.
    pub fn sum<'a>(charges: impl IntoIterator<Item = &'a Charge>) -> Self {
        let each = charges.into_iter().map(Self::of);
        each.fold(Self::default(), |sum, one| sum.plus(&one))
    }

    /// Both together.
    #[must_use]
    pub fn plus(mut self, other: &Self) -> Self {
        for (mine, theirs) in self.fields_mut().into_iter().zip(other.fields()) {
            *mine.1 = mine.1.saturating_add(theirs.1);
        }
        self
    }

    /// All input tokens.
    pub const fn input(&self) -> u64 {
        self.input_uncached
            .saturating_add(self.input_cache_read)
            .saturating_add(self.input_cache_write)
    }

    /// Each counter under the name it is stored by.
    pub const fn fields(&self) -> [(&'static str, u64); 11] {
        [
            ("calls", self.calls),
            ("input_uncached", self.input_uncached),
            ("input_cache_read", self.input_cache_read),
            ("input_cache_write", self.input_cache_write),
            ("output", self.output),
            ("micro_usd", self.micro_usd),
            ("calls_of_unknown_cost", self.calls_of_unknown_cost),
            ("estimated_calls", self.estimated_calls),
            ("estimated_micro_usd", self.estimated_micro_usd),
            ("turns", self.turns),
            ("sessions", self.sessions),
        ]
    }

    /// The same, to be written.
    pub const fn fields_mut(&mut self) -> [(&'static str, &mut u64); 11] {
        [
            ("calls", &mut self.calls),
            ("input_uncached", &mut self.input_uncached),
            ("input_cache_read", &mut self.input_cache_read),
            ("input_cache_write", &mut self.input_cache_write),
            ("output", &mut self.output),
            ("micro_usd", &mut self.micro_usd),
            ("calls_of_unknown_cost", &mut self.calls_of_unknown_cost),
            ("estimated_calls", &mut self.estimated_calls),
            ("estimated_micro_usd", &mut self.estimated_micro_usd),
            ("turns", &mut self.turns),
            ("sessions", &mut self.sessions),
        ]
    }
}

/// What one run cost, booked once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Booking {
    /// The run: a booking that is made again counts once.
    pub run: RunId,
    /// Whose.
    pub conversation: ConversationId,
    /// The agent's local day on which the run began.
    pub day: Date,
    /// When the run began.
    pub began_at: Timestamp,
    /// What it paid; never empty.
    pub charges: Vec<Charge>,
    /// Turns it answered.
    pub turns: u64,
    /// Sessions it began.
    pub sessions: u64,
}

impl Booking {
    /// Room for the longest name of a model in a key, in bytes.
    pub const MODEL_BYTES_MAX: usize = 200;

    /// What is added where, by model and kind. Turns and sessions count on the first line.
    pub fn lines(&self) -> BTreeMap<(String, ChargeKind), Counters> {
        let mut lines: BTreeMap<(String, ChargeKind), Counters> = BTreeMap::new();
        for charge in &self.charges {
            let end = charge.model.floor_char_boundary(Self::MODEL_BYTES_MAX);
            let key = (charge.model[..end].to_owned(), charge.kind);
            let line = lines.entry(key).or_default();
            *line = line.plus(&Counters::of(charge));
        }
        if let Some(first) = lines.values_mut().next() {
            first.turns = self.turns;
            first.sessions = self.sessions;
        }
        lines
    }
}

/// One line of the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The day, of the agent's place.
    pub day: Date,
    /// The model, or the channel.
    pub model: String,
    /// What was paid for.
    pub kind: ChargeKind,
    /// How much.
    pub counters: Counters,
}

/// What a conversation has cost on its newest day with a cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spent {
    /// The agent's local day.
    pub day: Date,
    /// Known cost, in millionths of a US dollar.
    pub micro_usd: u64,
}

/// A limit of what a day may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SpendLimit {
    /// Of one conversation.
    Conversation,
    /// Of the agent, all conversations together.
    Agent,
}

impl SpendLimit {
    /// The word for the operator.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Conversation => "conversation",
            Self::Agent => "agent",
        }
    }
}

/// A stretch of a conversation without a long silence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Session {
    /// When its first message was sent.
    pub began_at: Timestamp,
    /// Turns answered in it.
    pub exchanges: u32,
    /// Whether the person and the agent took leave: the next turn begins another one.
    pub is_over: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn charge(model: &str, kind: ChargeKind, micro_usd: Option<u64>, is_estimate: bool) -> Charge {
        Charge {
            model: model.to_owned(),
            kind,
            usage: Usage {
                input_uncached: 10,
                input_cache_read: 20,
                input_cache_write: 30,
                output: 4,
                cost_micro_usd: None,
            },
            micro_usd,
            is_estimate,
        }
    }

    #[test]
    fn charges_of_one_model_and_kind_are_one_line_and_nothing_is_lost() {
        let charges = vec![
            charge("b", ChargeKind::Answer, Some(7), false),
            charge("a", ChargeKind::Discarded, Some(3), true),
            charge("b", ChargeKind::Answer, None, false),
        ];
        let booking = Booking {
            run: RunId::from_parts(1, 2),
            conversation: ConversationId::parse("recepcao#5511900000001").unwrap(),
            day: jiff::civil::date(2026, 11, 30),
            began_at: Timestamp::from_ms(1),
            turns: 1,
            sessions: 1,
            charges: charges.clone(),
        };
        let lines = booking.lines();
        assert_eq!(lines.len(), 2);
        let answered = lines[&("b".to_owned(), ChargeKind::Answer)];
        assert_eq!((answered.calls, answered.micro_usd), (2, 7));
        assert_eq!((answered.calls_of_unknown_cost, answered.input()), (1, 120));
        let dropped = lines[&("a".to_owned(), ChargeKind::Discarded)];
        assert_eq!(
            (dropped.estimated_calls, dropped.estimated_micro_usd),
            (1, 3)
        );
        let all = lines.values().fold(Counters::default(), Counters::plus);
        let counted = Counters {
            turns: 1,
            sessions: 1,
            ..Counters::sum(&charges)
        };
        assert_eq!(all, counted);
    }

    #[test]
    fn a_name_too_long_for_a_key_is_cut_between_characters() {
        let mut long = charge(&"ã".repeat(300), ChargeKind::Answer, None, false);
        long.model.insert(0, 'x');
        let booking = Booking {
            run: RunId::from_parts(1, 2),
            conversation: ConversationId::parse("recepcao#5511900000001").unwrap(),
            day: jiff::civil::date(2026, 11, 30),
            began_at: Timestamp::from_ms(1),
            charges: vec![long],
            turns: 0,
            sessions: 0,
        };
        let lines = booking.lines();
        let (model, _) = lines.keys().next().unwrap();
        assert_eq!(model.len(), 199);
    }

    #[test]
    fn every_kind_reads_back_as_itself() {
        for kind in ChargeKind::ALL {
            assert_eq!(ChargeKind::parse(kind.as_str()), Some(kind));
        }
        assert_eq!(ChargeKind::parse("other"), None);
    }
}
