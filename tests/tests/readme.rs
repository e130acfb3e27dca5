//! README.md and README.pt-BR.md stay equal to each other and true: the same headings, commands and tables, and no
//! command or variable that the program does not know.

use std::collections::BTreeSet;
use std::path::Path;

use clap::{Command, CommandFactory as _};
use recado::config::agent_file::Overrides;
use recado::config::settings::Environment;
use recado_cli::commands::Arguments;

const ENGLISH: &str = include_str!("../../README.md");
const PORTUGUESE: &str = include_str!("../../README.pt-BR.md");
const TEMPLATE: &str = include_str!("../../template.yaml");
/// Where the known variables are listed.
const SETTINGS: &str = include_str!("../../shared/src/config/settings.rs");

/// A fenced block: its language and its lines.
#[derive(Debug, PartialEq)]
struct Block {
    language: String,
    lines: Vec<String>,
}

/// What two READMEs have in common.
#[derive(Debug, Default, PartialEq)]
struct Shape {
    /// The level of each heading.
    headings: Vec<usize>,
    /// Each table's rows with their number of cells.
    tables: Vec<Vec<usize>>,
    blocks: Vec<Block>,
}

fn shape(text: &str) -> Shape {
    let mut shape = Shape::default();
    let mut open: Option<Block> = None;
    let mut is_in_table = false;
    for line in text.lines() {
        let bare = line.trim();
        if let Some(language) = bare.strip_prefix("```") {
            if let Some(block) = open.take() {
                shape.blocks.push(block);
            } else {
                let language = language.to_owned();
                let lines = Vec::new();
                open = Some(Block { language, lines });
            }
            continue;
        }
        if let Some(block) = &mut open {
            block.lines.push(bare.to_owned());
            continue;
        }
        if bare.starts_with('#') {
            let level = bare.chars().take_while(|sign| *sign == '#').count();
            shape.headings.push(level);
        }
        let is_row = bare.starts_with('|');
        if is_row && !is_in_table {
            shape.tables.push(Vec::new());
        }
        if is_row && let Some(table) = shape.tables.last_mut() {
            table.push(bare.replace("\\|", "").matches('|').count() - 1);
        }
        is_in_table = is_row;
    }
    assert_eq!(open, None, "a block that is not closed");
    shape
}

/// A block as both languages must have it: commands and outputs to the letter, less the comments; a picture, which
/// has words in it, by the number of its lines.
fn comparable(block: &Block) -> Vec<String> {
    let is_picture = block.language.is_empty();
    let line = |line: &String| {
        if is_picture {
            String::new()
        } else {
            without_comment(line).to_owned()
        }
    };
    block.lines.iter().map(line).collect()
}

fn without_comment(line: &str) -> &str {
    let end = if line.starts_with("# ") {
        Some(0)
    } else {
        line.find(" # ")
    };
    line[..end.unwrap_or(line.len())].trim_end()
}

#[test]
fn both_languages_have_the_same_shape() {
    let (english, portuguese) = (shape(ENGLISH), shape(PORTUGUESE));
    assert_eq!(english.headings, portuguese.headings);
    assert_eq!(english.tables, portuguese.tables);
    assert_eq!(english.blocks.len(), portuguese.blocks.len());
    for (one, other) in english.blocks.iter().zip(&portuguese.blocks) {
        assert_eq!(one.language, other.language, "{one:#?}\n{other:#?}");
        assert_eq!(comparable(one), comparable(other));
    }
    assert!(ENGLISH.contains("(README.pt-BR.md)"));
    assert!(PORTUGUESE.contains("(README.md)"));
}

#[test]
fn both_languages_link_to_the_same_places_outside() {
    let links = |text: &str| -> Vec<String> {
        let links = text.split("](https://").skip(1);
        let mut links: Vec<_> = links
            .filter_map(|rest| rest.split_once(')'))
            .map(|(link, _)| link.to_owned())
            .collect();
        links.sort();
        links
    };
    assert_eq!(links(ENGLISH), links(PORTUGUESE));
}

/// Whatever is set in code: blocks line by line, and what stands between backticks.
fn code(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut prose = String::new();
    let mut is_open = false;
    for line in text.lines() {
        if line.trim().starts_with("```") {
            is_open = !is_open;
        } else if is_open {
            found.push(without_comment(line.trim()).to_owned());
        } else {
            prose.push_str(line);
            prose.push('\n');
        }
    }
    let spans = prose.split('`').skip(1).step_by(2);
    found.extend(spans.map(|span| span.replace('\n', " ")));
    found
}

/// What stands between backticks, and the numbers that begin a row of a table: the same in any language.
#[test]
fn both_languages_name_the_same_things() {
    let named = |text: &str| -> BTreeSet<String> { code(text).into_iter().collect() };
    let pictures = |text: &str| -> BTreeSet<String> {
        let pictures = shape(text).blocks.into_iter();
        let pictures = pictures.filter(|block| block.language.is_empty());
        let lines = pictures.flat_map(|block| block.lines);
        lines
            .map(|line| without_comment(&line).to_owned())
            .collect()
    };
    let english = &named(ENGLISH) - &pictures(ENGLISH);
    let portuguese = &named(PORTUGUESE) - &pictures(PORTUGUESE);
    let differ: Vec<_> = english.symmetric_difference(&portuguese).collect();
    assert_eq!(differ, Vec::<&String>::new());
    let numbers = |text: &str| -> Vec<String> {
        let rows = text.lines().filter(|line| line.starts_with('|'));
        let first = rows.filter_map(|row| row.split('|').nth(1));
        let is_code = |cell: &&str| cell.contains(|sign: char| sign.is_ascii_digit());
        let digits = |cell: &str| -> String {
            let cell = cell
                .chars()
                .map(|sign| if sign.is_ascii_digit() { sign } else { ' ' });
            cell.collect::<String>()
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
        };
        first.filter(is_code).map(digits).collect()
    };
    assert_eq!(numbers(ENGLISH), numbers(PORTUGUESE));
}

