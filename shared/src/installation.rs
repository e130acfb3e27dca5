//! An installation on AWS: the ports of a function, made of its settings. The mains of the Lambdas share it.
//!
//! Nothing here ends a function. What is wrong with settings or secrets is kept and told in one line whenever the
//! function is asked for something, so that the webhook can answer 5xx, the queues keep what they hold, and all goes
//! on by itself once it is mended.

mod answering;
mod keys;

use std::sync::Arc;
use std::time::Duration;

use aws_config::timeout::TimeoutConfig;
use aws_config::{BehaviorVersion, SdkConfig};
use tokio::sync::OnceCell;

use crate::adapters::absent::{NoMessenger, NoModel, NoTools};
use crate::adapters::cached_breakers::CachedBreakers;
use crate::adapters::cached_ledger::CachedLedger;
use crate::adapters::chance::SystemChance;
use crate::adapters::clock::SystemClock;
use crate::adapters::dynamo::DynamoStore;
use crate::adapters::log_journal::LogJournal;
use crate::adapters::logging::{self, Form};
use crate::adapters::secrets::{SecretsError, SecretsManagerText, SecretsProvider};
use crate::adapters::sqs::SqsTicks;
use crate::config::roster::Roster;
use crate::config::secrets::{SecretKey, Secrets};
use crate::config::settings::{AwsSettings, Environment, SecretSource};
use crate::domain::{Hasher, Timestamp};
use crate::flow::{DeadRuns, KeptReads, World};
use crate::ports::{Agenda, Clock, Messenger, Model, Tools};

/// The agent files that were in `infra/agents` when this was built: name and text.
const BUILT_IN: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/agents.rs"));

/// One try of a request to AWS; a stalled one is tried again.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(3);
/// All tries of one request: less than ingest's own time, so that it can still say what failed.
const OPERATION_TIMEOUT: Duration = Duration::from_secs(7);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// The longest time of a function in the template.
const TIMEOUT_MAX: Duration = Duration::from_mins(2);

/// When an invocation is cut off, by the runtime's milliseconds since 1970. `cargo lambda watch` gives a span instead,
/// which would be a moment long past: there it is the template's longest time from now.
pub fn deadline(ms: u64) -> Timestamp {
    let (now, deadline) = (SystemClock.now(), Timestamp::from_ms(ms));
    if deadline < now.minus(TIMEOUT_MAX) {
        now.plus(TIMEOUT_MAX)
    } else {
        deadline
    }
}

/// What a function does, and thus which ports it has. A function that only takes in does not even hold the code of the
/// others: each main names its part, and what no main names is left out of its program.
#[derive(Clone, Copy)]
pub struct Part {
    answering: Option<MakeAnswering>,
}

type MakeAnswering = fn(&Opened, &Arc<Hasher>, Arc<dyn Agenda>) -> Result<Answering, NotReady>;

impl Part {
    /// Takes in and ticks: no model, no tool, no way to send.
    pub const TAKES: Self = Self { answering: None };
    /// Answers.
    pub const ANSWERS: Self = Self {
        answering: Some(Opened::answering),
    };
}

/// The ports by which an answer is made.
struct Answering {
    models: Arc<dyn Model>,
    tools: Arc<dyn Tools>,
    messenger: Arc<dyn Messenger>,
}

/// Why a function cannot work: a line for each thing to mend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotReady {
    /// The lines.
    pub lines: Vec<String>,
}

impl NotReady {
    fn one(line: impl Into<String>) -> Self {
        Self {
            lines: vec![line.into()],
        }
    }

    /// Tells the operator.
    pub fn log(&self) {
        for line in &self.lines {
            tracing::error!("not ready: {line}");
        }
    }
}

/// An installation, as one function of it sees it.
pub struct Installation {
    opened: Result<Opened, NotReady>,
    world: OnceCell<World>,
}

struct Opened {
    part: Part,
    settings: AwsSettings,
    agents: Arc<Roster>,
    secrets: Arc<SecretsProvider<Secrets>>,
    sdk: SdkConfig,
}

impl Installation {
    /// Starts the log and reads the settings of this process.
    pub async fn open(part: Part) -> Self {
        let timeouts = TimeoutConfig::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .operation_attempt_timeout(ATTEMPT_TIMEOUT)
            .operation_timeout(OPERATION_TIMEOUT)
            .build();
        let sdk = aws_config::defaults(BehaviorVersion::latest()).timeout_config(timeouts);
        let environment = Environment::of_process();
        logging::init(Form::Json, environment.get("RECADO_LOG"));
        Self::of(part, &environment, sdk.load().await, Arc::new(SystemClock))
    }

    /// An installation of this environment. The clock ages the secrets.
    pub fn of(
        part: Part,
        environment: &Environment,
        sdk: SdkConfig,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self {
            opened: Opened::read(part, environment, sdk, clock),
            world: OnceCell::new(),
        }
    }

    /// The ports. They need the hash key, so the secrets have to be readable once.
    pub async fn world(&self) -> Result<&World, NotReady> {
        let opened = self.opened()?;
        let world = self.world.get_or_try_init(async || opened.world().await);
        world.await
    }

    /// The secrets, read when they are needed.
    pub fn secrets(&self) -> Result<Arc<SecretsProvider<Secrets>>, NotReady> {
        Ok(Arc::clone(&self.opened()?.secrets))
    }

    /// Whether everything is there that an answer takes: a key for the model, unless the demo model was asked for,
    /// and a token to send with.
    pub async fn can_answer(&self) -> Result<(), NotReady> {
        let opened = self.opened()?;
        let secrets = opened.secrets.current().await.map_err(unreadable)?;
        if opened.check_keys(&secrets).is_ok() {
            return Ok(());
        }
        // What is missing may have been put there just now.
        let secrets = opened.secrets.refresh().await.map_err(unreadable)?;
        opened.check_keys(&secrets)
    }

