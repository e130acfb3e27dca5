//! What the commands tell, when, and that nobody has to read it to its end.

use std::time::Duration;

use futures_util::future::join;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::process::Command;

use crate::harness::{Place, until};

const PHONE: &str = "5511900000061";

/// A provider that takes no key; its address.
async fn refusing_model() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.read(&mut vec![0; 65_536]).await;
            let body = r#"{"error":{"code":"invalid_api_key"}}"#;
            let answer = format!(
                "HTTP/1.1 401 Unauthorized\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    url
}

#[tokio::test]
async fn say_tells_each_step_as_it_comes_and_what_to_do_about_a_wrong_key() {
    let place = Place::new()
        .with("RECADO_WINDOW_S", "1")
        .with("RECADO_MODEL", "big-model")
        .with("RECADO_MODEL_KEY", "sk-wrong")
        .with("RECADO_MODEL_BASE_URL", &refusing_model().await);
    let say = place.spawn(&["say", "oi"]);
    let told = until(Duration::from_secs(20), || async {
        let printed = say.printed();
        let lines = [
            "received   oi",
            " failed: auth (status 401, code invalid_api_key, from openai)",
        ];
        (lines.iter().all(|line| printed.contains(line))
            && printed.contains("check RECADO_MODEL_KEY"))
        .then_some(())
    });
    assert!(told.await.is_some(), "{}", say.printed());
    // Minutes before it would give up.
    assert!(say.age() < Duration::from_secs(30));
    say.kill().await;

    let instance = place.run().await;
    assert!(
        instance
            .running
            .printed()
            .contains("model    big-model at http://127.0.0.1:")
    );
    instance.write(PHONE, "oi").await.unwrap();
    let logged = until(Duration::from_secs(20), || async {
        let printed = instance.running.printed();
        let line = printed.lines().find(|line| line.contains("model failed"));
        line.map(str::to_owned)
    });
    let logged = logged.await.unwrap();
    assert!(logged.contains("check RECADO_MODEL_KEY"), "{logged}");
    instance.running.kill().await;
}

/// Nothing but what was set for other programs.
#[tokio::test]
async fn one_provider_s_key_is_enough() {
    for (variable, line) in [
        (
            "ANTHROPIC_API_KEY",
            "model    claude-haiku-4-5 at https://api.anthropic.com/v1",
        ),
        (
            "OPENROUTER_API_KEY",
            "model    openai/gpt-5.6-luna at https://openrouter.ai/api/v1",
        ),
        (
            "OPENAI_API_KEY",
            "model    gpt-5.6-luna at https://api.openai.com/v1",
        ),
    ] {
        let instance = Place::new().with(variable, "sk-some").run().await;
        let printed = instance.running.printed();
        assert!(printed.contains(line), "{variable}: {printed}");
        instance.running.kill().await;
    }
}

#[tokio::test]
async fn demo_by_name_is_the_built_in_model_beside_a_key_too() {
    let place = Place::new()
        .with("RECADO_MODEL", "demo")
        .with("RECADO_MODEL_KEY", "sk-of-somebody");
    let instance = place.run().await;
    let printed = instance.running.printed();
    assert!(printed.contains("model    demo (built in"), "{printed}");
    instance.stop().await;
}

#[tokio::test]
async fn in_another_language_a_stop_is_confirmed_in_it() {
    let place = Place::new()
        .with("RECADO_WINDOW_S", "1")
        .with("RECADO_LANGUAGE", "en");
    let said = place.say(&["--ephemeral", "STOP"]).await;
    let reply = said["reply"].as_str().unwrap();
    assert!(
        reply.starts_with("All right, I will send no more"),
        "{reply}"
    );
}

/// Again and again, for the moment between the first answer and the address is short.
#[tokio::test]
async fn say_finds_an_instance_from_its_first_moment_on() {
    for _ in 0..3 {
        let place = Place::new().with("RECADO_WINDOW_S", "1");
        let running = place.spawn(&["run", "--port", "0"]);
        // As soon as it has the folder, long before it says that it is ready.
        let taken = until(Duration::from_secs(20), || async {
            place.data().join("recado.db.lock").exists().then_some(())
        });
        taken.await.unwrap();
        let arguments = ["--phone", "+55 11 90000-0061", "oi"];
        let (said, url) = join(place.say(&arguments), running.ready()).await;
        assert_eq!(said["answered"], true, "{said:#}");
        assert!(url.starts_with("http://127.0.0.1:"));
        let (status, _, printed) = running.interrupt().await;
        assert_eq!(status.code(), Some(0), "{printed}");
    }
}

#[tokio::test]
async fn forget_first_says_who_knows_the_person() {
    let place = Place::new().with("RECADO_WINDOW_S", "1");
    let nothing = place.recado(&["forget", "--phone", PHONE]).await;
    assert_eq!(nothing.code, Some(1));
    assert!(nothing.err.contains("nobody is known"), "{}", nothing.err);
    assert!(!place.data().exists(), "a look makes nothing");

    place.say(&["--phone", PHONE, "oi"]).await;
    let stranger = "+55 11 90000-0099";
    let written_out = "+55 (11) 90000-0061";
    // First on the folder alone, then through the instance that runs on it.
    let mut instance = None;
    for _ in 0..2 {
        let known = place.recado(&["forget", "--phone", written_out]).await;
        assert_eq!(known.code, Some(0), "{}", known.err);
        assert!(
            known.out.contains("known to: recepcao. Add --yes"),
            "{}",
            known.out
        );
        let unknown = place.recado(&["forget", "--phone", stranger]).await;
        assert_eq!(unknown.code, Some(1), "{}", unknown.out);
        assert!(
            unknown.err.contains("nobody of this phone is known"),
            "{}",
            unknown.err
        );
        if instance.is_none() {
            instance = Some(place.run().await);
        }
    }
    let instance = instance.unwrap();
    assert_eq!(instance.answers(PHONE).await.len(), 1, "nothing went");
    let gone = place
        .recado(&["forget", "--yes", "--phone", written_out])
        .await;
    assert!(
        gone.out.starts_with("Forgotten: "),
        "{}{}",
        gone.out,
        gone.err
    );
    let again = place.recado(&["forget", "--phone", written_out]).await;
    assert!(
        again.err.contains("nobody of this phone is known"),
        "{}",
        again.err
    );
    instance.stop().await;
}

