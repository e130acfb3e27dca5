//! The sender against a strict stand-in for the Graph API: what it asks, and what it concludes from each answer.

#[path = "graph_send/cut.rs"]
mod cut;
#[path = "graph_send/stand_in.rs"]
mod stand_in;

use std::collections::BTreeSet;
use std::error::Error;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use recado::adapters::meta::send::{AccessToken, FixedToken, GraphMessenger, GraphSettings};
use recado::domain::{Address, Bsuid, BusinessNumber, Phone};
use recado::error::{SendError, Source, Verdict};
use recado::ports::{LookUp, Messenger, Outgoing};
use recado_tests::fake_graph::{Answer, FakeGraph, refused};
use serde_json::json;
use stand_in::reply_id;
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;

const TOKEN: &str = "token-for-tests";
const PHONE: &str = "551190000001";
const NUMBER: &str = "100000000000001";

async fn start(answers: Vec<Answer>) -> FakeGraph {
    FakeGraph::start(&[NUMBER], &[TOKEN, "second"], answers).await
}

fn messenger_of(graph: &FakeGraph) -> GraphMessenger {
    messenger(&graph.base, Arc::new(FixedToken(TOKEN.to_owned())))
}

fn messenger(base: &str, token: Arc<dyn AccessToken>) -> GraphMessenger {
    let settings = GraphSettings {
        connect_timeout: Duration::from_millis(500),
        timeout: Duration::from_secs(1),
        ..GraphSettings::new(base, "v25.0")
    };
    GraphMessenger::new(&settings, token).unwrap()
}

fn outgoing(text: &str) -> Outgoing {
    Outgoing {
        number: BusinessNumber::parse(NUMBER).unwrap(),
        to: Address::Phone(Phone::parse(PHONE).unwrap()),
        reply: reply_id(1),
        text: text.to_owned(),
    }
}

/// The error and its causes as they would be logged; asserts that they tell of nobody.
fn logged(error: &SendError) -> String {
    let mut logged = format!("{error:?} / {error}");
    let mut cause = error.source();
    while let Some(error) = cause {
        logged = format!("{logged} / {error:?} / {error}");
        cause = error.source();
    }
    for secret in [PHONE, TOKEN, NUMBER, "segredo"] {
        assert!(!logged.contains(secret), "{logged}");
    }
    logged
}

