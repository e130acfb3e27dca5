//! The report as a table for people, and as JSON for programs.

use std::fmt::Write as _;

use super::{EXCHANGES, Report};

impl Report {
    /// A line for each shape and model.
    pub fn table(&self) -> String {
        let mut table = format!(
            "{EXCHANGES} exchanges in a row, as a multiple of {EXCHANGES} single ones (a tenth for what the cache holds, a \
             quarter more to mark)\n\n{:<30} {:<18} {:>12} {:>6} {:>6} {:>6} {:>6} {:>6}\n",
            "", "", "tokens", "kept", "known", "warm", "cold", "naive"
        );
        for row in &self.rows {
            let (first, last) = row.tokens;
            // Writing to a text cannot fail.
            let _ = writeln!(
                table,
                "{:<30} {:<18} {:>12} {:>4.0} % {:>4.0} % {:>5.2}x {:>5.2}x {:>5.2}x",
                row.shape,
                row.model,
                format!("{first} to {last}"),
                row.kept_percent_min,
                row.known_percent_min,
                row.warm,
                row.cold,
                row.naive
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
