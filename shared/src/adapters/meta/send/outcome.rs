//! What an answer of the Graph API, or the lack of one, says about the message. Built on codes; titles change.

use std::time::Duration;

use reqwest::StatusCode;
use serde_json::Value;

use crate::adapters::meta::codes::{self, Class};
use crate::error::{SendError, Verdict};

/// The most that a hold may last: a STOP and newer messages wait behind it.
const WAIT_MAX: Duration = Duration::from_mins(1);
/// One message in six seconds to the same person.
const PAIR_WAIT: Duration = Duration::from_secs(6);

/// What a failed request says. The URL goes from the error: it holds the business number.
pub fn of_failure(error: reqwest::Error) -> SendError {
    let error = error.without_url();
    if error.is_builder() {
        return refused("request_not_buildable", Verdict::GiveUp);
    }
    if error.is_connect() {
        SendError::NotConnected(error.into())
    } else {
        SendError::OutcomeUnknown(error.into())
    }
}

/// What an answer says: the provider's id of the message, or why there is none.
///
/// A 5xx is ambiguous. Where Graph itself names a code that is documented as "try again", it did not take the
/// message. Where a gateway answers in its place, or with a code of no known meaning, it may have.
pub fn of_answer(
    status: StatusCode,
    retry_after: Option<Duration>,
    body: &[u8],
) -> Result<String, SendError> {
    let body: Value = match serde_json::from_slice(body) {
        Ok(body) => body,
        Err(error) if error.is_eof() && !body.is_empty() => {
            return Err(of_cut_answer(status, retry_after));
        }
        Err(_) => Value::Null,
    };
    let code = body.get("error").and_then(|error| error.get("code"));
    if let Some(code) = code.and_then(Value::as_i64) {
        return Err(of_code(code, status, retry_after));
    }
    if status.is_success() {
        let id = body["messages"][0]["id"]
            .as_str()
            .filter(|id| !id.is_empty());
        return id
            .map(str::to_owned)
            .ok_or_else(|| SendError::OutcomeUnknown("the answer names no message".into()));
    }
    let code = format!("http_{}", status.as_u16());
    match status {
        StatusCode::TOO_MANY_REQUESTS => Err(refused(code, wait(retry_after))),
        StatusCode::UNAUTHORIZED => Err(refused(code, Verdict::Mend)),
        StatusCode::REQUEST_TIMEOUT => Err(unknown(status)),
        _ if status.is_server_error() => Err(unknown(status)),
        _ => Err(refused(code, Verdict::GiveUp)),
    }
}

/// What an answer says whose body did not come as a whole. A 4xx is a refusal by its status alone; its code may have
/// been one that passes, so it is not final.
pub fn of_cut_answer(status: StatusCode, retry_after: Option<Duration>) -> SendError {
    if !status.is_client_error() || status == StatusCode::REQUEST_TIMEOUT {
        return SendError::OutcomeUnknown(
            format!("the answer was http {}, cut", status.as_u16()).into(),
        );
    }
    let verdict = match status {
        StatusCode::UNAUTHORIZED => Verdict::Mend,
        _ => wait(retry_after),
    };
    refused(format!("http_{}", status.as_u16()), verdict)
}

/// Whether it is the token that was refused.
pub fn is_of_token(error: &SendError) -> bool {
    matches!(error, SendError::Refused { code, .. } if code == "190" || code == "http_401")
}

fn of_code(code: i64, status: StatusCode, retry_after: Option<Duration>) -> SendError {
    let code = code.to_string();
    let verdict = match codes::find(&code).map(|row| row.class) {
        Some(Class::PairRate) => {
            Verdict::RetryAfter(retry_after.map_or(PAIR_WAIT, |wait| wait.min(WAIT_MAX)))
        }
        Some(Class::Blocked) => Verdict::RetryAfter(WAIT_MAX),
        Some(Class::Passing) => wait(retry_after),
        Some(Class::Token) => Verdict::Mend,
        None if status == StatusCode::TOO_MANY_REQUESTS => wait(retry_after),
        None if status.is_server_error() => return unknown(status),
        Some(Class::Account | Class::Message) | None => Verdict::GiveUp,
    };
    refused(code, verdict)
}

fn wait(retry_after: Option<Duration>) -> Verdict {
    retry_after.map_or(Verdict::Retry, |wait| {
        Verdict::RetryAfter(wait.min(WAIT_MAX))
    })
}

fn refused(code: impl Into<String>, verdict: Verdict) -> SendError {
    SendError::Refused {
        code: code.into(),
        verdict,
    }
}

