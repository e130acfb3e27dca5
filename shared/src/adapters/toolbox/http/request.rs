//! A call's arguments in the request: in the address, behind its `?`, or in the body.

use std::collections::BTreeSet;
use std::net::IpAddr;

use reqwest::Url;
use serde_json::{Map, Value};

use crate::domain::tool_spec::{HttpTarget, Method, UrlPiece};

/// What servers take at least.
const URL_BYTES_MAX: usize = 8000;

/// Where to, and with what.
pub struct Parts {
    /// The address, arguments included.
    pub url: Url,
    /// The JSON body; absent where the method has none.
    pub body: Option<Value>,
}

/// Puts the arguments to their places. An error tells the model what cannot be sent.
pub fn parts(http: &HttpTarget, mut arguments: Map<String, Value>) -> Result<Parts, String> {
    let mut text = String::new();
    let mut placed = Vec::new();
    for piece in &http.url {
        match piece {
            UrlPiece::Text(piece) => text.push_str(piece),
            UrlPiece::Argument(name) => {
                let value = arguments.get(name).and_then(scalar).unwrap_or_default();
                // An empty part of a path is the whole collection.
                if value.is_empty() {
                    return Err(format!(
                        "nothing was done: {name} must be a text or a number, and not empty"
                    ));
                }
                escape(&value, &mut text);
                placed.push(name);
            }
        }
    }
    for name in placed {
        arguments.remove(name);
    }
    let has_body = http.method.has_body();
    let is_queried = |name: &String| !has_body || http.query.contains(name);
    let fixed = names_in(&text);
    let is_fixed = |name: &&String| fixed.contains(&bare(name));
    if let Some(name) = arguments
        .keys()
        .find(|name| is_queried(name) && is_fixed(name))
    {
        return Err(format!(
            "nothing was done: {name} is set by the tool itself; leave it out"
        ));
    }
    let mut sign = if text.contains('?') { '&' } else { '?' };
    for (name, value) in arguments.iter().filter(|(name, _)| is_queried(name)) {
        for value in each(value) {
            text.push(std::mem::replace(&mut sign, '&'));
            escape(name, &mut text);
            text.push('=');
            escape(&value, &mut text);
        }
    }
    arguments.retain(|name, _| !is_queried(name));
    let refused = || "nothing was done: an argument cannot stand in the address".to_owned();
    let url = Url::parse(&text).map_err(|_| refused())?;
    // Dots and the like could lead to another place of the service, or elsewhere.
    if url.as_str() != text
        || url.host_str() != Some(http.host.as_str())
        || text.len() > URL_BYTES_MAX
    {
        return Err(refused());
    }
    let body = has_body.then_some(Value::Object(arguments));
    Ok(Parts { url, body })
}

/// What the address says already behind its `?`: said twice, many services take the second one, and a model could put
/// its own in the place of what the agent file fixes.
fn names_in(address: &str) -> BTreeSet<String> {
    let url = Url::parse(address).ok();
    let names = url.iter().flat_map(Url::query_pairs);
    names.map(|(name, _)| bare(&name)).collect()
}

/// A name as the least particular service reads it.
fn bare(name: &str) -> String {
    let name = name.trim();
    let end = name.find('[').unwrap_or(name.len());
    name[..end].to_ascii_lowercase()
}

/// One value as text; absent where it is a list, an object or nothing.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The texts of a value behind the `?`: each item of a list by itself, an object as JSON, nothing for null.
fn each(value: &Value) -> Vec<String> {
    match value {
        Value::Null => Vec::new(),
        Value::Array(items) => items.iter().flat_map(each).collect(),
        Value::Object(_) => vec![value.to_string()],
        value => scalar(value).into_iter().collect(),
    }
}

/// All but letters, digits and four signs as `%` and two digits: nothing that means something in an address is left.
fn escape(value: &str, into: &mut String) {
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            into.push(char::from(byte));
        } else {
            into.push('%');
            into.push_str(&hex::encode_upper([byte]));
        }
    }
}

/// The address itself, where the host is one and not a name. The parser has brought `2130706433`, `0x7f.1` and the like
/// to their usual form.
pub fn literal(url: &Url) -> Option<IpAddr> {
    let host = url.host_str()?;
    host.trim_start_matches('[')
        .trim_end_matches(']')
        .parse()
        .ok()
}

