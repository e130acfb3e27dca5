//! Server-sent events: steps of the story and messages of the chat as they happen. A reader that comes back says
//! with Last-Event-ID where it was; one that missed something is told so and asks for the whole again.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::Stream;
use futures_util::stream;
use recado::domain::Phone as Number;
use serde_json::json;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use super::book::ChatMessage;
use super::people;
use super::routes::PhoneState;
use super::story::Told;

/// How often an idle stream says that it lives.
const HEARTBEAT: Duration = Duration::from_secs(10);
/// What a reader waits before it comes back.
const RECONNECT: Duration = Duration::from_secs(1);

/// Where a reader was: the story's name and the last step it saw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Position {
    /// The story's name; absent where the reader does not care.
    pub story: Option<String>,
    /// The last step it saw.
    pub seq: u64,
}

impl Position {
    /// Reads an event's id, `<story>-<seq>`.
    pub(super) fn parse(id: &str) -> Option<Self> {
        let (story, seq) = id.rsplit_once('-')?;
        Some(Self {
            story: Some(story.to_owned()),
            seq: seq.parse().ok()?,
        })
    }
}

/// The stream for one reader, of one person or of everyone, from `position` or from now on.
pub(super) fn stream_for(
    state: PhoneState,
    phone: Option<Number>,
    position: Option<Position>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let feed = Feed::new(state, phone, position);
    let events = stream::unfold(feed, |mut feed| async move {
        let event = feed.next().await?;
        Some((Ok(event), feed))
    });
    Sse::new(events).keep_alive(KeepAlive::new().interval(HEARTBEAT))
}

struct Feed {
    state: PhoneState,
    phone: Option<Number>,
    ready: VecDeque<Event>,
    steps: broadcast::Receiver<Arc<Told>>,
    messages: broadcast::Receiver<Arc<ChatMessage>>,
    closed: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl Feed {
    fn new(state: PhoneState, phone: Option<Number>, position: Option<Position>) -> Self {
        let messages = state.phone.changes();
        let since = position.as_ref().map_or(u64::MAX, |position| position.seq);
        let wanted_phone = phone.clone();
        let (chapter, steps) = state.story.listen(since, |conversation| {
            is_wanted(wanted_phone.as_ref(), conversation.contact.as_str())
        });
        let closed = Box::pin(state.phone.until_closed());
        let mut feed = Self {
            state,
            phone,
            ready: VecDeque::new(),
            steps,
            messages,
            closed,
        };
        match position {
            Some(position)
                if position
                    .story
                    .as_ref()
                    .is_some_and(|it| *it != chapter.story) =>
            {
                feed.reset("restarted", chapter.last);
            }
            Some(_) if !chapter.complete => feed.reset("lost", chapter.last),
            Some(_) => {
                for told in &chapter.steps {
                    feed.push_step(told);
                }
                feed.hello(chapter.last);
            }
            None => feed.hello(chapter.last),
        }
        feed
    }

    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            tokio::select! {
                told = self.steps.recv() => match told {
                    Ok(told) => self.push_step(&told),
                    Err(RecvError::Lagged(_)) => self.catch_up(),
                    Err(RecvError::Closed) => return None,
                },
                message = self.messages.recv() => match message {
                    Ok(message) => self.push_message(&message),
                    Err(RecvError::Lagged(_)) => self.catch_up(),
                    Err(RecvError::Closed) => return None,
                },
                () = &mut self.closed => return None,
            }
        }
    }

    fn push_step(&mut self, told: &Told) {
        if !is_wanted(self.phone.as_ref(), told.conversation.contact.as_str()) {
            return;
        }
        let json = self.state.step_json(told, self.phone.as_ref());
        let event = event("step", &json).id(self.id(told.seq));
        self.ready.push_back(event);
    }

    /// A message carries no id: a reader that comes back fetches the chat again.
    fn push_message(&mut self, message: &ChatMessage) {
        if self
            .phone
            .as_ref()
            .is_none_or(|phone| *phone == message.phone)
        {
            let event = event("message", &json!(message));
            self.ready.push_back(event);
        }
    }

    /// The reader was too slow: it gets nothing of what it missed and is told to ask for the whole.
    fn catch_up(&mut self) {
        let (chapter, steps) = self.state.story.listen(u64::MAX, |_| false);
        self.steps = steps;
        self.messages = self.state.phone.changes();
        self.reset("lagged", chapter.last);
    }

    fn hello(&mut self, last: u64) {
        let event = event("hello", &json!({ "last": last })).id(self.id(last));
        self.ready.push_back(event.retry(RECONNECT));
    }

    fn reset(&mut self, reason: &str, last: u64) {
        let event = event("reset", &json!({ "reason": reason, "last": last }));
        self.ready
            .push_back(event.id(self.id(last)).retry(RECONNECT));
    }

    fn id(&self, seq: u64) -> String {
        format!("{}-{seq}", self.state.story.name())
    }
}

fn event(name: &str, data: &serde_json::Value) -> Event {
    Event::default().event(name).data(data.to_string())
}

fn is_wanted(phone: Option<&Number>, contact: &str) -> bool {
    phone.is_none_or(|phone| people::is_contact(phone, contact))
}
