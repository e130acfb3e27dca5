//! A whole run on the channel Meta in this process, Graph's strict stand-in, and Meta's side of the webhook.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use recado::adapters::demo::DemoModel;
use recado::adapters::meta::send::{AccessToken, FixedToken, GraphSettings};
use recado::adapters::meta::signature;
use recado::config::agent_file::Overrides;
use recado::config::roster::Roster;
use recado_cli::local::{Channel, LocalRun, Meta, Options, ToolAccess, loopback};
use recado_ingest::MetaSecrets;
use recado_tests::fake_graph::{FakeGraph, Taken, VERSION};
use recado_tests::kept_log::KeptLog;
use recado_tests::local_run::envelope;
use reqwest::{Client, Response};
use serde_json::{Value, json};

pub const NUMBER: &str = "100000000000001";
pub const OTHER_NUMBER: &str = "100000000000002";
pub const TOKEN: &str = "access-token-for-tests";
pub const VERIFY: &str = "verify-token-for-tests";
const APP_SECRET: &str = "app secret for tests";
/// What waits for a token is tried once a minute.
const PATIENCE: Duration = Duration::from_secs(90);

/// Two agents on two numbers.
pub fn agents() -> Arc<Roster> {
    let agent = |id: &str, number: &str| {
        format!(
            "id = \"{id}\"\npersona = \"Você é uma recepcionista de exemplo.\"\nnumbers = [\"{number}\"]\n\
             [timing]\nwindow_s = 1\n"
        )
    };
    let (first, second) = (agent("recepcao", NUMBER), agent("vendas", OTHER_NUMBER));
    let files = [("a.toml", first.as_str()), ("b.toml", second.as_str())];
    Arc::new(Roster::of_texts(&files, &Overrides::none()).unwrap())
}

pub async fn graph() -> FakeGraph {
    FakeGraph::start(&[NUMBER, OTHER_NUMBER], &[TOKEN], Vec::new()).await
}

/// The way to this Graph, with patience for a second.
pub fn meta(graph: &FakeGraph, token: Arc<dyn AccessToken>) -> Meta {
    let secrets = MetaSecrets {
        app_secrets: vec![APP_SECRET.to_owned()],
        verify_token: VERIFY.to_owned(),
    };
    Meta {
        secrets: Arc::new(secrets),
        token,
        graph: GraphSettings {
            connect_timeout: Duration::from_millis(500),
            timeout: Duration::from_secs(1),
            ..GraphSettings::new(&graph.base, VERSION)
        },
    }
}

pub fn options(folder: Option<&Path>, channel: Channel) -> Options {
    Options {
        listen: loopback(0),
        folder: folder.map(Path::to_owned),
        agents: agents(),
        model: Arc::new(DemoModel::new(Duration::from_millis(50))),
        tools: ToolAccess::default(),
        channel,
    }
}

/// The run and a client.
pub struct Bench {
    pub run: LocalRun,
    pub graph: FakeGraph,
    pub http: Client,
}

impl Bench {
    pub async fn start() -> Self {
        Self::of(None, graph().await).await
    }

    pub async fn of(folder: Option<&Path>, graph: FakeGraph) -> Self {
        let token = Arc::new(FixedToken(TOKEN.to_owned()));
        Self::with(folder, graph, token).await
    }

    pub async fn with(
        folder: Option<&Path>,
        graph: FakeGraph,
        token: Arc<dyn AccessToken>,
    ) -> Self {
        KeptLog::of_process();
        let channel = Channel::Meta(meta(&graph, token));
        Self {
            run: LocalRun::start(options(folder, channel)).await.unwrap(),
            graph,
            http: Client::builder().no_proxy().build().unwrap(),
        }
    }

    /// Ends the run; whatever was asked of Graph was asked as documented.
    pub async fn end(self) {
        assert_eq!(self.graph.faults(), Vec::<String>::new());
        self.run.stop().await.unwrap();
    }

    pub fn public(&self, path: &str) -> String {
        format!("{}{path}", self.run.public_url())
    }

    pub fn operator(&self, path: &str) -> String {
        format!("{}{path}", self.run.url())
    }

    /// Posts a body with its right signature.
    pub async fn webhook(&self, body: String) -> Response {
        let signature = signature::sign(APP_SECRET.as_bytes(), body.as_bytes());
        let request = self.http.post(self.public("/webhook/meta"));
        let request = request.header("X-Hub-Signature-256", signature).body(body);
        request.send().await.unwrap()
    }

    /// Texts of one person arrive in one body.
    pub async fn writes(&self, phone: &str, texts: &[&str]) {
        let taken = self.webhook(texts_of(NUMBER, phone, texts)).await;
        assert_eq!(taken.status(), 200);
    }

    /// Meta reports a status of what it took.
    pub async fn status(&self, of: &Taken, status: &str, code: Option<i64>) -> Response {
        let mut said = json!({
            "id": of.id,
            "status": status,
            "timestamp": now(),
            "recipient_id": of.to,
            "biz_opaque_callback_data": of.callback,
        });
        if let Some(code) = code {
            let details = "A text of Meta that is not to be logged";
            said["errors"] = json!([{ "code": code, "title": details, "message": details,
                "error_data": { "details": details } }]);
        }
        self.webhook(envelope(NUMBER, json!({ "statuses": [said] })))
            .await
    }

    /// The steps of this name, of every conversation.
    pub async fn steps(&self, name: &str) -> Vec<Value> {
        let answer = self.http.get(self.operator("/story")).send().await.unwrap();
        let story: Value = answer.json().await.unwrap();
        let steps = story["steps"].as_array().unwrap().iter();
        steps.filter(|step| step["step"] == name).cloned().collect()
    }

    /// Waits until so many steps of this name were told.
    pub async fn until(&self, name: &str, count: usize) -> Vec<Value> {
        let begun = SystemTime::now();
        loop {
            let steps = self.steps(name).await;
            if steps.len() >= count {
                return steps;
            }
            assert!(begun.elapsed().unwrap() < PATIENCE, "{name}: {steps:?}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    pub async fn forget(&self, id: &str, agent: Option<&str>) -> (u16, Value) {
        let query = agent.map(|agent| format!("?agent={agent}"));
        let path = format!("/people/{id}/forget{}", query.unwrap_or_default());
        let answer = self.http.post(self.operator(&path)).send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap())
    }
}

pub fn now() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    now.as_secs().to_string()
}

/// A body with texts of one person to a business number.
pub fn texts_of(number: &str, phone: &str, texts: &[&str]) -> String {
    let message = |(n, text): (usize, &&str)| {
        json!({
            "id": format!("wamid.{phone}.{n}.{text}"),
            "from": phone,
            "timestamp": now(),
            "type": "text",
            "text": { "body": text },
        })
    };
    let messages: Vec<Value> = texts.iter().enumerate().map(message).collect();
    envelope(number, json!({ "messages": messages }))
}

/// The lines so far that hold all of these words.
pub fn logged(words: &[&str]) -> Vec<String> {
    let text = KeptLog::of_process().text();
    let lines = text
        .lines()
        .filter(|line| words.iter().all(|word| line.contains(word)));
    lines.map(str::to_owned).collect()
}