fn unknown(status: StatusCode) -> SendError {
    SendError::OutcomeUnknown(format!("the answer was http {}", status.as_u16()).into())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const ACCEPTED: &str = r#"{"messages":[{"id":"wamid.1"}]}"#;

    /// `ok`, `unknown`, or the code and what to do with it.
    fn said(answer: Result<String, SendError>) -> String {
        match answer {
            Ok(id) => format!("ok {id}"),
            Err(SendError::OutcomeUnknown(_)) => "unknown".to_owned(),
            Err(SendError::NotConnected(_)) => "not connected".to_owned(),
            Err(SendError::Refused { code, verdict }) => match verdict {
                Verdict::Retry => format!("{code} retry"),
                Verdict::RetryAfter(wait) => format!("{code} after {}", wait.as_secs()),
                Verdict::Mend => format!("{code} mend"),
                Verdict::GiveUp => format!("{code} give up"),
            },
        }
    }

    #[test]
    fn every_class_of_answer_has_its_outcome() {
        let error = |code: i64| json!({ "error": { "code": code, "message": "…" } }).to_string();
        for (label, status, retry_after, body, expected) in [
            ("accepted", 200, None, ACCEPTED.to_owned(), "ok wamid.1"),
            ("accepted, no id", 200, None, "{}".to_owned(), "unknown"),
            (
                "accepted, no JSON",
                200,
                None,
                "<html>".to_owned(),
                "unknown",
            ),
            (
                "200 with an error",
                200,
                None,
                error(131_026),
                "131026 give up",
            ),
            ("window closed", 400, None, error(131_047), "131047 give up"),
            ("bad parameter", 400, None, error(100), "100 give up"),
            ("template", 400, None, error(132_015), "132015 give up"),
            ("token", 401, None, error(190), "190 mend"),
            ("auth exception", 401, None, error(0), "0 mend"),
            ("permission", 403, None, error(10), "10 mend"),
            ("permissions, last", 403, None, error(299), "299 mend"),
            ("pair rate", 400, None, error(131_056), "131056 after 6"),
            ("throughput", 429, None, error(130_429), "130429 retry"),
            (
                "throughput with a wait",
                429,
                Some(30),
                error(130_429),
                "130429 after 30",
            ),
            (
                "a wait of an hour is cut",
                429,
                Some(3600),
                error(130_429),
                "130429 after 60",
            ),
            ("spam limit", 400, None, error(131_048), "131048 after 60"),
            (
                "unknown code, 400",
                400,
                None,
                error(999_999),
                "999999 give up",
            ),
            (
                "unknown code, 429",
                429,
                None,
                error(999_999),
                "999999 retry",
            ),
            ("unknown code, 500", 500, None, error(999_999), "unknown"),
            (
                "documented retry, 500",
                500,
                None,
                error(131_000),
                "131000 retry",
            ),
            ("service, 503", 503, None, error(2), "2 retry"),
            (
                "documented to be mended, 500",
                500,
                None,
                error(190),
                "190 mend",
            ),
            ("no Graph body, 500", 500, None, String::new(), "unknown"),
            (
                "no Graph body, 502",
                502,
                None,
                "<html>".to_owned(),
                "unknown",
            ),
            (
                "no Graph body, 429",
                429,
                Some(3),
                String::new(),
                "http_429 after 3",
            ),
            (
                "no Graph body, 401",
                401,
                None,
                String::new(),
                "http_401 mend",
            ),
            (
                "no Graph body, 404",
                404,
                None,
                "<html>".to_owned(),
                "http_404 give up",
            ),
            ("no Graph body, 408", 408, None, String::new(), "unknown"),
            (
                "cut, 400",
                400,
                None,
                r#"{"error":{"mess"#.to_owned(),
                "http_400 retry",
            ),
            (
                "cut, 400 with a wait",
                400,
                Some(7),
                "{".to_owned(),
                "http_400 after 7",
            ),
            ("cut, 401", 401, None, "{".to_owned(), "http_401 mend"),
            ("cut, 408", 408, None, "{".to_owned(), "unknown"),
            ("cut, 500", 500, None, "{".to_owned(), "unknown"),
            (
                "cut, 200",
                200,
                None,
                r#"{"messages":[{"#.to_owned(),
                "unknown",
            ),
            ("a redirect", 302, None, String::new(), "http_302 give up"),
        ] {
            let status = StatusCode::from_u16(status).unwrap();
            let retry_after = retry_after.map(Duration::from_secs);
            assert_eq!(
                said(of_answer(status, retry_after, body.as_bytes())),
                expected,
                "{label}"
            );
        }
    }

    #[test]
    fn only_a_refused_token_is_worth_another_one() {
        for (code, expected) in [
            ("190", true),
            ("http_401", true),
            ("0", false),
            ("100", false),
        ] {
            assert_eq!(
                is_of_token(&refused(code, Verdict::GiveUp)),
                expected,
                "{code}"
            );
        }
        assert!(!is_of_token(&unknown(StatusCode::BAD_GATEWAY)));
    }
}
