//! One process on the channel Meta, against a strict stand-in for the Graph API: from the handshake to the answer,
//! and what becomes of each way in which a send can fail.

#[path = "meta_channel/bench.rs"]
mod bench;
#[path = "meta_channel/doors.rs"]
mod doors;
#[path = "meta_channel/people.rs"]
mod people;
#[path = "meta_channel/refusals.rs"]
mod refusals;
#[path = "meta_channel/way.rs"]
mod way;

use recado::adapters::meta::codes;

#[test]
fn the_readme_tells_each_code_in_the_words_of_the_table() {
    let readme = include_str!("../../README.md");
    let mut missing = Vec::new();
    for row in codes::ROWS.iter().chain([&codes::UNKNOWN]) {
        let line = format!("| {} | {} | {} |", row.codes, row.meaning, row.advice);
        if !readme.contains(&line) {
            missing.push(line);
        }
    }
    assert!(
        missing.is_empty(),
        "README.md lacks\n{}",
        missing.join("\n")
    );
}
