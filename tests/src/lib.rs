//! Fakes, contracts and scenarios that the tests share.

pub mod fake_store;
pub mod samples;
pub mod store_benches;
pub mod store_contract;
