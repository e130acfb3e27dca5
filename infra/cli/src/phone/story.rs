//! The story of each conversation, step by step, as the flow's journal tells it: the newest steps are kept in
//! memory, and whoever listens hears each as it happens. Of who is forgotten nothing is kept.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use recado::domain::{ConversationId, Step, Timestamp};
use recado::ports::{Chance, Clock, Journal};
use tokio::sync::broadcast;

/// Steps kept of all conversations together, so that a crowd cannot fill the memory.
const KEPT_MAX: usize = 20_000;
/// Steps a listener may be behind before it loses some.
const STEPS_QUEUED: usize = 4_096;

/// One step as it was told.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    /// Its place in the story of this process, from 1.
    pub seq: u64,
    /// When it was told.
    pub at: Timestamp,
    /// Whose.
    pub conversation: ConversationId,
    /// What happened.
    pub step: Step,
}

/// A part of the story.
#[derive(Debug, Clone)]
pub struct Chapter {
    /// Names this process's story: another name means that the numbers have started anew.
    pub story: String,
    /// The moment of the answer.
    pub now: Timestamp,
    /// The newest step's number; ask from here next time.
    pub last: u64,
    /// Whether nothing is missing between what was asked for and what is there.
    pub complete: bool,
    /// The steps, oldest first.
    pub steps: Vec<Arc<Told>>,
}

/// Keeps and tells the story.
pub struct Story {
    name: String,
    clock: Arc<dyn Clock>,
    kept_per_conversation: usize,
    kept: Mutex<Kept>,
    listeners: broadcast::Sender<Arc<Told>>,
}

#[derive(Default)]
struct Kept {
    last: u64,
    /// The newest step that is no longer there.
    dropped: u64,
    steps: BTreeMap<u64, Arc<Told>>,
    by_conversation: HashMap<ConversationId, VecDeque<u64>>,
}

impl Story {
    /// An empty story that keeps the newest `kept_per_conversation` steps of each conversation.
    pub fn new(clock: Arc<dyn Clock>, chance: &dyn Chance, kept_per_conversation: usize) -> Self {
        Self {
            name: format!("{:08x}", chance.bits() & 0xffff_ffff),
            clock,
            kept_per_conversation: kept_per_conversation.max(1),
            kept: Mutex::default(),
            listeners: broadcast::Sender::new(STEPS_QUEUED),
        }
    }

    /// This process's name of its story.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What was told after step `seq` of the conversations that are wanted.
    pub fn since(&self, seq: u64, wanted: impl Fn(&ConversationId) -> bool) -> Chapter {
        self.listen(seq, wanted).0
    }

    /// The same, and every step after it, without a gap between the two. What is heard is of all conversations.
    pub fn listen(
        &self,
        seq: u64,
        wanted: impl Fn(&ConversationId) -> bool,
    ) -> (Chapter, broadcast::Receiver<Arc<Told>>) {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let steps = kept
            .steps
            .range(seq.saturating_add(1)..)
            .map(|(_, told)| told)
            .filter(|told| wanted(&told.conversation))
            .cloned()
            .collect();
        let chapter = Chapter {
            story: self.name.clone(),
            now: self.clock.now(),
            last: kept.last,
            complete: seq >= kept.dropped && seq <= kept.last,
            steps,
        };
        (chapter, self.listeners.subscribe())
    }
}

impl Journal for Story {
    fn note(&self, conversation: &ConversationId, step: &Step) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let told = Arc::new(Told {
            seq: kept.last + 1,
            at: self.clock.now(),
            conversation: conversation.clone(),
            step: step.clone(),
        });
        // Who is forgotten is forgotten here too; that they are is itself told with their id, so only listeners hear it.
        if matches!(step, Step::Forgotten { .. }) {
            kept.forget(conversation, told.seq);
        } else {
            kept.add(Arc::clone(&told), self.kept_per_conversation);
        }
        // Told under the lock, so that everyone hears the steps in order; without a listener there is no one to tell.
        let _ = self.listeners.send(told);
    }
}

