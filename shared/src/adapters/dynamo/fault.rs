//! What a failed request means: a condition that does not hold, something worth another try, or an error.
//!
//! The service's own messages and items can hold keys, and keys hold phones: only the error's code, its request id
//! and our own words pass.

use std::error::Error;
use std::fmt;

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::RequestId;
use aws_sdk_dynamodb::operation::batch_write_item::BatchWriteItemError;
use aws_sdk_dynamodb::operation::delete_item::DeleteItemError;
use aws_sdk_dynamodb::operation::get_item::GetItemError;
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::operation::query::QueryError;
use aws_sdk_dynamodb::operation::transact_get_items::TransactGetItemsError;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::CancellationReason;

use super::request::Item;
use crate::error::{Source, StoreError};

/// Which request is made, for its errors.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call<'a> {
    /// In our words.
    pub(super) operation: &'static str,
    /// The request's name at AWS.
    pub(super) action: &'static str,
    /// On which table.
    pub(super) table: &'a str,
    /// Whether it is tried longer against a throttle.
    pub(super) is_patient: bool,
}

impl Call<'_> {
    /// The operation failed because of `source`, which must be safe to print.
    pub(super) fn unavailable(&self, source: Source) -> StoreError {
        StoreError::Unavailable {
            operation: self.operation,
            source,
        }
    }
}

/// What follows from a failed request.
pub(super) enum Failure {
    /// Its condition does not hold; the item as it is, where it was asked for.
    Condition(Option<Item>),
    /// It was surely not applied and the next try may be; nobody has tried again yet.
    Conflict,
    /// It was surely not applied, and the SDK has tried again for long enough: tries times tries would make a storm of
    /// an overload, and a webhook would be answered too late.
    Throttled,
    /// Anything else.
    Other,
}

/// An operation's error that knows what follows from it.
pub(super) trait Judged: ProvideErrorMetadata {
    /// What follows from it.
    fn judge(&self) -> Failure {
        by_code(self.code())
    }
}

impl Judged for BatchWriteItemError {}
impl Judged for GetItemError {}
impl Judged for QueryError {}

impl Judged for PutItemError {
    fn judge(&self) -> Failure {
        match self {
            Self::ConditionalCheckFailedException(failed) => {
                Failure::Condition(failed.item.clone())
            }
            other => by_code(other.code()),
        }
    }
}

impl Judged for UpdateItemError {
    fn judge(&self) -> Failure {
        match self {
            Self::ConditionalCheckFailedException(failed) => {
                Failure::Condition(failed.item.clone())
            }
            other => by_code(other.code()),
        }
    }
}

impl Judged for DeleteItemError {
    fn judge(&self) -> Failure {
        match self {
            Self::ConditionalCheckFailedException(failed) => {
                Failure::Condition(failed.item.clone())
            }
            other => by_code(other.code()),
        }
    }
}

impl Judged for TransactGetItemsError {
    fn judge(&self) -> Failure {
        match self {
            Self::TransactionCanceledException(cancelled) => {
                by_reasons(cancelled.cancellation_reasons())
            }
            other => by_code(other.code()),
        }
    }
}

impl Judged for TransactWriteItemsError {
    fn judge(&self) -> Failure {
        match self {
            Self::TransactionCanceledException(cancelled) => {
                by_reasons(cancelled.cancellation_reasons())
            }
            other => by_code(other.code()),
        }
    }
}

fn by_code(code: Option<&str>) -> Failure {
    match code {
        Some("TransactionConflictException") => Failure::Conflict,
        Some(
            "TransactionInProgressException"
            | "ThrottlingException"
            | "ProvisionedThroughputExceededException"
            | "RequestLimitExceeded",
        ) => Failure::Throttled,
        // Another transaction went under this token: only one of the two can have been applied.
        Some("IdempotentParameterMismatchException") => Failure::Condition(None),
        _ => Failure::Other,
    }
}

/// A failed condition is final, whatever else went wrong beside it.
fn by_reasons(reasons: &[CancellationReason]) -> Failure {
    let codes = || reasons.iter().filter_map(CancellationReason::code);
    if codes().any(|code| code == "ConditionalCheckFailed") {
        return Failure::Condition(None);
    }
    let transient = |code: &str| {
        matches!(
            code,
            "TransactionConflict" | "ThrottlingError" | "ProvisionedThroughputExceeded"
        )
    };
    if codes().any(transient) {
        Failure::Conflict
    } else {
        Failure::Other
    }
}

/// A failure in words that are safe to print anywhere.
#[derive(Debug)]
struct Redacted(String);

impl fmt::Display for Redacted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Redacted {}

/// An error in our own words, which must hold nothing of an item.
pub(super) fn plain(words: impl Into<String>) -> Source {
    Box::new(Redacted(words.into()))
}

