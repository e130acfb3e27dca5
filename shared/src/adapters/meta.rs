//! The WhatsApp Cloud API of Meta: the way in (`signature`, `parse`, `handshake`) and the way back (`send`, `codes`).
//!
//! Bytes become events in two steps that only fit together in this order: `signature::verify` makes a
//! `VerifiedBody`, and `parse::parse` takes nothing else.

pub mod codes;
pub mod handshake;
pub mod parse;
pub mod send;
pub mod signature;
