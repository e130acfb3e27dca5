//! Keeps other web pages out: a page of another site may neither reach the phone under a name of its own (DNS
//! rebinding) nor post to it.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::answer::refuse;

/// What is kept out.
#[derive(Debug, Clone, Copy)]
pub struct Guard {
    /// Whether the server listens on this machine only; then other host names are refused.
    pub loopback: bool,
}

/// Refuses requests that a foreign page may have made.
pub async fn check(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let host = text(headers, header::HOST).unwrap_or_default();
    if guard.loopback && !is_loopback(host) {
        return refuse(
            StatusCode::MISDIRECTED_REQUEST,
            "this address is for this machine only: open it as http://localhost or http://127.0.0.1",
        )
        .into_response();
    }
    let only_reads = matches!(*request.method(), Method::GET | Method::HEAD);
    if !only_reads && headers.contains_key(header::ORIGIN) {
        let origin = text(headers, header::ORIGIN).unwrap_or_default();
        if !is_same_origin(origin, host) {
            return refuse(
                StatusCode::FORBIDDEN,
                "another page's request: only Recado's own page, or a program without an Origin header, may post here",
            )
            .into_response();
        }
    }
    next.run(request).await
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Whether a Host header names this machine.
pub fn is_loopback(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    name.eq_ignore_ascii_case("localhost") || matches!(name, "127.0.0.1" | "[::1]")
}

fn is_same_origin(origin: &str, host: &str) -> bool {
    origin
        .strip_prefix("http://")
        .or_else(|| origin.strip_prefix("https://"))
        .is_some_and(|authority| authority.eq_ignore_ascii_case(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_loopback() {
        for (host, is) in [
            ("localhost:8787", true),
            ("LOCALHOST", true),
            ("127.0.0.1:8787", true),
            ("[::1]:8787", true),
            ("[::1]", true),
            ("", false),
            ("evil.example", false),
            ("localhost.evil.example:8787", false),
            ("127.0.0.1.evil.example", false),
            ("127.0.0.1:8787@evil.example", false),
            ("evil.example:127.0.0.1", false),
        ] {
            assert_eq!(is_loopback(host), is, "{host}");
        }
    }

    #[test]
    fn an_origin_is_the_same_where_scheme_name_and_port_are() {
        for (origin, host, is) in [
            ("http://localhost:8787", "localhost:8787", true),
            ("http://localhost:8788", "localhost:8787", false),
            ("http://127.0.0.1:8787", "localhost:8787", false),
            ("http://evil.example", "localhost:8787", false),
            ("null", "localhost:8787", false),
        ] {
            assert_eq!(is_same_origin(origin, host), is, "{origin}");
        }
    }
}
