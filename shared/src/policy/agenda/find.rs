//! Which entry a name means.
//!
//! Invariant: words for "the last one" mean what was written last; of several entries of one name the newest is meant;
//! of several names none is.

use crate::domain::{Entry, EntryKind};
use crate::policy::opt_out::plain;

/// What a name means.
#[derive(Debug, PartialEq, Eq)]
pub enum Named<'a> {
    /// This one.
    One(&'a Entry),
    /// Any of these, oldest first.
    Several(Vec<&'a Entry>),
    /// None of these, which are all of the kind that stand.
    None(Vec<&'a Entry>),
}

/// Words that stand for what was made or changed last; a model is told of `last` only.
const LAST: [&str; 12] = [
    "",
    "last",
    "latest",
    "the last one",
    "it",
    "this",
    "that",
    "isso",
    "ultima",
    "ultimo",
    "eso",
    "esa",
];

/// Finds an entry by its title, part of it, or a word for the last one. Those that stand go before those that are done.
pub fn find<'a>(entries: &'a [Entry], kind: EntryKind, name: &str) -> Named<'a> {
    let of_kind: Vec<&Entry> = entries.iter().filter(|entry| entry.kind == kind).collect();
    let (open, over): (Vec<&Entry>, Vec<&Entry>) =
        of_kind.into_iter().partition(|entry| entry.is_open());
    let name = key(name);
    if LAST.contains(&name.as_str()) {
        let last = open
            .iter()
            .max_by_key(|entry| (entry.changed_at, entry.made_at));
        return last.map_or_else(|| Named::None(Vec::new()), |entry| Named::One(entry));
    }
    for some in [&open, &over] {
        for fits in [is_called, is_part_of, shares_words] {
            let fitting: Vec<&Entry> = some
                .iter()
                .copied()
                .filter(|entry| fits(&key(&entry.title), &name))
                .collect();
            if let Some(newest) = fitting.iter().max_by_key(|entry| entry.made_at) {
                let is_one_name = fitting
                    .iter()
                    .all(|entry| same_title(&entry.title, &newest.title));
                return if is_one_name {
                    Named::One(newest)
                } else {
                    Named::Several(fitting)
                };
            }
        }
    }
    Named::None(open)
}

/// Whether two titles are one to whoever reads them.
pub fn same_title(one: &str, other: &str) -> bool {
    key(one) == key(other)
}

/// What a name is compared by: its letters and signs, without the marks of a sentence around them. A cake and a pizza
/// are two names, and so are C and C++.
fn key(name: &str) -> String {
    const MARKS: &[char] = &[
        '.', ',', ';', ':', '!', '¡', '?', '¿', '"', '\'', '“', '”', '‘', '’', '«', '»', '(', ')',
        '-', '–', '—', '…', '*', '_', ' ',
    ];
    plain(name).trim_matches(MARKS).to_owned()
}

fn is_called(title: &str, name: &str) -> bool {
    title == name
}

fn is_part_of(title: &str, name: &str) -> bool {
    holds_words(title, name) || holds_words(name, title)
}

/// Whether `inner` stands in `outer` as whole words.
fn holds_words(outer: &str, inner: &str) -> bool {
    !inner.is_empty() && format!(" {outer} ").contains(&format!(" {inner} "))
}

/// More than half of the longer words of the name are in the title.
fn shares_words(title: &str, name: &str) -> bool {
    const LONG: usize = 4;
    let title: Vec<&str> = title.split_whitespace().collect();
    let long: Vec<&str> = name
        .split_whitespace()
        .filter(|word| word.chars().count() >= LONG)
        .collect();
    let shared = long.iter().filter(|word| title.contains(*word)).count();
    shared * 2 > long.len()
}
