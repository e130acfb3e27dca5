//! Each provider's requests, whole, for every shape of a conversation: a file for each, so that a change is seen.

use insta::assert_json_snapshot;
use recado::adapters::models::Asked;
use recado::domain::{Prompt, Provider, Turn};
use recado::policy::prompt::{self, validate};
use recado_tests::samples::burst;
use recado_tests::strict_peer::complaint;
use serde_json::{Map, Value};

use super::MODELS;
use super::shapes::{first, right, said, shapes, warm, with_tools, wrong};

fn origin_of(asked: &Asked<'_>) -> String {
    asked.origin()
}

#[test]
fn every_provider_s_requests_are_these() {
    for (name, asked) in MODELS {
        let requests: Map<String, Value> = shapes(&origin_of(&asked))
            .into_iter()
            .map(|(shape, prompt)| (shape.to_owned(), asked.encode(&prompt)))
            .collect();
        assert_json_snapshot!(name, requests);
    }
}

#[test]
fn a_strict_peer_takes_every_shape() {
    for (name, asked) in MODELS {
        for (shape, prompt) in shapes(&origin_of(&asked)) {
            let refused = complaint(asked.provider, &asked.encode(&prompt));
            assert_eq!(refused, None, "{name}: {shape}");
        }
    }
}

#[test]
fn there_are_twenty_shapes_and_the_wrong_ones_are_wrong() {
    let all = shapes("openai:m");
    assert!(all.len() >= 20, "{}", all.len());
    for (shape, prompt) in right("openai:m") {
        assert_eq!(validate(&prompt), Ok(()), "{shape}");
    }
    for (shape, prompt) in wrong() {
        assert!(validate(&prompt).is_err(), "{shape}");
    }
}

/// A tool result that the model never asked for, or a thought that is not its own, is not what it gets.
#[test]
fn only_its_own_thoughts_come_back_to_a_model() {
    let sign = |asked: &Asked<'_>| match asked.provider {
        Provider::OpenAi => "encrypted_content\":",
        Provider::Anthropic => "signature",
        Provider::OpenRouter | Provider::Compatible => "reasoning_details",
    };
    for (name, asked) in MODELS {
        for (_, other) in MODELS {
            let by = origin_of(&other);
            let shape = |wanted: &str| {
                let shapes = shapes(&by);
                let found = shapes.into_iter().find(|(shape, _)| *shape == wanted);
                asked.encode(&found.unwrap().1).to_string()
            };
            let body = shape("a thought comes back");
            let comes_back = asked == other;
            assert_eq!(body.contains(sign(&asked)), comes_back, "{name} by {by}");
            assert!(body.contains("7h30"), "{name} by {by}: the result is there");
            for foreign in ["gAAA", "EqQB"] {
                assert!(comes_back || !body.contains(foreign), "{name} by {by}");
            }
        }
    }
}

#[test]
fn who_must_answer_in_words_keeps_its_tools_for_the_cache() {
    for (name, asked) in MODELS {
        let may = with_tools(said("oi"), &[], false);
        let must = with_tools(said("oi"), &[], true);
        let (mut may, mut must) = (asked.encode(&may), asked.encode(&must));
        if asked.provider == Provider::Compatible {
            // It may not know the choice: what it is not told of it cannot call.
            assert!(must.get("tools").is_none());
            may.as_object_mut().unwrap().remove("tools");
        } else {
            let choice = must.as_object_mut().unwrap().remove("tool_choice").unwrap();
            assert!(choice == "none" || choice["type"] == "none", "{name}");
        }
        assert_eq!(may, must, "{name}");
    }
}

/// The messages of a request, whatever the dialect.
fn messages(body: &Value) -> Vec<Value> {
    let messages = body.get("input").or_else(|| body.get("messages"));
    messages.and_then(Value::as_array).unwrap().clone()
}

/// Without cache marks, which may wander.
fn unmarked(mut value: Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.remove("cache_control");
                fields.remove("prompt_cache_breakpoint");
                fields.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    strip(&mut value);
    value
}

#[test]
fn the_next_request_begins_with_the_same_bytes() {
    let before = warm(burst());
    let mut after = before.clone();
    after.history.push(Turn::User(before.last.clone()));
    after
        .history
        .push(Turn::Assistant("Sábado às 9h?".to_owned()));
    after.last = vec!["isso".to_owned()];
    for (name, asked) in MODELS {
        let of = |prompt: &Prompt| messages(&unmarked(asked.encode(prompt)));
        let (one, two) = (of(&before), of(&after));
        let shared = one.len() - 1;
        assert_eq!(one[..shared], two[..shared], "{name}");
        // What was said last stays as it was too, up to the notes.
        let words = before.last.len();
        let content = |messages: &[Value]| messages[shared]["content"].clone();
        match (content(&one), content(&two)) {
            (Value::Array(one), Value::Array(two)) => assert_eq!(one[..words], two[..words]),
            (Value::String(one), Value::String(two)) => assert!(one.starts_with(&two)),
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn marks_stand_only_where_they_pay() {
    let count = |asked: &Asked<'_>, prompt: &Prompt| {
        let body = asked.encode(prompt).to_string();
        let marks = ["cache_control\":{", "prompt_cache_breakpoint\":{"];
        marks
            .map(|mark| body.matches(mark).count())
            .iter()
            .sum::<usize>()
    };
    let look = [super::shapes::round(&[super::shapes::look("c")])];
    let cold = said("oi");
    let slow = Prompt {
        pause: Some(std::time::Duration::from_mins(20)),
        ..said("oi")
    };
    let in_loop = with_tools(said("oi"), &look, false);
    let fold = super::shapes::fold();
    for (name, asked) in MODELS {
        let found = [
            &cold,
            &slow,
            &warm(said("oi")),
            &in_loop,
            &warm(in_loop.clone()),
            &fold,
            &first(),
        ]
        .map(|prompt| count(&asked, prompt));
        let right = match name {
            "openai" | "compatible" => [0; 7],
            // Its marks last half an hour; inside a loop the end is marked by itself.
            "openai_with_marks" => [2, 3, 3, 2, 3, 0, 1],
            _ => [2, 2, 3, 3, 4, 0, 1],
        };
        assert_eq!(found, right, "{name}");
    }
    let (_, marking) = MODELS[1];
    let mode = |prompt: &Prompt| marking.encode(prompt)["prompt_cache_options"]["mode"].clone();
    assert_eq!(mode(&cold), "explicit");
    assert_eq!(mode(&fold), "explicit", "what is asked once is not written");
    assert_eq!(mode(&in_loop), "implicit");
}

#[test]
fn small_caps_and_long_keys_are_brought_into_the_apis_limits() {
    let mut prompt = said("oi");
    prompt.output_tokens_max = 3;
    prompt.person_key = "k".repeat(80);
    for (name, asked) in MODELS {
        let body = asked.encode(&prompt);
        assert_eq!(complaint(asked.provider, &body), None, "{name}");
        let cap = ["max_output_tokens", "max_tokens"].map(|field| body[field].as_u64());
        let right = if asked.provider == Provider::Anthropic {
            3
        } else {
            16
        };
        assert!(cap.contains(&Some(right)), "{name}: {cap:?}");
    }
    prompt.person_key = String::new();
    for (name, asked) in MODELS {
        let body = asked.encode(&prompt).to_string();
        assert!(
            !body.contains("\"user\":") && !body.contains("user_id"),
            "{name}"
        );
        assert!(!body.contains("safety_identifier"), "{name}");
    }
    assert_eq!(prompt::mended(&prompt).as_ref(), &prompt, "it is sound");
}
