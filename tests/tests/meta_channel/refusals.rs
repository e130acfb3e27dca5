//! What becomes of a reply that Graph does not take, takes late, or takes without saying so.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use recado::adapters::meta::codes;
use recado::adapters::meta::send::{AccessToken, FixedToken};
use recado::error::Source;
use recado_tests::fake_graph::{Answer, refused};
use serde_json::Value;

use crate::bench::{Bench, TOKEN, graph, logged};

/// No line of the log tells of anybody.
fn tells_of_nobody() {
    for secret in [
        "55119000007",
        "551190000001",
        "segredo",
        "A text of Meta",
        TOKEN,
        "second-token",
    ] {
        assert_eq!(logged(&[secret]), Vec::<String>::new());
    }
}

/// Lines of the log that tell of this step what it means and what to do.
fn advised(step: &Value) -> usize {
    let text = |key: &str| step[key].as_str().unwrap().to_owned();
    let row = codes::explain(&text("code"));
    let (turn, code) = (
        format!("turn={}", text("reply")),
        format!("code=\"{}\"", text("code")),
    );
    logged(&[&turn, &code, row.meaning, row.advice]).len()
}

/// A moment in which anything that loops would ask Graph again.
async fn a_while() {
    tokio::time::sleep(Duration::from_secs(3)).await;
}

#[tokio::test]
async fn a_refusal_for_good_is_told_with_what_to_do_and_the_next_message_is_answered() {
    let one = async |phone: &str, status: u16, code: i64| {
        let bench = Bench::start().await;
        bench.graph.prepare([refused(status, code)]);
        bench.writes(phone, &["oi, aqui é a Quitéria"]).await;
        let steps = bench.until("send_refused", 1).await;
        let named = Value::from(code.to_string());
        assert_eq!(
            (&steps[0]["code"], &steps[0]["again"]),
            (&named, &false.into())
        );
        a_while().await;
        assert_eq!(bench.graph.count(), 1, "{code}: asked once");
        assert_eq!(advised(&steps[0]), 1, "{code}");
        bench.writes(phone, &["e agora?"]).await;
        bench.until("sent", 1).await;
        assert_eq!(bench.graph.taken_for(phone).len(), 1);
        bench.end().await;
    };
    tokio::join!(
        one("5511900000731", 400, 100),
        one("5511900000732", 400, 131_030),
        one("5511900000733", 400, 131_026),
        one("5511900000734", 400, 131_031),
    );
    tells_of_nobody();
}

#[tokio::test]
async fn what_passes_is_sent_later_and_once() {
    let one = async |phone: &str, answers: Vec<Answer>| {
        let bench = Bench::start().await;
        let refusals = answers.len();
        bench.graph.prepare(answers);
        bench.writes(phone, &["oi"]).await;
        bench.until("sent", 1).await;
        let steps = bench.steps("send_refused").await;
        assert_eq!(steps.len(), refusals, "{steps:?}");
        assert!(steps.iter().all(|step| step["again"] == true));
        a_while().await;
        assert_eq!(bench.graph.taken_for(phone).len(), 1);
        assert_eq!(bench.graph.count(), refusals + 1);
        bench.end().await;
    };
    tokio::join!(
        one(
            "5511900000741",
            vec![refused(429, 130_429), refused(429, 130_429)]
        ),
        one("5511900000742", vec![refused(400, 131_056)]),
        one("5511900000743", vec![refused(500, 131_000)]),
        one("5511900000744", vec![Answer::Text(429, "")]),
    );
    tells_of_nobody();
}

#[tokio::test]
async fn what_may_have_been_taken_is_never_sent_again() {
    let one = async |phone: &str, answer: Answer, taken: usize| {
        let bench = Bench::start().await;
        bench.graph.prepare([answer]);
        bench.writes(phone, &["oi"]).await;
        bench.until("send_unknown", 1).await;
        a_while().await;
        assert_eq!(bench.graph.count(), 1, "asked once");
        assert_eq!(bench.graph.taken_for(phone).len(), taken);
        if let Some(taken) = bench.graph.taken_for(phone).first() {
            // Meta tells what became of it.
            assert_eq!(bench.status(taken, "delivered", None).await.status(), 200);
        }
        bench.writes(phone, &["e agora?"]).await;
        bench.until("sent", 1).await;
        assert_eq!(bench.graph.count(), 2);
        bench.end().await;
    };
    tokio::join!(
        one(
            "5511900000751",
            Answer::Text(502, "<html>bad gateway</html>"),
            0
        ),
        one("5511900000752", Answer::AcceptSlowly, 1),
        one("5511900000753", refused(500, 999_999), 0),
    );
    tells_of_nobody();
}

