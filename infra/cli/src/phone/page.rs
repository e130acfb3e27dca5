//! The chat page's files, inside the binary, under a policy that lets the page load nothing else.

use axum::http::header::{self, HeaderName};
use axum::response::{IntoResponse, Response};

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// `GET /`.
pub(super) async fn index() -> Response {
    file(
        "text/html; charset=utf-8",
        include_str!("../page/index.html"),
    )
}

/// `GET /page.css`.
pub(super) async fn style() -> Response {
    file("text/css; charset=utf-8", include_str!("../page/page.css"))
}

/// `GET /page.js`.
pub(super) async fn script() -> Response {
    file(
        "text/javascript; charset=utf-8",
        include_str!("../page/page.js"),
    )
}

/// `GET /words.js`.
pub(super) async fn words() -> Response {
    file(
        "text/javascript; charset=utf-8",
        include_str!("../page/words.js"),
    )
}

/// `GET /timeline.js`.
pub(super) async fn timeline() -> Response {
    file(
        "text/javascript; charset=utf-8",
        include_str!("../page/timeline.js"),
    )
}

/// `GET /icon.svg`.
pub(super) async fn icon() -> Response {
    file("image/svg+xml", include_str!("../page/icon.svg"))
}

fn file(kind: &'static str, content: &'static str) -> Response {
    let headers: [(HeaderName, &'static str); 6] = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-cache"),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
    ];
    (headers, content).into_response()
}
