//! People, and the provider that carries their words here: it repeats what was not taken, and it never gives up.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use recado::domain::{
    Address, Alias, Bsuid, BusinessNumber, Content, Inbound, Kind as ContentKind, Phone,
    ProviderEvent, Timestamp,
};
use recado::flow::ingest;

use super::invocation::Role;
use super::plan::{Ids, Kind, Said};
use super::words::Canary;
use super::world::SimWorld;
use crate::fake_clock::FIRST_DAY;
use crate::fake_world::NUMBER;

/// The provider waits this long for an answer.
const WEBHOOK: Duration = Duration::from_secs(10);

/// The provider's patience grows from try to try, in milliseconds.
const TRIES_AFTER_MS: [u64; 6] = [1_000, 2_500, 6_000, 15_000, 30_000, 60_000];

/// A person's phone.
pub fn phone(person: usize) -> Phone {
    Phone::parse(format!("55119000000{person:02}")).expect("a phone")
}

/// A person's BSUID.
pub fn bsuid(person: usize) -> Bsuid {
    Bsuid::parse(format!("BR.15025763946558{person:02}")).expect("a BSUID")
}

/// A message as it comes in now.
fn inbound(said: &Said, canary: Canary, now: Timestamp) -> Inbound {
    let (phone, bsuid) = (phone(said.person), bsuid(said.person));
    let aliases = match said.ids {
        Ids::Phone => vec![Alias::Phone(phone.clone())],
        Ids::Bsuid => vec![Alias::Bsuid(bsuid.clone())],
        Ids::Both => vec![Alias::Phone(phone.clone()), Alias::Bsuid(bsuid.clone())],
    };
    let reply_to = match said.ids {
        Ids::Bsuid => Address::Bsuid(bsuid),
        Ids::Phone | Ids::Both => Address::Phone(phone),
    };
    let content = match said.kind {
        Kind::Words => Content::Text(format!("recado {canary}")),
        Kind::Stop => Content::Text("Parar!".to_owned()),
        Kind::Unsupported => Content::Unsupported(ContentKind::parse("sticker").expect("a kind")),
    };
    let sent_s = (FIRST_DAY.ms() + said.at).saturating_sub(said.age) / 1_000;
    Inbound {
        id: canary.message_id(),
        aliases,
        reply_to,
        number: BusinessNumber::parse(NUMBER).expect("a number"),
        sent_at: Timestamp::from_ms(sent_s * 1_000).min(now),
        arrived_at: now,
        content,
    }
}

/// Delivers a message until it is taken.
pub async fn deliver(sim: Arc<SimWorld>, said: Said, canary: Canary) {
    let make = |now| ProviderEvent::Message(inbound(&said, canary, now));
    let late = bring(&sim, make).await;
    if late {
        let sent = FIRST_DAY.ms() + said.at - said.age.min(FIRST_DAY.ms());
        let person = said.person;
        sim.core
            .witness(|witness| witness.was_late(person, sent.saturating_sub(FIRST_DAY.ms())));
    }
}

/// Brings one event until it is taken. Yields whether it was dropped as late.
pub async fn bring(sim: &SimWorld, make: impl Fn(Timestamp) -> ProviderEvent) -> bool {
    let core = &sim.core;
    for tries in 0.. {
        if !sim.down.load(Ordering::Relaxed) {
            let event = make(sim.world.now());
            let work = ingest::ingest(&sim.world, vec![event]);
            let ingested = core.invoke(Role::Ingest, WEBHOOK, work).await;
            if let Some(ingested) = ingested.filter(|ingested| ingested.failed == 0) {
                return ingested.late > 0;
            }
        }
        let after_ms = if core.is_calm() {
            3_000
        } else {
            TRIES_AFTER_MS[tries.min(TRIES_AFTER_MS.len() - 1)]
        };
        // The answer to a message that is stored waits for the tick of this try.
        core.trouble(None, after_ms + 70_000);
        tokio::time::sleep(Duration::from_millis(after_ms)).await;
    }
    false
}
