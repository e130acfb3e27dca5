//! All queues of the server, and what goes from one to another: dead letters and their redrive. Pure, as the queues are.

use std::collections::{BTreeMap, BTreeSet};

use super::message::ranged;
use super::names::{ACCOUNT, arn, name_in_arn, name_in_url};
use super::queue::Queue;
use super::refusal::{Code, Refusal};
use super::settings::Settings;
use super::stored::Delivery;

/// Most messages one receive gives.
const RECEIVED_MAX: u32 = 10;
/// Longest visibility timeout.
const VISIBILITY_S_MAX: u32 = 43_200;

/// The queues of one server, by name.
#[derive(Debug)]
pub struct Queues {
    url: String,
    by_name: BTreeMap<String, Queue>,
    generation: u64,
}

/// What a receive gives.
#[derive(Debug, Default)]
pub struct Received {
    /// The messages, now held by this receive.
    pub deliveries: Vec<Delivery>,
    /// Whether dead letters went to another queue, where someone may wait for them.
    pub moved: bool,
}

impl Queues {
    /// No queues yet; their URLs will begin with the server's.
    pub fn new(server_url: &str) -> Self {
        let url = format!("{}/{ACCOUNT}", server_url.trim_end_matches('/'));
        Self {
            url,
            by_name: BTreeMap::new(),
            generation: 0,
        }
    }

    /// The URL of the queue of this name.
    pub fn url_of(&self, name: &str) -> String {
        format!("{}/{name}", self.url)
    }

    /// The queue a URL names. The host is not looked at: one server has several names.
    pub fn by_url(&mut self, url: &str) -> Result<&mut Queue, Refusal> {
        let name = name_in_url(url)?.to_owned();
        self.by_name(&name)
    }

    /// The queue of this name.
    pub fn by_name(&mut self, name: &str) -> Result<&mut Queue, Refusal> {
        self.by_name.get_mut(name).ok_or_else(no_queue)
    }

    /// The names, in order, that begin with the prefix.
    pub fn names(&self, prefix: &str) -> impl Iterator<Item = &str> {
        self.by_name
            .keys()
            .map(String::as_str)
            .filter(move |name| name.starts_with(prefix))
    }

    /// Creates a queue. One of the same name is left as it is if each given attribute is the same, and refused otherwise.
    pub fn create(
        &mut self,
        name: &str,
        attributes: &BTreeMap<String, String>,
        now: u64,
    ) -> Result<(), Refusal> {
        if let Some(existing) = self.by_name.get(name) {
            let mut wanted = existing.settings().clone();
            wanted.apply(attributes)?;
            return if wanted == *existing.settings() {
                Ok(())
            } else {
                Err(name_taken())
            };
        }
        let settings = Settings::parse(name, attributes)?;
        self.check_dead_letter_queue(&settings)?;
        self.generation += 1;
        self.by_name.insert(
            name.to_owned(),
            Queue::new(name, settings, self.generation, now),
        );
        Ok(())
    }

    /// Changes attributes of a queue, all or nothing.
    pub fn configure(
        &mut self,
        url: &str,
        attributes: &BTreeMap<String, String>,
        now: u64,
    ) -> Result<(), Refusal> {
        let mut settings = self.by_url(url)?.settings().clone();
        settings.apply(attributes)?;
        self.check_dead_letter_queue(&settings)?;
        self.by_url(url)?.configure(settings, now);
        Ok(())
    }

    /// Deletes a queue with all it holds.
    pub fn remove(&mut self, url: &str) -> Result<(), Refusal> {
        self.by_name
            .remove(name_in_url(url)?)
            .map(drop)
            .ok_or_else(no_queue)
    }

