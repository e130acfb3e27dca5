//! What a command says to its terminal. Who has stopped reading (`recado run | head -4`) stops nothing: a line that
//! cannot be written is left out.

use std::io::{Write as _, stderr, stdout};

/// A line of what the command has to say.
pub fn print_line(line: &str) {
    let _ = writeln!(stdout(), "{line}");
}

/// A line of what the command has to complain of.
pub fn print_error(line: &str) {
    let _ = writeln!(stderr(), "{line}");
}
