//! What must be true when nothing moves any more.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use recado::domain::{Alias, ConversationId, ReplyStatus};

use super::core::Core;
use super::witness::{End, Seen, Witness};
use super::words::canaries;
use crate::fake_store::{FakeStore, Person, Table};

/// Whether nothing waits for anyone.
pub fn is_at_rest(table: &FakeStore) -> bool {
    table.touch(|table| {
        let at_rest = table.people.values().all(|person| {
            let waits = person
                .events
                .values()
                .any(|stored| stored.answered_by.is_none());
            let leaves = person
                .replies
                .values()
                .any(|stored| !stored.reply.status.is_at_rest());
            !waits && !leaves
        });
        at_rest && table.jobs.is_empty()
    })
}

/// The laws of rest.
pub fn check(core: &Core, table: &FakeStore) {
    let table = table.look();
    let now = core.true_ms();
    core.witness(|witness| {
        witness.still_waits(now);
        messages(witness, &table);
        replies(witness, &table);
        calls(witness, &table);
        forgotten(witness, &table);
        alias_book(witness, &table);
        if !table.jobs.is_empty() {
            let of = table
                .jobs
                .values()
                .next()
                .map(|job| job.conversation.clone());
            witness
                .findings
                .extend(of.map(|of| ("a forget comes to its end", of, String::new())));
        }
    });
}

/// Every message is in one answered set or closed, and its words are in history or in one fold.
fn messages(witness: &mut Witness, table: &Table) {
    let mut findings = Vec::new();
    for (of, events) in &witness.events {
        if witness
            .lives
            .get(of)
            .is_some_and(|life| life.erased_ms.is_some())
        {
            continue;
        }
        let person = table.people.get(of);
        for (id, seen) in events {
            let stored = person.and_then(|person| person.events.get(id));
            let Some(stored) = stored else {
                findings.push(("nothing is lost", of.clone(), format!("{id} is gone")));
                continue;
            };
            let answered = stored.answered_by.as_deref();
            match (seen.end, answered) {
                (End::Answered(reply), Some(by)) if reply.to_string() == by => {}
                (End::Closed | End::Left(_), Some(by)) if by.starts_with("closed:") => {}
                (end, by) => {
                    let detail = format!("{id} is {end:?}, the table says {by:?}");
                    findings.push(("nothing is lost", of.clone(), detail));
                }
            }
            let in_history = stored.event.is_some() && stored.turn.is_some();
            let rightly = match seen.end {
                End::Answered(_) | End::Left(_) => in_history != seen.folded,
                End::Waits | End::Closed => !seen.folded,
            };
            if !rightly {
                let detail = format!("{id}: in history {in_history}, folded {}", seen.folded);
                findings.push(("a message is in history or in one fold", of.clone(), detail));
            }
        }
    }
    witness.findings.append(&mut findings);
}

/// No reply waits, and none is of unknown outcome without a cause.
fn replies(witness: &mut Witness, table: &Table) {
    let mut findings = Vec::new();
    for (of, person) in &table.people {
        for (id, stored) in &person.replies {
            let status = stored.reply.status;
            if !status.is_at_rest() {
                findings.push((
                    "no reply is left unsent",
                    of.clone(),
                    format!("{id} is {status:?}"),
                ));
            }
            let seen = witness.replies.get(id);
            let marked = seen.and_then(|seen| seen.marked_ms).unwrap_or(0);
            let silent = seen.is_some_and(|seen| seen.silent);
            let caused =
                silent || witness.was_broken(of, marked.saturating_sub(1), marked + 400_000);
            if status == ReplyStatus::Unknown && !caused {
                let detail = format!("{id} is unknown");
                findings.push(("an unknown outcome has a cause outside", of.clone(), detail));
            }
        }
    }
    witness.findings.append(&mut findings);
}

/// Whatever was done is known: a call is history, with its result, once nobody works on its turn any more.
fn calls(witness: &mut Witness, table: &Table) {
    let mut findings = Vec::new();
    for (of, person) in &table.people {
        for ((reply, n), stored) in &person.calls {
            let (in_history, has_result) = (stored.in_history, stored.call.result.is_some());
            if !in_history || !has_result {
                let detail =
                    format!("{reply}#{n}: in history {in_history}, its result {has_result}");
                findings.push(("what was done stays known", of.clone(), detail));
            }
        }
    }
    witness.findings.append(&mut findings);
}

/// Nothing of a forgotten life is left: no item, no alias, no word, no id.
fn forgotten(witness: &mut Witness, table: &Table) {
    let ended: BTreeSet<&ConversationId> = witness
        .lives
        .iter()
        .filter(|(_, life)| life.erased_ms.is_some())
        .map(|(of, _)| of)
        .collect();
    if ended.is_empty() {
        return;
    }
    let mut findings = Vec::new();
    for of in &ended {
        // What a run under way books after the first look goes with the last one.
        let items = table.people.get(of).map_or(0, Person::items) + table.spend_of(of).len();
        let named = table
            .aliases
            .iter()
            .any(|((agent, _), contact)| *agent == of.agent && *contact == of.contact);
        if items > 0 || named {
            let detail = format!("{items} items are left, an alias: {named}");
            findings.push((
                "nothing of a forgotten person is left",
                (*of).clone(),
                detail,
            ));
        }
    }
    let dump = table.dump();
    let left: BTreeSet<_> = canaries(&dump)
        .map(super::words::Canary::message_id)
        .collect();
    for of in &ended {
        let dated = witness.lives[*of].forgotten_at.unwrap_or_default();
        // What is sent after the date of an erasure belongs to the next life, though its first copy may have gone with it;
        // and that copy may say that it was sent before, where the clock it arrived by was behind.
        let slack = Duration::from_millis(witness.clock_error_ms);
        let erased = |seen: &&Seen| seen.event.sent_at.plus(slack) <= dated;
        let events = witness
            .events
            .get(of)
            .into_iter()
            .flat_map(BTreeMap::values);
        for id in events
            .filter(erased)
            .map(|seen| &seen.event.id)
            .filter(|id| left.contains(*id))
        {
            let detail = format!("{id} is in the table");
            findings.push((
                "nothing of a forgotten person is left",
                (*of).clone(),
                detail,
            ));
        }
    }
    witness.findings.append(&mut findings);
}

/// Aliases and the lists in the states tell the same.
fn alias_book(witness: &mut Witness, table: &Table) {
    let mut findings = Vec::new();
    let lists = |of: &ConversationId, alias: &Alias| {
        let state = table
            .people
            .get(of)
            .and_then(|person| person.state.as_ref());
        state.is_some_and(|state| state.aliases.contains(alias))
    };
    for ((agent, alias), contact) in &table.aliases {
        let of = ConversationId {
            agent: agent.clone(),
            contact: contact.clone(),
        };
        if !lists(&of, alias) {
            let detail = format!("{} names it, and it does not know", alias.as_str());
            findings.push(("every alias is in its person's list", of, detail));
        }
    }
    for (of, person) in &table.people {
        for alias in person.state.iter().flat_map(|state| &state.aliases) {
            if table.aliases.get(&(of.agent.clone(), alias.clone())) != Some(&of.contact) {
                let detail = format!("{} is in its list and names another", alias.as_str());
                findings.push(("every alias in a list names its person", of.clone(), detail));
            }
        }
    }
    witness.findings.append(&mut findings);
}
