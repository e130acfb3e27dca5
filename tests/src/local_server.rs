//! Servers inside a test's process: any router on a free port, and what stands between the functions and the local AWS.

use std::net::SocketAddr;

use aws_config::SdkConfig;
use axum::Router;
use axum::body::Bytes;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use recado_cli::local::queues;
use tokio::net::TcpListener;

/// Serves `router` on a free port until the test is over. Yields its address, without a slash at the end.
pub async fn serve(router: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    tokio::spawn(async move { axum::serve(listener, service).await.unwrap() });
    url
}

/// What a function's SDK is set to where all of AWS is at `url`.
pub fn sdk(url: &str) -> SdkConfig {
    let local = queues::sdk_config().into_builder();
    local.endpoint_url(url).build()
}

/// The server behind one that stands in front of it.
#[derive(Debug, Clone, Default)]
pub struct Behind {
    url: String,
    client: reqwest::Client,
}

impl Behind {
    /// The server at `url`.
    pub fn at(url: &str) -> Self {
        Self {
            url: url.to_owned(),
            client: reqwest::Client::builder().no_proxy().build().unwrap(),
        }
    }

    /// Passes a request on. Yields the response to hand back, and its body to look at.
    pub async fn ask(&self, mut headers: HeaderMap, body: Bytes) -> (Response, Bytes) {
        headers.remove("host");
        headers.remove("content-length");
        let request = self.client.post(&self.url).headers(headers).body(body);
        let given = request.send().await.unwrap();
        let (status, headers) = (given.status(), given.headers().clone());
        let body = given.bytes().await.unwrap();
        let mut response = (status, body.clone()).into_response();
        for (name, value) in &headers {
            if name != "transfer-encoding" && name != "content-length" {
                response.headers_mut().insert(name.clone(), value.clone());
            }
        }
        (response, body)
    }
}