#[tokio::test]
async fn a_failure_that_is_reported_after_the_send_is_told_and_nothing_loops() {
    let phone = "5511900000761";
    let bench = Bench::start().await;
    bench.writes(phone, &["oi"]).await;
    bench.until("sent", 1).await;
    let taken = bench.graph.taken_for(phone).pop().unwrap();
    for _ in 0..2 {
        let noted = bench.status(&taken, "failed", Some(131_047)).await;
        assert_eq!(noted.status(), 200);
    }
    let steps = bench.until("send_refused", 1).await;
    assert_eq!(steps[0]["reply"], taken.callback.as_str());
    assert_eq!(
        (&steps[0]["code"], &steps[0]["again"]),
        (&"131047".into(), &false.into())
    );
    // A `sent` that comes after it does not make it sent again.
    assert_eq!(bench.status(&taken, "sent", None).await.status(), 200);
    a_while().await;
    assert_eq!(bench.graph.count(), 1, "nothing loops");
    assert!(advised(&steps[0]) >= 1);
    bench.writes(phone, &["e agora?"]).await;
    bench.until("sent", 2).await;
    bench.end().await;
    tells_of_nobody();
}

/// Has the second token once the operator has put it there.
struct Replaced(AtomicBool);

#[async_trait]
impl AccessToken for Replaced {
    async fn current(&self) -> Result<String, Source> {
        let is_there = self.0.load(Ordering::SeqCst);
        Ok(if is_there { "second-token" } else { TOKEN }.to_owned())
    }

    async fn renewed(&self, _refused: &str) -> Result<Option<String>, Source> {
        self.0.store(true, Ordering::SeqCst);
        Ok(Some("second-token".to_owned()))
    }
}

#[tokio::test]
async fn a_token_that_was_replaced_at_meta_is_replaced_here() {
    let phone = "5511900000771";
    let graph = graph().await;
    graph.accept_only("second-token");
    let token = Arc::new(Replaced(AtomicBool::new(false)));
    let bench = Bench::with(None, graph, token).await;
    bench.writes(phone, &["oi"]).await;
    bench.until("sent", 1).await;
    assert_eq!(bench.graph.count(), 2, "refused once, and taken");
    assert_eq!(bench.steps("send_refused").await, Vec::<Value>::new());
    bench.end().await;
}

#[tokio::test]
async fn what_waits_for_token_or_rights_goes_out_after_a_start_with_a_new_token() {
    let one = async |phone: &str, status: u16, code: i64| {
        let folder = tempfile::tempdir().unwrap();
        let graph = graph().await;
        graph.prepare([refused(status, code)]);
        let first = Bench::of(Some(folder.path()), graph.clone()).await;
        first.writes(phone, &["meu nome é Quitéria"]).await;
        let steps = first.until("send_refused", 1).await;
        let named = Value::from(code.to_string());
        assert_eq!(
            (&steps[0]["code"], &steps[0]["again"]),
            (&named, &true.into())
        );
        a_while().await;
        assert_eq!(graph.count(), 1, "not hammered");
        assert_eq!(advised(&steps[0]), 1, "{code}");
        first.end().await;

        graph.accept_only("second-token");
        let token = Arc::new(FixedToken("second-token".to_owned()));
        let second = Bench::with(Some(folder.path()), graph.clone(), token).await;
        second.until("sent", 1).await;
        second.writes(phone, &["como eu me chamo?"]).await;
        second.until("sent", 2).await;
        let texts = graph.taken_for(phone);
        assert_eq!(texts.len(), 2);
        assert!(
            texts.iter().all(|taken| taken.text.contains("Quitéria")),
            "{texts:?}"
        );
        second.end().await;
    };
    tokio::join!(
        one("5511900000772", 401, 190),
        one("5511900000773", 403, 10)
    );
    tells_of_nobody();
}
