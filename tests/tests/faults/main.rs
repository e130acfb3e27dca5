//! Bad days on real protocols: between the SDK's clients and the local AWS stands a proxy that throttles, fails,
//! loses answers and breaks connections. The handlers are the Lambdas' own.
//!
//! `RECADO_FAULTS_S` sets how many seconds the storm lasts, `RECADO_FAULTS_SEED` what chance makes of it.

mod bench;
mod clock;
mod log;
mod overload;
mod proxy;
mod refusals;
mod storm;
