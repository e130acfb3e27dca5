//! What is left on disk when the process is gone, read beside it: what the phone received, and what the table holds.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::AttributeValue;
use recado_cli::dynamo::{Data, Dynamo};
use recado_cli::local::{queues, table};
use serde_json::Value;

/// What the phone has received, read from its log as it grows.
pub struct Received {
    path: PathBuf,
    read_to: u64,
    /// Reply, how often it came, and to whom.
    pub replies: BTreeMap<String, usize>,
    /// The words of the texts, with the replies that hold each.
    pub words: BTreeMap<String, BTreeSet<String>>,
    /// When somebody's newest answer came, in milliseconds since 1970.
    pub newest: BTreeMap<String, u64>,
}

impl Received {
    pub fn of(folder: &Path) -> Self {
        Self {
            path: folder.join("phone.jsonl"),
            read_to: 0,
            replies: BTreeMap::new(),
            words: BTreeMap::new(),
            newest: BTreeMap::new(),
        }
    }

    /// Takes in the lines that are whole by now.
    pub fn read_on(&mut self) {
        let Ok(mut file) = std::fs::File::open(&self.path) else {
            return;
        };
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(self.read_to)).unwrap();
        file.read_to_end(&mut bytes).unwrap();
        let whole = bytes.iter().rposition(|byte| *byte == b'\n');
        let whole = whole.map_or(0, |at| at + 1);
        self.read_to += whole as u64;
        for line in bytes[..whole].split(|byte| *byte == b'\n') {
            if let Ok(record) = serde_json::from_slice(line) {
                self.take(&record);
            }
        }
    }

    fn take(&mut self, record: &Value) {
        if record["type"] != "accepted" {
            return;
        }
        let text = |field: &str| record[field].as_str().unwrap_or_default().to_owned();
        let reply = text("reply");
        *self.replies.entry(reply.clone()).or_default() += 1;
        let at = record["at"].as_u64().unwrap();
        self.newest.insert(text("to"), at);
        for word in text("text").split_whitespace() {
            self.words
                .entry(word.to_owned())
                .or_default()
                .insert(reply.clone());
        }
    }
}

/// What is in the table while no process has it.
#[derive(Debug, Default)]
pub struct Table {
    /// By message id: what answered or closed it; nothing where it waits.
    pub events: BTreeMap<String, Option<String>>,
    /// By reply id: its status. A compaction deletes replies at rest.
    pub replies: BTreeMap<String, String>,
}

impl Table {
    /// Everything.
    pub async fn read(folder: &Path) -> Self {
        let (dynamo, client) = open(folder).await;
        let mut table = Self::default();
        let mut from = None;
        loop {
            let scan = client.scan().table_name(table::TABLE);
            let page = scan.set_exclusive_start_key(from).send().await.unwrap();
            for item in page.items() {
                let key = text(item, "item").unwrap();
                match key.split_once('#') {
                    Some(("event", id)) => {
                        table
                            .events
                            .insert(id.to_owned(), text(item, "answered_by"));
                    }
                    Some(("reply", id)) => {
                        let status = text(item, "status").unwrap();
                        table.replies.insert(id.to_owned(), status);
                    }
                    _ => {}
                }
            }
            from = page.last_evaluated_key.filter(|key| !key.is_empty());
            if from.is_none() {
                break;
            }
        }
        dynamo.stop().await.unwrap();
        table
    }

    /// What is not at rest.
    pub async fn unrest(folder: &Path) -> Self {
        let (dynamo, client) = open(folder).await;
        let mut table = Self::default();
        for shard in 0..recado::adapters::dynamo::schema::SHARDS {
            let query = client.query().table_name(table::TABLE).index_name("unrest");
            let query = query.key_condition_expression("unrest_shard = :shard");
            let shard = AttributeValue::S(shard.to_string());
            let page = query.expression_attribute_values(":shard", shard).send();
            for keys in page.await.unwrap().items() {
                let key = text(keys, "item").unwrap();
                match key.split_once('#') {
                    Some(("event", id)) => {
                        table.events.insert(id.to_owned(), None);
                    }
                    Some(("reply", id)) => {
                        let get = client.get_item().table_name(table::TABLE);
                        let get = get.key("conversation", keys["conversation"].clone());
                        let found = get.key("item", keys["item"].clone()).send().await;
                        let status = text(found.unwrap().item().unwrap(), "status").unwrap();
                        table.replies.insert(id.to_owned(), status);
                    }
                    _ => {}
                }
            }
        }
        dynamo.stop().await.unwrap();
        table
    }
}

async fn open(folder: &Path) -> (Dynamo, Client) {
    let data = Data::File(folder.join("recado.db"));
    let dynamo = Dynamo::start(&data, SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    let client = table::make(&queues::sdk_config(), dynamo.url()).await;
    (dynamo, client.unwrap())
}

fn text(item: &std::collections::HashMap<String, AttributeValue>, field: &str) -> Option<String> {
    item.get(field)?.as_s().ok().cloned()
}
