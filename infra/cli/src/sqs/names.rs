//! What a queue is called: its name, its ARN, its URL. One account and one region, for all is local.

use super::refusal::{Code, Refusal};

/// Every queue belongs to this account.
pub const ACCOUNT: &str = "000000000000";
/// Every queue lives in this region.
pub const REGION: &str = "us-east-1";

/// The ARN of the queue of this name.
pub fn arn(name: &str) -> String {
    format!("arn:aws:sqs:{REGION}:{ACCOUNT}:{name}")
}

/// The name in an ARN, if it is one of ours.
pub fn name_in_arn(arn: &str) -> Option<&str> {
    arn.strip_prefix("arn:aws:sqs:")?
        .strip_prefix(REGION)?
        .strip_prefix(':')?
        .strip_prefix(ACCOUNT)?
        .strip_prefix(':')
}

/// The name in a queue's URL. The host is not looked at: one server has several names.
pub fn name_in_url(url: &str) -> Result<&str, Refusal> {
    if url.is_empty() {
        return Err(Refusal::missing("QueueUrl"));
    }
    let mut parts = url.rsplit('/');
    match (parts.next(), parts.next()) {
        (Some(name), Some(ACCOUNT)) if !name.is_empty() => Ok(name),
        _ => Err(Refusal::new(
            Code::InvalidAddress,
            format!("The address {url} is not valid for this endpoint."),
        )),
    }
}

/// Refuses a name that no queue of this kind can have.
pub fn check_name(name: &str, fifo: bool) -> Result<(), Refusal> {
    let stem = if fifo {
        name.strip_suffix(".fifo").unwrap_or("")
    } else {
        name
    };
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !stem.is_empty() && name.len() <= 80 && stem.chars().all(allowed) {
        return Ok(());
    }
    Err(Refusal::new(
        Code::InvalidParameterValue,
        "The name of a queue can only include alphanumeric characters, hyphens, or underscores, 1 to 80 in length; \
         that of a FIFO queue, and no other, ends in .fifo, and FifoQueue is then true.",
    ))
}
