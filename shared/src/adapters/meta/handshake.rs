//! The one GET of a webhook: Meta asks whether this address is ours before it sends anything to it.

use subtle::ConstantTimeEq;

/// The challenge to answer with, bare, or `None`: then the answer is 403.
///
/// `query` holds the decoded pairs; the names really contain a dot. An empty `verify_token` matches nothing.
pub fn handshake<'a>(query: &'a [(String, String)], verify_token: &str) -> Option<&'a str> {
    let value = |wanted: &str| {
        let pair = query.iter().find(|(name, _)| name == wanted)?;
        Some(pair.1.as_str())
    };
    let token = value("hub.verify_token")?;
    let matches = bool::from(token.as_bytes().ct_eq(verify_token.as_bytes()));
    let challenge = value("hub.challenge")?;
    (value("hub.mode")? == "subscribe" && matches && !verify_token.is_empty()).then_some(challenge)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_right_token_gets_the_challenge_back() {
        let right = "token for tests";
        for (label, pairs, token, expected) in [
            (
                "right",
                vec![
                    ("hub.mode", "subscribe"),
                    ("hub.verify_token", right),
                    ("hub.challenge", "1158201444"),
                ],
                right,
                Some("1158201444"),
            ),
            (
                "in another order",
                vec![
                    ("hub.challenge", "7"),
                    ("hub.verify_token", right),
                    ("hub.mode", "subscribe"),
                ],
                right,
                Some("7"),
            ),
            (
                "wrong token",
                vec![
                    ("hub.mode", "subscribe"),
                    ("hub.verify_token", "guess"),
                    ("hub.challenge", "7"),
                ],
                right,
                None,
            ),
            (
                "wrong mode",
                vec![
                    ("hub.mode", "unsubscribe"),
                    ("hub.verify_token", right),
                    ("hub.challenge", "7"),
                ],
                right,
                None,
            ),
            (
                "no mode",
                vec![("hub.verify_token", right), ("hub.challenge", "7")],
                right,
                None,
            ),
            (
                "no challenge",
                vec![("hub.mode", "subscribe"), ("hub.verify_token", right)],
                right,
                None,
            ),
            (
                "no token configured",
                vec![
                    ("hub.mode", "subscribe"),
                    ("hub.verify_token", ""),
                    ("hub.challenge", "7"),
                ],
                "",
                None,
            ),
            ("nothing", vec![], right, None),
        ] {
            let query: Vec<(String, String)> = pairs
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect();
            assert_eq!(handshake(&query, token), expected, "{label}");
        }
    }
}
