//! The real client against the strict peer, over HTTP.

use std::sync::Arc;
use std::time::Duration;

use recado::adapters::models::{ApiKey, Endpoint, FixedKey, RoutedModel};
use recado::domain::{
    AnsweredCall, Arguments, Carried, ModelReply, Prompt, Provider, Round, ToolCall, ToolName,
    ToolResult,
};
use recado::error::{ModelError, ModelErrorClass};
use recado::ports::Model;
use recado_tests::fake_tools::HOURS;
use recado_tests::strict_peer::{Answer, KEY, Peer, refused};
use serde_json::json;

use super::MODELS;
use super::shapes::{said, shapes, with_tools};

const LONG: Duration = Duration::from_secs(10);

fn routed(peer: &Peer, key: &str) -> RoutedModel {
    let endpoints = Provider::ALL.map(|provider| {
        let key = FixedKey(key.to_owned());
        let key = (provider != Provider::Compatible).then(|| Arc::new(key) as Arc<dyn ApiKey>);
        Endpoint {
            provider,
            base: peer.base(provider),
            key,
        }
    });
    RoutedModel::new(Provider::OpenAi, endpoints.into()).unwrap()
}

async fn ask(model: &RoutedModel, name: &str, prompt: &Prompt) -> Result<ModelReply, ModelError> {
    model.converse(name, prompt, LONG).await
}

/// What the flow makes of a reply's calls.
pub fn answered(reply: ModelReply) -> Round {
    let calls = reply.calls.iter().map(|asked| AnsweredCall {
        call: ToolCall {
            id: asked.id.clone(),
            tool: ToolName::parse(asked.tool.as_str()).unwrap(),
            arguments: Arguments::parse(&asked.arguments).unwrap(),
        },
        result: ToolResult::Ok("7h30".to_owned()),
    });
    Round {
        calls: calls.collect(),
        carried: reply.carried,
    }
}

#[tokio::test]
async fn every_shape_is_answered_by_every_provider() {
    let peer = Peer::start(100_000).await;
    let model = routed(&peer, KEY);
    for (name, asked) in MODELS {
        for (shape, prompt) in shapes(&asked.origin()) {
            let reply = ask(&model, &asked.origin(), &prompt).await;
            let reply = reply.unwrap_or_else(|error| panic!("{name}: {shape}: {error}"));
            assert_eq!(reply.text, "Oi!", "{name}: {shape}");
            assert_eq!(reply.usage.input(), 100, "{name}");
            assert_eq!(reply.usage.input_cache_read, 60, "{name}");
            let cost = (asked.provider != Provider::OpenAi
                && asked.provider != Provider::Anthropic)
                .then_some(250);
            assert_eq!(reply.usage.cost_micro_usd, cost, "{name}");
        }
    }
    assert!(peer.seen().iter().all(|seen| seen.status == 200));
}

#[tokio::test]
async fn calls_and_thoughts_go_back_and_the_answer_comes() {
    for (name, asked) in MODELS {
        let peer = Peer::start(100_000).await;
        let model = routed(&peer, KEY);
        let inputs = vec![json!({"what": "sábado"}), json!({"what": "domingo"})];
        peer.then(Answer::Calls(HOURS, inputs.clone()));
        peer.then(Answer::Calls(HOURS, inputs));
        peer.then(Answer::Words("Abre às 7h30."));
        let mut rounds = Vec::new();
        let answer = loop {
            let prompt = with_tools(said("abre sábado?"), &rounds, false);
            let reply = ask(&model, &asked.origin(), &prompt).await.unwrap();
            if reply.calls.is_empty() {
                break reply.text;
            }
            assert_eq!(reply.calls.len(), 2, "{name}");
            rounds.push(answered(reply));
        };
        assert_eq!((answer.as_str(), rounds.len()), ("Abre às 7h30.", 2));
        let last = peer.seen().pop().unwrap().body.to_string();
        let thoughts = ["gAAA", "EqQB"].map(|sign| last.matches(sign).count());
        assert_eq!(
            thoughts.iter().sum::<usize>(),
            2,
            "{name}: each thought is back"
        );
    }
}

/// A model fails in the middle of a loop of calls: the next one gets the results, whatever its dialect.
#[tokio::test]
async fn another_model_goes_on_with_the_results_of_the_first() {
    for (first, one) in MODELS {
        for (second, other) in MODELS {
            let peer = Peer::start(100_000).await;
            let model = routed(&peer, KEY);
            peer.then(Answer::Calls(HOURS, vec![json!({"what": "sábado"})]));
            let prompt = with_tools(said("abre sábado?"), &[], false);
            let reply = ask(&model, &one.origin(), &prompt).await.unwrap();
            let mut rounds = vec![answered(reply)];
            peer.then(Answer::Calls(HOURS, vec![json!({"what": "domingo"})]));
            let prompt = with_tools(said("abre sábado?"), &rounds, false);
            let reply = ask(&model, &other.origin(), &prompt).await;
            rounds.push(answered(reply.unwrap_or_else(|error| {
                panic!("{first} then {second}: {error}: {:?}", peer.seen().last())
            })));
            for back in [one, other] {
                let prompt = with_tools(said("abre sábado?"), &rounds, false);
                let reply = ask(&model, &back.origin(), &prompt).await;
                assert_eq!(reply.unwrap().text, "Oi!", "{first} then {second}");
                let body = peer.seen().pop().unwrap().body.to_string();
                assert_eq!(body.matches("7h30").count(), 2, "{first} then {second}");
            }
        }
    }
}

