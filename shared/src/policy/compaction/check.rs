//! What of a model's compaction is kept. The model proposes; this code decides.
//!
//! Invariant: a fold replaces the summary by one that is neither empty, nor much shorter, nor over its cap; every
//! fact in it has a source among the person's own messages of the span; and it fits one transaction.

use std::collections::BTreeSet;

use super::gate::{folded, is_small_talk, refuses};
use super::schema::{Answer, Op, Operation};
use super::{Plan, request};
use crate::domain::memory::Fold;
use crate::domain::{
    Agent, Exchange, Fact, FactId, Memory, MessageId, PastMessage, Summary, Timestamp,
};
use crate::policy::visible::is_blank;

/// An old summary of more words than this may not shrink to less than a third.
const WORDS_WORTH_KEEPING: usize = 40;
/// Sources kept on a fact that is rewritten again and again.
const SOURCES_MAX: usize = 8;

/// Why nothing of an answer is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Cut at the cap of output tokens, the larger one too.
    #[error("cut at the cap of output tokens")]
    Cut,
    /// Not one JSON object of the schema.
    #[error("not the JSON that was asked for")]
    Malformed,
    /// No words.
    #[error("blank summary")]
    BlankSummary,
    /// Longer than the cap by more than half.
    #[error("summary far over its cap")]
    LongSummary,
    /// Less than a third of an old one that was worth keeping.
    #[error("summary much shorter than the old one")]
    ShrunkSummary,
    /// A greeting or an introduction of the assistant.
    #[error("small talk instead of a summary")]
    SmallTalk,
    /// The memory is no longer the one that was planned for.
    #[error("the plan does not fit the memory")]
    Stale,
}

impl Refusal {
    /// Why, in a few words, for the journal.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cut => "cut at the cap of output tokens",
            Self::Malformed => "not the JSON that was asked for",
            Self::BlankSummary => "blank summary",
            Self::LongSummary => "summary far over its cap",
            Self::ShrunkSummary => "summary much shorter than the old one",
            Self::SmallTalk => "small talk instead of a summary",
            Self::Stale => "the plan does not fit the memory",
        }
    }
}

/// The fold that `json_text`, a complete answer to [`request::prompt`], amounts to. Operations that break a rule are
/// left out; a bad summary refuses the whole.
pub fn check(
    agent: &Agent,
    memory: &Memory,
    plan: &Plan,
    json_text: &str,
    now: Timestamp,
    new_id: &mut dyn FnMut() -> FactId,
) -> Result<Fold, Refusal> {
    let span = plan.span(memory);
    if span.last().map(|exchange| exchange.reply) != Some(plan.through) {
        return Err(Refusal::Stale);
    }
    let answer: Answer = serde_json::from_str(json_text).map_err(|_| Refusal::Malformed)?;
    let old = memory.summary.as_ref();
    let text = summary(&answer.summary, old, agent.compaction.summary_words_max)?;
    let mut changes = Changes::new(agent, memory, plan);
    for operation in answer.facts {
        changes.apply(operation, new_id);
    }
    Ok(Fold {
        from_version: old.map(|summary| summary.version),
        summary: Summary {
            version: old.map_or(1, |summary| summary.version + 1),
            text,
            through: plan.through,
            written_at: now,
        },
        facts: changes.written,
        retired: changes.retired,
        messages: span
            .iter()
            .flat_map(|exchange| &exchange.messages)
            .map(|message| message.id.clone())
            .collect(),
        replies: span
            .iter()
            .filter(|exchange| has_reply(exchange))
            .map(|exchange| exchange.reply)
            .collect(),
        calls: span
            .iter()
            .flat_map(|exchange| exchange.calls.iter().map(|call| (exchange.reply, call.n)))
            .collect(),
    })
}

/// An exchange without an answer has no reply item left to delete.
fn has_reply(exchange: &Exchange) -> bool {
    exchange.answer.is_some()
}

/// The new summary's words, within `words_max`.
fn summary(text: &str, old: Option<&Summary>, words_max: usize) -> Result<String, Refusal> {
    if is_blank(text) {
        return Err(Refusal::BlankSummary);
    }
    let words = text.split_whitespace().count();
    if words > words_max + words_max / 2 {
        return Err(Refusal::LongSummary);
    }
    let before = old.map_or(0, |summary| summary.text.split_whitespace().count());
    if before > WORDS_WORTH_KEEPING && words < before.div_ceil(3) {
        return Err(Refusal::ShrunkSummary);
    }
    if is_small_talk(text) {
        return Err(Refusal::SmallTalk);
    }
    Ok(first_sentences(text.trim(), words_max))
}

