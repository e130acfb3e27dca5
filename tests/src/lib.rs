//! Fakes, contracts and scenarios that the tests share.

pub mod breaker_contract;
pub mod canary;
pub mod fake_breakers;
pub mod fake_chance;
pub mod fake_clock;
pub mod fake_graph;
pub mod fake_messenger;
pub mod fake_model;
pub mod fake_store;
pub mod fake_ticks;
pub mod fake_tools;
pub mod fake_world;
pub mod gate;
pub mod kept_log;
pub mod local_run;
pub mod local_server;
pub mod samples;
pub mod simulation;
pub mod store_benches;
pub mod store_condition;
pub mod store_contract;
pub mod store_mutants;
pub mod strict_peer;
pub mod ticks_benches;
pub mod ticks_contract;
