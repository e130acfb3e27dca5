//! What an installation sets: settings from the environment and the agent file.

pub mod agent_file;
pub mod settings;
