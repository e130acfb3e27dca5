//! Tool calls: stored under their reply before they run, with the seal of the batch; history once the reply commits.

use super::DynamoStore;
use super::fields::{Build, Fields};
use super::items::key_of;
use super::keys::{ItemKey, Place, Slot, calls_of};
use super::request::{Answer, Item, Statement, number, text, texts};
use super::run::FENCE;
use super::schema::{CONVERSATION, EXPIRES_AT, ITEM, SLOT};
use crate::domain::batch::EndedTurn;
use crate::domain::{
    Arguments, Call, CallId, ConversationId, Effect, ReplyId, ToolCall, ToolName, ToolResult,
};
use crate::error::StoreError;
use crate::ports::{Commit, NewCalls, Written};

/// What never becomes history goes by itself after this many seconds: long after its turn was given up.
const ORPHAN_SECONDS: u64 = 30 * 24 * 60 * 60;

impl DynamoStore {
    pub(super) async fn read_calls(
        &self,
        conversation: &ConversationId,
        reply: ReplyId,
    ) -> Result<Vec<Call>, StoreError> {
        let call = self.call("read calls", "Query");
        let mut calls = Vec::new();
        let mut from: Option<Item> = None;
        loop {
            let request = self
                .client
                .query()
                .table_name(&self.table)
                .consistent_read(true)
                .key_condition_expression(
                    "#conversation = :conversation AND begins_with(#item, :calls)",
                )
                .expression_attribute_names("#conversation", CONVERSATION)
                .expression_attribute_names("#item", ITEM)
                .expression_attribute_values(":conversation", text(conversation.key()))
                .expression_attribute_values(":calls", text(calls_of(reply)))
                .set_exclusive_start_key(from);
            let page = self.ask(call, || request.clone().send()).await?;
            for item in page.items.unwrap_or_default() {
                // None is set aside: a call that is not seen would be made again.
                calls.push(decode_call(&item)?);
            }
            from = page.last_evaluated_key.filter(|key| !key.is_empty());
            if from.is_none() {
                return Ok(calls);
            }
        }
    }

    pub(super) async fn write_calls(
        &self,
        conversation: &ConversationId,
        new: &NewCalls,
    ) -> Result<Written, StoreError> {
        let key = key_of(conversation, &ItemKey::State);
        // The version is raised by each call: who closes the turn has read them all.
        let fence = match &new.seal {
            None => Statement::update(key, "SET #version = #version + :one"),
            Some(seal) => Statement::update(
                key,
                "SET #sealed_reply = :reply, #sealed_events = :events, #version = #version + :one",
            )
            .with(":reply", text(seal.reply))
            .with(":events", texts(&seal.events)),
        };
        let fence = fence
            .when(FENCE)
            .with(":one", number(1))
            .with(":epoch", number(new.epoch))
            .with(":run", text(new.run))
            .with(":now", number(new.now));
        let mut statements = vec![fence];
        for call in &new.calls {
            let item = Build::of(encode_call(conversation, new.reply, call))
                .number("epoch", new.epoch)
                .number(EXPIRES_AT, new.now.seconds() + ORPHAN_SECONDS)
                .done();
            statements.push(Statement::put(item).when("attribute_not_exists(#item)"));
        }
        match self.transact("store calls", statements, None).await? {
            Written::Done => Ok(Written::Done),
            Written::Lost => self.were_stored(conversation, new).await,
        }
    }

    /// A repeat of an applied transaction loses to itself: its calls are there and carry its epoch.
    async fn were_stored(
        &self,
        conversation: &ConversationId,
        new: &NewCalls,
    ) -> Result<Written, StoreError> {
        for call in &new.calls {
            let key = key_of(conversation, &ItemKey::Call(new.reply, call.n));
            let Some(found) = self.get("store calls", key).await? else {
                return Ok(Written::Lost);
            };
            let epoch: u64 = Fields::open("call", &found)?.number("epoch")?;
            if epoch != new.epoch || decode_call(&found)? != *call {
                return Ok(Written::Lost);
            }
        }
        Ok(Written::Done)
    }

    pub(super) async fn write_result(
        &self,
        conversation: &ConversationId,
        (reply, n): (ReplyId, u16),
        result: &ToolResult,
    ) -> Result<Written, StoreError> {
        let key = key_of(conversation, &ItemKey::Call(reply, n));
        let update = match result.text() {
            Some(said) => Statement::update(key, "SET #outcome = :outcome, #result = :result")
                .with(":result", text(said)),
            None => Statement::update(key, "SET #outcome = :outcome"),
        };
        let update = update
            .when("attribute_exists(#item) AND attribute_not_exists(#outcome)")
            .with(":outcome", text(result.as_str()));
        Ok(match self.write("store a result", update).await? {
            Answer::Given(()) => Written::Done,
            // An earlier try whose answer was lost has left this very result.
            Answer::Lost(Some(found)) if decode_call(&found)?.result.as_ref() == Some(result) => {
                Written::Done
            }
            Answer::Lost(_) => Written::Lost,
        })
    }
}

/// The calls of a turn as its commit leaves them: in history. The commit's own fence keeps them from anyone who is gone.
pub(super) fn committed(conversation: &ConversationId, commit: &Commit) -> Vec<Statement> {
    let reply = commit.reply.id;
    let put = |call: &Call| {
        let slot = Slot::Turn(reply, Place::Call(call.n));
        let item = Build::of(encode_call(conversation, reply, call))
            .number("epoch", commit.epoch)
            .text(SLOT, slot.encode());
        Statement::put(item.done())
    };
    commit.calls.iter().map(put).collect()
}

