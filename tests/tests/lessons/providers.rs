//! What models' providers refused, or answered wrongly, elsewhere. Each story goes through the real client to a peer
//! that refuses what the real ones refuse.

use std::sync::Arc;
use std::time::Duration;

use recado::adapters::models::{ApiKey, Endpoint, FixedKey, RoutedModel};
use recado::domain::{ModelReply, Output, Prompt, Provider, Turn};
use recado::error::{ModelError, ModelErrorClass};
use recado::ports::Model;
use recado_tests::fake_tools::{BOOK, declarations};
use recado_tests::samples::burst;
use recado_tests::strict_peer::{Answer, KEY, Peer};
use serde_json::{Value, json};

struct Scene {
    peer: Peer,
    model: RoutedModel,
}

impl Scene {
    async fn start() -> Self {
        let peer = Peer::start(100_000).await;
        let endpoints = Provider::ALL.map(|provider| Endpoint {
            provider,
            base: peer.base(provider),
            key: Some(Arc::new(FixedKey(KEY.to_owned())) as Arc<dyn ApiKey>),
        });
        let model = RoutedModel::new(Provider::OpenAi, endpoints.into()).unwrap();
        Self { peer, model }
    }

    async fn ask(&self, provider: Provider, prompt: &Prompt) -> Result<ModelReply, ModelError> {
        let name = format!("{provider}:m");
        self.model
            .converse(&name, prompt, Duration::from_secs(10))
            .await
    }

    /// The class of what comes of an answer with status 200.
    async fn class(&self, provider: Provider, body: &Value) -> Option<ModelErrorClass> {
        self.peer.then(Answer::Raw(200, None, body.to_string()));
        let reply = self.ask(provider, &burst()).await;
        reply.err().map(|error| error.class)
    }

    /// Everything that was sent last.
    fn sent(&self) -> String {
        self.peer.seen().pop().unwrap().body.to_string()
    }
}

fn user(text: &str) -> Turn {
    Turn::User(vec![text.to_owned()])
}

fn agent(text: &str) -> Turn {
    Turn::Assistant(text.to_owned())
}

/// M1: a history that begins in the middle of a turn keeps no result without its call, and no call without its result.
#[tokio::test]
async fn no_half_of_a_pair_is_ever_sent() {
    use recado::domain::{AnsweredCall, Arguments, CallId, ToolCall, ToolName, ToolResult};
    let scene = Scene::start().await;
    let pair = AnsweredCall {
        call: ToolCall {
            id: CallId::parse("call_1").unwrap(),
            tool: ToolName::parse(BOOK).unwrap(),
            arguments: Arguments::none(),
        },
        result: ToolResult::Ok("marcado".to_owned()),
    };
    for provider in Provider::ALL {
        for history in [
            vec![Turn::Calls(vec![pair.clone()]), agent("Marcado!")],
            vec![user("marca"), Turn::Calls(vec![pair.clone()])],
            vec![
                user("marca"),
                agent("Um momento."),
                Turn::Calls(vec![pair.clone()]),
            ],
        ] {
            let prompt = Prompt {
                history,
                tools: declarations(),
                ..burst()
            };
            scene.ask(provider, &prompt).await.unwrap();
        }
    }
}

/// M2: blank texts are never sent, wherever they come from: once stored they would be refused with every later call.
#[tokio::test]
async fn a_blank_text_reaches_no_provider() {
    let scene = Scene::start().await;
    let mut prompt = burst();
    prompt.memory = Some(" ".to_owned());
    prompt.notes.push("\n".to_owned());
    prompt.last.insert(0, "\u{200b}".to_owned());
    prompt.history = vec![
        user("oi"),
        agent(""),
        Turn::User(vec![String::new()]),
        agent("Oi!"),
    ];
    for provider in Provider::ALL {
        scene.ask(provider, &prompt).await.unwrap();
        let sent = scene.sent();
        assert!(!sent.contains('\u{200b}'), "{provider}");
        assert!(
            sent.contains("pra sexta"),
            "{provider}: the words are there"
        );
    }
}

/// M3: two turns of one side, the agent first, the agent last: merged or moved, and nobody's words are lost.
#[tokio::test]
async fn turns_out_of_order_are_brought_into_it() {
    let scene = Scene::start().await;
    for provider in Provider::ALL {
        for (label, history, words) in [
            (
                "twice the person",
                vec![user("tem"), user("vaga?"), agent("Tem.")],
                ["tem", "vaga?"],
            ),
            (
                "twice the agent",
                vec![user("tem?"), agent("Tem."), agent("Às 8h.")],
                ["Tem.", "Às 8h."],
            ),
            (
                "the agent first",
                vec![agent("Olá!"), user("tem?"), agent("Tem.")],
                ["tem?", "Tem."],
            ),
            (
                "the person last",
                vec![user("tem?"), agent("Tem."), user("e às 9h?")],
                ["Tem.", "e às 9h?"],
            ),
        ] {
            let prompt = Prompt { history, ..burst() };
            scene.ask(provider, &prompt).await.unwrap();
            let sent = scene.sent();
            let lost = words.iter().find(|word| !sent.contains(**word));
            assert_eq!(lost, None, "{provider}: {label}");
        }
    }
}

