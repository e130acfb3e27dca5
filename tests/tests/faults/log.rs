//! What everything in this process has logged: it must tell nothing of anybody, however things fail.

use recado_tests::kept_log::KeptLog;

/// No panic, and none of these words.
pub fn check(banned: &[&str]) {
    let log = KeptLog::of_process().text();
    for banned in banned.iter().chain(&["panic"]) {
        let line = log.lines().find(|line| line.contains(banned));
        assert!(line.is_none(), "{banned:?} in the log: {line:?}");
    }
}

/// The newest lines.
pub fn newest(lines: usize) -> String {
    let log = KeptLog::of_process().text();
    let all: Vec<&str> = log.lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}
