//! A model that is left out for a while, as every process of the installation knows of it, and why a model is asked.

use super::ids::RunId;
use super::time::Timestamp;
use crate::error::ModelErrorClass;

/// An open breaker. One that is closed is not there at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Breaker {
    /// How the model failed last.
    pub class: ModelErrorClass,
    /// When it was left out first, in this incident.
    pub since: Timestamp,
    /// Nobody asks it before then; then one run does.
    pub open_until: Timestamp,
    /// Tells this transition from every other.
    pub mark: RunId,
}

/// Why a run asks this model and no other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Chosen {
    /// It is the one the run begins with.
    First,
    /// The one before it failed in this run, like this.
    Fallback(ModelErrorClass),
    /// The one before it is left out for a while, since it failed like this.
    BreakerOpen(ModelErrorClass),
    /// It was left out, and this run tries whether it is back.
    Probe,
}

impl Chosen {
    /// The word told to the operator.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Fallback(_) => "fallback",
            Self::BreakerOpen(_) => "breaker_open",
            Self::Probe => "probe",
        }
    }

    /// How the model before it failed, where one did.
    pub const fn after(self) -> Option<ModelErrorClass> {
        match self {
            Self::Fallback(class) | Self::BreakerOpen(class) => Some(class),
            Self::First | Self::Probe => None,
        }
    }
}
