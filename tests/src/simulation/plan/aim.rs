//! What a schedule is aimed at: a mutation of a guard is met sooner where the faults that provoke it come more often. The
//! laws and all else stay as they are.

use super::{Fault, Plan, Swarm};

/// What a schedule has besides its faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trait {
    /// Turns that call tools.
    Tools,
    /// Compactions, and many of them.
    SmallMemory,
    /// Ingest and the operator take long.
    Sluggish,
    /// The processor's writes take long.
    Hesitant,
    /// More than one processor, and a model that is quick.
    Brisk,
}

/// Faults that a schedule has and meets often, and traits that it has.
#[derive(Debug, Clone, Copy, Default)]
pub struct Aim {
    /// Which faults.
    pub faults: &'static [Fault],
    /// Which traits.
    pub traits: &'static [Trait],
}

impl Aim {
    /// At nothing: a schedule as it is drawn.
    pub const NOWHERE: Self = Self {
        faults: &[],
        traits: &[],
    };

    /// Whether it is aimed at this fault.
    pub fn is_at(self, fault: Fault) -> bool {
        self.faults.contains(&fault)
    }

    /// Once in how many times the fault happens that happens once in `of` times otherwise.
    pub fn rate(self, fault: Fault, of: u32) -> u32 {
        if self.is_at(fault) {
            (of / 3).max(2)
        } else {
            of
        }
    }

    /// How likely something is that is this likely otherwise.
    pub(super) fn chance(self, fault: Fault, otherwise: f64) -> f64 {
        if self.is_at(fault) { 1.0 } else { otherwise }
    }

    pub(super) fn swarm(self, drawn: Swarm) -> Swarm {
        let swarm = self.faults.iter();
        swarm.fold(drawn, |swarm, fault| swarm.with(*fault))
    }

    /// Gives a plan its traits.
    pub(super) fn shape(self, plan: &mut Plan) {
        for wanted in self.traits {
            match wanted {
                Trait::Tools => plan.turns_with_tools = plan.turns_with_tools.max(8),
                Trait::SmallMemory => plan.small_memory = true,
                Trait::Sluggish => plan.sluggish = true,
                Trait::Hesitant => plan.hesitant = true,
                Trait::Brisk => {
                    plan.processors = plan.processors.max(3);
                    plan.model_ms_max = 1_500;
                }
            }
        }
    }
}