#[tokio::test]
async fn a_text_is_asked_for_exactly_so() {
    let graph = start(Vec::new()).await;
    assert_eq!(
        messenger_of(&graph).send(&outgoing("olá")).await.unwrap(),
        "wamid.OUT1"
    );

    let (uri, headers, body) = graph.seen(|seen| {
        let seen = &seen[0];
        (seen.uri.clone(), seen.headers.clone(), seen.body.clone())
    });
    assert_eq!(uri, "/v25.0/100000000000001/messages");
    assert_eq!(headers["authorization"], "Bearer token-for-tests");
    assert_eq!(headers["content-type"], "application/json");
    insta::assert_json_snapshot!(body, @r#"
    {
      "biz_opaque_callback_data": "01M7Q5CQG00000000000000001",
      "messaging_product": "whatsapp",
      "recipient_type": "individual",
      "text": {
        "body": "olá",
        "preview_url": false
      },
      "to": "551190000001",
      "type": "text"
    }
    "#);
}

#[tokio::test]
async fn a_person_without_phone_is_the_recipient() {
    let graph = start(Vec::new()).await;
    let mut outgoing = outgoing("olá");
    outgoing.to = Address::Bsuid(Bsuid::parse("BR.1000000000000001").unwrap());
    messenger_of(&graph).send(&outgoing).await.unwrap();

    let body = graph.seen(|seen| seen[0].body.clone());
    assert_eq!(body["recipient"], "BR.1000000000000001");
    assert!(body.get("to").is_none());
}

#[tokio::test]
async fn a_text_over_the_limit_is_cut_and_a_blank_one_never_leaves() {
    let graph = start(Vec::new()).await;
    let messenger = messenger_of(&graph);
    messenger.send(&outgoing(&"é".repeat(5000))).await.unwrap();
    let length = graph.taken()[0].text.chars().count();
    assert_eq!(length, 4096);

    for blank in ["", " \n "] {
        let error = messenger.send(&outgoing(blank)).await.unwrap_err();
        assert!(matches!(
            error,
            SendError::Refused {
                verdict: Verdict::GiveUp,
                ..
            }
        ));
    }
    assert_eq!(graph.count(), 1);
}

#[tokio::test]
async fn each_answer_leads_to_its_verdict() {
    for (label, answer, expected) in [
        (
            "window",
            refused(400, 131_047),
            Some(("131047", Verdict::GiveUp)),
        ),
        (
            "pair rate",
            refused(400, 131_056),
            Some(("131056", Verdict::RetryAfter(Duration::from_secs(6)))),
        ),
        (
            "throttled",
            refused(429, 130_429),
            Some(("130429", Verdict::Retry)),
        ),
        (
            "throttled without a body",
            Answer::Text(429, ""),
            Some(("http_429", Verdict::Retry)),
        ),
        (
            "something went wrong",
            refused(500, 131_000),
            Some(("131000", Verdict::Retry)),
        ),
        ("rights", refused(403, 10), Some(("10", Verdict::Mend))),
        ("token", refused(401, 190), Some(("190", Verdict::Mend))),
        (
            "not there",
            Answer::Text(404, "<html>"),
            Some(("http_404", Verdict::GiveUp)),
        ),
        (
            "a redirect is not followed",
            Answer::Text(307, ""),
            Some(("http_307", Verdict::GiveUp)),
        ),
        ("gateway", Answer::Text(502, "<html>"), None),
        ("500 of no meaning", refused(500, 999_999), None),
        ("accepted without id", Answer::With(200, json!({})), None),
    ] {
        let graph = start(vec![answer]).await;
        let error = messenger_of(&graph)
            .send(&outgoing("segredo"))
            .await
            .unwrap_err();
        logged(&error);
        match (error, expected) {
            (SendError::Refused { code, verdict }, Some(expected)) => {
                assert_eq!((code.as_str(), verdict), expected, "{label}");
            }
            (SendError::OutcomeUnknown(_), None) => {}
            (error, _) => panic!("{label}: {error:?}"),
        }
        assert_eq!(graph.count(), 1, "{label}: asked once");
    }
}

#[tokio::test]
async fn an_answer_that_never_comes_leaves_the_outcome_unknown_and_is_not_asked_again() {
    let graph = start(vec![Answer::AcceptSlowly]).await;
    let error = messenger_of(&graph)
        .send(&outgoing("segredo"))
        .await
        .unwrap_err();
    logged(&error);
    assert!(matches!(error, SendError::OutcomeUnknown(_)), "{error:?}");
    assert_eq!(graph.count(), 1);
}

#[tokio::test]
async fn a_connection_cut_after_the_request_leaves_the_outcome_unknown() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let accepted = tokio::spawn(async move {
        let mut count = 0;
        while let Ok(Ok((mut stream, _))) =
            tokio::time::timeout(Duration::from_secs(1), listener.accept()).await
        {
            let mut buffer = [0; 4096];
            let _ = stream.read(&mut buffer).await;
            count += 1;
        }
        count
    });
    let messenger = messenger(&base, Arc::new(FixedToken(TOKEN.to_owned())));
    let error = messenger.send(&outgoing("segredo")).await.unwrap_err();
    logged(&error);
    assert!(matches!(error, SendError::OutcomeUnknown(_)), "{error:?}");
    assert_eq!(accepted.await.unwrap(), 1, "asked once");
}

#[tokio::test]
async fn where_nobody_listens_nothing_has_left() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    for base in [base.as_str(), "http://graph.invalid"] {
        let messenger = messenger(base, Arc::new(FixedToken(TOKEN.to_owned())));
        let error = messenger.send(&outgoing("segredo")).await.unwrap_err();
        logged(&error);
        assert!(
            matches!(error, SendError::NotConnected(_)),
            "{base}: {error:?}"
        );
    }
}

