//! A whole local run inside the test's process: with a model and secrets that the test chooses.

use std::sync::Arc;

use recado::adapters::meta::signature;
use recado::config::agent_file::Overrides;
use recado::config::roster::Roster;
use recado::ports::Model;
use recado_cli::local::{Channel, LocalRun, Options, Secrets, ToolAccess, loopback};
use reqwest::{Client, Response};
use serde_json::{Value, json};

/// The app secret of the run.
pub const APP_SECRET: &str = "app secret for tests";
/// The business number of the run's phone.
pub const NUMBER: &str = "100000000000001";

const AGENT: &str = r#"
id = "recepcao"
persona = "Você é uma recepcionista de exemplo."
numbers = ["100000000000001"]

[timing]
window_s = 1
"#;

/// A run that keeps nothing, on a free port, and a client for it.
pub struct Here {
    /// Everything.
    pub run: LocalRun,
    /// Talks to it.
    pub http: Client,
}

impl Here {
    /// Starts it with an agent that answers on [`NUMBER`] only, after a window of one second.
    pub async fn start(model: Arc<dyn Model>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("agent.toml");
        std::fs::write(&file, AGENT).unwrap();
        let agents = Roster::load(&[file], &Overrides::none()).unwrap();
        let run = LocalRun::start(Options {
            listen: loopback(0),
            folder: None,
            agents: Arc::new(agents),
            model,
            tools: ToolAccess::default(),
            channel: Channel::Phone(Secrets {
                app_secret: APP_SECRET.to_owned(),
                access_token: "access token for tests".to_owned(),
                verify_token: "verify token for tests".to_owned(),
            }),
        });
        Self {
            run: run.await.unwrap(),
            http: Client::builder().no_proxy().build().unwrap(),
        }
    }

    /// An address of the run.
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.run.url())
    }

    /// Posts a body as a provider does that knows the secret.
    pub async fn webhook(&self, body: impl Into<Vec<u8>>) -> Response {
        let body = body.into();
        let signature = signature::sign(APP_SECRET.as_bytes(), &body);
        let request = self.http.post(self.url("/webhook/meta"));
        let request = request.header("X-Hub-Signature-256", signature).body(body);
        request.send().await.unwrap()
    }

    /// The JSON at a path.
    pub async fn get(&self, path: &str) -> Value {
        let answer = self.http.get(self.url(path)).send().await.unwrap();
        answer.json().await.unwrap()
    }

    /// A person writes one text on the phone.
    pub async fn write(&self, phone: &str, text: &str) {
        let request = self.http.post(self.url("/phone/messages"));
        let request = request.json(&json!({ "from": phone, "text": text }));
        let written = request.send().await.unwrap();
        assert_eq!(written.status(), 202);
    }

    /// The texts that a phone received.
    pub async fn answers(&self, phone: &str) -> Vec<String> {
        let chat = self.get(&format!("/phone/conversations/{phone}")).await;
        let messages = chat["messages"].as_array().unwrap();
        let agents = messages.iter().filter(|message| message["side"] == "agent");
        agents
            .map(|message| message["text"].as_str().unwrap().to_owned())
            .collect()
    }
}

/// Meta's envelope around messages and contacts of one business number.
pub fn envelope(number: &str, value: Value) -> String {
    let mut whole = json!({
        "messaging_product": "whatsapp",
        "metadata": { "display_phone_number": "551140000001", "phone_number_id": number },
    });
    if let (Value::Object(whole), Value::Object(value)) = (&mut whole, value) {
        whole.extend(value);
    }
    json!({
        "object": "whatsapp_business_account",
        "entry": [{ "id": "200000000000001", "changes": [{ "field": "messages", "value": whole }] }],
    })
    .to_string()
}
