//! The phone over real HTTP: webhooks, sends, statuses, restarts, the story's stream, and who is let in.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use recado::adapters::chance::SystemChance;
use recado::adapters::clock::SystemClock;
use recado::adapters::meta::send::{FixedToken, GraphMessenger, GraphSettings};
use recado::adapters::meta::{parse, signature};
use recado::domain::{
    Address, AgentId, BusinessNumber, ContactId, ConversationId, DeliveryStatus, MessageId,
    Phone as Number, ProviderEvent, ReplyId, Step,
};
use recado::ports::{Clock as _, Journal as _, LookUp, Messenger as _, Outgoing};
use recado_cli::phone::{
    MemoryReader, MemoryUnavailable, Phone, PhoneState, Settings, Story, router,
};
use reqwest::Client;
use serde_json::{Value, json};
use tokio::net::TcpListener;

const ANA: &str = "5511900000001";
const NUMBER: &str = "100000000000001";
const REPLY: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

/// A back end that only listens: it checks signatures and answers what it was told to answer.
#[derive(Clone, Default)]
struct BackEnd {
    heard: Arc<Mutex<Vec<Value>>>,
    /// The same, as our own reader of Meta's webhooks understands it.
    events: Arc<Mutex<Vec<ProviderEvent>>>,
    /// Answers to give before it says 200.
    refusals: Arc<Mutex<VecDeque<u16>>>,
    bad_signatures: Arc<Mutex<usize>>,
}

impl BackEnd {
    fn hear(&self, headers: &HeaderMap, body: &Bytes) -> StatusCode {
        let header = headers[signature::HEADER].to_str().unwrap();
        let Ok(verified) = signature::verify(&["app secret"], Some(header), body) else {
            *self.bad_signatures.lock().unwrap() += 1;
            return StatusCode::UNAUTHORIZED;
        };
        assert!(body.is_ascii());
        let parsed = parse::parse(verified, SystemClock.now()).unwrap();
        assert_eq!((parsed.events.len(), parsed.rejected.len()), (1, 0));
        self.events.lock().unwrap().extend(parsed.events);
        let envelope: Value = serde_json::from_slice(body).unwrap();
        let value = envelope["entry"][0]["changes"][0]["value"].clone();
        self.heard.lock().unwrap().push(value);
        let status = self.refusals.lock().unwrap().pop_front();
        status.map_or(StatusCode::OK, |status| {
            StatusCode::from_u16(status).unwrap()
        })
    }

    fn refuse_with(&self, statuses: &[u16]) {
        self.refusals.lock().unwrap().extend(statuses);
    }

    /// The texts it heard, repeats included.
    fn texts(&self) -> Vec<String> {
        let heard = self.heard.lock().unwrap();
        let body = |value: &Value| Some(value["messages"][0]["text"]["body"].as_str()?.to_owned());
        heard.iter().filter_map(body).collect()
    }

    /// The statuses it heard of one message.
    fn statuses(&self, id: &str) -> Vec<Value> {
        let heard = self.heard.lock().unwrap();
        let statuses = heard.iter().map(|value| value["statuses"][0].clone());
        statuses.filter(|status| status["id"] == id).collect()
    }
}

/// Remembers nothing but whom it was asked about.
struct NoMemory;

#[async_trait]
impl MemoryReader for NoMemory {
    async fn read(&self, phone: &str) -> Result<Value, MemoryUnavailable> {
        Ok(json!({ "recent": [], "facts": [phone], "summary": null, "state": {} }))
    }
}

/// A running phone with the back end it talks to.
struct Bench {
    phone: Phone,
    story: Arc<Story>,
    address: SocketAddr,
    back_end: BackEnd,
    http: Client,
}

async fn serve(router: Router) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    address
}

async fn bench(log: Option<&Path>, back_end: BackEnd) -> Bench {
    let hears = back_end.clone();
    let hear = async move |headers: HeaderMap, body: Bytes| hears.hear(&headers, &body);
    let webhook = Router::new().route("/webhook/meta", post(hear));
    let settings = Settings {
        webhook_url: format!("http://{}/webhook/meta", serve(webhook).await),
        app_secret: "app secret".to_owned(),
        access_token: "access token".to_owned(),
        number: BusinessNumber::parse(NUMBER).unwrap(),
        display_number: "551130000000".to_owned(),
        business_account: "200000000000001".to_owned(),
    };
    let clock = Arc::new(SystemClock);
    let phone = Phone::open(settings, log, clock.clone(), Arc::new(SystemChance)).unwrap();
    let story = Arc::new(Story::new(clock, &SystemChance, 100));
    let state = PhoneState {
        phone: phone.clone(),
        story: Arc::clone(&story),
        memory: Arc::new(NoMemory),
        loopback: true,
    };
    let address = serve(router(state)).await;
    phone.start();
    Bench {
        phone,
        story,
        address,
        back_end,
        http: Client::new(),
    }
}

