//! The people and messages the contracts speak of, and the steps that most of them start with.

use recado::domain::{
    Address, AgentId, Alias, Bsuid, BusinessNumber, ContactId, Content, ConversationId, Event,
    FactId, Lease, MessageId, Phone, Reply, ReplyId, ReplyKind, ReplyStatus, RunId, State,
    Timestamp,
};
use recado::ports::{Appended, Commit, Creation, Erasure, Peek, Store, Swapped, Unrest, Written};

use super::Bench;

/// The moment `seconds` after the contracts' beginning, in the year 2030: nothing expires while they run.
pub fn at(seconds: u64) -> Timestamp {
    Timestamp::from_ms(1_900_000_000_000 + seconds * 1000)
}

/// The one agent.
pub fn agent() -> AgentId {
    AgentId::parse("recepcao").expect("an agent id")
}

/// The n-th person's phone.
pub fn phone(n: u32) -> Alias {
    Alias::Phone(Phone::parse(phone_text(n)).expect("a phone"))
}

/// The n-th person's phone as text.
pub fn phone_text(n: u32) -> String {
    format!("55119{n:08}")
}

/// The n-th person's BSUID.
pub fn bsuid(n: u32) -> Alias {
    Alias::Bsuid(Bsuid::parse(format!("BR.{n}abc")).expect("a BSUID"))
}

/// A contact id.
pub fn contact(text: &str) -> ContactId {
    ContactId::parse(text).expect("a contact id")
}

/// The conversation with this contact.
pub fn conversation(text: &str) -> ConversationId {
    ConversationId {
        agent: agent(),
        contact: contact(text),
    }
}

/// A message id.
pub fn message(id: &str) -> MessageId {
    MessageId::parse(id).expect("a message id")
}

/// The n-th reply, in order.
pub fn reply_id(n: u64) -> ReplyId {
    ReplyId::from_parts(at(0).ms() + n, 7)
}

/// The n-th run.
pub fn run_id(n: u64) -> RunId {
    RunId::from_parts(at(0).ms() + n, 9)
}

/// The n-th fact.
pub fn fact_id(n: u64) -> FactId {
    FactId::from_parts(at(0).ms() + n, 5)
}

/// A message sent `seconds` after the beginning, which arrived a second later.
pub fn event(id: &str, seconds: u64) -> Event {
    Event {
        id: message(id),
        reply_to: Address::Phone(Phone::parse(phone_text(1)).expect("a phone")),
        number: BusinessNumber::parse("106540352242922").expect("a number"),
        sent_at: at(seconds),
        arrived_at: at(seconds + 1),
        content: Content::Text(format!("words of {id}")),
        closed: None,
    }
}

/// A reply that is ready to go.
pub fn reply(n: u64) -> Reply {
    Reply {
        id: reply_id(n),
        kind: ReplyKind::Answer,
        text: format!("answer {n}"),
        number: BusinessNumber::parse("106540352242922").expect("a number"),
        to: Address::Phone(Phone::parse(phone_text(1)).expect("a phone")),
        status: ReplyStatus::Ready,
        token: None,
        refusals: 0,
        refused_since: None,
        committed_at: at(100 + n),
        cost: None,
    }
}

/// A creation of this contact on an event sent at second `seconds`.
pub fn creation(name: &str, aliases: &[Alias], seconds: u64) -> Creation {
    Creation {
        conversation: conversation(name),
        state: State::new(aliases.to_vec(), at(seconds)),
        event_sent_at: at(seconds),
        stale: Vec::new(),
    }
}

/// A person who has written, on a table under test.
pub struct Scene<'a> {
    /// The table with its way past the port.
    pub bench: &'a dyn Bench,
    /// The person's conversation.
    pub conversation: ConversationId,
}

impl<'a> Scene<'a> {
    /// The first person, known by phone and BSUID since second 0.
    pub async fn new(bench: &'a dyn Bench) -> Self {
        let scene = Self::of(bench, 1);
        let creation = creation(&phone_text(1), &[phone(1), bsuid(1)], 0);
        let written = scene.store().create_contact(&creation).await;
        assert_eq!(written.expect("create"), Written::Done);
        scene
    }

    /// The n-th person's place, where nothing is yet.
    pub fn of(bench: &'a dyn Bench, n: u32) -> Self {
        Self {
            bench,
            conversation: conversation(&phone_text(n)),
        }
    }

