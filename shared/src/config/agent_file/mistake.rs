//! What is wrong with an agent file, and where.

use std::fmt::{self, Write};

/// A place in a file, both counted from 1; columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line.
    pub line: usize,
    /// Column, in characters.
    pub column: usize,
}

impl Position {
    /// The place `offset` bytes into `text`; the end where the text is shorter.
    pub fn of(text: &str, offset: usize) -> Self {
        let mut before = text.len().min(offset);
        while !text.is_char_boundary(before) {
            before -= 1;
        }
        let before = &text[..before];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

/// One mistake of an agent file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// Where in the file; `None` where an environment variable is to blame.
    pub position: Option<Position>,
    /// The setting by its full name (`timing.window_s`, `RECADO_WINDOW_S`), or `syntax`.
    pub setting: String,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl Mistake {
    /// One line as compilers write it, so that editors can jump there.
    pub fn in_file(&self, label: &str) -> String {
        match self.position {
            Some(_) => format!("{label}:{self}"),
            None => self.to_string(),
        }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(Position { line, column }) = self.position {
            write!(f, "{line}:{column}: ")?;
        }
        // A key or a value of the file may hold a line break; a mistake is one line all the same.
        for c in self
            .setting
            .chars()
            .chain(": ".chars())
            .chain(self.message.chars())
        {
            if c.is_control() {
                write!(f, "{}", c.escape_default())?;
            } else {
                f.write_char(c)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_counts_lines_and_characters_from_one() {
        let text = "a = 1\nção = 2\n";
        for (label, offset, line, column) in [
            ("start", 0, 1, 1),
            ("end of the first line", 5, 1, 6),
            ("start of the second", 6, 2, 1),
            ("after two letters of two bytes", 10, 2, 3),
            ("inside a letter", 7, 2, 1),
            ("past the end", 999, 3, 1),
        ] {
            assert_eq!(
                Position::of(text, offset),
                Position { line, column },
                "{label}"
            );
        }
    }
}