/// The method as the HTTP library calls it.
pub fn method(method: Method) -> reqwest::Method {
    match method {
        Method::Get => reqwest::Method::GET,
        Method::Post => reqwest::Method::POST,
        Method::Put => reqwest::Method::PUT,
        Method::Patch => reqwest::Method::PATCH,
        Method::Delete => reqwest::Method::DELETE,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn target(method: Method) -> HttpTarget {
        HttpTarget {
            method,
            url: vec![
                UrlPiece::Text("https://api.example.com/slots/".to_owned()),
                UrlPiece::Argument("day".to_owned()),
                UrlPiece::Text("/free?v=1".to_owned()),
            ],
            host: "api.example.com".to_owned(),
            headers: Vec::new(),
            query: vec!["page".to_owned()],
            private: false,
        }
    }

    fn built(method: Method, arguments: Value) -> Result<(String, Option<Value>), String> {
        let Value::Object(arguments) = arguments else {
            panic!("an object");
        };
        let parts = parts(&target(method), arguments)?;
        Ok((parts.url.to_string(), parts.body))
    }

    #[test]
    fn each_argument_goes_to_its_place() {
        let url = |rest: &str| format!("https://api.example.com/slots/{rest}");
        for (label, method, arguments, right) in [
            (
                "escaped",
                Method::Get,
                json!({"day": "a/b?c#d e&f=é"}),
                (url("a%2Fb%3Fc%23d%20e%26f%3D%C3%A9/free?v=1"), None),
            ),
            (
                "the rest behind the ?",
                Method::Get,
                json!({"day": 3, "page": 2, "q": "a&b=c", "tags": ["x", "y"], "none": null, "o": {"a": 1}}),
                (
                    url("3/free?v=1&o=%7B%22a%22%3A1%7D&page=2&q=a%26b%3Dc&tags=x&tags=y"),
                    None,
                ),
            ),
            (
                "the rest in the body",
                Method::Post,
                json!({"day": "1", "page": 2, "who": "Davi"}),
                (url("1/free?v=1&page=2"), Some(json!({"who": "Davi"}))),
            ),
            (
                "nothing left",
                Method::Put,
                json!({"day": "1"}),
                (url("1/free?v=1"), Some(json!({}))),
            ),
            (
                "three dots are a name",
                Method::Delete,
                json!({"day": "..."}),
                (url(".../free?v=1"), None),
            ),
        ] {
            assert_eq!(built(method, arguments), Ok(right), "{label}");
        }
    }

    #[test]
    fn what_would_lead_elsewhere_is_not_sent() {
        for arguments in [
            json!({"day": ".."}),
            json!({"day": "."}),
            json!({"day": ""}),
            json!({"day": null}),
            json!({"day": ["1"]}),
            json!({}),
            json!({"day": "x".repeat(9000)}),
            json!({"day": "1", "v": 2}),
            json!({"day": "1", "V[]": 2}),
        ] {
            assert!(
                built(Method::Get, arguments.clone()).is_err(),
                "{arguments}"
            );
        }
    }

    #[test]
    fn an_address_in_any_form_is_seen_as_one() {
        for (host, right) in [
            ("127.0.0.1", "127.0.0.1"),
            ("2130706433", "127.0.0.1"),
            ("0x7f000001", "127.0.0.1"),
            ("0177.0.0.1", "127.0.0.1"),
            ("127.1", "127.0.0.1"),
            ("169.254.43518", "169.254.169.254"),
            ("１２７.0.0.1", "127.0.0.1"),
            ("127.0.0.1.", "127.0.0.1"),
            ("[::1]", "::1"),
            ("[::ffff:127.0.0.1]", "::ffff:127.0.0.1"),
            ("[0:0:0:0:0:ffff:a9fe:a9fe]", "::ffff:169.254.169.254"),
        ] {
            let url = Url::parse(&format!("https://{host}/")).unwrap();
            assert_eq!(
                literal(&url).map(|ip| ip.to_string()).as_deref(),
                Some(right),
                "{host}"
            );
        }
        let name = Url::parse("https://127.0.0.1.example/").unwrap();
        assert_eq!(literal(&name), None);
    }

    proptest! {
        #[test]
        fn no_argument_leaves_its_place(day in "\\PC{0,20}|[./%\\\\?#@:\\[\\] ]{0,6}", page in "\\PC{0,20}") {
            let Ok((url, _)) = built(Method::Get, json!({"day": day, "page": page})) else {
                return Ok(());
            };
            let url = Url::parse(&url).unwrap();
            prop_assert_eq!(url.host_str(), Some("api.example.com"));
            let segments: Vec<_> = url.path_segments().unwrap().collect();
            prop_assert_eq!(segments.len(), 3);
            prop_assert_eq!((segments[0], segments[2]), ("slots", "free"));
            let pairs: Vec<_> = url.query_pairs().collect();
            prop_assert_eq!(pairs.len(), 2);
            prop_assert_eq!(&pairs[1].1, &page);
        }
    }
}
