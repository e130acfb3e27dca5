//! The report as a table for people, and as JSON for programs.

use std::fmt::Write as _;

use super::Report;
use super::figures::{Figures, Spread};

/// Width of the column that says what is measured.
const LABEL: usize = 46;
/// Width of an algorithm's column.
const COLUMN: usize = 14;

/// A row: what it says, its decimals, and where its figure is.
type Row = (&'static str, usize, fn(&Figures) -> f64);

const ROWS: [Row; 14] = [
    ("replies per thought", 2, |of| of.replies_per_thought),
    ("split thoughts, % of thoughts", 1, |of| {
        of.split_percent_of_thoughts
    }),
    ("replies that ignore a message, % of replies", 1, |of| {
        of.ignoring_percent_of_replies
    }),
    ("discarded calls per thought", 2, |of| {
        of.discarded_calls_per_thought
    }),
    ("discarded model seconds per thought", 2, |of| {
        of.discarded_model_s_per_thought
    }),
    ("last fragment to start, s        p50", 1, |of| {
        start(of).p50
    }),
    ("                                 p95", 1, |of| {
        start(of).p95
    }),
    ("                                 p99", 1, |of| {
        start(of).p99
    }),
    ("                                 max", 1, |of| {
        start(of).max
    }),
    ("last fragment to sent, s         p50", 1, |of| sent(of).p50),
    ("                                 p95", 1, |of| sent(of).p95),
    ("                                 p99", 1, |of| sent(of).p99),
    ("                                 max", 1, |of| sent(of).max),
    ("first pending to start, s        max", 1, |of| {
        of.first_pending_to_start_max_s
    }),
];

fn start(of: &Figures) -> Spread {
    of.last_fragment_to_start_s
}

fn sent(of: &Figures) -> Spread {
    of.last_fragment_to_sent_s
}

/// A table for each pace, and above them what was measured.
pub(super) fn table(report: &Report) -> String {
    let mut text = format!(
        "{} thoughts of each kind, seed {}, window {} s, ceiling {} s, on a virtual clock\n",
        report.thoughts, report.seed, report.window_s, report.ceiling_s
    );
    for (title, columns) in [
        ("single: nobody writes on", &report.single),
        (
            "chained: twenty thoughts in a row, about 10 s apart, answered or not",
            &report.chained,
        ),
    ] {
        let _ = write!(text, "\n{title}\n{:LABEL$}", "");
        for of in columns {
            let _ = write!(text, "{:>COLUMN$}", of.algorithm);
        }
        text.push('\n');
        for (label, decimals, figure) in ROWS {
            let _ = write!(text, "{label:LABEL$}");
            for of in columns {
                let _ = write!(text, "{:>COLUMN$.decimals$}", figure(of));
            }
            text.push('\n');
        }
        for of in columns.iter().filter(|of| of.unanswered_messages > 0) {
            let (who, lost) = (&of.algorithm, of.unanswered_messages);
            let _ = writeln!(text, "{who} left {lost} messages unanswered");
        }
    }
    text.truncate(text.trim_end().len());
    text
}

/// One object, one line.
pub(super) fn json(report: &Report) -> String {
    serde_json::to_string(report).unwrap_or_default()
}
