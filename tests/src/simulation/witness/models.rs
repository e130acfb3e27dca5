//! Laws of models: a run asks within one budget, and an incident is told once.

use recado::domain::{ConversationId, Timestamp};
use recado::policy::fallback::ATTEMPTS_MAX;
use recado::policy::tools::ROUNDS_MAX;

use super::Witness;

/// What the run at hand has asked of its models.
#[derive(Debug, Clone, Copy, Default)]
pub struct Asked {
    calls: u32,
    failed: u32,
}

impl Witness {
    /// This invocation has begun a run.
    pub fn run_began(&mut self, invocation: u64) {
        self.runs.insert(invocation, Asked::default());
    }

    /// A model is asked, whichever it is.
    pub fn asked(&mut self, of: &ConversationId, invocation: u64) {
        let run = self.runs.entry(invocation).or_default();
        run.calls += 1;
        let run = *run;
        // One answer for each round, and one in words.
        let most = u32::try_from(ROUNDS_MAX).unwrap_or(u32::MAX) + ATTEMPTS_MAX;
        if run.failed >= ATTEMPTS_MAX || run.calls > most {
            let detail = format!("{run:?}");
            self.find("a run asks its models within one budget", of, detail);
        }
    }

    /// That call failed.
    pub fn asked_and_failed(&mut self, of: &ConversationId, invocation: u64) {
        let run = self.runs.entry(invocation).or_default();
        run.failed += 1;
        let run = *run;
        if run.failed > run.calls {
            let detail = format!("{run:?}");
            self.find("a call fails once", of, detail);
        }
    }

    /// The operator is told that a model is left out.
    pub fn incident(&mut self, of: &ConversationId, model: &str, since: Timestamp) {
        if !self.incidents.insert((model.to_owned(), since)) {
            let detail = format!("{model} since {since}");
            self.find("an incident is told once", of, detail);
        }
    }
}
