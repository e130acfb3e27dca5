//! The provider's own log: JSON lines, append only, in memory or in `phone.jsonl`. Whatever it has to know after a
//! kill is written here before anyone is told of it. It is not the program's log: phones and texts are its content.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use recado::domain::{Phone, Timestamp};
use serde::{Deserialize, Serialize};

use super::book::Progress;
use crate::private;

/// The form of today's lines.
const VERSION: u32 = 1;

/// One thing that happened.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Record {
    /// A person wrote a text.
    Wrote {
        /// The provider's id of the message.
        id: String,
        /// Who wrote.
        from: Phone,
        /// The words.
        text: String,
        /// When it leaves the phone; for the later texts of a burst a little in the future.
        at: Timestamp,
    },
    /// The back end sent a text and will be told that it was accepted.
    Accepted {
        /// The provider's id of the message.
        id: String,
        /// Whose phone it reaches.
        to: Phone,
        /// The words.
        text: String,
        /// What the back end handed over to be given back in statuses: its reply's id.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reply: Option<String>,
        /// When.
        at: Timestamp,
    },
    /// The back end answered a webhook about a message with 2xx.
    Progressed {
        /// The message.
        id: String,
        /// What the webhook said of it.
        progress: Progress,
        /// When it was answered.
        at: Timestamp,
    },
}

#[derive(Serialize, Deserialize)]
struct Line<R> {
    v: u32,
    #[serde(flatten)]
    record: R,
}

/// Where records go.
pub struct Log {
    file: Option<Disk>,
}

struct Disk {
    file: File,
    length: u64,
}

impl Log {
    /// A log that is forgotten with the process.
    pub const fn in_memory() -> Self {
        Self { file: None }
    }

    /// Opens or creates the log and reads what it holds. What a kill left of a last line is cut off: nobody was
    /// told of it. A line that cannot be read is left out, with a warning that names its number only.
    pub fn open(path: &Path) -> io::Result<(Self, Vec<Record>)> {
        let mut file = private::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let whole = bytes
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |at| at + 1);
        if whole < bytes.len() {
            tracing::warn!("phone.jsonl ends in the middle of a line; that line is dropped");
            file.set_len(whole as u64)?;
        }
        file.seek(SeekFrom::End(0))?;
        let records = decode_lines(bytes.get(..whole).unwrap_or_default())?;
        let length = whole as u64;
        Ok((
            Self {
                file: Some(Disk { file, length }),
            },
            records,
        ))
    }

    /// Writes several records, all of them or nothing.
    pub fn append(&mut self, records: &[Record]) -> io::Result<()> {
        let Some(disk) = &mut self.file else {
            return Ok(());
        };
        let mut bytes = Vec::new();
        for record in records {
            serde_json::to_writer(&mut bytes, &Line { v: VERSION, record })?;
            bytes.push(b'\n');
        }
        if let Err(error) = disk.file.write_all(&bytes).and_then(|()| disk.file.flush()) {
            // Half a line must not stay: the next record would be glued to it.
            disk.file.set_len(disk.length)?;
            disk.file.seek(SeekFrom::End(0))?;
            return Err(error);
        }
        disk.length += bytes.len() as u64;
        Ok(())
    }
}

fn decode_lines(bytes: &[u8]) -> io::Result<Vec<Record>> {
    let mut records = Vec::new();
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        if line.is_empty() {
            continue;
        }
        match serde_json::from_slice::<Line<Record>>(line) {
            Ok(line) if line.v == VERSION => records.push(line.record),
            Ok(line) => {
                return Err(io::Error::other(format!(
                    "line {} has format version {}; this program reads version {VERSION}",
                    index + 1,
                    line.v
                )));
            }
            Err(_) => tracing::warn!(line = index + 1, "phone.jsonl has a line that is no record"),
        }
    }
    Ok(records)
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;

    use super::*;

    fn wrote(id: &str) -> Record {
        Record::Wrote {
            id: id.to_owned(),
            from: Phone::parse("5511900000001").unwrap(),
            text: "olá".to_owned(),
            at: Timestamp::from_ms(1),
        }
    }

    #[test]
    fn what_was_appended_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("phone.jsonl");
        let (mut log, before) = Log::open(&path).unwrap();
        assert!(before.is_empty());
        log.append(&[wrote("a"), wrote("b")]).unwrap();
        let progressed = Record::Progressed {
            id: "a".to_owned(),
            progress: Progress::Delivered,
            at: Timestamp::from_ms(2),
        };
        log.append(std::slice::from_ref(&progressed)).unwrap();
        let (_, after) = Log::open(&path).unwrap();
        assert!(after == [wrote("a"), wrote("b"), progressed]);
    }

    #[test]
    fn a_torn_last_line_is_dropped_and_the_next_record_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("phone.jsonl");
        let (mut log, _) = Log::open(&path).unwrap();
        log.append(&[wrote("a")]).unwrap();
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(br#"{"v":1,"type":"wrote","id":"torn"#)
            .unwrap();
        let (mut log, records) = Log::open(&path).unwrap();
        assert!(records == [wrote("a")]);
        log.append(&[wrote("b")]).unwrap();
        let (_, records) = Log::open(&path).unwrap();
        assert!(records == [wrote("a"), wrote("b")]);
    }

    #[test]
    fn a_line_of_a_newer_version_stops_the_start_and_a_damaged_one_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("phone.jsonl");
        std::fs::write(&path, "garbage\n").unwrap();
        assert!(Log::open(&path).unwrap().1.is_empty());
        let newer = r#"{"v":2,"type":"wrote","id":"a","from":"5511900000001","text":"x","at":1}"#;
        std::fs::write(&path, format!("{newer}\n")).unwrap();
        let error = Log::open(&path).err().unwrap();
        assert!(error.to_string().contains("line 1 has format version 2"));
    }
}
