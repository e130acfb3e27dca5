//! One run in which everything that can go wrong does, with recognisable data in all that reaches it.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use recado::adapters::log_journal::LogJournal;
use recado::adapters::logging::{self, Form};
use recado::domain::routing::RoutingRules;
use recado::domain::{ConversationId, Hasher, MessageId, ReplyId, ReplyKind, Step};
use recado::policy::routing::{Written, decide};
use recado::ports::Journal as _;
use recado_tests::local_run::{Here, NUMBER, envelope};
use serde_json::{Value, json};

use crate::troubled_model::{FAILING, PANIC, REFUSED, TroubledModel};

const WELL: &str = "5511900771101";
const PANICS: &str = "5511900771102";
const UNREACHED: &str = "5511900771103";
const FAILS: &str = "5511900771104";
const WEBHOOK: &str = "5511900771105";
const BSUID: &str = "BR.7711057711057711";
const WAMID: &str = "wamid.Q2FuYXJpb1F1aW1lcmE3NzE=";
const NAME: &str = "Quimera Canário";
const WORDS: &str = "canário azul no telhado";
const QUOTED: &str = "o provedor repete o canário";

/// What must be found nowhere.
pub const CANARIES: [&str; 13] = [
    WELL,
    PANICS,
    UNREACHED,
    FAILS,
    WEBHOOK,
    BSUID,
    WAMID,
    "Q2FuYXJpb1F1aW1lcmE3NzE",
    NAME,
    WORDS,
    "azul no telhado",
    QUOTED,
    "Quimera",
];