    /// Gives out up to `limit` messages (1 when none is named), moving what was received too often to the dead-letter queue.
    pub fn receive(
        &mut self,
        url: &str,
        limit: Option<i64>,
        visibility_s: Option<i64>,
        now: u64,
    ) -> Result<Received, Refusal> {
        let limit = ranged("MaxNumberOfMessages", limit.unwrap_or(1), 1, RECEIVED_MAX)?;
        let visibility_s = visibility_s
            .map(|seconds| ranged("VisibilityTimeout", seconds, 0, VISIBILITY_S_MAX))
            .transpose()?;
        let redrive = self.by_url(url)?.settings().redrive.clone();
        // A dead-letter queue that was deleted cannot take anything: then the messages stay.
        let redrive = redrive.filter(|redrive| self.by_name.contains_key(&redrive.target));
        let queue = self.by_url(url)?;
        let visibility_s = visibility_s.unwrap_or(queue.settings().visibility_s);
        let receives_max = redrive.as_ref().map(|redrive| redrive.receives_max);
        let found = queue.receive(limit as usize, visibility_s, receives_max, now);
        let source = queue.name().to_owned();
        let moved = !found.dead.is_empty();
        if let Some(target) = redrive.and_then(|redrive| self.by_name.get_mut(&redrive.target)) {
            for stored in found.dead {
                target.bury(stored, &source, now);
            }
        }
        Ok(Received {
            deliveries: found.deliveries,
            moved,
        })
    }

    /// Moves what is not in flight out of a dead-letter queue, to the named queue or each to where it came from. At once: what
    /// SQS does over time is here done when this returns. Gives the number moved.
    pub fn redrive(
        &mut self,
        source_arn: &str,
        destination_arn: Option<&str>,
        now: u64,
    ) -> Result<usize, Refusal> {
        let source = self
            .known(source_arn)
            .ok_or_else(|| no_resource("SourceArn"))?;
        if !self.is_dead_letter_queue(&source) {
            return Err(Refusal::new(
                Code::InvalidParameterValue,
                "Source queue must be configured as a Dead Letter Queue.",
            ));
        }
        let destination = match destination_arn {
            Some(arn) => Some(
                self.known(arn)
                    .ok_or_else(|| no_resource("DestinationArn"))?,
            ),
            None => None,
        };
        self.check_same_kind(&source, destination.as_deref())?;
        let existing: BTreeSet<String> = self.by_name.keys().cloned().collect();
        let has_home = |origin: Option<&str>| {
            destination.is_some() || origin.is_some_and(|name| existing.contains(name))
        };
        // What was sent here directly, or whose queue is gone, stays.
        let leaving = self.by_name(&source)?.take_idle(has_home, now);
        let moved = leaving.len();
        for stored in leaving {
            let home = destination
                .clone()
                .or_else(|| stored.origin().map(str::to_owned));
            if let Some(queue) = home.and_then(|name| self.by_name.get_mut(&name)) {
                queue.revive(stored, now);
            }
        }
        Ok(moved)
    }

    fn known(&self, arn: &str) -> Option<String> {
        name_in_arn(arn)
            .filter(|name| self.by_name.contains_key(*name))
            .map(str::to_owned)
    }

    fn is_dead_letter_queue(&self, name: &str) -> bool {
        let points_here = |queue: &Queue| {
            queue
                .settings()
                .redrive
                .as_ref()
                .is_some_and(|to| to.target == name)
        };
        self.by_name.values().any(points_here)
    }

    fn check_same_kind(&self, source: &str, destination: Option<&str>) -> Result<(), Refusal> {
        let kind = |name: &str| self.by_name.get(name).map(|queue| queue.settings().fifo);
        if destination.is_some_and(|name| name == source || kind(name) != kind(source)) {
            return Err(Refusal::new(
                Code::InvalidParameterValue,
                "Source and destination must be two queues of the same type.",
            ));
        }
        Ok(())
    }

    fn check_dead_letter_queue(&self, settings: &Settings) -> Result<(), Refusal> {
        let Some(redrive) = &settings.redrive else {
            return Ok(());
        };
        let refused = |reason| Refusal::value("RedrivePolicy", arn(&redrive.target), reason);
        match self.by_name.get(&redrive.target) {
            None => Err(refused("Dead letter target does not exist.")),
            Some(target) if target.settings().fifo != settings.fifo => Err(refused(
                "Dead-letter queue must be same type of queue as the source.",
            )),
            Some(_) => Ok(()),
        }
    }
}

fn no_queue() -> Refusal {
    Refusal::new(
        Code::QueueDoesNotExist,
        "The specified queue does not exist.",
    )
}

fn no_resource(parameter: &str) -> Refusal {
    let reason =
        format!("The resource that you specified for the {parameter} parameter doesn't exist.");
    Refusal::new(Code::ResourceNotFound, reason)
}

fn name_taken() -> Refusal {
    Refusal::new(
        Code::QueueNameExists,
        "A queue already exists with the same name and a different value for an attribute.",
    )
}