#[tokio::test]
async fn every_refusal_has_its_class_with_every_provider() {
    for provider in Provider::ALL {
        let name = format!("{provider}:m");
        let small = Peer::start(10).await;
        let error = ask(&routed(&small, KEY), &name, &said("oi"))
            .await
            .unwrap_err();
        assert_eq!(error.class, ModelErrorClass::Overflow, "{provider}");
        let peer = Peer::start(100_000).await;
        let model = routed(&peer, KEY);
        for (status, header, class, wait) in [
            (
                429,
                Some(("retry-after", "7")),
                ModelErrorClass::Throttled,
                Some(7),
            ),
            (500, None, ModelErrorClass::Transient, None),
            (
                503,
                Some(("retry-after", "2")),
                ModelErrorClass::Transient,
                Some(2),
            ),
            (529, None, ModelErrorClass::Transient, None),
            (402, None, ModelErrorClass::Quota, None),
            (404, None, ModelErrorClass::Missing, None),
        ] {
            let body = refused(provider, status, "", "no").body.to_string();
            peer.then(Answer::Raw(status, header, body));
            let error = ask(&model, &name, &said("oi")).await.unwrap_err();
            assert_eq!(error.class, class, "{provider} {status}");
            assert_eq!(error.retry_after.map(|wait| wait.as_secs()), wait);
            assert!(error.reason.ends_with(&format!("from {provider}")));
        }
        peer.then(Answer::Raw(200, None, "{\"choices\": [".to_owned()));
        let error = ask(&model, &name, &said("oi")).await.unwrap_err();
        assert_eq!(error.class, ModelErrorClass::Transient, "{provider}");
        peer.then(Answer::Slow(3_000));
        let soon = Duration::from_millis(100);
        let error = model.converse(&name, &said("oi"), soon).await.unwrap_err();
        assert_eq!(error.class, ModelErrorClass::Transient, "{provider}");
        if provider != Provider::Compatible {
            let wrong = routed(&peer, "wrong");
            let error = ask(&wrong, &name, &said("oi")).await.unwrap_err();
            assert_eq!(error.class, ModelErrorClass::Auth, "{provider}");
        }
    }
}

#[tokio::test]
async fn a_name_picks_its_provider() {
    let peer = Peer::start(100_000).await;
    let model = routed(&peer, KEY);
    for (name, provider, there) in [
        ("gpt-5.4-mini", Provider::OpenAi, "gpt-5.4-mini"),
        ("openai:gpt-5.4-mini", Provider::OpenAi, "gpt-5.4-mini"),
        (
            "anthropic:claude-haiku-4-5",
            Provider::Anthropic,
            "claude-haiku-4-5",
        ),
        (
            "openrouter:openai/gpt-5.4-mini",
            Provider::OpenRouter,
            "openai/gpt-5.4-mini",
        ),
        (
            "compatible:llama3.2:3b",
            Provider::Compatible,
            "llama3.2:3b",
        ),
    ] {
        ask(&model, name, &said("oi")).await.unwrap();
        let seen = peer.seen().pop().unwrap();
        assert_eq!(
            (seen.provider, &seen.body["model"]),
            (provider, &json!(there))
        );
    }
    let before = peer.seen().len();
    let demo = ask(&model, "demo", &said("oi")).await.unwrap();
    assert_eq!((demo.model.as_str(), peer.seen().len()), ("demo", before));
    let alone = RoutedModel::new(Provider::OpenAi, Vec::new()).unwrap();
    let error = ask(&alone, "anthropic:x", &said("oi")).await.unwrap_err();
    assert_eq!(error.class, ModelErrorClass::Invalid);
    assert_eq!(error.reason, "the provider is not set up, from anthropic");
}

/// What went wrong with our own list is mended on the way, and the person is answered.
#[tokio::test]
async fn a_flaw_of_ours_does_not_silence_anybody() {
    let peer = Peer::start(100_000).await;
    let model = routed(&peer, KEY);
    let torn = Round {
        calls: Vec::new(),
        carried: Carried::none(),
    };
    let mut prompt = said(" ");
    prompt.rounds = vec![torn];
    for provider in Provider::ALL {
        let reply = ask(&model, &format!("{provider}:m"), &prompt).await;
        assert_eq!(reply.unwrap().text, "Oi!", "{provider}");
    }
}
