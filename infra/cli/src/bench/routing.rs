//! `recado bench routing`: the routing policy held against written examples. Half of them tuned it and half did not; a
//! third part was written after that.

mod examples;
mod print;

pub use examples::{Example, Part};

use recado::domain::routing::{Route, Routed, RoutingRules};
use recado::policy::routing::decide;

/// The languages of the examples.
pub const LANGUAGES: [&str; 3] = ["pt", "es", "en"];

/// An example and what the policy made of it.
pub struct Judged {
    /// What was written, and where it should go.
    pub example: Example,
    /// Where it goes.
    pub routed: Routed,
}

impl Judged {
    /// Whether it goes where it should.
    pub fn is_right(&self) -> bool {
        self.routed.route == self.example.route
    }
}

/// Right ones among so many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Share {
    /// The right ones.
    pub right: usize,
    /// All of them.
    pub of: usize,
}

impl Share {
    /// From 0 to 1; 0 of nothing.
    #[expect(clippy::cast_precision_loss, reason = "a few hundred examples")]
    pub fn accuracy(self) -> f64 {
        if self.of == 0 {
            return 0.0;
        }
        self.right as f64 / self.of as f64
    }
}

/// What the policy makes of every example under the default rules.
pub struct Report {
    /// In the order of the files.
    pub judged: Vec<Judged>,
}

impl Report {
    /// The share of right ones among those of `part` that `wanted` picks.
    pub fn share(&self, part: Part, wanted: impl Fn(&Judged) -> bool) -> Share {
        let mut share = Share::default();
        for judged in self.of(part).filter(|judged| wanted(judged)) {
            share.of += 1;
            share.right += usize::from(judged.is_right());
        }
        share
    }

    /// All right ones of `part`.
    pub fn overall(&self, part: Part) -> Share {
        self.share(part, |_| true)
    }

    /// How many of `part` that should go to `wanted` go to `got`.
    pub fn went(&self, part: Part, wanted: Route, got: Route) -> usize {
        let went = |judged: &&Judged| judged.example.route == wanted && judged.routed.route == got;
        self.of(part).filter(went).count()
    }

    /// The examples of one part.
    pub fn of(&self, part: Part) -> impl Iterator<Item = &Judged> {
        let judged = self.judged.iter();
        judged.filter(move |judged| judged.example.part == part)
    }
}

/// Routes every example, each as a turn of an agent of its language.
pub fn measure() -> Report {
    let rules = RoutingRules::default();
    let judge = |example: Example| {
        let routed = decide(&example.written(), &rules);
        Judged { example, routed }
    };
    Report {
        judged: examples::all().into_iter().map(judge).collect(),
    }
}