pub async fn run(filter: Option<&str>) {
    logging::init(Form::Text, filter);
    tell_the_journal();
    let here = Here::start(Arc::new(TroubledModel::start(QUOTED).await)).await;
    here.write(WELL, &format!("meu nome é {NAME}")).await;
    for (phone, word) in [
        (WELL, "oi"),
        (PANICS, PANIC),
        (UNREACHED, REFUSED),
        (FAILS, FAILING),
    ] {
        here.write(phone, &format!("{WORDS}, {word}")).await;
    }
    webhooks(&here).await;
    requests(&here).await;
    // Three panics with their backoffs, then the honest line.
    let begun = SystemTime::now();
    while here.answers(PANICS).await.is_empty() {
        assert!(begun.elapsed().unwrap() < Duration::from_secs(40));
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let answered = here.answers(WELL).await;
    assert!(answered.join(" ").contains("telhado"), "{answered:?}");
    for phone in [WELL, FAILS] {
        let forget = here.http.post(here.url(&format!("/people/{phone}/forget")));
        assert!(forget.send().await.unwrap().status().is_success());
    }
    here.run.stop().await.unwrap();
    println!("the run is over");
}

/// Every step with an id in it, as AWS's log has them.
fn tell_the_journal() {
    let journal = LogJournal::new(Arc::new(Hasher::new(&[9; 32])));
    let conversation = ConversationId::parse(&format!("recepcao#{WELL}")).unwrap();
    let message = MessageId::parse(WAMID).unwrap();
    let reply = ReplyId::from_parts(1, 1);
    for step in [
        Step::Received {
            event: message.clone(),
            fresh: true,
        },
        Step::Claimed {
            reply,
            batch: vec![message.clone()],
        },
        Step::Routed {
            model: "light".to_owned(),
            routed: decide(
                &Written {
                    texts: vec![WORDS, "cancela e avisa o canário", QUOTED],
                    before: vec![WORDS],
                    answered: Some(QUOTED),
                    language: "pt",
                },
                &RoutingRules {
                    main_words: vec!["quimera".to_owned()],
                    ..RoutingRules::default()
                },
            ),
        },
        Step::Committed {
            reply,
            kind: ReplyKind::Answer,
            answered: vec![message],
        },
        Step::Sent { reply },
        Step::SendUnknown { reply },
    ] {
        journal.note(&conversation, &step);
        // A journal of ours may not, but a debugger's line may hold a step whole.
        println!("{step:?} {conversation:?}");
    }
}

fn message(rest: &Value) -> Value {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let mut message = json!({
        "id": WAMID,
        "from": WEBHOOK,
        "from_user_id": BSUID,
        "timestamp": now.as_secs().to_string(),
        "type": "text",
        "text": { "body": WORDS },
    });
    if let (Value::Object(message), Value::Object(rest)) = (&mut message, rest) {
        message.extend(rest.clone());
    }
    message
}

fn contacts() -> Value {
    json!([{ "wa_id": WEBHOOK, "user_id": BSUID, "profile": { "name": NAME, "username": NAME } }])
}

/// Bodies of every sort: good, of strangers, broken, forged.
async fn webhooks(here: &Here) {
    let with = |number: &str, messages: Value| {
        envelope(
            number,
            json!({ "contacts": contacts(), "messages": messages }),
        )
    };
    let bodies = [
        // Its answer is refused: the phone knows nobody of this id.
        with(NUMBER, json!([message(&json!({ "from": null }))])),
        with(
            NUMBER,
            json!([message(&json!({ "id": format!("{WAMID}2") }))]),
        ),
        with("999999999999999", json!([message(&json!({}))])),
        with(
            NUMBER,
            json!([message(&json!({ "type": WORDS, "id": "other" }))]),
        ),
        with(
            NUMBER,
            json!([message(&json!({ "id": { "of": WAMID } })), WORDS]),
        ),
        with(
            NUMBER,
            json!([message(&json!({ "timestamp": WORDS, "text": WORDS }))]),
        ),
        envelope(NUMBER, json!({ "statuses": statuses() })),
        envelope("999999999999999", json!({ "statuses": statuses() })),
        envelope(
            NUMBER,
            json!({ "errors": [{ "code": 1, "title": WORDS, "message": WORDS }] }),
        ),
        json!([WORDS]).to_string(),
        format!("{{\"object\": \"{WORDS}\""),
        WORDS.to_owned(),
        "[".repeat(200_000) + WORDS,
    ];
    for body in bodies {
        here.webhook(body.clone()).await;
        let forged = here.http.post(here.url("/webhook/meta")).body(body);
        let signature = format!("sha256={WORDS}").replace('á', "a");
        let forged = forged.header("X-Hub-Signature-256", signature);
        assert_eq!(forged.send().await.unwrap().status(), 401);
    }
}

fn statuses() -> Value {
    json!([
        {
            "id": WAMID, "status": "failed", "timestamp": "1795000000",
            "recipient_id": WEBHOOK, "recipient_user_id": BSUID,
            "biz_opaque_callback_data": ReplyId::from_parts(1, 2).to_string(),
            "errors": [{ "code": 131_047, "title": WORDS, "message": WORDS,
                "error_data": { "details": WORDS } }],
        },
        { "id": WAMID, "status": WORDS, "recipient_id": WEBHOOK },
        { "id": WAMID, "status": "sent", "biz_opaque_callback_data": WORDS },
    ])
}

/// What pages and commands ask, with mistakes in it.
async fn requests(here: &Here) {
    for path in [
        format!("/phone/conversations/{WEBHOOK}"),
        format!("/phone/conversations/{WORDS}"),
        format!("/memory/{WORDS}"),
        format!("/memory/{WEBHOOK}"),
        format!("/story?phone={WORDS}&since={WORDS}"),
        format!("/phone/replies/{WORDS}"),
        format!("/{WORDS}/{WEBHOOK}"),
        format!("/webhook/meta?hub.mode=subscribe&hub.verify_token={WORDS}&hub.challenge={WORDS}"),
    ] {
        here.http.get(here.url(&path)).send().await.unwrap();
    }
    for (path, body) in [
        (
            "/phone/messages",
            format!("{{\"from\": \"{WORDS}\", \"text\": 1}}"),
        ),
        (
            "/phone/messages",
            format!("{{\"from\": \"{WORDS}\", \"text\": \"oi\"}}"),
        ),
        ("/phone/messages", WORDS.to_owned()),
        ("/people/5511900771105x/forget", String::new()),
        ("/v25.0/1/messages", format!("{{\"to\": \"{WEBHOOK}\"}}")),
        ("/webhook/telegram", WORDS.to_owned()),
    ] {
        let request = here.http.post(here.url(path)).body(body);
        request.send().await.unwrap();
    }
}
