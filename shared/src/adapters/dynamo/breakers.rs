//! Breakers of models: one item each, there while it is open. Its key holds the model's name and nothing of anybody.

use std::time::Duration;

use async_trait::async_trait;

use super::DynamoStore;
use super::fields::{Build, Fields};
use super::keys::{ItemKey, breaker_partition};
use super::request::{Answer, Item, Statement, key, text};
use super::schema::EXPIRES_AT;
use crate::domain::{Breaker, RunId};
use crate::error::{ModelErrorClass, StoreError};
use crate::ports::{Breakers, Written};

/// An open breaker that nobody tries any more (the model is no longer used) goes this long after its pause.
const KEPT: Duration = Duration::from_hours(24);

fn key_of(model: &str) -> Item {
    key(breaker_partition(model), ItemKey::State.encode())
}

fn encode(model: &str, breaker: &Breaker) -> Item {
    Build::new(key_of(model))
        .text("class", breaker.class.as_str())
        .number("since", breaker.since)
        .number("open_until", breaker.open_until)
        .text("mark", breaker.mark)
        .number(EXPIRES_AT, breaker.open_until.plus(KEPT).seconds())
        .done()
}

fn decode(item: &Item) -> Result<Breaker, StoreError> {
    let fields = Fields::open("breaker", item)?;
    let class = ModelErrorClass::parse(fields.text("class")?);
    Ok(Breaker {
        class: class.ok_or_else(|| fields.wrong("class", "a class of failures"))?,
        since: fields.time("since")?,
        open_until: fields.time("open_until")?,
        mark: fields.parsed("mark", RunId::parse)?,
    })
}

#[async_trait]
impl Breakers for DynamoStore {
    async fn breaker(&self, model: &str) -> Result<Option<Breaker>, StoreError> {
        let item = self.get("read a breaker", key_of(model)).await?;
        item.as_ref().map(decode).transpose()
    }

    async fn swap_breaker(
        &self,
        model: &str,
        seen: Option<&Breaker>,
        next: Option<&Breaker>,
    ) -> Result<Written, StoreError> {
        let change = match next {
            Some(next) => Statement::put(encode(model, next)),
            None => Statement::delete(key_of(model)),
        };
        let change = match seen {
            Some(seen) => change.when("#mark = :mark").with(":mark", text(seen.mark)),
            None => change.when("attribute_not_exists(#item)"),
        };
        let found = match self.write("move a breaker", change).await? {
            Answer::Given(()) => return Ok(Written::Done),
            Answer::Lost(found) => found,
        };
        // Done before, and its answer lost.
        let is_done = match (&found, next) {
            (Some(found), Some(next)) => decode(found)?.mark == next.mark,
            (None, None) => true,
            _ => false,
        };
        Ok(if is_done {
            Written::Done
        } else {
            Written::Lost
        })
    }
}
