//! Recado: turn-taking, memory and delivery for an AI agent on WhatsApp.
//!
//! Read top to bottom, the modules follow a message: `domain` is what the system is about and `policy` what it
//! decides, both pure; `ports` is every IO it can do; `flow` is the way of a message over those ports; `adapters`
//! are AWS, providers and models; `config` is what an installation sets, and `installation` makes the one of the other.

pub mod error;

pub mod domain;
pub mod policy;

pub mod ports;

pub mod flow;

pub mod adapters;
pub mod config;

pub mod installation;
