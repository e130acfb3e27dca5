//! The chat page's files, inside the binary, under a policy that lets the page load nothing else.

use axum::Router;
use axum::http::header::{self, HeaderName};
use axum::routing::get;

use super::routes::PhoneState;

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const PICTURE: &str = "image/svg+xml";

/// Path, kind and content of each file.
const FILES: [(&str, &str, &str); 10] = [
    ("/", HTML, include_str!("../page/index.html")),
    ("/page.css", CSS, include_str!("../page/page.css")),
    ("/icon.svg", PICTURE, include_str!("../page/icon.svg")),
    ("/page.js", SCRIPT, include_str!("../page/page.js")),
    ("/chat.js", SCRIPT, include_str!("../page/chat.js")),
    ("/now.js", SCRIPT, include_str!("../page/now.js")),
    ("/memory.js", SCRIPT, include_str!("../page/memory.js")),
    ("/timeline.js", SCRIPT, include_str!("../page/timeline.js")),
    ("/turns.js", SCRIPT, include_str!("../page/turns.js")),
    ("/words.js", SCRIPT, include_str!("../page/words.js")),
];

/// A route for each file.
pub(super) fn routes() -> Router<PhoneState> {
    FILES
        .into_iter()
        .fold(Router::new(), |router, (path, kind, content)| {
            router.route(path, get(async move || (headers(kind), content)))
        })
}

fn headers(kind: &'static str) -> [(HeaderName, &'static str); 6] {
    [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        // A new version of the program brings a new page at once.
        (header::CACHE_CONTROL, "no-cache"),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
    ]
}
