//! `recado ledger`: what models and messages have cost.

use std::process::ExitCode;

use clap::Args;
use serde_json::{Value, json};

use super::{Failure, PHONE, agents, plain_phone, settings};
use crate::console::print_line;
use crate::local::money::Asked;
use crate::local::offline;
use crate::{client, ledger};

#[derive(Debug, Args)]
pub struct LedgerArguments {
    /// Only of this agent; without it of every agent.
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
    /// Of this day, for instance 2026-11-30; today without it, and every day of a contact.
    #[arg(long, value_name = "DAY")]
    day: Option<String>,
    /// Only of this person: a phone with its country code, or a BSUID.
    #[arg(long, value_name = "P")]
    contact: Option<String>,
    /// Only of this model, as the ledger names it.
    #[arg(long, value_name = "M")]
    model: Option<String>,
    /// As JSON: one object for each day, model and kind.
    #[arg(long)]
    json: bool,
}

pub async fn ledger(arguments: LedgerArguments) -> Result<ExitCode, Failure> {
    // It sends nothing, so it needs no secrets of a channel.
    let settings = settings(true, &PHONE)?;
    let asked = Asked {
        agent: arguments.agent,
        day: arguments.day,
        contact: arguments.contact.as_deref().map(plain_phone),
        model: arguments.model,
    };
    let lines = match client::running(&settings.data_dir).await {
        Some(instance) => ask(&instance.url, &asked).await?,
        None => offline::ledger(&settings.data_dir, agents(&settings)?, &asked).await?,
    };
    if arguments.json {
        print_line(&json!(lines).to_string());
    } else {
        print_line(&ledger::page(&lines, settings.brl_per_usd));
    }
    Ok(ExitCode::SUCCESS)
}

async fn ask(instance: &str, asked: &Asked) -> Result<Vec<Value>, Failure> {
    let mut address = reqwest::Url::parse(instance)?;
    address.set_path("ledger");
    for (name, value) in [
        ("agent", &asked.agent),
        ("day", &asked.day),
        ("contact", &asked.contact),
        ("model", &asked.model),
    ] {
        if let Some(value) = value {
            address.query_pairs_mut().append_pair(name, value);
        }
    }
    let answer = client::ask(client::client()?.get(address)).await?;
    Ok(answer["lines"].as_array().cloned().unwrap_or_default())
}
