//! Receipt handles: opaque to clients, and to us the queue, the message and which of its receives this was.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// What a receipt handle says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Receipt {
    pub queue: String,
    pub generation: u64,
    pub sequence: u64,
    /// The how-manieth receive of the message: a later one makes this receipt stale.
    pub receive: u32,
}

impl Receipt {
    pub fn encode(&self) -> String {
        let Self {
            queue,
            generation,
            sequence,
            receive,
        } = self;
        URL_SAFE_NO_PAD.encode(format!("{queue}/{generation}/{sequence}/{receive}"))
    }

    pub fn parse(handle: &str) -> Option<Self> {
        let text = String::from_utf8(URL_SAFE_NO_PAD.decode(handle).ok()?).ok()?;
        let mut parts = text.split('/');
        let receipt = Self {
            queue: parts.next()?.to_owned(),
            generation: parts.next()?.parse().ok()?,
            sequence: parts.next()?.parse().ok()?,
            receive: parts.next()?.parse().ok()?,
        };
        parts.next().is_none().then_some(receipt)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_encoded_parses_back(
            queue in "[A-Za-z0-9_-]{1,75}(\\.fifo)?",
            generation: u64,
            sequence: u64,
            receive: u32,
        ) {
            let receipt = Receipt { queue, generation, sequence, receive };
            prop_assert_eq!(Receipt::parse(&receipt.encode()), Some(receipt));
        }

        #[test]
        fn no_text_makes_it_panic(handle: String) {
            let _ = Receipt::parse(&handle);
        }
    }
}
