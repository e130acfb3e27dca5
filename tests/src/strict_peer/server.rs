//! The strict providers behind one address, each under its own name: `/openai/v1`, `/openrouter/v1`, and so on. What is
//! right is answered with what the test has lined up, in the provider's own form.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use recado::domain::Provider;
use serde_json::{Value, json};

use super::{refusal, refused};
use crate::local_server::serve;

/// The key that every provider takes.
pub const KEY: &str = "right-key";

/// What comes back for the next request that is right.
#[derive(Debug, Clone)]
pub enum Answer {
    /// These words.
    Words(&'static str),
    /// Calls of this tool, one for each of these arguments, after a thought that has to come back with their results.
    Calls(&'static str, Vec<Value>),
    /// This status, header and body, whatever was asked.
    Raw(u16, Option<(&'static str, &'static str)>, String),
    /// Nothing for this many milliseconds, then words.
    Slow(u64),
}

/// A request that was let in.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// Who was asked.
    pub provider: Provider,
    /// With what.
    pub body: Value,
    /// What became of it.
    pub status: u16,
}

struct Inside {
    window: usize,
    next: Mutex<VecDeque<Answer>>,
    seen: Mutex<Vec<Seen>>,
}

/// See the module.
pub struct Peer {
    url: String,
    inside: Arc<Inside>,
}

impl Peer {
    /// On a free port of this machine; `window` is the longest prompt in tokens.
    pub async fn start(window: usize) -> Self {
        let inside = Arc::new(Inside {
            window,
            next: Mutex::default(),
            seen: Mutex::default(),
        });
        let router = Router::new()
            .route("/{provider}/v1/{*path}", post(answer))
            .with_state(Arc::clone(&inside));
        let url = serve(router).await;
        Self { url, inside }
    }

    /// Where a provider is asked, up to the name of the request.
    pub fn base(&self, provider: Provider) -> String {
        format!("{}/{provider}/v1", self.url)
    }

    /// Lines up an answer.
    pub fn then(&self, answer: Answer) {
        self.inside.next.lock().unwrap().push_back(answer);
    }

    /// Every request so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.inside.seen.lock().unwrap().clone()
    }
}

async fn answer(
    State(inside): State<Arc<Inside>>,
    Path((name, path)): Path<(String, String)>,
    headers: HeaderMap,
    bytes: Bytes,
) -> Response {
    let Some(provider) = Provider::parse(&name) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let right = match provider {
        Provider::OpenAi => "responses",
        Provider::OpenRouter | Provider::Compatible => "chat/completions",
        Provider::Anthropic => "messages",
    };
    if path != right {
        return StatusCode::NOT_FOUND.into_response();
    }
    let Ok(body) = serde_json::from_slice::<Value>(&bytes) else {
        let sentence = "We could not parse the JSON body of your request.";
        let refusal = refused(provider, 400, "invalid_request_error", sentence);
        return written(refusal.status, None, refusal.body.to_string());
    };
    let wrong = if has_key(provider, &headers) {
        refusal(provider, &body, inside.window)
    } else {
        Some(refused(
            provider,
            401,
            "authentication_error",
            "invalid key",
        ))
    };
    let next = if let Some(refusal) = &wrong {
        Answer::Raw(refusal.status, None, refusal.body.to_string())
    } else {
        let next = inside.next.lock().unwrap().pop_front();
        next.unwrap_or(Answer::Words("Oi!"))
    };
    if let Answer::Slow(milliseconds) = next {
        tokio::time::sleep(std::time::Duration::from_millis(milliseconds)).await;
    }
    let n = inside.seen.lock().unwrap().len();
    let (status, header, text) = match next {
        Answer::Raw(status, header, text) => (status, header, text),
        Answer::Slow(_) => (200, None, said(provider, "Oi!").to_string()),
        Answer::Words(words) => (200, None, said(provider, words).to_string()),
        Answer::Calls(tool, inputs) => (200, None, called(provider, n, tool, &inputs).to_string()),
    };
    let seen = Seen {
        provider,
        body,
        status,
    };
    inside.seen.lock().unwrap().push(seen);
    written(status, header, text)
}

