//! Answers whose body does not come as a whole.

use std::sync::Arc;
use std::time::Duration;

use recado::adapters::meta::send::FixedToken;
use recado::error::{SendError, Verdict};
use recado::ports::Messenger;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::{TOKEN, logged, messenger, outgoing};

/// What a send concludes from this answer, after which the connection ends.
async fn concluded(answer: Vec<u8>) -> SendError {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut buffer = [0; 4096];
        let _ = stream.read(&mut buffer).await;
        let _ = stream.write_all(&answer).await;
    });
    let messenger = messenger(&base, Arc::new(FixedToken(TOKEN.to_owned())));
    let error = messenger.send(&outgoing("segredo")).await.unwrap_err();
    logged(&error);
    error
}

#[tokio::test]
async fn a_refusal_whose_body_does_not_come_is_not_final() {
    let dated =
        "date: Mon, 30 Nov 2026 10:00:00 GMT\r\nretry-after: Mon, 30 Nov 2026 10:00:20 GMT\r\n";
    for (label, head, body, expected) in [
        (
            "cut",
            "400 Bad Request\r\ncontent-length: 500\r\n",
            12,
            Some(("http_400", Verdict::Retry)),
        ),
        (
            "cut, with a date to wait for",
            &format!("429 Too Many Requests\r\ncontent-length: 500\r\n{dated}"),
            12,
            Some(("http_429", Verdict::RetryAfter(Duration::from_secs(20)))),
        ),
        (
            "endless",
            "400 Bad Request\r\n",
            600_000,
            Some(("http_400", Verdict::Retry)),
        ),
        ("endless, and accepted", "200 OK\r\n", 600_000, None),
        (
            "cut, and accepted",
            "200 OK\r\ncontent-length: 500\r\n",
            12,
            None,
        ),
    ] {
        let answer = format!("HTTP/1.1 {head}\r\n{}", "[".repeat(body));
        match (concluded(answer.into_bytes()).await, expected) {
            (SendError::Refused { code, verdict }, Some(expected)) => {
                assert_eq!((code.as_str(), verdict), expected, "{label}");
            }
            (SendError::OutcomeUnknown(_), None) => {}
            (other, _) => panic!("{label}: {other:?}"),
        }
    }
}