#[tokio::test]
async fn no_connection_is_kept_for_the_next_send() {
    let graph = start(Vec::new()).await;
    let messenger = messenger_of(&graph);
    for _ in 0..3 {
        messenger.send(&outgoing("olá")).await.unwrap();
    }
    let connections: BTreeSet<SocketAddr> =
        graph.seen(|seen| seen.iter().map(|seen| seen.from).collect());
    assert_eq!(connections.len(), 3);
}

/// Has a second token, once it is asked for it.
struct Rotating {
    second: Option<&'static str>,
    renewed: Mutex<u32>,
}

#[async_trait]
impl AccessToken for Rotating {
    async fn current(&self) -> Result<String, Source> {
        Ok(TOKEN.to_owned())
    }

    async fn renewed(&self, refused: &str) -> Result<Option<String>, Source> {
        assert_eq!(refused, TOKEN);
        *self.renewed.lock().unwrap() += 1;
        Ok(self.second.map(str::to_owned))
    }
}

#[tokio::test]
async fn a_refused_token_is_replaced_once() {
    for (label, second, answers, asked, sent) in [
        (
            "a new one",
            Some("second"),
            vec![refused(401, 190), Answer::Accept],
            2,
            true,
        ),
        (
            "the new one is refused too",
            Some("second"),
            vec![refused(401, 190), refused(401, 190)],
            2,
            false,
        ),
        (
            "the same one",
            Some(TOKEN),
            vec![refused(401, 190), Answer::Accept],
            1,
            false,
        ),
        (
            "none",
            None,
            vec![Answer::Text(401, ""), Answer::Accept],
            1,
            false,
        ),
    ] {
        let graph = start(answers).await;
        let token = Arc::new(Rotating {
            second,
            renewed: Mutex::new(0),
        });
        let answer = messenger(&graph.base, token.clone())
            .send(&outgoing("olá"))
            .await;
        assert_eq!(answer.is_ok(), sent, "{label}");
        assert_eq!(graph.count(), asked, "{label}");
        assert_eq!(*token.renewed.lock().unwrap(), 1, "{label}");
    }
}

struct NoToken;

#[async_trait]
impl AccessToken for NoToken {
    async fn current(&self) -> Result<String, Source> {
        Err("the secret cannot be read".into())
    }

    async fn renewed(&self, _refused: &str) -> Result<Option<String>, Source> {
        Ok(None)
    }
}

#[tokio::test]
async fn without_a_token_nothing_leaves() {
    let graph = start(Vec::new()).await;
    let error = messenger(&graph.base, Arc::new(NoToken))
        .send(&outgoing("olá"))
        .await
        .unwrap_err();
    assert!(matches!(error, SendError::NotConnected(_)));

    let unfit: Arc<dyn AccessToken> = Arc::new(FixedToken("two\nlines".to_owned()));
    let error = messenger(&graph.base, unfit)
        .send(&outgoing("olá"))
        .await
        .unwrap_err();
    assert!(
        matches!(
            error,
            SendError::Refused {
                verdict: Verdict::GiveUp,
                ..
            }
        ),
        "{error:?}"
    );
    assert_eq!(graph.count(), 0);
}

#[tokio::test]
async fn the_local_phone_can_be_asked_for_a_reply_and_meta_cannot() {
    let base = stand_in::phone().await;
    let mut settings = GraphSettings::new(base.as_str(), "v25.0");
    settings.look_up_base = Some(base.clone());
    let token = || Arc::new(FixedToken(TOKEN.to_owned()));
    let local = GraphMessenger::new(&settings, token()).unwrap();
    for (reply, expected) in [
        (1, LookUp::Sent("wamid.KNOWN".to_owned())),
        (2, LookUp::NotReceived),
        (3, LookUp::CannotTell),
        (4, LookUp::CannotTell),
    ] {
        assert_eq!(local.look_up(reply_id(reply)).await, expected);
    }
    settings.look_up_base = None;
    let meta = GraphMessenger::new(&settings, token()).unwrap();
    assert_eq!(meta.look_up(reply_id(1)).await, LookUp::CannotTell);
}