/// `text` up to the last sentence that ends within `words_max` words; up to the last word where none does.
fn first_sentences(text: &str, words_max: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.len() <= words_max {
        return text.to_owned();
    }
    let kept = &words[..words_max];
    let sentences = kept
        .iter()
        .rposition(|word| word.ends_with(['.', '!', '?', '…']));
    let end = sentences.map_or(kept.len(), |at| at + 1);
    // A sentence end in the first half would throw away more than it tidies.
    let end = if end * 2 < kept.len() {
        kept.len()
    } else {
        end
    };
    kept[..end].join(" ")
}

/// The facts as they change, operation by operation.
struct Changes<'a> {
    known: Vec<(String, &'a Fact)>,
    sources: Vec<(String, &'a PastMessage)>,
    operations_max: usize,
    chars_max: usize,
    /// Folded texts of facts that hold: what a duplicate is found by.
    texts: BTreeSet<String>,
    touched: BTreeSet<FactId>,
    written: Vec<Fact>,
    retired: Vec<FactId>,
}

impl<'a> Changes<'a> {
    fn new(agent: &Agent, memory: &'a Memory, plan: &Plan) -> Self {
        Self {
            known: request::known_facts(memory),
            sources: request::sources(memory, plan),
            operations_max: plan.operations_max(),
            chars_max: agent.compaction.fact_chars_max,
            texts: memory.facts.iter().map(|fact| folded(&fact.text)).collect(),
            touched: BTreeSet::new(),
            written: Vec::new(),
            retired: Vec::new(),
        }
    }

    /// Applies one operation, or leaves it out where it breaks a rule.
    fn apply(&mut self, operation: Operation, new_id: &mut dyn FnMut() -> FactId) {
        if self.written.len() + self.retired.len() == self.operations_max {
            return;
        }
        let Some((sources, said_at)) = self.cited(&operation.source_ids) else {
            return;
        };
        let target = operation
            .id
            .as_deref()
            .and_then(|alias| self.untouched(alias));
        match (operation.op, target) {
            (Op::Add, _) => {
                if let Some(text) = self.new_text(operation.text) {
                    self.written.push(Fact {
                        id: new_id(),
                        text,
                        sources,
                        said_at,
                    });
                }
            }
            (Op::Update, Some(old)) => {
                if let Some(text) = self.new_text(operation.text) {
                    self.texts.remove(&folded(&old.text));
                    self.touched.insert(old.id);
                    let sources = joined(&old.sources, sources);
                    self.written.push(Fact {
                        id: old.id,
                        text,
                        sources,
                        said_at,
                    });
                }
            }
            (Op::Retire, Some(old)) => {
                self.texts.remove(&folded(&old.text));
                self.touched.insert(old.id);
                self.retired.push(old.id);
            }
            (Op::Update | Op::Retire, None) => {}
        }
    }

    /// The person's messages of the span among `aliases`, and when the newest of them was sent.
    fn cited(&self, aliases: &[String]) -> Option<(Vec<MessageId>, Timestamp)> {
        let cited = self
            .sources
            .iter()
            .filter(|(alias, _)| aliases.contains(alias));
        let said_at = cited.clone().map(|(_, message)| message.sent_at).max()?;
        let mut ids: Vec<MessageId> = cited.map(|(_, message)| message.id.clone()).collect();
        ids.drain(..ids.len().saturating_sub(SOURCES_MAX));
        Some((ids, said_at))
    }

    /// The fact behind an alias, unless an earlier operation changed it already.
    fn untouched(&self, alias: &str) -> Option<&'a Fact> {
        let (_, fact) = self.known.iter().find(|(known, _)| known == alias)?;
        (!self.touched.contains(&fact.id)).then_some(fact)
    }

    /// The text on one line, if it may be kept and is not known already.
    fn new_text(&mut self, text: Option<String>) -> Option<String> {
        let text = text?.split_whitespace().collect::<Vec<_>>().join(" ");
        let text = within(text, self.chars_max)?;
        let key = folded(&text);
        let is_new = !key.is_empty() && !refuses(&text) && self.texts.insert(key);
        is_new.then_some(text)
    }
}

/// A text slightly over the cap is cut between words; one far over it is no short line at all.
fn within(text: String, chars_max: usize) -> Option<String> {
    let chars = text.chars().count();
    if chars <= chars_max {
        return Some(text);
    }
    if chars > chars_max + chars_max / 2 {
        return None;
    }
    let kept: String = text.chars().take(chars_max.saturating_sub(1)).collect();
    let (words, _) = kept.rsplit_once(' ')?;
    Some(format!("{words}…"))
}

fn joined(old: &[MessageId], new: Vec<MessageId>) -> Vec<MessageId> {
    let mut all: Vec<MessageId> = old.iter().filter(|id| !new.contains(id)).cloned().collect();
    all.extend(new);
    all.drain(..all.len().saturating_sub(SOURCES_MAX));
    all
}

#[cfg(test)]
mod tests;
