//! The channel Meta as a process: what it prints, what it refuses, what its commands do, and that it stops in order.

use recado::adapters::meta::signature;
use serde_json::json;

use crate::harness::Place;

const APP_SECRET: &str = "0123456789abcdef0123456789abcdef";
const SECRETS: [(&str, &str); 3] = [
    ("RECADO_META_APP_SECRET", APP_SECRET),
    ("RECADO_META_VERIFY_TOKEN", "verify-canary"),
    ("RECADO_META_ACCESS_TOKEN", "access-canary"),
];
const PHONE: &str = "5511900000781";

/// Graph is where nobody listens.
fn place() -> Place {
    let place = Place::new()
        .with("RECADO_META_GRAPH_URL", "http://127.0.0.1:9")
        .with("RECADO_WINDOW_S", "1");
    SECRETS
        .into_iter()
        .fold(place, |place, (name, value)| place.with(name, value))
}

fn webhook() -> String {
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    json!({
        "object": "whatsapp_business_account",
        "entry": [{ "id": "200000000000001", "changes": [{ "field": "messages", "value": {
            "messaging_product": "whatsapp",
            "metadata": { "display_phone_number": "551140000001", "phone_number_id": "100000000000001" },
            "messages": [{ "id": "wamid.M1", "from": PHONE, "timestamp": now.as_secs().to_string(),
                "type": "text", "text": { "body": "oi, canário" } }],
        } }] }],
    })
    .to_string()
}

#[tokio::test]
async fn it_tells_what_to_do_next_and_never_a_secret() {
    let place = place();
    let running = place.spawn(&["run", "--port", "0", "--channel", "meta"]);
    let url = running.ready().await;
    let body = webhook();
    let signature = signature::sign(APP_SECRET.as_bytes(), body.as_bytes());
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let taken = http
        .post(format!("{url}/webhook/meta"))
        .header("X-Hub-Signature-256", signature)
        .body(body)
        .send()
        .await
        .unwrap();
    assert_eq!(taken.status(), 200);

    let said = place.recado(&["say", "oi"]).await;
    assert_eq!(said.code, Some(1));
    assert!(said.err.contains("answers on WhatsApp"), "{}", said.err);
    let forgotten = place.recado(&["forget", "--phone", PHONE, "--yes"]).await;
    assert_eq!(forgotten.code, Some(0), "{}", forgotten.err);
    assert!(
        forgotten.out.starts_with("Forgotten: "),
        "{}",
        forgotten.out
    );
    let other = ["forget", "--phone", PHONE, "--agent", "vendas", "--yes"];
    let unknown = place.recado(&other).await;
    assert_eq!(unknown.code, Some(1));
    assert!(unknown.err.contains("the agents are: "), "{}", unknown.err);

    let (status, _, printed) = running.interrupt().await;
    assert_eq!(status.code(), Some(0), "{printed}");
    for word in [
        "/webhook/meta",
        "access token are set",
        "callback URL",
        "subscribe to the field messages",
        "(this machine only)",
    ] {
        assert!(printed.contains(word), "{word} in {printed}");
    }
    for canary in ["canary", APP_SECRET, "canário", PHONE] {
        assert!(!printed.contains(canary), "{canary} in {printed}");
    }
    assert!(!place.data().join("recado.url").exists());
}

#[tokio::test]
async fn what_would_mix_or_open_too_much_is_refused_with_a_sentence() {
    let place = place();
    for (label, arguments, word) in [
        (
            "the phone for everybody",
            vec!["run", "--listen", "0.0.0.0:0"],
            "RECADO_LISTEN=127.0.0.1, or serve WhatsApp itself with --channel meta",
        ),
        (
            "an address of nothing",
            vec!["run", "--listen", "bot.example.org"],
            "0.0.0.0:8787",
        ),
    ] {
        let refused = place.recado(&arguments).await;
        assert_ne!(refused.code, Some(0), "{label}");
        assert!(refused.err.contains(word), "{label}: {}", refused.err);
    }
    let meta = place.with("RECADO_CHANNEL", "meta");
    let said = meta.recado(&["say", "oi"]).await;
    assert_eq!(said.code, Some(1));
    assert!(said.err.contains("--ephemeral"), "{}", said.err);
    assert!(!meta.data().exists(), "nothing was made");
    for (name, value) in [
        ("RECADO_META_ACCESS_TOKEN", None),
        // The default folder is the phone's.
        ("RECADO_DATA_DIR", None),
        ("RECADO_META_APP_SECRET", Some("...")),
    ] {
        let mut bare = self::place().with("RECADO_CHANNEL", "meta");
        bare.unset(name);
        match value {
            Some(value) => bare.set(name, value),
            None => bare.unset(name),
        }
        let refused = bare.recado(&["run", "--port", "0"]).await;
        assert_eq!(refused.code, Some(1), "{name}");
        assert!(refused.err.contains(name), "{}", refused.err);
    }
}
