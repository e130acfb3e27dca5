//! The real binary as a process: started, spoken to over HTTP, stopped or killed; everything it prints is kept.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex as StdMutex};
use std::time::{Duration, Instant};

use reqwest::Client;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::Mutex;

/// Everything that is waited for comes sooner, also on a machine that compiles beside the test.
const PATIENCE: Duration = Duration::from_mins(1);

/// Held by the tests that fill the machine and look at the clock: one of them at a time.
pub static MACHINE: Mutex<()> = Mutex::const_new(());

/// What a command printed and how it ended.
pub struct Ended {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

/// A folder of its own for one installation, and the environment of its processes.
pub struct Place {
    folder: TempDir,
    variables: Vec<(String, String)>,
}

impl Place {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data").to_string_lossy().into_owned();
        Self {
            folder,
            variables: vec![("RECADO_DATA_DIR".to_owned(), data)],
        }
    }

    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.set(name, value);
        self
    }

    pub fn set(&mut self, name: &str, value: &str) {
        self.unset(name);
        self.variables.push((name.to_owned(), value.to_owned()));
    }

    pub fn unset(&mut self, name: &str) {
        self.variables.retain(|(known, _)| known != name);
    }

    /// Where the installation keeps its things.
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(program());
        // Nothing of the machine that runs the test may count as a setting.
        command
            .args(arguments)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .envs(
                self.variables
                    .iter()
                    .map(|(name, value)| (OsStr::new(name), OsStr::new(value))),
            )
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        command
    }

    /// Runs a command to its end.
    pub async fn recado(&self, arguments: &[&str]) -> Ended {
        let running = self.command(arguments).output();
        let output = tokio::time::timeout(PATIENCE, running).await;
        let output = output.expect("the command ends").unwrap();
        Ended {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Starts a command whose output nobody reads: both streams are closed on the other side.
    pub fn unread(&self, arguments: &[&str]) -> Child {
        let mut child = self.command(arguments).spawn().unwrap();
        drop((child.stdout.take(), child.stderr.take()));
        child
    }

    /// `recado say --json` with these further arguments; the one object it printed.
    pub async fn say(&self, arguments: &[&str]) -> Value {
        let all: Vec<&str> = ["say", "--json"].iter().chain(arguments).copied().collect();
        let ended = self.recado(&all).await;
        assert_eq!(ended.code, Some(0), "{}{}", ended.out, ended.err);
        let said: Value = serde_json::from_str(&ended.out).expect("stdout is one JSON value");
        assert!(said.is_object());
        said
    }

    /// Starts a command that runs until it is told to stop.
    pub fn spawn(&self, arguments: &[&str]) -> Running {
        let begun = Instant::now();
        let mut child = self.command(arguments).spawn().unwrap();
        let printed = Arc::new(StdMutex::new(String::new()));
        keep(child.stdout.take().unwrap(), &printed);
        keep(child.stderr.take().unwrap(), &printed);
        Running {
            child,
            printed,
            begun,
        }
    }

    /// Starts the installation on a free port and waits until it is ready.
    pub async fn run(&self) -> Instance {
        let running = self.spawn(&["run", "--port", "0"]);
        let url = running.ready().await;
        Instance {
            running,
            url,
            http: Client::builder().no_proxy().build().unwrap(),
        }
    }
}

/// The program under test; a release build, say, where `RECADO_TEST_PROGRAM` names one.
fn program() -> OsString {
    std::env::var_os("RECADO_TEST_PROGRAM").unwrap_or_else(|| env!("CARGO_BIN_EXE_recado").into())
}

/// Keeps a stream's lines as they come.
fn keep(stream: impl AsyncRead + Unpin + Send + 'static, printed: &Arc<StdMutex<String>>) {
    let printed = Arc::clone(printed);
    tokio::spawn(async move {
        let mut lines = BufReader::new(stream).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            let mut printed = printed.lock().unwrap();
            printed.push_str(&line);
            printed.push('\n');
        }
    });
}

/// A process that is running.
pub struct Running {
    child: Child,
    printed: Arc<StdMutex<String>>,
    begun: Instant,
}

impl Running {
    /// Everything it has printed so far, on either stream.
    pub fn printed(&self) -> String {
        self.printed.lock().unwrap().clone()
    }

    /// Since it was started.
    pub fn age(&self) -> Duration {
        self.begun.elapsed()
    }

    pub fn id(&self) -> u32 {
        self.child.id().expect("it still runs")
    }

