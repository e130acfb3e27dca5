//! Tools through the whole program: a service on this machine, the demo model that calls what a person names, and kills
//! in the middle of a write.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use tokio::net::TcpListener;

use crate::harness::{Instance, Place, until};

const PHONE: &str = "5511900000007";
const SECRET: &str = "canary-of-the-clinic";

/// One request that the service got.
#[derive(Debug, Clone)]
struct Got {
    line: String,
    key: Option<String>,
    authorization: Option<String>,
    body: String,
}

/// The service: it notes what it gets, and does a write once for each key.
#[derive(Default)]
struct Service {
    got: Mutex<Vec<Got>>,
    done: Mutex<BTreeSet<String>>,
    /// How long it takes to answer a write, in milliseconds; the effect is there at once.
    slow_ms: Mutex<u64>,
}

impl Service {
    async fn start() -> (Arc<Self>, String) {
        let service = Arc::new(Self::default());
        let router = Router::new()
            .fallback(answer)
            .with_state(Arc::clone(&service));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        (service, url)
    }

    fn got(&self) -> Vec<Got> {
        self.got.lock().unwrap().clone()
    }

    fn slow(&self, ms: u64) {
        *self.slow_ms.lock().unwrap() = ms;
    }
}

async fn answer(
    State(service): State<Arc<Service>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: String,
) -> Response {
    let header = |name: &str| Some(headers.get(name)?.to_str().unwrap().to_owned());
    let (key, authorization) = (header("idempotency-key"), header("authorization"));
    let line = format!("{method} {uri}");
    let got = Got {
        line: line.clone(),
        key: key.clone(),
        authorization: authorization.clone(),
        body,
    };
    service.got.lock().unwrap().push(got);
    match (line.as_str(), key) {
        ("GET /moved", _) => {
            (StatusCode::FOUND, [("location", "/slots/elsewhere")]).into_response()
        }
        ("GET /large", _) => "x".repeat(3_000_000).into_response(),
        ("GET /packed", _) => {
            ([("content-encoding", "gzip")], vec![0x1f, 0x8b, 0xff]).into_response()
        }
        (_, Some(key)) => {
            service.done.lock().unwrap().insert(key);
            let slow = *service.slow_ms.lock().unwrap();
            tokio::time::sleep(Duration::from_millis(slow)).await;
            "feito".into_response()
        }
        // A service that says back what it got.
        _ => format!(
            "livre: 9h, 15h; you are {}",
            authorization.unwrap_or_default()
        )
        .into_response(),
    }
}

fn agent(url: &str) -> String {
    let tool = |name: &str, effect: &str, more: &str, http: &str| {
        format!(
            "[[tools]]\nname = \"{name}\"\ndescription = \"d\"\neffect = \"{effect}\"\n{more}\n\
             http = {{ private = true, {http} }}\n"
        )
    };
    let day = "parameters = { type = \"object\", required = [\"day\"], properties = { day = { type = \"string\" }, \
               page = { type = \"integer\" } } }";
    let secret = "headers = { Authorization = \"Bearer secret:CLINIC\" }";
    let get = |path: &str| format!("method = \"GET\", url = \"{url}{path}\", {secret}");
    let post = format!("method = \"POST\", url = \"{url}/bookings\"");
    [
        "id = \"recepcao\"\npersona = \"Você é uma recepcionista de exemplo.\"\n\n".to_owned(),
        tool("slots", "read", day, &get("/slots/{day}")),
        tool("moved", "read", "", &get("/moved")),
        tool("large", "read", "", &get("/large")),
        tool("packed", "read", "", &get("/packed")),
        tool(
            "gone",
            "read",
            "",
            "method = \"GET\", url = \"http://127.0.0.1:1/\"",
        ),
        tool("book", "write", day, &post),
        tool(
            "book_once",
            "write",
            &format!("{day}\nidempotent = true"),
            &post,
        ),
        tool(
            "book_asking",
            "write",
            &format!("{day}\nconfirm = \"person\""),
            &post,
        ),
    ]
    .concat()
}

async fn place() -> (Place, Arc<Service>) {
    let (service, url) = Service::start().await;
    let place = Place::new().with("RECADO_WINDOW_S", "1");
    let file = place.file("agent.toml", &agent(&url));
    let place = place
        .with("RECADO_AGENT_FILE", file.to_str().unwrap())
        .with("RECADO_SECRET_CLINIC", SECRET);
    (place, service)
}

async fn answers(instance: &Instance) -> Vec<String> {
    instance.answers(PHONE).await
}

async fn write(instance: &Instance, text: &str) {
    assert!(instance.write(PHONE, text).await.is_some());
}

/// Writes and waits for the answer.
async fn ask(instance: &Instance, text: &str) -> String {
    let before = answers(instance).await.len();
    write(instance, text).await;
    let mut answers = instance.wait_for_answers(PHONE, before + 1).await;
    answers.pop().unwrap()
}

