//! A proxy between the SDK's clients and the local AWS that does what networks and services do on a bad day.
//!
//! It speaks HTTP/1.1 by itself, so that it can break a connection wherever it likes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use reqwest::header::HeaderMap;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::refusals::{self, Answer};

/// Longer than a client waits for an answer.
pub const HANG: Duration = Duration::from_millis(3_500);
const SLOW_MS: std::ops::Range<u64> = 10..400;

/// A service behind the proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Service {
    DynamoDb,
    Sqs,
}

/// What happens to one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// Refused for now, and not applied.
    Throttled,
    /// A transaction refused for one of its items: throttled, or in conflict with another one.
    Cancelled,
    /// A 5xx, not applied.
    FailedBefore,
    /// Applied, and answered with a 5xx.
    FailedAfter,
    /// The connection is reset, nothing applied.
    ResetBefore,
    /// Applied, and the connection is reset.
    ResetAfter,
    /// Applied, and the connection is reset in the middle of the answer.
    ResetWithin,
    /// Applied, and the answer comes late.
    Slow,
    /// Applied, and no answer comes in time.
    Hung,
}

const FAULTS: [Fault; 9] = [
    Fault::Throttled,
    Fault::Cancelled,
    Fault::FailedBefore,
    Fault::FailedAfter,
    Fault::ResetBefore,
    Fault::ResetAfter,
    Fault::ResetWithin,
    Fault::Slow,
    Fault::Hung,
];

/// What happens to the requests of a service.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Weather {
    /// Nothing.
    Fair,
    /// To this share of them something, each fault as likely as another.
    Stormy(f64),
    /// All are throttled.
    Throttling,
}

/// What was asked and what was done to it.
#[derive(Debug, Clone, Default)]
pub struct Counts {
    pub requests: BTreeMap<(Service, String), u64>,
    pub faults: BTreeMap<Fault, u64>,
}

impl Counts {
    pub fn of(&self, service: Service) -> u64 {
        let same = self.requests.iter().filter(|((of, _), _)| *of == service);
        same.map(|(_, count)| count).sum()
    }
}

/// The proxy, serving.
pub struct Proxy {
    pub url: String,
    behind: Arc<Behind>,
    _server: JoinSet<()>,
}

struct Behind {
    aws_url: String,
    client: reqwest::Client,
    weather: Mutex<BTreeMap<Service, Weather>>,
    counts: Mutex<Counts>,
    chance: Mutex<StdRng>,
}

impl Proxy {
    /// In front of the local AWS at this address, and in fair weather.
    pub async fn start(aws_url: &str, seed: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let behind = Arc::new(Behind {
            aws_url: aws_url.to_owned(),
            client: reqwest::Client::builder().no_proxy().build().unwrap(),
            weather: Mutex::default(),
            counts: Mutex::default(),
            chance: Mutex::new(StdRng::seed_from_u64(seed)),
        });
        let mut server = JoinSet::new();
        server.spawn(serve(listener, Arc::clone(&behind)));
        Self {
            url,
            behind,
            _server: server,
        }
    }

    /// From now on.
    pub fn set(&self, service: Service, weather: Weather) {
        let mut all = self.behind.weather.lock().unwrap();
        all.insert(service, weather);
    }

    /// What was counted since the last time.
    pub fn take_counts(&self) -> Counts {
        std::mem::take(&mut self.behind.counts.lock().unwrap())
    }
}

async fn serve(listener: TcpListener, behind: Arc<Behind>) {
    let mut connections = JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        stream.set_nodelay(true).unwrap();
        connections.spawn(converse(stream, Arc::clone(&behind)));
        while connections.try_join_next().is_some() {}
    }
}

/// One connection, request by request, until either side ends it.
async fn converse(stream: TcpStream, behind: Arc<Behind>) {
    let mut stream = BufReader::new(stream);
    while let Some(request) = read(&mut stream).await {
        let done = behind.answer(&request).await;
        match done {
            Done::Answered(bytes) => {
                if stream.get_mut().write_all(&bytes).await.is_err() {
                    return;
                }
            }
            Done::Broken(bytes) => {
                let stream = stream.get_mut();
                let _ = stream.write_all(&bytes).await;
                let _ = stream.set_zero_linger();
                return;
            }
        }
    }
}

struct Request {
    headers: HeaderMap,
    body: Vec<u8>,
}

impl Request {
    fn target(&self) -> &str {
        let target = self.headers.get("x-amz-target");
        target.and_then(|target| target.to_str().ok()).unwrap()
    }