    /// Waits for the line that tells its address.
    pub async fn ready(&self) -> String {
        let told = "Recado is ready: ";
        let ready = until(PATIENCE, || async {
            let printed = self.printed();
            let line = printed.lines().find_map(|line| line.strip_prefix(told));
            line.map(str::to_owned)
        });
        ready
            .await
            .unwrap_or_else(|| panic!("it did not start: {}", self.printed()))
    }

    /// Ctrl-C. How it ended, and how long that took.
    pub async fn interrupt(mut self) -> (ExitStatus, Duration, String) {
        let begun = Instant::now();
        let id = self.id().to_string();
        let sent = Command::new("kill").args(["-INT", &id]).status().await;
        assert!(sent.unwrap().success());
        let ended = tokio::time::timeout(PATIENCE, self.child.wait()).await;
        let ended = ended.unwrap_or_else(|_| panic!("it does not stop: {}", self.printed()));
        let took = begun.elapsed();
        // The readers see the end of the streams right after the process is gone.
        tokio::time::sleep(Duration::from_millis(50)).await;
        (ended.unwrap(), took, self.printed())
    }

    /// `kill -9`.
    pub async fn kill(mut self) -> String {
        self.child.kill().await.unwrap();
        self.printed()
    }
}

/// A running installation.
pub struct Instance {
    pub running: Running,
    pub url: String,
    pub http: Client,
}

impl Instance {
    pub async fn get(&self, path: &str) -> Value {
        let answer = self.http.get(format!("{}{path}", self.url)).send().await;
        answer.unwrap().json().await.unwrap()
    }

    /// A person writes one text; its id once the phone has accepted it.
    pub async fn write(&self, phone: &str, text: &str) -> Option<String> {
        let body = json!({ "from": phone, "text": text });
        let sent = self
            .http
            .post(format!("{}/phone/messages", self.url))
            .json(&body)
            .send()
            .await
            .ok()?;
        let answer: Value = sent.json().await.ok()?;
        Some(answer["ids"][0].as_str()?.to_owned())
    }

    /// Both sides of a conversation, as the phone has them.
    pub async fn chat(&self, phone: &str) -> Vec<Value> {
        let chat = self.get(&format!("/phone/conversations/{phone}")).await;
        chat["messages"].as_array().cloned().unwrap_or_default()
    }

    /// What the agent said to this phone so far.
    pub async fn answers(&self, phone: &str) -> Vec<String> {
        let chat = self.chat(phone).await;
        let said = chat.iter().filter(|message| message["side"] == "agent");
        said.map(|message| message["text"].as_str().unwrap().to_owned())
            .collect()
    }

    /// What is remembered of this phone's owner.
    pub async fn memory(&self, phone: &str) -> Value {
        self.get(&format!("/memory/{phone}")).await
    }

    /// Waits until this many answers are there.
    pub async fn wait_for_answers(&self, phone: &str, count: usize) -> Vec<String> {
        let answers = until(PATIENCE, || async {
            let answers = self.answers(phone).await;
            (answers.len() >= count).then_some(answers)
        });
        let answers = answers.await;
        answers.unwrap_or_else(|| panic!("no answer: {}", self.running.printed()))
    }

    /// Ctrl-C, which must end well and soon. What it had printed.
    pub async fn stop(self) -> String {
        let (status, took, printed) = self.running.interrupt().await;
        assert_eq!(status.code(), Some(0), "{printed}");
        assert!(took < Duration::from_secs(4), "{took:?}: {printed}");
        printed
    }
}

/// Asks again and again; `None` where it never comes.
pub async fn until<T, F>(limit: Duration, mut ask: impl FnMut() -> F) -> Option<T>
where
    F: Future<Output = Option<T>>,
{
    let begun = Instant::now();
    loop {
        if let Some(answer) = ask().await {
            return Some(answer);
        }
        if begun.elapsed() > limit {
            return None;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// The bytes of every file of the database that hold `text`.
pub fn files_holding(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        if bytes
            .windows(text.len())
            .any(|window| window == text.as_bytes())
        {
            found.push(path.file_name().unwrap().to_string_lossy().into_owned());
        }
    }
    found.sort();
    found
}

/// The strings of a JSON list.
pub fn strings(list: &Value) -> Vec<String> {
    let list = list.as_array().into_iter().flatten();
    list.filter_map(|text| Some(text.as_str()?.to_owned()))
        .collect()
}