/// The calls of a turn that nobody will answer, as its closing leaves them: in history.
pub(super) fn left(
    conversation: &ConversationId,
    turn: &EndedTurn,
) -> impl Iterator<Item = Statement> {
    turn.calls.iter().map(move |n| {
        let slot = Slot::Turn(turn.reply, Place::Call(*n));
        Statement::update(
            key_of(conversation, &ItemKey::Call(turn.reply, *n)),
            "SET #slot = :slot, #outcome = if_not_exists(#outcome, :unknown) REMOVE #expires_at",
        )
        .when("attribute_exists(#item)")
        .with(":slot", text(slot.encode()))
        .with(":unknown", text(ToolResult::Unknown.as_str()))
    })
}

fn encode_call(conversation: &ConversationId, reply: ReplyId, call: &Call) -> Item {
    let Call {
        n,
        effect,
        call,
        result,
    } = call;
    Build::new(key_of(conversation, &ItemKey::Call(reply, *n)))
        .text("effect", effect_word(*effect))
        .text("call_id", &call.id)
        .text("tool", &call.tool)
        .text("arguments", call.arguments.as_str())
        .text_maybe("outcome", result.as_ref().map(ToolResult::as_str))
        .text_maybe("result", result.as_ref().and_then(ToolResult::text))
        .done()
}

pub(super) fn decode_call(item: &Item) -> Result<Call, StoreError> {
    let fields = Fields::open("call", item)?;
    let Ok(ItemKey::Call(_, n)) = ItemKey::decode(fields.text(ITEM)?) else {
        return Err(fields.wrong(ITEM, "a call's key"));
    };
    let arguments = Arguments::parse(fields.text("arguments")?)
        .ok_or_else(|| fields.wrong("arguments", "a JSON object"))?;
    let said = || Ok::<_, StoreError>(fields.text("result")?.to_owned());
    let result = match fields.text_maybe("outcome")? {
        None => None,
        Some("ok") => Some(ToolResult::Ok(said()?)),
        Some("error") => Some(ToolResult::Error(said()?)),
        Some("unknown") => Some(ToolResult::Unknown),
        Some(_) => return Err(fields.wrong("outcome", "what can come of a call")),
    };
    Ok(Call {
        n,
        effect: parse_effect(&fields)?,
        call: ToolCall {
            id: fields.parsed("call_id", |text| CallId::parse(text))?,
            tool: fields.parsed("tool", |text| ToolName::parse(text))?,
            arguments,
        },
        result,
    })
}

const fn effect_word(effect: Effect) -> &'static str {
    match effect {
        Effect::Read => "read",
        Effect::Write => "write",
    }
}

fn parse_effect(fields: &Fields<'_>) -> Result<Effect, StoreError> {
    let word = fields.text("effect")?;
    [Effect::Read, Effect::Write]
        .into_iter()
        .find(|effect| effect_word(*effect) == word)
        .ok_or_else(|| fields.wrong("effect", "what a tool does"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn result() -> impl Strategy<Value = Option<ToolResult>> {
        prop_oneof![
            Just(None),
            Just(Some(ToolResult::Unknown)),
            "\\PC{0,40}".prop_map(|text| Some(ToolResult::Ok(text))),
            "\\PC{0,40}".prop_map(|text| Some(ToolResult::Error(text))),
        ]
    }

    proptest! {
        #[test]
        fn a_call_reads_back_as_itself(
            (n, writes) in (any::<u16>(), any::<bool>()),
            (id, tool) in ("[!-~]{1,64}", "[A-Za-z0-9_-]{1,64}"),
            words in "\\PC{0,40}",
            result in result(),
        ) {
            let arguments = serde_json::json!({"b": words, "a": [n]}).to_string();
            let call = Call {
                n,
                effect: if writes { Effect::Write } else { Effect::Read },
                call: ToolCall {
                    id: CallId::parse(id).unwrap(),
                    tool: ToolName::parse(tool).unwrap(),
                    arguments: Arguments::parse(&arguments).unwrap(),
                },
                result,
            };
            let conversation = ConversationId::parse("recepcao#5511900000001").unwrap();
            let item = encode_call(&conversation, ReplyId::from_parts(1, 2), &call);
            prop_assert!(item.contains_key("v"));
            prop_assert_eq!(decode_call(&item).unwrap(), call);
        }
    }

    #[test]
    fn a_call_of_a_newer_program_is_not_guessed_at() {
        let conversation = ConversationId::parse("recepcao#5511900000001").unwrap();
        let call = Call {
            n: 3,
            effect: Effect::Write,
            call: ToolCall {
                id: CallId::parse("c").unwrap(),
                tool: ToolName::parse("book").unwrap(),
                arguments: Arguments::none(),
            },
            result: None,
        };
        let item = encode_call(&conversation, ReplyId::from_parts(1, 2), &call);
        let newer = Build::of(item.clone()).number("v", 2).done();
        let future = decode_call(&newer);
        assert!(matches!(future, Err(StoreError::FutureVersion { .. })));
        let odd = Build::of(item).text("outcome", "perhaps").done();
        assert!(matches!(
            decode_call(&odd),
            Err(StoreError::Undecodable { .. })
        ));
    }
}