fn has_key(provider: Provider, headers: &HeaderMap) -> bool {
    let of = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    match provider {
        Provider::Anthropic => {
            of("x-api-key") == Some(KEY) && of("anthropic-version") == Some("2023-06-01")
        }
        Provider::Compatible => true,
        _ => of("authorization") == Some("Bearer right-key"),
    }
}

fn written(status: u16, header: Option<(&'static str, &'static str)>, text: String) -> Response {
    let status = StatusCode::from_u16(status).unwrap();
    let mut response = (status, [("content-type", "application/json")], text).into_response();
    if let Some((name, value)) = header {
        let value = value.parse().unwrap();
        response.headers_mut().insert(name, value);
    }
    response
}

fn said(provider: Provider, words: &str) -> Value {
    match provider {
        Provider::OpenAi => responses(&json!([
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": words}]},
        ])),
        Provider::Anthropic => message("end_turn", &json!([{"type": "text", "text": words}])),
        Provider::OpenRouter | Provider::Compatible => {
            completion(&json!({"role": "assistant", "content": words}), "stop")
        }
    }
}

/// Calls after a thought; ids are the provider's own, and new each time.
fn called(provider: Provider, n: usize, tool: &str, inputs: &[Value]) -> Value {
    let each = || inputs.iter().enumerate();
    match provider {
        Provider::OpenAi => {
            let thought = json!({"type": "reasoning", "id": format!("rs_{n}"), "summary": [], "encrypted_content": "gAAA"});
            let calls = each().map(|(at, input)| {
                json!({"type": "function_call", "id": format!("fc_{n}_{at}"), "call_id": format!("call_{n}_{at}"),
                    "name": tool, "arguments": input.to_string(), "status": "completed"})
            });
            let items: Vec<Value> = std::iter::once(thought).chain(calls).collect();
            responses(&items.into())
        }
        Provider::Anthropic => {
            let thought = json!({"type": "thinking", "thinking": "hm", "signature": "EqQB"});
            let calls = each().map(|(at, input)| {
                json!({"type": "tool_use", "id": format!("toolu_{n}_{at}"), "name": tool, "input": input})
            });
            let blocks: Vec<Value> = std::iter::once(thought).chain(calls).collect();
            message("tool_use", &blocks.into())
        }
        Provider::OpenRouter | Provider::Compatible => {
            let calls = each().map(|(at, input)| {
                json!({"id": format!("functions.{tool}:{n}{at}"), "type": "function",
                    "function": {"name": tool, "arguments": input.to_string()}})
            });
            let calls: Vec<Value> = calls.collect();
            let details = json!([{"type": "reasoning.encrypted", "data": "gAAA"}]);
            let message = json!({"role": "assistant", "content": null, "tool_calls": calls, "reasoning_details": details});
            completion(&message, "tool_calls")
        }
    }
}

fn responses(output: &Value) -> Value {
    json!({
        "id": "resp_1", "object": "response", "status": "completed", "error": null, "incomplete_details": null,
        "model": "gpt-peer", "output": output,
        "usage": {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 0}, "output_tokens": 5},
    })
}

fn message(stop_reason: &str, content: &Value) -> Value {
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-peer", "content": content,
        "stop_reason": stop_reason,
        "usage": {"input_tokens": 40, "cache_read_input_tokens": 60, "cache_creation_input_tokens": 0, "output_tokens": 5},
    })
}

fn completion(message: &Value, finish_reason: &str) -> Value {
    json!({
        "id": "gen-1", "object": "chat.completion", "created": 1, "model": "vendor/peer",
        "choices": [{"index": 0, "finish_reason": finish_reason, "message": message}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 5, "total_tokens": 105, "cost": 0.000_25,
            "prompt_tokens_details": {"cached_tokens": 60}},
    })
}