/// `recado … | head -1`: nobody reads on, which is no reason to panic, and no reason to stop serving.
#[tokio::test]
async fn a_reader_who_leaves_ends_nothing() {
    let place = Place::new().with("RECADO_WINDOW_S", "1");
    place.file("agent.toml", "id = \"a\"\npersona = \"b\"\n");
    for (arguments, code) in [
        (&["agent", "check", "agent.toml"][..], 0),
        (&["agent", "check", "missing.toml"], 1),
        (&["forget", "--phone", PHONE], 1),
        (&["say", "--ephemeral", "oi"], 0),
        (&["say", "--ephemeral", "--json", "oi"], 0),
        (&["--help"], 0),
    ] {
        let ended = place.unread(arguments).wait().await.unwrap();
        assert_eq!(ended.code(), Some(code), "{arguments:?}");
    }
    let mut running = place.unread(&["run", "--port", "0"]);
    let found = until(Duration::from_secs(20), || async {
        place.data().join("recado.url").exists().then_some(())
    });
    found.await.unwrap();
    let said = place.say(&["oi"]).await;
    assert_eq!(said["answered"], true, "{said:#}");
    let id = running.id().unwrap().to_string();
    let sent = Command::new("kill").args(["-INT", &id]).status().await;
    assert!(sent.unwrap().success());
    assert_eq!(running.wait().await.unwrap().code(), Some(0));
}

#[tokio::test]
async fn a_person_is_taken_over_and_given_back() {
    let place = Place::new().with("RECADO_WINDOW_S", "1");
    let nobody = place.recado(&["pause", "--phone", PHONE]).await;
    assert_eq!(nobody.code, Some(1), "{}", nobody.out);
    place.say(&["--phone", PHONE, "oi"]).await;
    // First on the folder alone, then through the instance that runs on it.
    let mut instance = None;
    for _ in 0..2 {
        let paused = place
            .recado(&["pause", "--hours", "1", "--phone", PHONE])
            .await;
        assert!(
            paused.out.starts_with("recepcao: quiet"),
            "{}{}",
            paused.out,
            paused.err
        );
        let said = place.say(&["--phone", PHONE, "alô?"]).await;
        assert_eq!(
            (&said["closed"], &said["sends"]),
            (&json!(1), &json!(0)),
            "{said:#}"
        );
        let resumed = place.recado(&["resume", "--phone", PHONE]).await;
        assert!(
            resumed.out.starts_with("recepcao: answers"),
            "{}{}",
            resumed.out,
            resumed.err
        );
        let said = place.say(&["--phone", PHONE, "voltei"]).await;
        assert_eq!(
            (&said["closed"], &said["sends"]),
            (&json!(0), &json!(1)),
            "{said:#}"
        );
        if instance.is_none() {
            instance = Some(place.run().await);
        }
    }
    instance.unwrap().stop().await;
}

#[tokio::test]
async fn the_ledger_is_told_of_the_folder_alone_and_by_the_instance_on_it() {
    let place = Place::new()
        .with("RECADO_WINDOW_S", "1")
        .with("RECADO_BRL_PER_USD", "5.50");
    let nothing = place.recado(&["ledger"]).await;
    assert_eq!(nothing.code, Some(1), "{}", nothing.out);
    place.say(&["--phone", PHONE, "oi"]).await;
    let mut instance = None;
    for turns in 1..=2 {
        let told = place.recado(&["ledger", "--json"]).await;
        let lines: serde_json::Value = serde_json::from_str(&told.out).unwrap();
        let line = &lines[0];
        assert_eq!(lines.as_array().map(Vec::len), Some(1), "{lines:#}");
        assert_eq!(
            (&line["model"], &line["kind"]),
            (&json!("demo"), &json!("answer"))
        );
        assert_eq!(
            (&line["calls"], &line["turns"]),
            (&json!(turns), &json!(turns))
        );
        assert_eq!(line["micro_usd"], 0, "the demo model is free");
        let of_person = ["ledger", "--contact", "+55 11 90000-0061", "--json"];
        assert_eq!(place.recado(&of_person).await.out, told.out);
        let page = place.recado(&["ledger"]).await.out;
        assert!(
            page.contains("BRL") && page.contains(" answered, US$ 0.00 each."),
            "{page}"
        );
        let other = place.recado(&["ledger", "--day", "2020-01-01"]).await;
        assert!(
            other.out.starts_with("Nothing is in the ledger"),
            "{}",
            other.out
        );
        let wrong = place.recado(&["ledger", "--day", "today"]).await;
        assert!(wrong.err.contains("2026-11-30"), "{}", wrong.err);
        if instance.is_none() {
            instance = Some(place.run().await);
            place.say(&["--phone", PHONE, "tudo bem?"]).await;
        }
    }
    instance.unwrap().stop().await;
}