    /// The table.
    pub fn store(&self) -> &'a dyn Store {
        self.bench.store()
    }

    /// The front of the conversation.
    pub async fn peek(&self) -> Peek {
        self.store()
            .peek(&self.conversation, 81)
            .await
            .expect("peek")
    }

    /// The state, which must be there.
    pub async fn state(&self) -> State {
        self.peek().await.state.expect("a state")
    }

    /// Pending ids in order.
    pub async fn pending(&self) -> Vec<String> {
        let peek = self.peek().await;
        peek.pending
            .iter()
            .map(|event| event.id.to_string())
            .collect()
    }

    /// Stores a message.
    pub async fn append(&self, event: &Event) -> Appended {
        let appended = self.store().append(&self.conversation, event).await;
        appended.expect("append")
    }

    /// Stores new messages, sent at seconds 10, 11, ...
    pub async fn receive(&self, ids: &[&str]) {
        for (id, seconds) in ids.iter().zip(10..) {
            assert_eq!(self.append(&event(id, seconds)).await, Appended::New);
        }
    }

    /// Changes the state as it is now.
    pub async fn change(&self, change: impl FnOnce(&mut State)) -> State {
        let mut state = self.state().await;
        let expected = state.version;
        change(&mut state);
        state.version = expected + 1;
        let swapped = self
            .store()
            .swap_state(&self.conversation, expected, &state);
        assert_eq!(swapped.await.expect("swap"), Swapped::Done);
        state
    }

    /// Claims the conversation for a run; gives the epoch.
    pub async fn claim(&self, run: u64) -> u64 {
        let state = self.change(|state| {
            state.epoch += 1;
            state.attempts += 1;
            state.first_attempt_at = Some(at(50));
            state.lease = Some(Lease {
                run: run_id(run),
                until: at(200),
            });
        });
        state.await.epoch
    }

    /// The commit of the n-th reply by the n-th run.
    pub fn commit_of(&self, n: u64, epoch: u64, ids: &[&str]) -> Commit {
        Commit {
            run: run_id(n),
            epoch,
            reply: reply(n),
            answered: ids.iter().map(|id| message(id)).collect(),
            calls: Vec::new(),
            last_inbound_at: at(10 + ids.len() as u64),
            cut_point: None,
            token_factor: None,
            opt_out: None,
            paused_until: None,
            spent: None,
            session: None,
            limited_until: None,
            now: at(100 + n),
        }
    }

    /// Commits, whatever comes of it.
    pub async fn commit(&self, commit: &Commit) -> Written {
        let written = self.store().commit(&self.conversation, commit).await;
        written.expect("commit")
    }

    /// Receives, claims and commits: the n-th reply is ready.
    pub async fn answered(&self, n: u64, ids: &[&str]) -> Reply {
        self.receive(ids).await;
        let epoch = self.claim(n).await;
        let commit = self.commit_of(n, epoch, ids);
        assert_eq!(self.commit(&commit).await, Written::Done);
        commit.reply
    }

    /// Takes the right to send.
    pub async fn sending(&self, reply: &Reply, token: u64) -> Written {
        let store = self.store();
        let written = store.mark_sending(&self.conversation, reply, run_id(token), at(120));
        written.await.expect("mark sending")
    }

    /// The only reply on its way.
    pub async fn leaving(&self) -> Reply {
        let mut outbox = self.peek().await.outbox;
        assert_eq!(outbox.len(), 1, "replies on their way");
        outbox.remove(0)
    }

    /// The erasure of this person, from the list in the state.
    pub async fn erasure(&self, seconds: u64) -> (Erasure, u64) {
        let state = self.state().await;
        let erasure = Erasure {
            conversation: self.conversation.clone(),
            aliases: state.aliases,
            forgotten_at: at(seconds),
        };
        (erasure, state.version)
    }

    /// Begins an erasure that must succeed.
    pub async fn begin(&self, seconds: u64) -> Erasure {
        let (erasure, version) = self.erasure(seconds).await;
        let begun = self.store().begin_erasure(&erasure, version).await;
        assert_eq!(begun.expect("begin"), Written::Done);
        erasure
    }

    /// Forgets the person entirely.
    pub async fn forget(&self, seconds: u64) -> Erasure {
        let erasure = self.begin(seconds).await;
        self.store().erase(&erasure).await.expect("erase");
        let left = self.store().erase(&erasure).await.expect("erase");
        assert_eq!(left, 0, "a second pass finds nothing");
        self.store().end_erasure(&erasure).await.expect("end");
        erasure
    }

    /// What is not at rest by the far end of the contracts' time.
    pub async fn unrest(&self) -> Vec<Unrest> {
        let unrest = self.store().unrest(at(1_000_000), 100).await;
        unrest.expect("unrest")
    }

    /// Whether nothing has changed since `before` was dumped.
    pub async fn is_unchanged(&self, before: &str, label: &str) {
        assert_eq!(
            self.bench.dump().await,
            before,
            "{label}: something changed"
        );
    }
}