/// The SDK's error without anything an item or a key could be read from.
pub(super) fn redact<E, R>(call: &Call<'_>, error: &SdkError<E, R>) -> StoreError
where
    E: ProvideErrorMetadata + Error + 'static,
    SdkError<E, R>: RequestId,
{
    let words = match error {
        SdkError::ServiceError(refused) => {
            let code = refused.err().code().unwrap_or("an error without a code");
            let id = error.request_id().unwrap_or("none");
            format!("{} (request id {id})", explain(call, code))
        }
        SdkError::TimeoutError(_) => "no answer in time".to_owned(),
        SdkError::DispatchFailure(failed) if failed.is_timeout() => "no answer in time".to_owned(),
        SdkError::DispatchFailure(failed) => {
            let cause = failed.as_connector_error().and_then(io_kind).map_or_else(
                || "check region, credentials and endpoint".to_owned(),
                |kind| kind.to_string(),
            );
            format!("the request did not get through: {cause}")
        }
        SdkError::ResponseError(_) => "the answer could not be read".to_owned(),
        _ => "the request could not be built".to_owned(),
    };
    call.unavailable(plain(words))
}

/// The code, with what to do about it where that is known.
fn explain(call: &Call<'_>, code: &str) -> String {
    let Call { action, table, .. } = call;
    match code {
        "ResourceNotFoundException" => format!(
            "{code}: table {table} does not exist: set RECADO_TABLE to the stack's table, in its region"
        ),
        "AccessDeniedException" => {
            let rights = rights(action);
            format!("{code}: not allowed: the role needs {rights} on table {table} and its indexes")
        }
        "UnrecognizedClientException"
        | "InvalidSignatureException"
        | "ExpiredTokenException"
        | "MissingAuthenticationTokenException" => {
            format!("{code}: the AWS credentials are missing, wrong or too old")
        }
        code => format!("{action} gave {code}"),
    }
}

/// What a policy has to allow for a request: a transaction has no right of its own, only those of its parts.
fn rights(action: &str) -> String {
    match action {
        "TransactGetItems" => "dynamodb:GetItem".to_owned(),
        "TransactWriteItems" => {
            "dynamodb:ConditionCheckItem, dynamodb:DeleteItem, dynamodb:PutItem and dynamodb:UpdateItem".to_owned()
        }
        action => format!("dynamodb:{action}"),
    }
}

/// The kind of the input or output error at the root of `error`.
fn io_kind(error: &(impl Error + 'static)) -> Option<std::io::ErrorKind> {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(io) = error.downcast_ref::<std::io::Error>() {
            return Some(io.kind());
        }
        cause = error.source();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reasons(codes: &[&str]) -> Vec<CancellationReason> {
        codes
            .iter()
            .map(|code| CancellationReason::builder().code(*code).build())
            .collect()
    }

    #[test]
    fn only_a_failed_condition_fences() {
        for (label, codes, lost, again) in [
            (
                "a condition",
                &["None", "ConditionalCheckFailed"][..],
                true,
                false,
            ),
            (
                "a conflict",
                &["TransactionConflict", "None"][..],
                false,
                true,
            ),
            ("a throttle", &["ThrottlingError"][..], false, true),
            (
                "a conflict beside a condition",
                &["TransactionConflict", "ConditionalCheckFailed"][..],
                true,
                false,
            ),
            (
                "too large",
                &["ItemCollectionSizeLimitExceeded"][..],
                false,
                false,
            ),
            ("no reason", &[][..], false, false),
        ] {
            let failure = by_reasons(&reasons(codes));
            assert_eq!(matches!(failure, Failure::Condition(_)), lost, "{label}");
            assert_eq!(matches!(failure, Failure::Conflict), again, "{label}");
        }
    }

    #[test]
    fn what_the_sdk_has_tried_again_is_told_from_what_nobody_has() {
        for (code, throttled, conflict) in [
            ("ThrottlingException", true, false),
            ("ProvisionedThroughputExceededException", true, false),
            ("RequestLimitExceeded", true, false),
            ("TransactionInProgressException", true, false),
            ("TransactionConflictException", false, true),
            ("InternalServerError", false, false),
        ] {
            let failure = by_code(Some(code));
            assert_eq!(matches!(failure, Failure::Throttled), throttled, "{code}");
            assert_eq!(matches!(failure, Failure::Conflict), conflict, "{code}");
        }
    }

    #[test]
    fn what_the_operator_can_mend_says_how() {
        let call = Call {
            operation: "commit",
            action: "TransactWriteItems",
            table: "recado",
            is_patient: false,
        };
        let missing = explain(&call, "ResourceNotFoundException");
        assert!(missing.contains("table recado does not exist: set RECADO_TABLE"));
        let denied = explain(&call, "AccessDeniedException");
        assert!(denied.contains("the role needs dynamodb:ConditionCheckItem"));
    }
}