impl Bench {
    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    async fn write(&self, body: &Value) -> Vec<String> {
        let answer = self
            .http
            .post(self.url("/phone/messages"))
            .json(body)
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status(), 202);
        let answer: Value = answer.json().await.unwrap();
        serde_json::from_value(answer["ids"].clone()).unwrap()
    }

    async fn send(&self, body: &Value) -> (u16, Value) {
        let url = self.url(&format!("/v25.0/{NUMBER}/messages"));
        let request = self.http.post(url).bearer_auth("access token").json(body);
        let answer = request.send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap())
    }

    async fn get(&self, path: &str) -> (u16, Value) {
        let answer = self.http.get(self.url(path)).send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap())
    }

    fn note(&self, contact: &str, id: &str) {
        let conversation = ConversationId {
            agent: AgentId::parse("recepcao").unwrap(),
            contact: ContactId::parse(contact).unwrap(),
        };
        let event = MessageId::parse(id).unwrap();
        self.story
            .note(&conversation, &Step::Received { event, fresh: true });
    }
}

fn text_to(phone: &str, text: &str) -> Value {
    json!({
        "messaging_product": "whatsapp",
        "recipient_type": "individual",
        "to": phone,
        "type": "text",
        "text": { "body": text },
        "biz_opaque_callback_data": REPLY,
    })
}

/// Waits until `holds`, at most ten seconds.
async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..1_000 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("waited too long until {what}");
}

fn log_in(folder: &tempfile::TempDir) -> PathBuf {
    folder.path().join("phone.jsonl")
}

#[tokio::test]
async fn a_burst_arrives_signed_and_in_order_and_the_gaps_are_kept() {
    let bench = bench(None, BackEnd::default()).await;
    let started = std::time::Instant::now();
    let ids = bench
        .write(&json!({ "from": ANA, "texts": ["olá", "às 9/10", "tá? 😀"], "gap_ms": 150 }))
        .await;
    assert!(
        started.elapsed() < Duration::from_millis(140),
        "the ids come at once"
    );
    until("all three arrived", || bench.back_end.texts().len() == 3).await;
    assert!(started.elapsed() >= Duration::from_millis(300));
    assert_eq!(bench.back_end.texts(), ["olá", "às 9/10", "tá? 😀"]);
    assert_eq!(*bench.back_end.bad_signatures.lock().unwrap(), 0);
    let heard = bench.back_end.heard.lock().unwrap().clone();
    assert_eq!(heard[0]["messages"][0]["id"], ids[0]);
    assert_eq!(heard[0]["metadata"]["phone_number_id"], NUMBER);
    assert_eq!(heard[0]["contacts"][0]["wa_id"], ANA);
}

#[tokio::test]
async fn a_refused_webhook_is_sent_again_until_it_is_taken_and_order_is_kept() {
    let back_end = BackEnd::default();
    back_end.refuse_with(&[503, 401, 500]);
    let bench = bench(None, back_end).await;
    bench
        .write(&json!({ "from": ANA, "texts": ["um", "dois"] }))
        .await;
    until("both were taken", || bench.back_end.texts().len() == 5).await;
    assert_eq!(bench.back_end.texts(), ["um", "um", "um", "um", "dois"]);
    let (_, chat) = bench.get(&format!("/phone/conversations/{ANA}")).await;
    assert_eq!(chat["messages"][0]["status"], "delivered");
    assert_eq!(chat["messages"][0]["failures"], 3);
}

