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
    /// A request body that cannot be read.
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
    /// The JSON protocol's `__type`.
    pub fn kind(self) -> &'static str {
        match self {
            Self::BatchEntryIdsNotDistinct => "com.amazonaws.sqs#BatchEntryIdsNotDistinct",
            Self::BatchRequestTooLong => "com.amazonaws.sqs#BatchRequestTooLong",
            Self::EmptyBatchRequest => "com.amazonaws.sqs#EmptyBatchRequest",
            Self::Serialization => "com.amazon.coral.service#SerializationException",
            Self::InvalidAddress => "com.amazonaws.sqs#InvalidAddress",
            Self::InvalidAttributeName => "com.amazonaws.sqs#InvalidAttributeName",
            Self::InvalidAttributeValue => "com.amazonaws.sqs#InvalidAttributeValue",
            Self::InvalidBatchEntryId => "com.amazonaws.sqs#InvalidBatchEntryId",
            Self::InvalidMessageContents => "com.amazonaws.sqs#InvalidMessageContents",
            Self::InvalidParameterValue => {
                "com.amazon.coral.service#InvalidParameterValueException"
            }
            Self::MessageNotInflight => "com.amazonaws.sqs#MessageNotInflight",
            Self::MissingParameter => "com.amazon.coral.service#MissingRequiredParameterException",
            Self::QueueDoesNotExist => "com.amazonaws.sqs#QueueDoesNotExist",
            Self::QueueNameExists => "com.amazonaws.sqs#QueueNameExists",
            Self::ReceiptHandleIsInvalid => "com.amazonaws.sqs#ReceiptHandleIsInvalid",
            Self::ResourceNotFound => "com.amazonaws.sqs#ResourceNotFoundException",
            Self::TooManyEntriesInBatchRequest => "com.amazonaws.sqs#TooManyEntriesInBatchRequest",
            Self::UnknownOperation => "com.amazon.coral.service#UnknownOperationException",
            Self::UnsupportedOperation => "com.amazonaws.sqs#UnsupportedOperation",
        }
    }

    /// The code of the older query protocol, which clients report.
    pub fn query_code(self) -> &'static str {
        match self {
            Self::BatchEntryIdsNotDistinct => "AWS.SimpleQueueService.BatchEntryIdsNotDistinct",
            Self::BatchRequestTooLong => "AWS.SimpleQueueService.BatchRequestTooLong",
            Self::EmptyBatchRequest => "AWS.SimpleQueueService.EmptyBatchRequest",
            Self::Serialization => "SerializationException",
            Self::InvalidAddress => "InvalidAddress",
            Self::InvalidAttributeName => "InvalidAttributeName",
            Self::InvalidAttributeValue => "InvalidAttributeValue",
            Self::InvalidBatchEntryId => "AWS.SimpleQueueService.InvalidBatchEntryId",
            Self::InvalidMessageContents => "InvalidMessageContents",
            Self::InvalidParameterValue => "InvalidParameterValue",
            Self::MessageNotInflight => "AWS.SimpleQueueService.MessageNotInflight",
            Self::MissingParameter => "MissingParameter",
            Self::QueueDoesNotExist => "AWS.SimpleQueueService.NonExistentQueue",
            Self::QueueNameExists => "QueueAlreadyExists",
            Self::ReceiptHandleIsInvalid => "ReceiptHandleIsInvalid",
            Self::ResourceNotFound => "ResourceNotFoundException",
            Self::TooManyEntriesInBatchRequest => {
                "AWS.SimpleQueueService.TooManyEntriesInBatchRequest"
            }
            Self::UnknownOperation => "InvalidAction",
            Self::UnsupportedOperation => "AWS.SimpleQueueService.UnsupportedOperation",
        }
    }

    /// The HTTP status.
    pub fn status(self) -> u16 {
        match self {
            Self::InvalidAddress | Self::ReceiptHandleIsInvalid | Self::ResourceNotFound => 404,
            _ => 400,
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