    /// The agents.
    pub fn agents(&self) -> Result<&Roster, NotReady> {
        Ok(&self.opened()?.agents)
    }

    fn opened(&self) -> Result<&Opened, NotReady> {
        self.opened.as_ref().map_err(Clone::clone)
    }
}

impl Opened {
    fn read(
        part: Part,
        environment: &Environment,
        sdk: SdkConfig,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, NotReady> {
        let settings =
            AwsSettings::read(environment).map_err(|error| NotReady { lines: error.lines })?;
        for warning in &settings.warnings {
            tracing::warn!("{warning}");
        }
        let agents = read_agents(&settings)
            .and_then(|agents| agents.check_delay(settings.ticks_delay).map(|()| agents))
            .map_err(|lines| NotReady { lines })?;
        if part.answering.is_some() {
            agents
                .warnings()
                .for_each(|warning| tracing::warn!("{warning}"));
        }
        let lacking = settings.models.lacking(&agents);
        // Whoever only takes in goes on: the messages wait in the table until this is mended.
        if part.answering.is_some() && !settings.is_demo && !lacking.is_empty() {
            return Err(NotReady { lines: lacking });
        }
        let secrets = match &settings.secrets {
            SecretSource::Given(secrets) => SecretsProvider::fixed(secrets.clone()),
            SecretSource::Stored(id) => {
                let client = aws_sdk_secretsmanager::Client::new(&sdk);
                let text = SecretsManagerText::new(client, id);
                SecretsProvider::reading(text, Secrets::parse, clock)
            }
        };
        Ok(Self {
            part,
            settings,
            agents: Arc::new(agents),
            secrets: Arc::new(secrets),
            sdk,
        })
    }

    /// What the secret is called.
    fn place(&self) -> String {
        match &self.settings.secrets {
            SecretSource::Stored(id) => format!("secret {id}"),
            SecretSource::Given(_) => "RECADO_SECRET_JSON".to_owned(),
        }
    }

    async fn world(&self) -> Result<World, NotReady> {
        let mut secrets = self.secrets.current().await.map_err(unreadable)?;
        if secrets.get(SecretKey::HashKey).is_none() {
            // It may have been put there just now.
            secrets = self.secrets.refresh().await.map_err(unreadable)?;
        }
        for warning in secrets.warnings() {
            tracing::warn!("{warning}");
        }
        if self.part.answering.is_some() {
            self.tell_missing_tool_secrets(&secrets);
        }
        let key = self.require(&secrets, SecretKey::HashKey)?;
        let hasher = Arc::new(Hasher::new(key.as_bytes()));
        let settings = &self.settings;
        let dynamo = aws_sdk_dynamodb::Client::new(&self.sdk);
        let sqs = aws_sdk_sqs::Client::new(&self.sdk);
        let ticks = SqsTicks::new(
            sqs,
            &settings.ticks_queue_url,
            &settings.compactions_queue_url,
            Arc::clone(&hasher),
        );
        let store = DynamoStore::new(dynamo, &settings.table, Arc::clone(&hasher));
        let store = Arc::new(store);
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let Answering {
            models,
            tools,
            messenger,
        } = match self.part.answering {
            None => Answering {
                models: Arc::new(NoModel),
                tools: Arc::new(NoTools),
                messenger: Arc::new(NoMessenger),
            },
            Some(answering) => answering(self, &hasher, store.clone())?,
        };
        Ok(World {
            breakers: Arc::new(CachedBreakers::new(store.clone(), Arc::clone(&clock))),
            ledger: Arc::new(CachedLedger::new(store.clone(), Arc::clone(&clock))),
            store,
            ticks: Arc::new(ticks),
            models,
            tools,
            messenger,
            clock,
            chance: Arc::new(SystemChance),
            agents: self.agents.clone(),
            journal: Arc::new(LogJournal::new(Arc::clone(&hasher))),
            hasher,
            dead_runs: DeadRuns::default(),
            kept_reads: KeptReads::default(),
        })
    }

    fn check_keys(&self, secrets: &Secrets) -> Result<(), NotReady> {
        if !self.settings.is_demo {
            self.check_model_keys(secrets)?;
        }
        self.require(secrets, SecretKey::MetaAccessToken)?;
        Ok(())
    }

    fn require<'s>(&self, secrets: &'s Secrets, key: SecretKey) -> Result<&'s str, NotReady> {
        match secrets.require(key) {
            Ok(secret) => Ok(secret.reveal()),
            Err(missing) => Err(NotReady::one(format!("{}: {missing}", self.place()))),
        }
    }
}

fn read_agents(settings: &AwsSettings) -> Result<Roster, Vec<String>> {
    if settings.agent_files.is_empty() && !BUILT_IN.is_empty() {
        return Roster::of_texts(BUILT_IN, &settings.overrides);
    }
    Roster::load(&settings.agent_files, &settings.overrides)
}

#[expect(clippy::needless_pass_by_value, reason = "as `map_err` hands it over")]
fn unreadable(error: SecretsError) -> NotReady {
    NotReady::one(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_is_taken_as_it_is_unless_it_is_a_span() {
        let soon = SystemClock.now().plus(Duration::from_secs(9));
        assert_eq!(deadline(soon.ms()), soon);
        let over = SystemClock.now().minus(Duration::from_secs(1));
        assert_eq!(deadline(over.ms()), over);
        assert!(deadline(600_000) > soon);
    }
}