#[tokio::test]
async fn a_send_is_accepted_found_and_reported_as_sent_delivered_and_read() {
    let bench = bench(None, BackEnd::default()).await;
    assert_eq!(bench.get(&format!("/phone/replies/{REPLY}")).await.0, 404);
    let (status, answer) = bench.send(&text_to(ANA, "Oi! Como posso ajudar?")).await;
    assert_eq!(status, 200);
    assert_eq!(answer["messaging_product"], "whatsapp");
    assert_eq!(answer["contacts"][0]["wa_id"], ANA);
    let id = answer["messages"][0]["id"].as_str().unwrap();
    let found = bench.get(&format!("/phone/replies/{REPLY}")).await;
    assert_eq!(found, (200, json!({ "id": id, "count": 1 })));
    until("three statuses", || bench.back_end.statuses(id).len() == 3).await;
    let statuses = bench.back_end.statuses(id);
    let words: Vec<_> = statuses
        .iter()
        .map(|status| status["status"].clone())
        .collect();
    assert_eq!(words, ["sent", "delivered", "read"]);
    for status in &statuses {
        assert_eq!(status["biz_opaque_callback_data"], REPLY);
        assert_eq!(status["recipient_id"], ANA);
        assert!(
            status["recipient_user_id"]
                .as_str()
                .unwrap()
                .starts_with("BR.")
        );
    }
    assert_eq!(*bench.back_end.bad_signatures.lock().unwrap(), 0);
}

#[tokio::test]
async fn a_send_to_the_bsuid_reaches_the_phone() {
    let bench = bench(None, BackEnd::default()).await;
    bench.write(&json!({ "from": ANA, "text": "oi" })).await;
    until("the text arrived", || bench.back_end.texts().len() == 1).await;
    let bsuid = bench.back_end.heard.lock().unwrap()[0]["messages"][0]["from_user_id"].clone();
    let mut body = text_to(ANA, "oi");
    body.as_object_mut().unwrap().remove("to");
    body["recipient"] = bsuid;
    assert_eq!(bench.send(&body).await.0, 200);
    let (_, chat) = bench.get(&format!("/phone/conversations/{ANA}")).await;
    assert_eq!(chat["messages"].as_array().unwrap().len(), 2);
    assert_eq!(chat["messages"][1]["side"], "agent");
}

#[tokio::test]
async fn a_doubled_send_is_seen_as_two() {
    let bench = bench(None, BackEnd::default()).await;
    let (_, first) = bench.send(&text_to(ANA, "oi")).await;
    bench.send(&text_to(ANA, "oi")).await;
    let (_, found) = bench.get(&format!("/phone/replies/{REPLY}")).await;
    assert_eq!(
        found,
        json!({ "id": first["messages"][0]["id"], "count": 2 })
    );
}

#[tokio::test]
async fn our_own_sender_and_reader_of_webhooks_work_with_it() {
    let bench = bench(None, BackEnd::default()).await;
    let base = bench.url("");
    let mut settings = GraphSettings::new(&base, "v25.0");
    settings.look_up_base = Some(base);
    let token = Arc::new(FixedToken("access token".to_owned()));
    let messenger = GraphMessenger::new(&settings, token).unwrap();
    let reply = ReplyId::parse(REPLY).unwrap();
    assert_eq!(messenger.look_up(reply).await, LookUp::NotReceived);
    let outgoing = Outgoing {
        number: BusinessNumber::parse(NUMBER).unwrap(),
        to: Address::Phone(Number::parse(ANA).unwrap()),
        reply,
        text: "Até sexta!".to_owned(),
    };
    let id = messenger.send(&outgoing).await.unwrap();
    assert_eq!(messenger.look_up(reply).await, LookUp::Sent(id.clone()));
    until("three statuses", || {
        bench.back_end.events.lock().unwrap().len() == 3
    })
    .await;
    for event in bench.back_end.events.lock().unwrap().iter() {
        let ProviderEvent::Status(update) = event else {
            panic!("only statuses were sent");
        };
        assert_eq!(
            (update.reply, update.message.as_str()),
            (reply, id.as_str())
        );
        assert_eq!(update.status, DeliveryStatus::Sent);
    }
}

#[tokio::test]
async fn refused_sends_have_metas_shape_and_leave_no_trace() {
    let bench = bench(None, BackEnd::default()).await;
    let (status, error) = bench.send(&text_to(ANA, &"a".repeat(4_097))).await;
    assert_eq!((status, &error["error"]["code"]), (400, &json!(100)));
    assert_eq!(
        error["error"]["message"],
        "Param text['body'] must be at most 4096 characters long."
    );
    for (label, path, token, status, code) in [
        (
            "no right token",
            format!("/v25.0/{NUMBER}/messages"),
            "wrong",
            401,
            190,
        ),
        (
            "another number",
            "/v25.0/42/messages".to_owned(),
            "access token",
            400,
            100,
        ),
        (
            "no version",
            format!("/latest/{NUMBER}/messages"),
            "access token",
            400,
            2500,
        ),
    ] {
        let request = bench.http.post(bench.url(&path)).bearer_auth(token);
        let answer = request.json(&text_to(ANA, "oi")).send().await.unwrap();
        assert_eq!(answer.status(), status, "{label}");
        let error: Value = answer.json().await.unwrap();
        assert_eq!(error["error"]["code"], code, "{label}");
        assert_eq!(error["error"]["type"], "OAuthException", "{label}");
    }
    assert_eq!(bench.get(&format!("/phone/replies/{REPLY}")).await.0, 404);
}