    fn service(&self) -> Service {
        if self.target().starts_with("DynamoDB") {
            Service::DynamoDb
        } else {
            Service::Sqs
        }
    }

    fn action(&self) -> &str {
        self.target().rsplit('.').next().unwrap()
    }
}

/// `None` where the client has ended the connection.
async fn read(stream: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut headers = HeaderMap::new();
    let mut line = String::new();
    stream
        .read_line(&mut line)
        .await
        .ok()
        .filter(|read| *read > 0)?;
    loop {
        line.clear();
        stream.read_line(&mut line).await.ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        let name: reqwest::header::HeaderName = name.parse().unwrap();
        headers.insert(name, value.parse().unwrap());
    }
    let length = headers.get("content-length")?.to_str().ok()?;
    let mut body = vec![0; length.parse().ok()?];
    stream.read_exact(&mut body).await.ok()?;
    Some(Request { headers, body })
}

/// What goes back to the client.
enum Done {
    Answered(Vec<u8>),
    /// After these bytes the connection is reset.
    Broken(Vec<u8>),
}

impl Behind {
    async fn answer(&self, request: &Request) -> Done {
        let (service, fault) = (request.service(), self.draw(request));
        {
            let mut counts = self.counts.lock().unwrap();
            let action = request.action().to_owned();
            *counts.requests.entry((service, action)).or_default() += 1;
            if let Some(fault) = fault {
                *counts.faults.entry(fault).or_default() += 1;
            }
        }
        match fault {
            None => Done::Answered(self.pass_on(request).await),
            Some(Fault::Throttled) => {
                let which = self.chance.lock().unwrap().random_range(0..usize::MAX);
                Done::Answered(refusals::throttled(service, which).bytes())
            }
            Some(Fault::Cancelled) => {
                let which = self.chance.lock().unwrap().random_range(0..usize::MAX);
                Done::Answered(refusals::cancelled(&request.body, which).bytes())
            }
            Some(Fault::FailedBefore) => Done::Answered(refusals::failed(service).bytes()),
            Some(Fault::FailedAfter) => {
                self.pass_on(request).await;
                Done::Answered(refusals::failed(service).bytes())
            }
            Some(Fault::ResetBefore) => Done::Broken(Vec::new()),
            Some(Fault::ResetAfter) => {
                self.pass_on(request).await;
                Done::Broken(Vec::new())
            }
            Some(Fault::ResetWithin) => {
                let mut bytes = self.pass_on(request).await;
                bytes.truncate(bytes.len().saturating_sub(1) * 2 / 3);
                Done::Broken(bytes)
            }
            Some(Fault::Slow) => {
                let bytes = self.pass_on(request).await;
                let ms = self.chance.lock().unwrap().random_range(SLOW_MS);
                tokio::time::sleep(Duration::from_millis(ms)).await;
                Done::Answered(bytes)
            }
            Some(Fault::Hung) => {
                self.pass_on(request).await;
                tokio::time::sleep(HANG).await;
                Done::Broken(Vec::new())
            }
        }
    }

    /// What the weather does to this request.
    fn draw(&self, request: &Request) -> Option<Fault> {
        let weather = self.weather.lock().unwrap();
        let weather = weather.get(&request.service()).copied();
        let mut chance = self.chance.lock().unwrap();
        let fault = match weather.unwrap_or(Weather::Fair) {
            Weather::Throttling => Fault::Throttled,
            Weather::Stormy(share) if chance.random_bool(share) => {
                FAULTS[chance.random_range(0..FAULTS.len())]
            }
            Weather::Fair | Weather::Stormy(_) => return None,
        };
        let is_transaction = request.action() == "TransactWriteItems";
        Some(match fault {
            Fault::Cancelled if !is_transaction => Fault::Throttled,
            // It takes long, so it is the rarer one.
            Fault::Hung if chance.random_bool(0.75) => Fault::Slow,
            fault => fault,
        })
    }

    async fn pass_on(&self, request: &Request) -> Vec<u8> {
        let mut headers = request.headers.clone();
        for name in ["host", "content-length", "connection"] {
            headers.remove(name);
        }
        let passed = self.client.post(&self.aws_url).headers(headers);
        let passed = passed.body(request.body.clone()).send().await.unwrap();
        let status = passed.status().as_u16();
        let mut kept = Vec::new();
        for (name, value) in passed.headers() {
            if name.as_str().starts_with("x-amz") || name == "content-type" {
                kept.push((name.to_string(), value.to_str().unwrap().to_owned()));
            }
        }
        let body = passed.bytes().await.unwrap().to_vec();
        Answer {
            status,
            headers: kept,
            body,
        }
        .bytes()
    }
}
