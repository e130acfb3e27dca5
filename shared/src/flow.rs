//! The way of a message, one line per arrow, over ports.