#[tokio::test]
async fn a_restart_delivers_what_was_not_taken_and_remembers_what_was_received() {
    let folder = tempfile::tempdir().unwrap();
    let log = log_in(&folder);
    let deaf = BackEnd::default();
    deaf.refuse_with(&[503; 100]);
    let first = bench(Some(&log), deaf).await;
    let ids = first
        .write(&json!({ "from": ANA, "texts": ["oi", "mais tarde"], "gap_ms": 60_000 }))
        .await;
    let (_, sent) = first.send(&text_to(ANA, "resposta")).await;
    until("a try failed", || first.back_end.texts().len() > 1).await;
    first.phone.close();
    drop(first);

    let second = bench(Some(&log), BackEnd::default()).await;
    let (_, found) = second.get(&format!("/phone/replies/{REPLY}")).await;
    assert_eq!(
        found,
        json!({ "id": sent["messages"][0]["id"], "count": 1 })
    );
    let id = sent["messages"][0]["id"].as_str().unwrap();
    until("the text arrived", || second.back_end.texts() == ["oi"]).await;
    until("the statuses arrived", || {
        second.back_end.statuses(id).len() == 3
    })
    .await;
    let (_, chat) = second.get(&format!("/phone/conversations/{ANA}")).await;
    assert_eq!(chat["messages"][0]["id"], ids[0]);
    assert_eq!(
        chat["messages"][2]["status"], "planned",
        "its time has not come"
    );
    second.phone.close();

    let third = bench(Some(&log), BackEnd::default()).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(
        third.back_end.heard.lock().unwrap().is_empty(),
        "nothing is delivered twice"
    );
}

#[tokio::test]
async fn bad_requests_get_a_sentence() {
    let bench = bench(None, BackEnd::default()).await;
    let url = bench.url("/phone/messages");
    for (label, body, status, word) in [
        ("no JSON", "oi".to_owned(), 400, "not what this route takes"),
        (
            "a phone in words",
            json!({ "from": "ana", "text": "oi" }).to_string(),
            400,
            "5511900000001",
        ),
        (
            "no text",
            json!({ "from": ANA }).to_string(),
            400,
            "either text",
        ),
        (
            "no texts",
            json!({ "from": ANA, "texts": [] }).to_string(),
            400,
            "1 to 200",
        ),
        (
            "a blank text",
            json!({ "from": ANA, "text": " " }).to_string(),
            400,
            "not be empty",
        ),
        (
            "an unknown key",
            json!({ "from": ANA, "txt": "oi" }).to_string(),
            400,
            "txt",
        ),
        (
            "2 MiB",
            format!("\"{}\"", "a".repeat(2 * 1024 * 1024)),
            413,
            "1 MiB",
        ),
    ] {
        let answer = bench.http.post(&url).body(body).send().await.unwrap();
        assert_eq!(answer.status(), status, "{label}");
        let error: Value = answer.json().await.unwrap();
        assert!(
            error["error"].as_str().unwrap().contains(word),
            "{label}: {error}"
        );
    }
    assert_eq!(bench.get("/nothing").await.0, 404);
    assert_eq!(bench.get("/phone/messages").await.0, 405);
    assert_eq!(
        bench.get(&format!("/memory/{ANA}")).await.1["facts"],
        json!([ANA])
    );
}

#[tokio::test]
async fn foreign_hosts_and_foreign_pages_are_refused() {
    let bench = bench(None, BackEnd::default()).await;
    let port = bench.address.port();
    for (label, host, origin, status) in [
        (
            "its own page",
            format!("localhost:{port}"),
            Some(format!("http://localhost:{port}")),
            202,
        ),
        ("a program", format!("127.0.0.1:{port}"), None, 202),
        ("rebinding", format!("evil.example:{port}"), None, 421),
        (
            "a foreign page",
            format!("127.0.0.1:{port}"),
            Some("http://evil.example".to_owned()),
            403,
        ),
        (
            "a sandboxed page",
            format!("127.0.0.1:{port}"),
            Some("null".to_owned()),
            403,
        ),
    ] {
        let mut request = bench
            .http
            .post(bench.url("/phone/messages"))
            .header("Host", host)
            .json(&json!({ "from": ANA, "text": "oi" }));
        if let Some(origin) = origin {
            request = request.header("Origin", origin);
        }
        assert_eq!(request.send().await.unwrap().status(), status, "{label}");
    }
    let page = bench
        .http
        .get(bench.url("/"))
        .header("Host", "evil.example")
        .send()
        .await
        .unwrap();
    assert_eq!(page.status(), 421);
}

