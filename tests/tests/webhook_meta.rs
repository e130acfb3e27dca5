//! Whole payloads of Meta, from the signed bytes to what is known of them. The payloads are in `fixtures/meta`; what
//! each must give is one reviewed snapshot.

use std::fmt::Write as _;
use std::path::PathBuf;

use recado::adapters::meta::parse::{Parsed, parse};
use recado::adapters::meta::signature::{sign, verify};
use recado::domain::{Address, Alias, Content, DeliveryStatus, ProviderEvent, Timestamp};

const SECRET: &str = "app secret for tests";
/// A second and a quarter after what most payloads carry.
const ARRIVED: Timestamp = Timestamp::from_ms(1_795_000_001_250);

/// Name and bytes of every payload, by name.
fn payloads() -> Vec<(String, Vec<u8>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/meta");
    let mut payloads: Vec<(String, Vec<u8>)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .map(|path| {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read(path).unwrap())
        })
        .collect();
    payloads.sort();
    payloads
}

fn parsed(raw: &[u8]) -> Parsed {
    let header = sign(SECRET.as_bytes(), raw);
    parse(verify(&[SECRET], Some(&header), raw).unwrap(), ARRIVED).unwrap()
}

/// In full, for `Debug` keeps people to itself.
fn told(parsed: &Parsed) -> String {
    let mut told = String::new();
    for event in &parsed.events {
        match event {
            ProviderEvent::Message(inbound) => {
                let id = inbound.id.as_str();
                let to = match &inbound.reply_to {
                    Address::Phone(phone) => phone.as_str(),
                    Address::Bsuid(bsuid) => bsuid.as_str(),
                };
                let content = match &inbound.content {
                    Content::Text(text) => format!("{text:?}"),
                    Content::Unsupported(kind) => format!("kept as {kind}"),
                };
                let (sent, arrived) = (inbound.sent_at, inbound.arrived_at);
                let who = people(&inbound.aliases);
                writeln!(told, "  message {id}\n    of {who}, answered at {to} by {}\n    sent {sent}, arrived {arrived}\n    {content}", inbound.number).unwrap();
            }
            ProviderEvent::Status(update) => {
                let status = match &update.status {
                    DeliveryStatus::Sent => "sent".to_owned(),
                    DeliveryStatus::Failed(code) => format!("failed with {code}"),
                };
                let who = people(&update.aliases);
                writeln!(told, "  status of {} to {who}: {status}", update.reply).unwrap();
            }
        }
    }
    for rejected in &parsed.rejected {
        writeln!(told, "  left out: {}", rejected.reason).unwrap();
    }
    told
}

fn people(aliases: &[Alias]) -> String {
    let aliases: Vec<&str> = aliases.iter().map(Alias::as_str).collect();
    aliases.join(" and ")
}

#[test]
fn every_payload_gives_what_was_reviewed() {
    let mut all = String::new();
    for (name, raw) in payloads() {
        writeln!(all, "{name}\n{}", told(&parsed(&raw))).unwrap();
    }
    insta::assert_snapshot!("payloads", all);
}

#[test]
fn there_are_payloads_of_every_sort() {
    assert!(payloads().len() >= 30);
}

#[test]
fn no_payload_is_accepted_with_a_bit_changed_or_written_again() {
    for (name, raw) in payloads() {
        let header = sign(SECRET.as_bytes(), &raw);
        for at in (0..raw.len()).step_by(97) {
            let mut other = raw.clone();
            other[at] ^= 1;
            assert!(
                verify(&[SECRET], Some(&header), &other).is_err(),
                "{name}, byte {at}"
            );
        }
    }
    let (_, raw) = payloads()
        .into_iter()
        .find(|(name, _)| name == "escaped_unicode")
        .unwrap();
    let value: serde_json::Value = serde_json::from_slice(&raw).unwrap();
    let again = serde_json::to_vec(&value).unwrap();
    let header = sign(SECRET.as_bytes(), &raw);
    assert!(verify(&[SECRET], Some(&header), &raw).is_ok());
    assert!(verify(&[SECRET], Some(&header), &again).is_err());
}

#[test]
fn a_payload_cut_anywhere_gives_a_reason_and_no_panic() {
    for (_, raw) in payloads() {
        for at in (0..raw.len() - 2).step_by(31) {
            let cut = &raw[..at];
            let header = sign(SECRET.as_bytes(), cut);
            assert!(parse(verify(&[SECRET], Some(&header), cut).unwrap(), ARRIVED).is_err());
        }
    }
}

#[test]
fn what_is_printed_of_an_event_shows_nobody() {
    for (name, raw) in payloads() {
        let printed = format!("{:?}", parsed(&raw));
        for personal in ["55119", "52155", "BR.1", "wamid", "oi", "obrigada"] {
            assert!(
                !printed.contains(personal),
                "{name} shows {personal}: {printed}"
            );
        }
    }
}
