//! Ctrl-C: the end comes soon and loses nothing, whatever is under way.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::harness::{Place, until};

const PHONE: &str = "5511900000041";

#[tokio::test]
async fn a_stop_in_a_held_window_loses_nothing() {
    let place = Place::new();
    let first = place.run().await;
    first.write(PHONE, "uma coisa").await.unwrap();
    until(Duration::from_secs(5), || async {
        let chat = first.chat(PHONE).await;
        (chat[0]["status"] == "delivered").then_some(())
    })
    .await
    .expect("the message is taken");
    first.stop().await;

    let second = place.run().await;
    let answers = second.wait_for_answers(PHONE, 1).await;
    assert!(answers[0].contains("uma coisa"), "{answers:?}");
    assert!(second.running.age() < Duration::from_secs(10));
    second.stop().await;
    assert_eq!(place.run().await.answers(PHONE).await.len(), 1);
}

/// A model that takes a request and says nothing; the address, and how many have asked.
async fn silent_model() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let mut open = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            open.push(stream);
        }
    });
    url
}

#[tokio::test]
async fn a_stop_in_the_middle_of_a_model_call_loses_nothing() {
    let mut place = Place::new()
        .with("RECADO_WINDOW_S", "1")
        .with("RECADO_MODEL_KEY", "none")
        .with("RECADO_MODEL_BASE_URL", &silent_model().await);
    let first = place.run().await;
    first.write(PHONE, "outra coisa").await.unwrap();
    until(Duration::from_secs(10), || async {
        let story = first.get("/story").await;
        let steps = story["steps"].as_array().unwrap();
        steps
            .iter()
            .any(|step| step["step"] == "claimed")
            .then_some(())
    })
    .await
    .expect("the call has begun");
    let (status, took, printed) = first.running.interrupt().await;
    assert_eq!(status.code(), Some(0), "{printed}");
    assert!(took < Duration::from_secs(8), "{took:?}");

    place.unset("RECADO_MODEL_BASE_URL");
    place.unset("RECADO_MODEL_KEY");
    let second = place.run().await;
    let answers = second.wait_for_answers(PHONE, 1).await;
    assert!(answers[0].contains("outra coisa"), "{answers:?}");
    let age = second.running.age();
    assert!(age < Duration::from_secs(10), "{age:?}");
    second.stop().await;
}

#[tokio::test]
async fn open_pages_and_half_requests_do_not_hold_the_stop_up() {
    let place = Place::new();
    let instance = place.run().await;
    let live = format!("{}/story/live", instance.url);
    let page = instance.http.get(live).send().await.unwrap();
    assert_eq!(page.status(), 200);
    let address = instance.url.strip_prefix("http://").unwrap();
    let mut half = TcpStream::connect(address).await.unwrap();
    half.write_all(
        b"POST /phone/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n{",
    )
    .await
    .unwrap();
    let mut idle = TcpStream::connect(address).await.unwrap();
    idle.write_all(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        .await
        .unwrap();
    let mut first_bytes = [0; 16];
    idle.read_exact(&mut first_bytes).await.unwrap();
    assert_eq!(&first_bytes[..15], b"HTTP/1.1 200 OK");
    instance.stop().await;
}

#[tokio::test]
async fn a_say_that_is_cut_off_goes_on_at_the_next_start() {
    let place = Place::new();
    let say = place.spawn(&["say", "--phone", PHONE, "interrompido"]);
    tokio::time::sleep(Duration::from_secs(2)).await;
    let (_, took, _) = say.interrupt().await;
    assert!(took < Duration::from_secs(4), "{took:?}");
    let instance = place.run().await;
    let answers = instance.wait_for_answers(PHONE, 1).await;
    assert!(answers[0].contains("interrompido"), "{answers:?}");
    instance.stop().await;
}
