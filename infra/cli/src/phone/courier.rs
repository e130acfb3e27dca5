//! Deliveries in the background: webhooks over real HTTP, in order per person, tried again until they are answered
//! with 2xx. Meta gives up after seven days; a phone on a laptop never does.

use std::sync::Arc;
use std::time::Duration;

use recado::adapters::meta::signature;
use recado::adapters::spawn::spawn;
use recado::domain::{Phone, Timestamp};
use tokio::sync::Notify;

use super::book::{ChatMessage, Progress};
use super::envelope;
use super::provider::Inner;
use super::records::Record;

/// The first wait after a failed webhook; it doubles up to the longest.
const BACKOFF_FIRST: Duration = Duration::from_millis(250);
/// The longest wait: a developer who restarts the back end should not have to wait for the phone.
const BACKOFF_LONGEST: Duration = Duration::from_secs(5);
/// What a provider reports of an answer, and how long after it was accepted.
const STATUSES: [(Progress, Duration); 3] = [
    (Progress::Sent, Duration::from_millis(20)),
    (Progress::Delivered, Duration::from_millis(250)),
    (Progress::Read, Duration::from_millis(900)),
];

/// Starts delivering one person's texts; `wake` says that there may be a new one.
pub(super) fn spawn_line(inner: &Arc<Inner>, phone: Phone, wake: Arc<Notify>) {
    let closed = inner.until_closed();
    let inner = Arc::clone(inner);
    spawn("phone-line", async move {
        tokio::select! {
            () = deliver_texts(&inner, &phone, &wake) => {}
            () = closed => {}
        }
    });
}

/// Starts reporting the statuses of an answer that the back end does not know yet.
pub(super) fn spawn_statuses(inner: &Arc<Inner>, message: ChatMessage) {
    let closed = inner.until_closed();
    let inner = Arc::clone(inner);
    spawn("phone-statuses", async move {
        tokio::select! {
            () = report_statuses(&inner, message) => {}
            () = closed => {}
        }
    });
}

async fn deliver_texts(inner: &Inner, phone: &Phone, wake: &Notify) {
    loop {
        let Some(message) = inner.read(|book| book.next_untaken(phone).cloned()) else {
            wake.notified().await;
            continue;
        };
        let early = message.at.since(inner.now());
        if !early.is_zero() {
            // A text written meanwhile may be due before this one.
            tokio::select! {
                () = inner.clock.sleep(early) => {}
                () = wake.notified() => {}
            }
            continue;
        }
        let body = envelope::message(&inner.settings, &message);
        deliver(inner, &message, Progress::Delivered, &body).await;
    }
}

async fn report_statuses(inner: &Inner, message: ChatMessage) {
    for (progress, delay) in STATUSES {
        if progress <= message.status {
            continue;
        }
        let at = message.at.plus(delay);
        inner.clock.sleep(at.since(inner.now())).await;
        let body = envelope::status(&inner.settings, &message, progress, at);
        deliver(inner, &message, progress, &body).await;
    }
}

/// Posts one webhook until it is answered with 2xx and that is written down.
async fn deliver(inner: &Inner, message: &ChatMessage, progress: Progress, body: &str) {
    let signature = signature::sign(inner.settings.app_secret.as_bytes(), body.as_bytes());
    let mut failures = 0_u32;
    inner.note_try(&message.id, None);
    loop {
        match post(inner, &signature, body).await {
            Ok(()) => {
                if mark(inner, message, progress, inner.now()) {
                    return;
                }
            }
            Err(problem) => {
                tracing::warn!(
                    problem,
                    failures,
                    "the webhook was not taken; it is sent again"
                );
                inner.note_try(&message.id, Some(&problem));
            }
        }
        let longest = BACKOFF_FIRST
            .saturating_mul(2_u32.saturating_pow(failures))
            .min(BACKOFF_LONGEST);
        // Between half and all of it, so that many people's phones do not call in step.
        let wait = longest.mul_f64(0.5 + inner.chance.fraction() / 2.0);
        failures = failures.saturating_add(1);
        inner.clock.sleep(wait).await;
    }
}

/// Writes down that the back end took a webhook; without that it would be sent again at the next start.
fn mark(inner: &Inner, message: &ChatMessage, progress: Progress, at: Timestamp) -> bool {
    let id = message.id.clone();
    inner
        .keep_all(vec![Record::Progressed { id, progress, at }])
        .inspect_err(|_| {
            tracing::error!("the phone's log cannot be written; the webhook is sent again");
        })
        .is_ok()
}

/// One try; an error is a short phrase without any of the content.
async fn post(inner: &Inner, signature: &str, body: &str) -> Result<(), String> {
    // It is never closed; if it were, a webhook too many would do no harm.
    let _turn = inner.webhooks.acquire().await;
    let response = inner
        .http
        .post(&inner.settings.webhook_url)
        .header("Content-Type", "application/json")
        .header("User-Agent", "recado-phone")
        .header(signature::HEADER, signature)
        .body(body.to_owned())
        .send()
        .await
        .map_err(|error| phrase(&error).to_owned())?;
    let status = response.status();
    if status.is_success() {
        Ok(())
    } else {
        Err(format!("HTTP {}", status.as_u16()))
    }
}

fn phrase(error: &reqwest::Error) -> &'static str {
    if error.is_timeout() {
        "no answer in time"
    } else if error.is_connect() {
        "no connection"
    } else {
        "connection broken"
    }
}