impl Kept {
    fn add(&mut self, told: Arc<Told>, per_conversation: usize) {
        self.last = told.seq;
        let own = self
            .by_conversation
            .entry(told.conversation.clone())
            .or_default();
        own.push_back(told.seq);
        let surplus = if own.len() > per_conversation {
            own.pop_front()
        } else {
            None
        };
        self.steps.insert(told.seq, told);
        if let Some(seq) = surplus {
            self.steps.remove(&seq);
            self.dropped = self.dropped.max(seq);
        }
        if self.steps.len() > KEPT_MAX {
            self.drop_oldest();
        }
    }

    fn forget(&mut self, conversation: &ConversationId, told: u64) {
        self.last = told;
        for seq in self
            .by_conversation
            .remove(conversation)
            .unwrap_or_default()
        {
            self.steps.remove(&seq);
            self.dropped = self.dropped.max(seq);
        }
    }

    fn drop_oldest(&mut self) {
        let Some((seq, told)) = self.steps.pop_first() else {
            return;
        };
        self.dropped = self.dropped.max(seq);
        if let Some(own) = self.by_conversation.get_mut(&told.conversation) {
            own.retain(|kept| *kept != seq);
            if own.is_empty() {
                self.by_conversation.remove(&told.conversation);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use recado::adapters::chance::SystemChance;
    use recado::adapters::clock::SystemClock;
    use recado::domain::{AgentId, ContactId, ReplyId};

    use super::*;

    fn conversation(contact: &str) -> ConversationId {
        ConversationId {
            agent: AgentId::parse("recepcao").unwrap(),
            contact: ContactId::parse(contact).unwrap(),
        }
    }

    fn sent() -> Step {
        Step::Sent {
            reply: ReplyId::from_parts(1, 1),
        }
    }

    fn story(kept: usize) -> Story {
        Story::new(Arc::new(SystemClock), &SystemChance, kept)
    }

    fn numbers(chapter: &Chapter) -> Vec<u64> {
        chapter.steps.iter().map(|told| told.seq).collect()
    }

    #[test]
    fn steps_are_numbered_kept_per_conversation_and_filtered() {
        let story = story(2);
        let (ana, beto) = (conversation("5511900000001"), conversation("5511900000002"));
        for conversation in [&ana, &beto, &ana, &ana] {
            story.note(conversation, &sent());
        }
        let all = story.since(0, |_| true);
        assert_eq!(
            (numbers(&all), all.last, all.complete),
            (vec![2, 3, 4], 4, false)
        );
        assert_eq!(numbers(&story.since(0, |of| *of == beto)), [2]);
        let rest = story.since(3, |_| true);
        assert_eq!((numbers(&rest), rest.complete), (vec![4], true));
        assert!(
            !story.since(9, |_| true).complete,
            "a number of another process"
        );
    }

    #[test]
    fn a_crowd_does_not_grow_it_without_bound() {
        let story = story(10);
        for index in 0..KEPT_MAX + 5 {
            story.note(&conversation(&format!("55119{index:08}")), &sent());
        }
        let kept = story.kept.lock().unwrap();
        assert_eq!(
            (kept.steps.len(), kept.by_conversation.len()),
            (KEPT_MAX, KEPT_MAX)
        );
    }

    #[tokio::test]
    async fn of_who_is_forgotten_nothing_is_kept() {
        let story = story(10);
        let (ana, beto) = (conversation("5511900000001"), conversation("5511900000002"));
        for conversation in [&ana, &beto, &ana] {
            story.note(conversation, &sent());
        }
        let (_, mut listener) = story.listen(3, |_| true);
        let forgotten = Step::Forgotten { items: 2 };
        story.note(&ana, &forgotten);
        let all = story.since(0, |_| true);
        assert_eq!((numbers(&all), all.last, all.complete), (vec![2], 4, false));
        assert!(story.since(3, |_| true).complete);
        assert!(!format!("{:?}", all.steps).contains("5511900000001"));
        assert_eq!(listener.recv().await.unwrap().step, forgotten);
        story.note(&ana, &sent());
        assert_eq!(numbers(&story.since(0, |_| true)), [2, 5], "a next life");
    }

    #[tokio::test]
    async fn a_listener_hears_what_follows_its_chapter() {
        let story = story(10);
        story.note(&conversation("5511900000001"), &sent());
        let (chapter, mut listener) = story.listen(0, |_| true);
        story.note(&conversation("5511900000001"), &sent());
        assert_eq!(chapter.last, 1);
        assert_eq!(listener.recv().await.unwrap().seq, 2);
    }
}
