//! The installation's secrets: read from Secrets Manager, kept for minutes, read again when a provider refuses them.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use aws_sdk_secretsmanager::Client;
use aws_sdk_secretsmanager::error::{ProvideErrorMetadata, SdkError};
use tokio::sync::Mutex;

use crate::domain::Timestamp;
use crate::error::Source;
use crate::ports::Clock;

/// How long a value is used before it is read again.
const FRESH_FOR: Duration = Duration::from_mins(5);
/// Two reads are never closer than this, or a stream of bad signatures would become a stream of reads.
const READ_GAP: Duration = Duration::from_mins(1);

/// Why there are no secrets. Each text names the secret and the fix, and shows no value.
#[derive(Debug, thiserror::Error)]
pub enum SecretsError {
    /// It could not be read.
    #[error("secret {id}: {problem}")]
    Unreadable {
        /// Its name or ARN.
        id: String,
        /// What is wrong and what to do.
        problem: &'static str,
        /// The SDK's own error.
        #[source]
        source: Option<Source>,
    },
    /// It was read and is not what it should be.
    #[error("secret {id}: {problem}")]
    Malformed {
        /// Its name or ARN.
        id: String,
        /// Which key, and what to put there.
        problem: String,
    },
}

/// A place that holds the secrets as one text.
#[async_trait]
pub trait SecretText: Send + Sync {
    /// What it is called, for errors.
    fn id(&self) -> &str;
    /// Reads the text.
    async fn read(&self) -> Result<String, SecretsError>;
}

/// Gives the secrets, as `parse` understands them.
pub struct SecretsProvider<T> {
    origin: Origin<T>,
}

enum Origin<T> {
    Fixed(Arc<T>),
    Read {
        text: Box<dyn SecretText>,
        parse: fn(&str) -> Result<T, String>,
        clock: Arc<dyn Clock>,
        cache: Mutex<Cache<T>>,
    },
}

struct Cache<T> {
    /// The last good value.
    good: Option<Arc<T>>,
    /// When a read was last tried, with or without success.
    tried_at: Option<Timestamp>,
    /// When the last good value was read.
    read_at: Option<Timestamp>,
}

impl<T: Send + Sync> SecretsProvider<T> {
    /// Gives this value for ever: a local run has its secrets from the environment.
    pub fn fixed(value: T) -> Self {
        Self {
            origin: Origin::Fixed(Arc::new(value)),
        }
    }

    /// Reads `text` when it is first needed, and again as it ages.
    pub fn reading(
        text: impl SecretText + 'static,
        parse: fn(&str) -> Result<T, String>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let cache = Mutex::new(Cache {
            good: None,
            tried_at: None,
            read_at: None,
        });
        Self {
            origin: Origin::Read {
                text: Box::new(text),
                parse,
                clock,
                cache,
            },
        }
    }

    /// The secrets, at most five minutes old; older only while they cannot be read.
    pub async fn current(&self) -> Result<Arc<T>, SecretsError> {
        self.not_older_than(FRESH_FOR).await
    }

    /// The secrets read anew, for a provider that refused them (a 401, a bad signature). At most one
    /// read a minute: where the last is younger, its value is given again.
    pub async fn refresh(&self) -> Result<Arc<T>, SecretsError> {
        self.not_older_than(READ_GAP).await
    }

    async fn not_older_than(&self, age_max: Duration) -> Result<Arc<T>, SecretsError> {
        let (text, parse, clock, cache) = match &self.origin {
            Origin::Fixed(value) => return Ok(value.clone()),
            Origin::Read {
                text,
                parse,
                clock,
                cache,
            } => (text, parse, clock, cache),
        };
        // Held across the read on purpose: who comes meanwhile waits for its result, and reads nothing.
        let mut cache = cache.lock().await;
        let now = clock.now();
        let is_within = |at: Option<Timestamp>, span| at.is_some_and(|at| now.since(at) < span);
        if let Some(good) = &cache.good
            && (is_within(cache.read_at, age_max) || is_within(cache.tried_at, READ_GAP))
        {
            return Ok(good.clone());
        }
        cache.tried_at = Some(now);
        let read = text.read().await.and_then(|read| {
            parse(&read).map_err(|problem| SecretsError::Malformed {
                id: text.id().to_owned(),
                problem,
            })
        });
        match (read, &cache.good) {
            (Ok(value), _) => {
                let value = Arc::new(value);
                cache.good = Some(value.clone());
                cache.read_at = Some(now);
                Ok(value)
            }
            (Err(error), Some(good)) => {
                tracing::warn!(error = %error, "the secrets cannot be read again; the last good ones stay in use");
                Ok(good.clone())
            }
            (Err(error), None) => Err(error),
        }
    }
}

/// One secret of AWS Secrets Manager.
#[derive(Debug, Clone)]
pub struct SecretsManagerText {
    client: Client,
    id: String,
}

impl SecretsManagerText {
    /// The current version of the secret with this name or ARN.
    pub fn new(client: Client, id: impl Into<String>) -> Self {
        Self {
            client,
            id: id.into(),
        }
    }

    fn unreadable(&self, problem: &'static str, source: Option<Source>) -> SecretsError {
        SecretsError::Unreadable {
            id: self.id.clone(),
            problem,
            source,
        }
    }
}

#[async_trait]
impl SecretText for SecretsManagerText {
    fn id(&self) -> &str {
        &self.id
    }

    async fn read(&self) -> Result<String, SecretsError> {
        let answer = self
            .client
            .get_secret_value()
            .secret_id(&self.id)
            .send()
            .await;
        let answer = answer.map_err(|error| {
            let problem = what_to_do(&error);
            self.unreadable(problem, Some(error.into()))
        })?;
        answer.secret_string.ok_or_else(|| {
            self.unreadable(
                "holds bytes instead of text; store a JSON object as its text",
                None,
            )
        })
    }
}

/// What is wrong, and what to do about it.
fn what_to_do<E: ProvideErrorMetadata, R>(error: &SdkError<E, R>) -> &'static str {
    let SdkError::ServiceError(refusal) = error else {
        return "Secrets Manager could not be reached; check the region, the credentials and the network";
    };
    match refusal.err().code().unwrap_or_default() {
        "ResourceNotFoundException" => {
            "does not exist in this account and region, or has no value yet; create it, or set \
             RECADO_SECRET_ID to its name or ARN"
        }
        "AccessDeniedException" => {
            "access denied; allow secretsmanager:GetSecretValue on it to the function's role, and \
             kms:Decrypt where it has a key of its own"
        }
        "DecryptionFailure" => {
            "cannot be decrypted; allow kms:Decrypt on its key to the function's role"
        }
        "InvalidRequestException" => {
            "is scheduled for deletion; restore it with `aws secretsmanager restore-secret`"
        }
        "UnrecognizedClientException" | "ExpiredTokenException" | "InvalidSignatureException" => {
            "the AWS credentials are wrong or have expired; renew them"
        }
        _ => "Secrets Manager refused to give it",
    }
}

#[cfg(test)]
mod tests;
