//! A phone on a bench: served over HTTP, with a back end that only listens.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use recado::adapters::chance::SystemChance;
use recado::adapters::clock::SystemClock;
use recado::adapters::meta::{parse, signature};
use recado::domain::{
    AgentId, BusinessNumber, ContactId, ConversationId, MessageId, ProviderEvent, Step,
};
use recado::ports::{Clock as _, Journal as _};
use recado_cli::phone::{
    MemoryReader, MemoryUnavailable, Phone, PhoneState, Settings, Story, router,
};
use reqwest::Client;
use serde_json::{Value, json};
use tokio::net::TcpListener;

pub const ANA: &str = "5511900000001";
pub const NUMBER: &str = "100000000000001";
pub const REPLY: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

/// A back end that only listens: it checks signatures and answers what it was told to answer.
#[derive(Clone, Default)]
pub struct BackEnd {
    pub heard: Arc<Mutex<Vec<Value>>>,
    /// The same, as our own reader of Meta's webhooks understands it.
    pub events: Arc<Mutex<Vec<ProviderEvent>>>,
    /// Answers to give before it says 200.
    refusals: Arc<Mutex<VecDeque<u16>>>,
    pub bad_signatures: Arc<Mutex<usize>>,
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

    pub fn refuse_with(&self, statuses: &[u16]) {
        self.refusals.lock().unwrap().extend(statuses);
    }

    /// The texts it heard, repeats included.
    pub fn texts(&self) -> Vec<String> {
        let heard = self.heard.lock().unwrap();
        let body = |value: &Value| Some(value["messages"][0]["text"]["body"].as_str()?.to_owned());
        heard.iter().filter_map(body).collect()
    }

    /// The statuses it heard of one message.
    pub fn statuses(&self, id: &str) -> Vec<Value> {
        let heard = self.heard.lock().unwrap();
        let statuses = heard.iter().map(|value| value["statuses"][0].clone());
        statuses.filter(|status| status["id"] == id).collect()
    }
}

/// Remembers nothing but whom it was asked about.
pub struct NoMemory;

#[async_trait]
impl MemoryReader for NoMemory {
    async fn read(&self, phone: &str) -> Result<Value, MemoryUnavailable> {
        Ok(json!({ "recent": [], "facts": [phone], "summary": null, "state": {} }))
    }
}

/// A running phone with the back end it talks to.
pub struct Bench {
    pub phone: Phone,
    pub story: Arc<Story>,
    pub address: SocketAddr,
    pub back_end: BackEnd,
    pub http: Client,
}

pub async fn serve(router: Router) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    address
}

pub async fn bench(log: Option<&Path>, back_end: BackEnd) -> Bench {
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
        window: Duration::from_secs(5),
        ceiling: Duration::from_secs(20),
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
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub async fn write(&self, body: &Value) -> Vec<String> {
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

    pub async fn send(&self, body: &Value) -> (u16, Value) {
        let url = self.url(&format!("/v25.0/{NUMBER}/messages"));
        let request = self.http.post(url).bearer_auth("access token").json(body);
        let answer = request.send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap())
    }

    pub async fn get(&self, path: &str) -> (u16, Value) {
        let answer = self.http.get(self.url(path)).send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap())
    }

    pub fn note(&self, contact: &str, id: &str) {
        let conversation = ConversationId {
            agent: AgentId::parse("recepcao").unwrap(),
            contact: ContactId::parse(contact).unwrap(),
        };
        let event = MessageId::parse(id).unwrap();
        self.story
            .note(&conversation, &Step::Received { event, fresh: true });
    }
}

pub fn text_to(phone: &str, text: &str) -> Value {
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
pub async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..1_000 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("waited too long until {what}");
}
