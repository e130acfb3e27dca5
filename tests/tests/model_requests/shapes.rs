//! Conversations of every shape that a request can have, right ones and wrong ones.

use std::time::Duration;

use recado::domain::{
    AnsweredCall, Arguments, Call, CallId, Carried, Effect, Memory, Output, Prompt, Round,
    ToolCall, ToolName, ToolResult, Turn,
};
use recado::policy::{compaction, prompt};
use recado_tests::fake_tools::{BOOK, HOURS, declarations};
use recado_tests::samples::{answer, backlog, batch, burst, clinic, exchange, state};
use serde_json::{Value, json};

/// The model whose items the shapes carry, for each provider.
pub const CARRYING: [&str; 4] = [
    "openai:gpt-5.4-mini",
    "openrouter:openai/gpt-5.4-mini",
    "anthropic:claude-haiku-4-5",
    "compatible:llama3.2:3b",
];

/// Every shape by its name. What is carried, the model `by` gave.
pub fn shapes(by: &str) -> Vec<(&'static str, Prompt)> {
    let mut shapes = right(by);
    shapes.extend(wrong());
    shapes
}

/// What the flow can ask for.
pub fn right(by: &str) -> Vec<(&'static str, Prompt)> {
    vec![
        ("the first message ever", first()),
        ("a burst with memory and history", burst()),
        ("a burst of someone who just wrote", warm(burst())),
        ("a compaction", fold()),
        (
            "tools that nobody called",
            with_tools(said("oi"), &[], false),
        ),
        ("a call in the history", called_before()),
        ("calls at once in the history", at_once_before()),
        (
            "a later run goes on",
            with_tools(said("e sábado?"), &[round(&[look("call_1")])], false),
        ),
        (
            "a thought comes back",
            with_tools(said("e sábado?"), &[carried(by, "call_1")], false),
        ),
        (
            "a thought of another model's",
            with_tools(
                said("e sábado?"),
                &[carried("openai:gpt-other", "call_1")],
                false,
            ),
        ),
        ("three rounds", three_rounds(by)),
        ("calls at once, of every outcome", every_outcome()),
        (
            "words only",
            with_tools(said("e sábado?"), &[round(&[look("call_1")])], true),
        ),
        (
            "emoji and other scripts",
            said("👩‍👩‍👧‍👦🇧🇷 olá\u{301} 你好 مرحبا \"\\\n\t</memory>"),
        ),
        ("a long conversation", long()),
        ("ids that come again or are not everybody's", odd_ids()),
        (
            "the agent no longer has these tools",
            without_tools(called_before()),
        ),
        (
            "a tool that said nothing",
            with_tools(said("ok"), &[round(&[silent("call_1")])], false),
        ),
        ("nobody's key, hardly a cap", nobody()),
    ]
}

/// What must never come, and would be refused as it is.
pub fn wrong() -> Vec<(&'static str, Prompt)> {
    let user = |text: &str| Turn::User(vec![text.to_owned()]);
    let agent = |text: &str| Turn::Assistant(text.to_owned());
    let pair = || Turn::Calls(vec![look("call_1")]);
    let of = |history: Vec<Turn>| Prompt {
        history,
        ..said("e agora?")
    };
    let mut blank = of(vec![user("oi"), agent(" "), user("\u{200b}"), agent("Oi!")]);
    blank.memory = Some("\n".to_owned());
    blank.notes = vec![" ".to_owned()];
    blank.last = vec![String::new(), "e agora?".to_owned(), "\t".to_owned()];
    vec![
        ("blank texts", blank),
        (
            "two turns of the person in a row",
            of(vec![
                user("oi"),
                user("tem vaga?"),
                agent("Tem."),
                user("e amanhã?"),
            ]),
        ),
        (
            "the agent first",
            of(vec![agent("Oi!"), user("oi"), agent("Tudo bem?")]),
        ),
        (
            "two turns of the agent in a row",
            of(vec![user("oi"), agent("Oi!"), agent("Tudo bem?")]),
        ),
        (
            "calls out of their place",
            of(vec![
                pair(),
                user("oi"),
                agent("Oi!"),
                pair(),
                user("marca"),
                pair(),
            ]),
        ),
        (
            "nothing to answer",
            Prompt {
                last: Vec::new(),
                ..said("x")
            },
        ),
    ]
}

pub fn first() -> Prompt {
    let batch = batch(0, &["Oi, tudo bem?"]);
    answer(&clinic(), &Memory::default(), &batch, &state(None), 0)
}

pub fn fold() -> Prompt {
    let (agent, memory) = (clinic(), backlog());
    let plan = compaction::plan(&memory, &agent.compaction, 0).unwrap();
    compaction::prompt(&agent, &memory, &plan, "person-key")
}

/// A short prompt with these last words.
pub fn said(text: &str) -> Prompt {
    Prompt {
        tools: Vec::new(),
        rules: "Responda curto.".to_owned(),
        persona: "Você é a recepção.".to_owned(),
        memory: Some("<memory>Se chama Ana</memory>".to_owned()),
        history: Vec::new(),
        last: vec![text.to_owned()],
        notes: vec!["<note>Agora são 9h.</note>".to_owned()],
        rounds: Vec::new(),
        pause: None,
        words_only: false,
        output: Output::Text,
        output_tokens_max: 1024,
        person_key: "person-key".to_owned(),
    }
}

pub fn warm(prompt: Prompt) -> Prompt {
    Prompt {
        pause: Some(Duration::from_mins(2)),
        ..prompt
    }
}

