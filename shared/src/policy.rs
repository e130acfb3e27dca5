//! What the system decides: pure functions of their arguments. Time and chance are arguments too.

pub mod agenda;
pub mod breaker;
pub mod closing;
pub mod compaction;
pub mod confirm;
pub mod context;
pub mod debounce;
pub mod fallback;
pub mod hand_off;
pub mod identity;
pub mod opt_out;
pub mod poison;
pub mod prompt;
pub mod retry;
pub mod routing;
pub mod schema;
pub mod sendable;
pub mod spend;
pub mod supersede;
pub mod tokens;
pub mod tools;
pub mod visible;