#[tokio::test]
async fn a_tool_that_reads_is_called_and_its_secret_is_told_to_nobody() {
    let (place, service) = place().await;
    let instance = place.run().await;
    let said = ask(&instance, "slots day=\"a/../b\" page=2").await;
    assert!(
        said.starts_with("slots respondeu: livre: 9h, 15h; you are Bearer [secret]"),
        "{said}"
    );
    let wrong = ask(&instance, "slots page=dois").await;
    assert!(
        wrong.starts_with(
            "slots não foi feita: nothing was done, for the arguments do not fit: day: is missing"
        ),
        "{wrong}"
    );
    assert!(
        wrong.contains("page: must be a whole number, not text"),
        "{wrong}"
    );
    let moved = ask(&instance, "moved").await;
    assert!(
        moved.contains("the service redirects (302), which is not followed"),
        "{moved}"
    );
    let large = ask(&instance, "large").await;
    assert!(large.starts_with("large respondeu: xxx"), "{large}");
    let packed = ask(&instance, "packed").await;
    let no_text = "packed respondeu: 3 bytes that are no text (compressed)";
    assert!(packed.starts_with(no_text), "{packed}");
    let gone = ask(&instance, "gone").await;
    assert!(
        gone.contains("the service cannot be reached: nothing was done"),
        "{gone}"
    );
    let got = service.got();
    let lines: Vec<&str> = got.iter().map(|one| one.line.as_str()).collect();
    assert_eq!(
        lines,
        [
            "GET /slots/a%2F..%2Fb?page=2",
            "GET /moved",
            "GET /large",
            "GET /packed"
        ]
    );
    assert_eq!(got[0].authorization, Some(format!("Bearer {SECRET}")));
    assert_eq!(got[0].key, None);
    let printed = instance.stop().await;
    assert!(!printed.contains(SECRET), "{printed}");
}

#[tokio::test]
async fn a_write_that_a_kill_cuts_off_happens_once() {
    for (tool, requests, told) in [
        ("book_once", 2, "book_once respondeu: feito"),
        ("book", 1, "Não sei se book foi feita"),
    ] {
        let (place, service) = place().await;
        let instance = place.run().await;
        service.slow(60_000);
        write(&instance, &format!("{tool} day=2026-12-01")).await;
        let under_way = || async { (service.got().len() == 1).then_some(()) };
        assert_eq!(until(Duration::from_secs(30), under_way).await, Some(()));
        let printed = instance.running.kill().await;
        assert!(!printed.contains(SECRET));
        service.slow(0);
        let instance = place.run().await;
        let said = instance.wait_for_answers(PHONE, 1).await;
        assert_eq!(said.len(), 1);
        assert!(said[0].starts_with(told), "{}", said[0]);
        let got = service.got();
        assert_eq!(got.len(), requests, "{got:?}");
        assert_eq!(service.done.lock().unwrap().len(), 1, "one key, one effect");
        assert!(got.iter().all(|one| one.body == r#"{"day":"2026-12-01"}"#));
        instance.stop().await;
    }
}

#[tokio::test]
async fn a_write_that_waits_for_a_yes_is_made_after_it_and_not_before() {
    let (place, service) = place().await;
    let instance = place.run().await;
    let asked = ask(&instance, "book_asking day=2026-12-01").await;
    assert!(
        asked.starts_with(
            "Antes de chamar book_asking preciso do seu sim: {\"day\":\"2026-12-01\"}"
        ),
        "{asked}"
    );
    ask(&instance, "não, espera").await;
    ask(&instance, "sim").await;
    assert!(service.got().is_empty(), "the last answer asked nothing");
    ask(&instance, "book_asking day=2026-12-02").await;
    let insists = ask(&instance, "book_asking day=2026-12-03").await;
    assert!(
        insists.contains("2026-12-03"),
        "other arguments are shown anew: {insists}"
    );
    assert!(service.got().is_empty());
    instance.running.kill().await;
    let instance = place.run().await;
    let done = ask(&instance, "sim, pode").await;
    assert!(done.starts_with("book_asking respondeu: feito"), "{done}");
    ask(&instance, "sim").await;
    let got = service.got();
    assert_eq!(got.len(), 1, "{got:?}");
    assert_eq!(got[0].body, r#"{"day":"2026-12-03"}"#);
    instance.stop().await;
}

#[tokio::test]
async fn a_secret_that_is_missing_ends_the_start_with_its_name() {
    let (mut place, _service) = place().await;
    place.unset("RECADO_SECRET_CLINIC");
    let ended = place.recado(&["run", "--port", "0"]).await;
    assert_eq!(ended.code, Some(1), "{}", ended.err);
    assert!(
        ended
            .err
            .contains("RECADO_SECRET_CLINIC: is not set, and the tool slots sends it"),
        "{}",
        ended.err
    );
}

#[tokio::test]
async fn a_private_address_is_not_called_unless_the_agent_file_says_so() {
    let (service, url) = Service::start().await;
    let port = url.rsplit(':').next().unwrap();
    let names = ["127.0.0.1", "localhost", "2130706433", "[::1]"];
    let tools = names.iter().enumerate().map(|(number, host)| {
        format!(
            "[[tools]]\nname = \"t{number}\"\ndescription = \"d\"\neffect = \"write\"\n\
             http = {{ method = \"GET\", url = \"https://{host}:{port}/\" }}\n"
        )
    });
    let text = "id = \"recepcao\"\npersona = \"p\"\n".to_owned() + &tools.collect::<String>();
    let place = Place::new().with("RECADO_WINDOW_S", "1");
    let file = place.file("agent.toml", &text);
    let place = place.with("RECADO_AGENT_FILE", file.to_str().unwrap());
    let instance = place.run().await;
    for number in 0..names.len() {
        let said = ask(&instance, &format!("t{number}")).await;
        assert!(
            said.contains("cannot be reached: nothing was done"),
            "{said}"
        );
    }
    assert!(service.got().is_empty());
    let printed = instance.stop().await;
    let told = printed
        .matches("its host is in a private network and was not called")
        .count();
    assert_eq!(told, names.len(), "{printed}");
}
