//! Keyed hashes: what stands for a person in logs, queue ids, tombstones and requests to models.
//!
//! A plain hash of a phone is no protection (there are few phones); a keyed one is, as long as the key is secret.
//! The key is never rotated: tombstones and cache keys are found by it.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::ids::{AgentId, Alias, ConversationId, ReplyId};
use super::tool::ToolCall;

/// Makes keyed hashes of 32 hex characters (128 bits).
#[derive(Clone)]
pub struct Hasher {
    keyed: Hmac<Sha256>,
}

impl Hasher {
    /// A hasher of this secret key; 16 bytes and more are safe.
    pub fn new(key: &[u8]) -> Self {
        // HMAC takes a key of any length, so the error of this constructor cannot happen; an
        // all-zero state would still be keyed by what follows.
        let keyed = Hmac::new_from_slice(key)
            .unwrap_or_else(|_| Hmac::new(&hmac::digest::Key::<Hmac<Sha256>>::default()));
        Self { keyed }
    }

    /// Stands for a conversation in logs, group ids and requests to models.
    pub fn conversation(&self, conversation: &ConversationId) -> String {
        self.hash("conversation", &conversation.key())
    }

    /// Names an ended life in a tombstone.
    pub fn life(&self, conversation: &ConversationId) -> String {
        self.hash("life", &conversation.key())
    }

    /// Names an alias in a tombstone's key.
    pub fn alias(&self, agent: &AgentId, alias: &Alias) -> String {
        self.hash("alias", &format!("{agent}#{}", alias.as_str()))
    }

    /// The idempotency key of a call: the same for the same tool and arguments in one turn, whichever run makes it.
    pub fn call(&self, reply: ReplyId, call: &ToolCall) -> String {
        let (tool, arguments) = (&call.tool, call.arguments.as_str());
        self.hash("call", &format!("{reply}#{tool}#{arguments}"))
    }

    /// Stands for any other id (a provider's message id, say); `purpose` keeps the kinds apart.
    pub fn hash(&self, purpose: &str, text: &str) -> String {
        let mut mac = self.keyed.clone();
        mac.update(purpose.as_bytes());
        mac.update(&[0]);
        mac.update(text.as_bytes());
        hex::encode(&mac.finalize().into_bytes()[..16])
    }
}

impl fmt::Debug for Hasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hasher(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_text_hashes_apart_by_key_and_by_purpose() {
        let one = Hasher::new(b"key one, long enough");
        let two = Hasher::new(b"key two, long enough");
        assert_eq!(one.hash("a", "x"), one.hash("a", "x"));
        assert_ne!(one.hash("a", "x"), two.hash("a", "x"));
        assert_ne!(one.hash("a", "x"), one.hash("b", "x"));
        assert_eq!(one.hash("a", "x").len(), 32);
    }

    #[test]
    fn a_key_of_any_length_is_used() {
        assert_ne!(
            Hasher::new(b"").hash("a", "x"),
            Hasher::new(b"k").hash("a", "x")
        );
        let long = [7_u8; 500];
        assert_ne!(
            Hasher::new(&long).hash("a", "x"),
            Hasher::new(&long[1..]).hash("a", "x")
        );
    }
}
