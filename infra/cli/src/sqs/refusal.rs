//! What the server answers instead of a result: SQS's own error names, so that every SDK maps them to its own types.

use thiserror::Error;

/// Why a request was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// Two entries of a batch share an id.
    BatchEntryIdsNotDistinct,
    /// The bodies of a batch are together over the limit.
    BatchRequestTooLong,
    /// A batch without entries.
    EmptyBatchRequest,
    /// An HTTP method or a body form that the JSON protocol does not have.
    Serialization,
    /// A queue URL that cannot be one of ours.
    InvalidAddress,
    /// An attribute that does not exist, or not for this kind of queue.
    InvalidAttributeName,
    /// An attribute whose value is out of its range.
    InvalidAttributeValue,
    /// A batch entry's id breaks the rules for ids.
    InvalidBatchEntryId,
    /// A body with characters that XML 1.0 forbids.
    InvalidMessageContents,
    /// A parameter whose value is out of its range.
    InvalidParameterValue,
    /// A visibility change of a message that nobody holds.
    MessageNotInflight,
    /// A parameter that must be there is not.
    MissingParameter,
    /// No queue of that name.
    QueueDoesNotExist,
    /// A queue of that name exists with other attributes.
    QueueNameExists,
    /// A receipt handle that this queue never gave out.
    ReceiptHandleIsInvalid,
    /// A named resource (the source of a redrive) is not there.
    ResourceNotFound,
    /// More than ten entries in a batch.
    TooManyEntriesInBatchRequest,
    /// An action SQS does not have.
    UnknownOperation,
    /// Something SQS has and this server does not.
    UnsupportedOperation,
}

impl Code {
    /// The JSON protocol's `__type`, the older query protocol's code (which clients report), and the HTTP status.
    pub fn wire(self) -> (&'static str, &'static str, u16) {
        match self {
            Self::BatchEntryIdsNotDistinct => (
                "com.amazonaws.sqs#BatchEntryIdsNotDistinct",
                "AWS.SimpleQueueService.BatchEntryIdsNotDistinct",
                400,
            ),
            Self::BatchRequestTooLong => (
                "com.amazonaws.sqs#BatchRequestTooLong",
                "AWS.SimpleQueueService.BatchRequestTooLong",
                400,
            ),
            Self::EmptyBatchRequest => (
                "com.amazonaws.sqs#EmptyBatchRequest",
                "AWS.SimpleQueueService.EmptyBatchRequest",
                400,
            ),
            Self::Serialization => (
                "com.amazon.coral.service#SerializationException",
                "SerializationException",
                400,
            ),
            Self::InvalidAddress => ("com.amazonaws.sqs#InvalidAddress", "InvalidAddress", 404),
            Self::InvalidAttributeName => (
                "com.amazonaws.sqs#InvalidAttributeName",
                "InvalidAttributeName",
                400,
            ),
            Self::InvalidAttributeValue => (
                "com.amazonaws.sqs#InvalidAttributeValue",
                "InvalidAttributeValue",
                400,
            ),
            Self::InvalidBatchEntryId => (
                "com.amazonaws.sqs#InvalidBatchEntryId",
                "AWS.SimpleQueueService.InvalidBatchEntryId",
                400,
            ),
            Self::InvalidMessageContents => (
                "com.amazonaws.sqs#InvalidMessageContents",
                "InvalidMessageContents",
                400,
            ),
            Self::InvalidParameterValue => (
                "com.amazon.coral.service#InvalidParameterValueException",
                "InvalidParameterValue",
                400,
            ),
            Self::MessageNotInflight => (
                "com.amazonaws.sqs#MessageNotInflight",
                "AWS.SimpleQueueService.MessageNotInflight",
                400,
            ),
            Self::MissingParameter => (
                "com.amazon.coral.service#MissingRequiredParameterException",
                "MissingParameter",
                400,
            ),
            Self::QueueDoesNotExist => (
                "com.amazonaws.sqs#QueueDoesNotExist",
                "AWS.SimpleQueueService.NonExistentQueue",
                400,
            ),
            Self::QueueNameExists => (
                "com.amazonaws.sqs#QueueNameExists",
                "QueueAlreadyExists",
                400,
            ),
            Self::ReceiptHandleIsInvalid => (
                "com.amazonaws.sqs#ReceiptHandleIsInvalid",
                "ReceiptHandleIsInvalid",
                404,
            ),
            Self::ResourceNotFound => (
                "com.amazonaws.sqs#ResourceNotFoundException",
                "ResourceNotFoundException",
                404,
            ),
            Self::TooManyEntriesInBatchRequest => (
                "com.amazonaws.sqs#TooManyEntriesInBatchRequest",
                "AWS.SimpleQueueService.TooManyEntriesInBatchRequest",
                400,
            ),
            Self::UnknownOperation => (
                "com.amazon.coral.service#UnknownOperationException",
                "InvalidAction",
                400,
            ),
            Self::UnsupportedOperation => (
                "com.amazonaws.sqs#UnsupportedOperation",
                "AWS.SimpleQueueService.UnsupportedOperation",
                400,
            ),
        }
    }
}

/// A request refused: SQS's code and one sentence for whoever reads the log.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{code:?}: {message}")]
pub struct Refusal {
    /// Which of SQS's errors this is.
    pub code: Code,
    /// The reason, in a sentence.
    pub message: String,
}

impl Refusal {
    /// A refusal with this code and reason.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }

    /// A parameter whose value cannot be taken, in SQS's own sentence.
    pub fn value(parameter: &str, value: impl std::fmt::Display, reason: &str) -> Self {
        Self::new(
            Code::InvalidParameterValue,
            format!("Value {value} for parameter {parameter} is invalid. Reason: {reason}"),
        )
    }

    /// A parameter that is not there.
    pub fn missing(parameter: &str) -> Self {
        Self::new(
            Code::MissingParameter,
            format!("The request must contain the parameter {parameter}."),
        )
    }

    /// Something SQS has and this server does not: said, never passed over.
    pub fn unsupported(what: &str) -> Self {
        Self::new(
            Code::UnsupportedOperation,
            format!("The local SQS does not support {what}."),
        )
    }
}
