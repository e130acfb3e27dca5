//! Entry point of `recado`.
fn main() {}
