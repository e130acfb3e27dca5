//! What is called for a tool: a service of the web, or a function of AWS Lambda.

use serde_json::Value;

use super::super::document::{Document, Entry, Found};
use super::url;
use crate::domain::tool_spec::{Header, HttpTarget, Method};

/// Headers that are ours or the connection's.
const HEADERS_TAKEN: [&str; 8] = [
    "host",
    "content-length",
    "content-type",
    "connection",
    "transfer-encoding",
    "upgrade",
    "expect",
    "idempotency-key",
];
/// What the environment calls by the same beginning: `RECADO_SECRET_ID`, `RECADO_SECRET_JSON`.
const SECRETS_TAKEN: [&str; 2] = ["ID", "JSON"];
const HTTP: &str = r#"{ method = "GET", url = "https://api.example.com/slots/{day}" }"#;

/// The function's name or ARN.
pub(super) fn lambda(file: &mut Document<'_>, entry: &mut Entry<'_>) -> Option<String> {
    let Found { value, origin } = entry.text(file, "lambda", 170, "minha-funcao")?;
    let is_sign =
        |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b':' | b'$' | b'.');
    if value.bytes().all(is_sign) {
        return Some(value);
    }
    let message =
        "must be the name or the ARN of a function; for instance lambda = \"minha-funcao\"";
    entry.mistake(file, "lambda", origin, message);
    None
}

/// The request.
pub(super) fn http(
    file: &mut Document<'_>,
    entry: &mut Entry<'_>,
    parameters: Option<&Value>,
) -> Option<HttpTarget> {
    let mut http = entry.table(file, "http", HTTP)?;
    let private = http.flag(file, "private");
    http.require(file, "method", "\"GET\"");
    let methods = Method::ALL.map(|method| (method.as_str(), method));
    let method = http.choice(file, "method", &methods);
    let url = url::read(file, &mut http, parameters, private);
    let headers = headers(file, &mut http);
    let query = query(
        file,
        &mut http,
        parameters,
        method.as_ref().map(|found| found.value),
    );
    check_hosts(file, &mut http, url.as_ref().map(|(_, host)| host.as_str()));
    http.close(file);
    let (url, host) = url?;
    Some(HttpTarget {
        method: method?.value,
        url,
        host,
        headers,
        query,
        private,
    })
}

/// A list of hosts is a promise that is kept: the address must be one of them.
fn check_hosts(file: &mut Document<'_>, http: &mut Entry<'_>, host: Option<&str>) {
    let Some(hosts) = http.texts(file, "hosts", "api.example.com") else {
        return;
    };
    let is_listed = |host: &str| {
        hosts
            .value
            .iter()
            .any(|one| one.value.eq_ignore_ascii_case(host))
    };
    if let Some(host) = host
        && !is_listed(host)
    {
        let message = format!(
            "{host}, where the url leads, is not in the list; for instance hosts = [{host:?}]"
        );
        http.mistake(file, "hosts", hosts.origin, message);
    }
}

/// Arguments of a request with a body that go behind the `?` all the same.
fn query(
    file: &mut Document<'_>,
    http: &mut Entry<'_>,
    parameters: Option<&Value>,
    method: Option<Method>,
) -> Vec<String> {
    let Some(listed) = http.texts(file, "query", "day") else {
        return Vec::new();
    };
    if method.is_some_and(|method| !method.has_body()) {
        let message = "is needless: all arguments of a GET or DELETE go behind the ?; take it out";
        http.mistake(file, "query", listed.origin, message);
    }
    let mut query = Vec::new();
    for Found { value, origin } in listed.value {
        match parameters.map(|parameters| url::declared(parameters, &value)) {
            Some(Err(problem)) => http.mistake(file, "query", origin, problem),
            _ => query.push(value),
        }
    }
    query
}

fn headers(file: &mut Document<'_>, http: &mut Entry<'_>) -> Vec<Header> {
    let example = "{ Authorization = \"secret:CLINICA\" }";
    let Some(mut table) = http.table(file, "headers", example) else {
        return Vec::new();
    };
    let mut headers = Vec::new();
    for Found {
        value: name,
        origin,
    } in table.keys()
    {
        let lower = name.to_ascii_lowercase();
        if HEADERS_TAKEN.contains(&lower.as_str()) {
            table.mistake(
                file,
                &name,
                origin,
                "is set by the program itself; take it out",
            );
            let _ = table.named_text(file, &name);
            continue;
        }
        if name.is_empty()
            || !name
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
        {
            let message = format!("is no name of a header; for instance headers = {example}");
            table.mistake(file, &name, origin, message);
        }
        let Some(found) = table.named_text(file, &name) else {
            continue;
        };
        match header(&name, &found.value) {
            Ok(header) => headers.push(header),
            Err(problem) => table.mistake(file, &name, found.origin, problem),
        }
    }
    headers
}

/// `secret:NAME`, or a text before it: `Bearer secret:NAME`.
fn header(name: &str, value: &str) -> Result<Header, String> {
    if !value.bytes().all(|b| (b' '..=b'~').contains(&b)) {
        return Err("must be one line of plain letters and signs".to_owned());
    }
    let (text, secret) = match value.split_once("secret:") {
        None => (value, None),
        Some((text, secret)) => (text, Some(secret)),
    };
    if let Some(secret) = secret {
        let is_sign = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_';
        let is_name = (1..=64).contains(&secret.len()) && secret.bytes().all(is_sign);
        if !is_name || SECRETS_TAKEN.contains(&secret) {
            return Err(format!(
                "must end in the name of a secret, in capitals, digits and _ (not ID or JSON); for instance {name} = \
                 \"Bearer secret:CLINICA\""
            ));
        }
    }
    Ok(Header {
        name: name.to_owned(),
        text: text.to_owned(),
        secret: secret.map(str::to_owned),
    })
}
