//! What an installation sets: settings from the environment and the agent file.

pub mod agent_file;
mod nearest;
pub mod prices;
pub mod roster;
pub mod secret;
pub mod secrets;
pub mod settings;
