//! The report as a table for people, and as JSON for programs.

use std::fmt::Write as _;

use super::{EXCHANGES, Report, Times};

/// The names of [`times`].
const HEADS: &str = "    warm    cold   naive";

fn times(of: Times) -> String {
    format!("{:>7.2}x{:>7.2}x{:>7.2}x", of.warm, of.cold, of.naive)
}

impl Report {
    /// A line for each shape and model.
    pub fn table(&self) -> String {
        let mut table = format!(
            "{EXCHANGES} exchanges in a row, as a multiple of {EXCHANGES} single ones (a tenth for what the cache holds, a \
             quarter more to mark)\n\n{:<64}{:>24}{:>24}\n{:<30} {:<18} {:>12}{}{}{:>8}{:>8}\n",
            "",
            "with the answers",
            "the input alone",
            "",
            "",
            "tokens",
            HEADS,
            HEADS,
            "kept",
            "known"
        );
        for row in &self.rows {
            let (first, last) = row.tokens;
            // Writing to a text cannot fail.
            let _ = writeln!(
                table,
                "{:<30} {:<18} {:>12}{}{}{:>6.0} %{:>6.0} %",
                row.shape,
                row.model,
                format!("{first} to {last}"),
                times(row.all),
                times(row.input),
                row.kept_percent_min,
                row.known_percent_min,
            );
        }
        table.push_str(
            "\nkept: the least share of a request that the next one begins with, byte for byte; known: the least share of a \
             request\nthat the one before began with. naive: everything is sent again, without a budget and a cache",
        );
        table
    }

    /// The same as one JSON object.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}
