//! Who wrote this body: the signature over its raw bytes. The first step of a webhook; nothing is read before it.
//!
//! Meta escapes a body before it signs it (`\u00e4`, `\/`), so a body that was parsed and written again no longer
//! matches: only the bytes as they came will do.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;

/// The header that carries the signature, in lower case.
pub const HEADER: &str = "x-hub-signature-256";

/// A body whose signature holds. Only [`verify`] makes one.
///
/// ```compile_fail
/// let body = recado::adapters::meta::signature::VerifiedBody { raw: b"{}" };
/// ```
#[derive(Clone, Copy)]
pub struct VerifiedBody<'a> {
    raw: &'a [u8],
}

impl<'a> VerifiedBody<'a> {
    /// The bytes that were signed.
    pub const fn bytes(self) -> &'a [u8] {
        self.raw
    }
}

/// Why a body is not trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// This installation has no secret to check with: the operator's mistake, not the caller's.
    #[error("no app secret is configured")]
    NoSecret,
    /// The request is not signed.
    #[error("the X-Hub-Signature-256 header is missing")]
    Missing,
    /// It is signed with another secret, or the body is another one.
    #[error("the signature does not match the body")]
    Mismatch,
}

/// Checks the header against the raw bytes under each of `secrets`: two are accepted while one replaces the other.
///
/// An empty secret is no secret: anyone could sign with it. The time taken tells nothing of the right signature.
pub fn verify<'a, S: AsRef<[u8]>>(
    secrets: &[S],
    header: Option<&str>,
    raw: &'a [u8],
) -> Result<VerifiedBody<'a>, SignatureError> {
    let header = header.ok_or(SignatureError::Missing)?.as_bytes();
    let mut usable = secrets
        .iter()
        .map(AsRef::as_ref)
        .filter(|secret| !secret.is_empty())
        .peekable();
    if usable.peek().is_none() {
        return Err(SignatureError::NoSecret);
    }
    let matches = usable.any(|secret| bool::from(sign(secret, raw).as_bytes().ct_eq(header)));
    if matches {
        Ok(VerifiedBody { raw })
    } else {
        Err(SignatureError::Mismatch)
    }
}

/// The header's value for `raw`, as Meta writes it: `sha256=` and lower-case hex. For senders of test webhooks.
pub fn sign(secret: &[u8], raw: &[u8]) -> String {
    // HMAC takes a key of any length; the error that its constructor allows for cannot happen, and an empty
    // value, which matches no header, would follow if it did.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret) else {
        return String::new();
    };
    mac.update(raw);
    format!("sha256={}", hex::encode(mac.finalize().into_bytes()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECRET: &[u8] = b"app secret for tests";

    #[test]
    fn the_signature_of_a_known_body_is_this_one() {
        // RFC 4231, test case 2.
        assert_eq!(
            sign(b"Jefe", b"what do ya want for nothing?"),
            "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
    }

    #[test]
    fn only_the_right_signature_is_accepted() {
        let right = sign(SECRET, b"{}");
        let old = sign(b"old", b"{}");
        let empty = sign(b"", b"{}");
        let both: &[&[u8]] = &[SECRET, b"old"];
        let one: &[&[u8]] = &[SECRET];
        let blank: &[&[u8]] = &[b""];
        for (label, secrets, header, expected) in [
            ("right", one, Some(right.as_str()), Ok(())),
            ("the older of two secrets", both, Some(&old), Ok(())),
            (
                "a retired secret",
                one,
                Some(&old),
                Err(SignatureError::Mismatch),
            ),
            ("no header", one, None, Err(SignatureError::Missing)),
            ("empty header", one, Some(""), Err(SignatureError::Mismatch)),
            (
                "without prefix",
                one,
                Some(&right[7..]),
                Err(SignatureError::Mismatch),
            ),
            (
                "cut",
                one,
                Some(&right[..70]),
                Err(SignatureError::Mismatch),
            ),
            (
                "not hex",
                one,
                Some("sha256=zz"),
                Err(SignatureError::Mismatch),
            ),
            (
                "no secret",
                &[],
                Some(&right),
                Err(SignatureError::NoSecret),
            ),
            (
                "an empty secret",
                blank,
                Some(&empty),
                Err(SignatureError::NoSecret),
            ),
        ] {
            assert_eq!(
                verify(secrets, header, b"{}").map(|_| ()),
                expected,
                "{label}"
            );
        }
    }

    proptest! {
        #[test]
        fn any_flipped_bit_is_refused(
            body in proptest::collection::vec(any::<u8>(), 1..200),
            at in any::<proptest::sample::Index>(),
            bit in 0..8,
        ) {
            let header = sign(SECRET, &body);
            prop_assert!(verify(&[SECRET], Some(&header), &body).is_ok());

            let mut other = body.clone();
            other[at.index(body.len())] ^= 1_u8 << bit;
            prop_assert!(verify(&[SECRET], Some(&header), &other).is_err());

            let mut other = header.clone().into_bytes();
            other[at.index(header.len())] ^= 1_u8 << bit;
            if let Ok(other) = String::from_utf8(other) {
                prop_assert!(verify(&[SECRET], Some(&other), &body).is_err());
            }
        }
    }
}