/// M10: one clock line before the history, and no cache ever hits. What changes stands behind all that the next request
/// says again.
#[tokio::test]
async fn m10_a_clock_stands_behind_all_that_a_cache_can_keep() {
    let scene = Scene::start().await;
    let exchange = |asked: &str, told: &str| vec![user(asked), agent(told)];
    let turn = |history: Vec<Turn>, last: &str, time: &str| Prompt {
        history,
        notes: vec![format!("Agora são {time}.")],
        last: vec![last.to_owned()],
        ..burst()
    };
    let begun = exchange("tem vaga?", "Tem.");
    let went_on = [begun.clone(), exchange("na sexta?", "Às 8h.")].concat();
    for provider in Provider::ALL {
        let now = turn(begun.clone(), "na sexta?", "10:00");
        scene.ask(provider, &now).await.unwrap();
        let first = scene.sent();
        let later = turn(went_on.clone(), "pode ser", "10:01");
        scene.ask(provider, &later).await.unwrap();
        let second = scene.sent();
        let shared: String = first
            .chars()
            .zip(second.chars())
            .take_while(|(one, other)| one == other)
            .map(|(one, _)| one)
            .collect();
        assert!(first.contains("10:00") && second.contains("10:01"));
        assert!(
            shared.contains("Tem.") && shared.contains("na sexta?"),
            "{provider}: {shared}"
        );
    }
}

/// M5: a 200 with an error inside is that error, not an answer, though words may stand beside it.
#[tokio::test]
async fn an_error_inside_a_200_is_the_error_it_is() {
    use ModelErrorClass::{Overflow, Quota, Throttled, Transient};
    let scene = Scene::start().await;
    let choice = |finish: &str, error: Value| json!({"choices": [{"finish_reason": finish, "error": error, "message": {"content": "Oi"}}]});
    for (label, provider, body, class) in [
        (
            "failed",
            Provider::OpenAi,
            json!({"status": "failed", "error": {"code": "rate_limit_exceeded", "message": ""}, "output": []}),
            Throttled,
        ),
        (
            "upstream is down",
            Provider::OpenRouter,
            json!({"error": {"code": 502, "message": "Provider returned error"}}),
            Transient,
        ),
        (
            "no credits",
            Provider::OpenRouter,
            json!({"error": {"code": 402, "message": "Insufficient credits"}}),
            Quota,
        ),
        (
            "in the choice",
            Provider::OpenRouter,
            choice("error", json!({"code": 429, "message": "upstream"})),
            Throttled,
        ),
        (
            "only its end says so",
            Provider::OpenRouter,
            choice("error", Value::Null),
            Transient,
        ),
        (
            "too long",
            Provider::Compatible,
            json!({"error": {"message": "the request exceeds the available context size", "type": "exceed_context_size_error"}}),
            Overflow,
        ),
        (
            "overloaded",
            Provider::Anthropic,
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
            Transient,
        ),
    ] {
        let found = scene.class(provider, &body).await;
        assert_eq!(found, Some(class), "{provider}: {label}");
    }
}

/// M9: all tokens went into thinking, or the JSON was cut: how the answer ended is read before what it says.
#[tokio::test]
async fn how_an_answer_ended_is_read_before_its_words() {
    use ModelErrorClass::{Cut, Overflow, Refusal};
    let scene = Scene::start().await;
    let incomplete = |reason: &str, output: Value| json!({"status": "incomplete", "incomplete_details": {"reason": reason}, "output": output});
    let message = |stop: &str, content: Value| json!({"stop_reason": stop, "content": content});
    let completion = |finish: &str, content: Value| json!({"choices": [{"finish_reason": finish, "message": {"content": content}}]});
    let output = json!([{"type": "message", "content": [{"type": "output_text", "text": "Oi"}]}]);
    let text = json!([{"type": "text", "text": "Oi"}]);
    let thought = json!([{"type": "thinking", "thinking": "hm", "signature": "EqQB"}]);
    for (provider, body, class) in [
        (
            Provider::OpenAi,
            incomplete("max_output_tokens", json!([])),
            Cut,
        ),
        (
            Provider::OpenAi,
            incomplete("content_filter", output),
            Refusal,
        ),
        (Provider::OpenRouter, completion("length", Value::Null), Cut),
        (
            Provider::OpenRouter,
            completion("content_filter", json!("Oi")),
            Refusal,
        ),
        (
            Provider::Compatible,
            completion("length", json!("<think>hm")),
            Cut,
        ),
        (Provider::Anthropic, message("max_tokens", thought), Cut),
        (
            Provider::Anthropic,
            message("refusal", text.clone()),
            Refusal,
        ),
        (
            Provider::Anthropic,
            message("model_context_window_exceeded", text),
            Overflow,
        ),
        (Provider::Anthropic, message("end_turn", json!([])), Cut),
    ] {
        assert_eq!(
            scene.class(provider, &body).await,
            Some(class),
            "{provider} {body}"
        );
    }
    // Half a JSON object is told to be half: nobody takes it for the whole.
    let half = json!({"choices": [{"finish_reason": "length", "message": {"content": "{\"summary\": \"An"}}]});
    scene.peer.then(Answer::Raw(200, None, half.to_string()));
    let prompt = Prompt {
        output: Output::Json {
            name: "form",
            schema: json!({"type": "object"}),
        },
        ..burst()
    };
    let reply = scene.ask(Provider::OpenRouter, &prompt).await.unwrap();
    assert_eq!(reply.finish, recado::domain::Finish::Cut);
}
