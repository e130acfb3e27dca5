//! Tools that are Lambda functions, against a stand-in for the Invoke API.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use aws_config::retry::RetryConfig;
use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_sdk_sqs::config::{Credentials, SharedCredentialsProvider};
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use recado::adapters::toolbox::Toolbox;
use recado::adapters::toolbox::lambda::LambdaTools;
use recado::config::agent_file;
use recado::config::roster::Roster;
use recado::domain::{
    AgentId, Arguments, CallId, ContactId, ConversationId, Hasher, ToolCall, ToolName, ToolResult,
};
use recado::ports::Tools as _;
use recado_tests::kept_log::KeptLog;
use recado_tests::local_server::serve;
use serde_json::{Value, json};
use tracing::Level;

const AGENT: &str = r#"
id = "recepcao"
persona = "p"

[[tools]]
name = "look"
description = "d"
effect = "read"
lambda = "agenda"
timeout_s = 2
parameters = { type = "object" }

[[tools]]
name = "book"
description = "d"
effect = "write"
lambda = "arn:aws:lambda:sa-east-1:123456789012:function:agenda"
timeout_s = 2
parameters = { type = "object" }
"#;

/// What the function answers.
#[derive(Debug, Clone, Copy)]
enum Does {
    Answer(&'static str),
    Fail(&'static str),
    Refuse(u16, &'static str),
    Hang,
    Large,
}

/// The stand-in: what it does next, and what it was asked.
struct Standin {
    does: Does,
    asked: Mutex<Vec<(String, HeaderMap, Value)>>,
}

impl Standin {
    async fn start(does: Does) -> (Arc<Self>, String) {
        let standin = Arc::new(Self {
            does,
            asked: Mutex::default(),
        });
        let router = Router::new()
            .fallback(invoke)
            .with_state(Arc::clone(&standin));
        (standin, serve(router).await)
    }
}

async fn invoke(
    State(standin): State<Arc<Standin>>,
    uri: Uri,
    headers: HeaderMap,
    body: String,
) -> Response {
    let payload = serde_json::from_str(&body).unwrap();
    let asked = (uri.path().to_owned(), headers, payload);
    standin.asked.lock().unwrap().push(asked);
    match standin.does {
        Does::Answer(payload) => payload.into_response(),
        Does::Fail(payload) => ([("x-amz-function-error", "Unhandled")], payload).into_response(),
        Does::Refuse(status, code) => {
            let status = StatusCode::from_u16(status).unwrap();
            (
                status,
                [("x-amzn-errortype", code)],
                "{\"Message\":\"canary\"}",
            )
                .into_response()
        }
        Does::Hang => {
            tokio::time::sleep(Duration::from_mins(1)).await;
            "late".into_response()
        }
        Does::Large => format!("\"{}\"", "é".repeat(100_000)).into_response(),
    }
}

fn sdk(url: &str) -> SdkConfig {
    let credentials = Credentials::new("id", "canary-secret", None, None, "test");
    SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("sa-east-1"))
        .credentials_provider(SharedCredentialsProvider::new(credentials))
        .endpoint_url(url)
        // As the SDK would do by itself; a tool is invoked once all the same.
        .retry_config(RetryConfig::standard())
        .build()
}

fn toolbox(sdk: &SdkConfig) -> Toolbox {
    let agents = Arc::new(Roster::new(vec![agent_file::parse(AGENT).unwrap()]).unwrap());
    let hasher = Arc::new(Hasher::new(b"a key for tests only, 32 bytes!!"));
    Toolbox::new(agents, vec![Arc::new(LambdaTools::new(sdk, hasher))])
}

fn conversation() -> ConversationId {
    ConversationId {
        agent: AgentId::parse("recepcao").unwrap(),
        contact: ContactId::parse("5511900000001").unwrap(),
    }
}

async fn call(toolbox: &Toolbox, tool: &str) -> ToolResult {
    let call = ToolCall {
        id: CallId::parse("c1").unwrap(),
        tool: ToolName::parse(tool).unwrap(),
        arguments: Arguments::parse(r#"{"day":"2026-12-01"}"#).unwrap(),
    };
    let timeout = Duration::from_secs(20);
    toolbox.run(&conversation(), &call, "key-1", timeout).await
}

fn error(text: &str) -> ToolResult {
    ToolResult::Error(text.to_owned())
}

#[tokio::test]
async fn a_function_is_given_the_call_and_no_phone() {
    let (standin, url) = Standin::start(Does::Answer("\"livre\"")).await;
    let toolbox = toolbox(&sdk(&url));
    assert!(call(&toolbox, "look").await == ToolResult::Ok("livre".to_owned()));
    assert!(call(&toolbox, "book").await == ToolResult::Ok("livre".to_owned()));
    let asked = standin.asked.lock().unwrap();
    assert_eq!(asked.len(), 2);
    let (path, headers, payload) = &asked[0];
    assert_eq!(path, "/2015-03-31/functions/agenda/invocations");
    assert_eq!(headers["x-amz-invocation-type"], "RequestResponse");
    let hash = payload["conversation"].as_str().unwrap();
    assert_eq!(hash.len(), 32);
    assert!(!payload.to_string().contains("5511900000001"));
    assert_eq!(
        payload,
        &json!({
            "tool": "look",
            "arguments": {"day": "2026-12-01"},
            "idempotency_key": "key-1",
            "agent": "recepcao",
            "conversation": hash,
        })
    );
    assert!(
        asked[1].0.contains("function%3Aagenda/invocations"),
        "{}",
        asked[1].0
    );
}

#[tokio::test]
async fn each_end_of_an_invocation_means_what_was_done() {
    let timed_out =
        r#"{"errorType":"Sandbox.Timedout","errorMessage":"Task timed out after 3.00 seconds"}"#;
    let refusing = r#"{"errorType":"ValueError","errorMessage":"no such day"}"#;
    for (label, does, read, write) in [
        (
            "it refuses",
            Does::Fail(refusing),
            error("the function failed: no such day"),
            error("the function failed: no such day"),
        ),
        (
            "it is cut off",
            Does::Fail(timed_out),
            error("the function broke off"),
            ToolResult::Unknown,
        ),
        (
            "no right to it",
            Does::Refuse(403, "AccessDeniedException"),
            error("the tool is not set up: nothing was done"),
            error("the tool is not set up: nothing was done"),
        ),
        (
            "it is not there",
            Does::Refuse(404, "ResourceNotFoundException"),
            error("the tool is not set up: nothing was done"),
            error("the tool is not set up: nothing was done"),
        ),
        (
            "too busy",
            Does::Refuse(429, "TooManyRequestsException"),
            error("the function is too busy: nothing was done"),
            error("the function is too busy: nothing was done"),
        ),
        (
            "Lambda itself fails",
            Does::Refuse(500, "ServiceException"),
            error("Lambda failed"),
            ToolResult::Unknown,
        ),
        (
            "it hangs",
            Does::Hang,
            error("the function did not answer in time"),
            ToolResult::Unknown,
        ),
    ] {
        let (standin, url) = Standin::start(does).await;
        let toolbox = toolbox(&sdk(&url));
        let given = call(&toolbox, "look").await;
        assert!(given == read, "{label}: {:?}", given.text());
        let given = call(&toolbox, "book").await;
        assert!(given == write, "{label}: {:?}", given.text());
        assert_eq!(standin.asked.lock().unwrap().len(), 2, "{label}: once each");
    }
}

#[tokio::test]
async fn a_long_answer_is_cut_with_its_mark() {
    let (_standin, url) = Standin::start(Does::Large).await;
    let ToolResult::Ok(text) = call(&toolbox(&sdk(&url)), "look").await else {
        panic!("it answers");
    };
    assert!(text.len() <= ToolResult::BYTES_MAX && text.ends_with("é […]"));
}

#[tokio::test]
async fn nothing_was_done_where_nobody_listens() {
    let given = call(&toolbox(&sdk("http://127.0.0.1:1")), "book").await;
    assert!(
        given == error("the function cannot be reached: nothing was done"),
        "{:?}",
        given.text()
    );
}

#[tokio::test]
async fn without_credentials_the_model_and_the_operator_are_told() {
    let (log, _kept) = KeptLog::start(Level::INFO);
    let told = || {
        let needed = "need AWS credentials and a region";
        log.text().matches(needed).count()
    };
    let (standin, url) = Standin::start(Does::Answer("1")).await;
    let bare = || SdkConfig::builder().behavior_version(BehaviorVersion::latest());
    let region = Region::new("sa-east-1");
    let without = bare().endpoint_url(&url).region(region).build();
    for (number, sdk) in [without, bare().build()].iter().enumerate() {
        let toolbox = toolbox(sdk);
        for tool in ["look", "book"] {
            let given = call(&toolbox, tool).await;
            let right = error("the tool is not set up: nothing was done");
            assert!(given == right, "{number}: {:?}", given.text());
        }
        assert_eq!(told(), number + 1, "once");
    }
    assert!(standin.asked.lock().unwrap().is_empty());
}