/// The words after `recado` or `cargo run --`, where a piece of code calls the program.
fn call(code: &str) -> Option<Vec<String>> {
    let code = code.trim_start_matches("$ ");
    let words = match code.split_once("cargo run") {
        Some((_, rest)) => rest.split_once("-- ")?.1,
        None => code.strip_prefix("recado ")?,
    };
    let plain = words.replace("\\|", "|").replace(['[', ']'], " ");
    let before_quote = plain.split('"').next().unwrap_or_default();
    Some(before_quote.split_whitespace().map(str::to_owned).collect())
}

/// The first word that the program's help does not have.
fn unknown(program: &Command, words: &[String]) -> Option<String> {
    let mut command = program;
    for word in words {
        if let Some(flag) = word.strip_prefix("--") {
            let knows = |argument: &clap::Arg| argument.get_long() == Some(flag);
            if !command.get_arguments().any(knows) {
                return Some(word.clone());
            }
        } else if let Some(inner) = command.find_subcommand(word) {
            command = inner;
        } else if command.has_subcommands() {
            return Some(word.clone());
        }
    }
    None
}

#[test]
fn every_command_is_one_of_the_program() {
    let program = Arguments::command();
    for text in [ENGLISH, PORTUGUESE] {
        let calls: Vec<_> = code(text).iter().filter_map(|code| call(code)).collect();
        assert!(calls.len() > 8, "only {calls:?}");
        for words in calls {
            assert_eq!(unknown(&program, &words), None, "in {words:?}");
        }
    }
}

/// Every name of a variable of ours in a text.
fn variables(text: &str) -> BTreeSet<String> {
    let is_sign = |sign: char| sign.is_ascii_uppercase() || sign.is_ascii_digit() || sign == '_';
    let words = text.split(|sign| !is_sign(sign));
    let ours = words.filter(|word| word.starts_with("RECADO_"));
    ours.map(str::to_owned).collect()
}

/// The tests that the page shows with a variable of their own.
const TESTS: [&str; 2] = [
    include_str!("../../infra/cli/tests/process/kills.rs"),
    include_str!("faults/main.rs"),
];

#[test]
fn every_variable_is_known_and_every_known_one_is_explained() {
    let (_, known) = SETTINGS.split_once("const KNOWN").unwrap();
    let (known, _) = known.split_once("];").unwrap();
    let mut known = variables(known);
    assert!(known.len() > 15, "{known:?}");
    known.extend(Overrides::variables().map(str::to_owned));
    for text in [ENGLISH, PORTUGUESE] {
        let named = variables(text);
        // What a test's own command is told, the program knows nothing of.
        let told = TESTS.iter().flat_map(|source| variables(source));
        let told: BTreeSet<String> = told.collect();
        for name in named.iter().filter(|name| !told.contains(*name)) {
            let warnings = Environment::of([(name.as_str(), "1")]).warnings();
            assert!(warnings.is_empty(), "{warnings:?}");
        }
        let silent: Vec<_> = known.difference(&named).collect();
        assert!(silent.is_empty(), "no word of {silent:?}");
    }
}

#[test]
fn every_parameter_of_the_template_is_explained() {
    let (_, parameters) = TEMPLATE.split_once("\nParameters:\n").unwrap();
    let (parameters, _) = parameters.split_once("\nConditions:\n").unwrap();
    let names = parameters.lines().filter_map(|line| {
        let name = line.strip_prefix("  ")?.strip_suffix(':')?;
        (!name.starts_with(' ')).then_some(name)
    });
    let names: Vec<_> = names.collect();
    assert!(names.len() > 10, "{names:?}");
    for name in names {
        assert!(ENGLISH.contains(&format!("`{name}`")), "no word of {name}");
    }
}

/// The table of log lines: what stands there is what some file of ours says.
#[test]
fn every_log_line_is_one_that_is_written() {
    let mut sources = String::new();
    read(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/src"),
        &mut sources,
    );
    read(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("../functions"),
        &mut sources,
    );
    let (_, table) = ENGLISH.split_once("| log line |").unwrap();
    let rows = table
        .lines()
        .take_while(|line| line.starts_with('|') || line.contains("what it"));
    let mut seen = 0;
    for line in rows.filter_map(|row| row.split('|').nth(1)) {
        for part in line
            .split('`')
            .skip(1)
            .step_by(2)
            .flat_map(|span| span.split('…'))
        {
            let part = part.trim().trim_end_matches(':');
            assert!(sources.contains(part), "nothing logs {part:?}");
            seen += usize::from(!part.is_empty());
        }
    }
    assert!(seen > 8, "only {seen} pieces of log lines");
}

fn read(folder: &Path, into: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            into.push_str(&std::fs::read_to_string(&path).unwrap());
        }
    }
}
