//! What an invocation's end means for a call.

use aws_sdk_lambda::error::{DisplayErrorContext, ProvideErrorMetadata, SdkError};
use aws_sdk_lambda::operation::invoke::InvokeError;
use serde_json::Value;

use super::super::no_answer;
use crate::domain::{Effect, ToolName, ToolResult};
use crate::policy::visible::without_nul;

/// A function that ran; `failed` where it ended with an error.
pub fn of_answer(effect: Effect, failed: bool, payload: &[u8]) -> ToolResult {
    let text = String::from_utf8_lossy(payload);
    let text = without_nul(&text);
    let value: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
    if !failed {
        return ToolResult::Ok(match value {
            Value::String(words) => without_nul(&words).into_owned(),
            Value::Null if text.trim() == "null" => String::new(),
            _ => text.into_owned(),
        });
    }
    let field = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
    let (kind, message) = (field("errorType"), field("errorMessage"));
    // Cut off or crashed in the middle: what it did before that nobody knows. Else it said itself that it failed.
    let broke_off = kind == "Sandbox.Timedout"
        || kind.starts_with("Runtime.")
        || message.contains("Task timed out after");
    if broke_off {
        return no_answer(effect, "the function broke off");
    }
    ToolResult::Error(format!("the function failed: {message}"))
}

/// An invocation without an answer of the function. The operator is told where there is something to mend.
pub fn of_failure(effect: Effect, tool: &ToolName, error: &SdkError<InvokeError>) -> ToolResult {
    match error {
        SdkError::ConstructionFailure(_) => nothing_done("the function's name cannot be called"),
        SdkError::DispatchFailure(failure) if failure.is_timeout() || is_refused(error) => {
            nothing_done("the function cannot be reached")
        }
        SdkError::ServiceError(refusal) => {
            let status = refusal.raw().status().as_u16();
            let code = refusal.err().code().unwrap_or("unknown");
            if status >= 500 {
                return no_answer(effect, "Lambda failed");
            }
            if status == 429 {
                return nothing_done("the function is too busy");
            }
            tracing::error!(
                "tool {tool}: its function cannot be invoked ({code}); on AWS its ARN has to be in the parameter \
                 ToolFunctions"
            );
            nothing_done("the tool is not set up")
        }
        _ => no_answer(effect, "the function did not answer"),
    }
}

fn nothing_done(why: &str) -> ToolResult {
    ToolResult::Error(format!("{why}: nothing was done"))
}

/// Whether the SDK had no credentials, or no region, to ask with.
pub fn is_of_credentials(error: &SdkError<InvokeError>) -> bool {
    let told = || DisplayErrorContext(error).to_string().to_lowercase();
    match error {
        SdkError::DispatchFailure(_) | SdkError::ConstructionFailure(_) => {
            let told = told();
            told.contains("credentials") || told.contains("region")
        }
        _ => false,
    }
}

/// Whether no connection stood.
fn is_refused(error: &SdkError<InvokeError>) -> bool {
    let mut next: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(one) = next {
        let refused = |io: &std::io::Error| io.kind() == std::io::ErrorKind::ConnectionRefused;
        if one.downcast_ref::<std::io::Error>().is_some_and(refused) {
            return true;
        }
        next = one.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_function_says_is_read() {
        let ok = |text: &str| ToolResult::Ok(text.to_owned());
        let failed = |text: &str| ToolResult::Error(text.to_owned());
        for (label, is_failed, payload, read, write) in [
            ("an object", false, &br#"{"a":1}"#[..], ok(r#"{"a":1}"#), ok(r#"{"a":1}"#)),
            ("a text", false, br#""feito""#, ok("feito"), ok("feito")),
            ("nothing", false, b"null", ok(""), ok("")),
            ("no payload", false, b"", ok(""), ok("")),
            ("no JSON", false, b"<p>\xff", ok("<p>\u{fffd}"), ok("<p>\u{fffd}")),
            (
                "it refused",
                true,
                br#"{"errorType":"ValueError","errorMessage":"no such day"}"#,
                failed("the function failed: no such day"),
                failed("the function failed: no such day"),
            ),
            (
                "cut off",
                true,
                br#"{"errorType":"Sandbox.Timedout","errorMessage":"RequestId: 1 Error: Task timed out after 3.00 seconds"}"#,
                failed("the function broke off"),
                ToolResult::Unknown,
            ),
            (
                "cut off, in the older form",
                true,
                br#"{"errorMessage":"2026-11-30T00:00:00Z 1 Task timed out after 3.00 seconds"}"#,
                failed("the function broke off"),
                ToolResult::Unknown,
            ),
            (
                "crashed",
                true,
                br#"{"errorType":"Runtime.ExitError","errorMessage":"exit status 1"}"#,
                failed("the function broke off"),
                ToolResult::Unknown,
            ),
        ] {
            assert!(of_answer(Effect::Read, is_failed, payload) == read, "{label}");
            assert!(of_answer(Effect::Write, is_failed, payload) == write, "{label}");
        }
    }
}