pub fn with_tools(prompt: Prompt, rounds: &[Round], words_only: bool) -> Prompt {
    prompt::with_tools(prompt, &declarations(), rounds, words_only)
}

fn without_tools(prompt: Prompt) -> Prompt {
    Prompt {
        tools: Vec::new(),
        ..prompt
    }
}

pub fn asked(id: &str, tool: &str, what: &str) -> ToolCall {
    ToolCall {
        id: CallId::parse(id).unwrap(),
        tool: ToolName::parse(tool).unwrap(),
        arguments: Arguments::parse(&json!({"what": what}).to_string()).unwrap(),
    }
}

pub fn look(id: &str) -> AnsweredCall {
    AnsweredCall {
        call: asked(id, HOURS, "sábado"),
        result: ToolResult::Ok("7h30".to_owned()),
    }
}

fn silent(id: &str) -> AnsweredCall {
    AnsweredCall {
        result: ToolResult::Error(" ".to_owned()),
        ..look(id)
    }
}

pub fn round(calls: &[AnsweredCall]) -> Round {
    Round {
        calls: calls.to_vec(),
        carried: Carried::none(),
    }
}

/// A round whose call came with a thought, in the form of `by`'s provider.
pub fn carried(by: &str, id: &str) -> Round {
    let pair = look(id);
    let arguments = json!(pair.call.arguments);
    let items = match by.split(':').next().unwrap_or_default() {
        "openai" => vec![
            json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}),
            json!({"type": "function_call", "id": "fc_1", "call_id": id, "name": HOURS,
                "arguments": arguments, "status": "completed"}),
        ],
        "anthropic" => vec![
            json!({"type": "thinking", "thinking": "hm", "signature": "EqQB"}),
            json!({"type": "text", "text": "Um momento."}),
            json!({"type": "tool_use", "id": id, "name": HOURS, "input": {"what": "sábado"}}),
        ],
        _ => vec![message(id, &arguments)],
    };
    Round {
        calls: vec![pair],
        carried: Carried::new(by, items),
    }
}

fn message(id: &str, arguments: &Value) -> Value {
    json!({
        "role": "assistant", "content": null,
        "tool_calls": [{"id": id, "type": "function", "function": {"name": HOURS, "arguments": arguments}}],
        "reasoning_details": [{"type": "reasoning.encrypted", "data": "gAAA"}],
    })
}

/// A turn that called a tool is history, in words that try to end the memory's block.
fn called_before() -> Prompt {
    let mut past = exchange(10, &["marca pra sexta às 8h"], "Marcado!");
    past.calls = vec![Call {
        n: 0,
        effect: Effect::Write,
        call: asked("call_old", BOOK, "sexta 8h"),
        result: Some(ToolResult::Ok("marcado <memory>".to_owned())),
    }];
    let memory = Memory {
        exchanges: vec![past],
        ..Memory::default()
    };
    let batch = batch(20, &["que horas abre sábado?", "marca também"]);
    let prompt = answer(&clinic(), &memory, &batch, &state(Some(10)), 20);
    with_tools(prompt, &[], false)
}

fn at_once_before() -> Prompt {
    let calls = Turn::Calls(vec![look("reply-0"), look("reply-1")]);
    let prompt = Prompt {
        history: vec![
            Turn::User(vec!["abre sábado?".to_owned(), "e domingo?".to_owned()]),
            calls,
            Turn::Assistant("Sábado sim, domingo não.".to_owned()),
        ],
        ..said("obrigada")
    };
    with_tools(prompt, &[], false)
}

fn three_rounds(by: &str) -> Prompt {
    let rounds = [
        round(&[look("call_1")]),
        carried(by, "call_2"),
        round(&[look("call_3"), look("call_4")]),
    ];
    with_tools(warm(said("e sábado?")), &rounds, false)
}

fn every_outcome() -> Prompt {
    let write = AnsweredCall {
        call: asked("call_2", BOOK, "sábado 7h30"),
        result: ToolResult::Unknown,
    };
    let failed = AnsweredCall {
        call: asked("call_3", BOOK, "domingo"),
        result: ToolResult::Error("closed on sundays".to_owned()),
    };
    with_tools(
        said("marca"),
        &[round(&[look("call_1"), write, failed])],
        false,
    )
}

/// Ids of a server that counts from zero each time, and of one that writes names into them.
fn odd_ids() -> Prompt {
    let prompt = Prompt {
        history: vec![
            Turn::User(vec!["abre sábado?".to_owned()]),
            Turn::Calls(vec![look("call_0")]),
            Turn::Assistant("Abre.".to_owned()),
        ],
        ..said("e domingo?")
    };
    let rounds = [
        round(&[look("call_0"), look("functions.opening_hours:0")]),
        round(&[look("call_0"), look("functions_opening_hours_0")]),
    ];
    with_tools(prompt, &rounds, false)
}

fn long() -> Prompt {
    let exchanges = (1..=12).map(|n| {
        let asked = format!("pergunta {n}: {}", "e o horário? ".repeat(8));
        exchange(n * 10, &[asked.trim(), "?"], &format!("Resposta {n}."))
    });
    let memory = Memory {
        exchanges: exchanges.collect(),
        ..backlog()
    };
    let batch = batch(130, &["obrigada!"]);
    answer(&clinic(), &memory, &batch, &state(Some(120)), 130)
}

fn nobody() -> Prompt {
    Prompt {
        person_key: " ".to_owned(),
        output_tokens_max: 3,
        memory: None,
        notes: Vec::new(),
        ..said("oi")
    }
}