/// Reads a stream until it holds `wanted`.
async fn read_until(answer: &mut reqwest::Response, wanted: &str) -> String {
    let mut text = String::new();
    while !text.contains(wanted) {
        let chunk = tokio::time::timeout(Duration::from_secs(5), answer.chunk());
        let chunk = chunk
            .await
            .unwrap_or_else(|_| panic!("no {wanted} in {text}"));
        text.push_str(std::str::from_utf8(&chunk.unwrap().unwrap()).unwrap());
    }
    text
}

#[tokio::test]
async fn a_stream_resumes_where_the_reader_was_and_follows_chat_and_story() {
    let bench = bench(None, BackEnd::default()).await;
    for id in ["one", "two", "three"] {
        bench.note(ANA, id);
    }
    bench.note("5511900000002", "of someone else");
    let (_, story) = bench.get(&format!("/story?since=1&phone={ANA}")).await;
    let seqs: Vec<_> = story["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| &step["seq"])
        .collect();
    assert_eq!(seqs, [2, 3]);
    assert_eq!(
        (&story["last"], &story["complete"]),
        (&json!(4), &json!(true))
    );

    let name = story["story"].as_str().unwrap();
    let url = bench.url(&format!("/story/live?phone={ANA}"));
    let request = bench
        .http
        .get(&url)
        .header("Last-Event-ID", format!("{name}-2"));
    let mut answer = request.send().await.unwrap();
    assert_eq!(answer.headers()["content-type"], "text/event-stream");
    let text = read_until(&mut answer, "event: hello").await;
    assert!(text.contains("three") && !text.contains("two") && !text.contains("someone else"));
    assert!(text.contains(&format!("id: {name}-3")));
    bench.note(ANA, "four");
    read_until(&mut answer, "four").await;
    bench
        .write(&json!({ "from": ANA, "text": "ao vivo" }))
        .await;
    read_until(&mut answer, "\"status\":\"delivered\"").await;

    let request = bench.http.get(&url).header("Last-Event-ID", "another-2");
    let mut answer = request.send().await.unwrap();
    let text = read_until(&mut answer, "event: reset").await;
    assert!(text.contains("restarted") && !text.contains("three"));

    bench.phone.close();
    let ends = tokio::time::timeout(Duration::from_secs(5), async {
        while answer.chunk().await.unwrap().is_some() {}
    });
    ends.await.expect("a closed phone ends its streams");
}

#[tokio::test]
async fn a_slow_reader_is_told_that_it_lagged() {
    let bench = bench(None, BackEnd::default()).await;
    let mut answer = bench
        .http
        .get(bench.url("/story/live"))
        .send()
        .await
        .unwrap();
    read_until(&mut answer, "event: hello").await;
    for index in 0..60_000 {
        bench.note(ANA, &format!("{index}-{}", "x".repeat(400)));
    }
    let text = read_until(&mut answer, "event: reset").await;
    assert!(text.contains("lagged"));
    bench.note(ANA, "after");
    read_until(&mut answer, "after").await;
}

#[tokio::test]
async fn the_page_brings_a_strict_policy_and_nothing_inline() {
    let bench = bench(None, BackEnd::default()).await;
    for path in [
        "/",
        "/page.css",
        "/icon.svg",
        "/page.js",
        "/chat.js",
        "/memory.js",
        "/now.js",
        "/timeline.js",
        "/turns.js",
        "/words.js",
    ] {
        let answer = bench.http.get(bench.url(path)).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        let policy = answer.headers()["content-security-policy"]
            .to_str()
            .unwrap()
            .to_owned();
        assert!(
            policy.contains("default-src 'none'") && !policy.contains("unsafe"),
            "{path}"
        );
        let body = answer.text().await.unwrap();
        assert!(
            !body.contains("https://") && !body.contains("style="),
            "{path}"
        );
    }
}
