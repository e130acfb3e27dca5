//! The key of the keyed hashes of a local installation: a file in its data folder, made once and never changed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::ports::Chance;

/// The key's name inside the data folder.
pub const FILE: &str = "hash.key";

/// Why the key is not at hand. Each text says what to do.
#[derive(Debug, thiserror::Error)]
pub enum HashKeyError {
    /// The file or its folder refuses.
    #[error(
        "hash key: cannot {action} {path}; the data folder must belong to the user who runs this"
    )]
    File {
        /// What was tried.
        action: &'static str,
        /// Which file or folder.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// The file holds something else.
    #[error(
        "hash key: {path} must hold 64 hexadecimal characters; restore it from a backup, or, to start \
         anew without any memory, delete the data folder"
    )]
    Damaged {
        /// Which file.
        path: PathBuf,
    },
}

/// Reads `<folder>/hash.key`, or makes folder and key where there is none. Only its owner can read it.
///
/// The caller holds the lock on the folder: two processes must not make two keys.
pub fn read_or_create(folder: &Path, chance: &dyn Chance) -> Result<[u8; 32], HashKeyError> {
    let path = folder.join(FILE);
    match fs::read_to_string(&path) {
        Ok(text) => {
            let mut key = [0; 32];
            hex::decode_to_slice(text.trim(), &mut key)
                .map_err(|_| HashKeyError::Damaged { path: path.clone() })?;
            let file = File::open(&path).map_err(failed("open", &path))?;
            keep_from_others(&file).map_err(failed("restrict access to", &path))?;
            Ok(key)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => create(folder, &path, chance),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            Err(HashKeyError::Damaged { path })
        }
        Err(error) => Err(failed("read", &path)(error)),
    }
}

fn create(folder: &Path, path: &Path, chance: &dyn Chance) -> Result<[u8; 32], HashKeyError> {
    let mut key = [0; 32];
    key[..16].copy_from_slice(&chance.bits().to_be_bytes());
    key[16..].copy_from_slice(&chance.bits().to_be_bytes());

    create_folder(folder).map_err(failed("create", folder))?;
    // Whole or not at all: a key cut short by a crash would make every person a stranger.
    let draft = folder.join("hash.key.new");
    write_private(&draft, &hex::encode(key)).map_err(failed("write", &draft))?;
    fs::rename(&draft, path).map_err(failed("write", path))?;
    Ok(key)
}

fn write_private(path: &Path, text: &str) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = private().create_new(true).write(true).open(path)?;
    writeln!(file, "{text}")?;
    file.sync_all()
}

#[cfg(unix)]
fn private() -> OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

#[cfg(not(unix))]
fn private() -> OpenOptions {
    OpenOptions::new()
}

#[cfg(unix)]
fn create_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
}

#[cfg(not(unix))]
fn create_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

/// Takes back what rights others have (a copy or a backup may have widened them).
#[cfg(unix)]
fn keep_from_others(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    if file.metadata()?.permissions().mode() & 0o777 == 0o600 {
        return Ok(());
    }
    file.set_permissions(fs::Permissions::from_mode(0o600))
}

#[cfg(not(unix))]
fn keep_from_others(_: &File) -> io::Result<()> {
    Ok(())
}

fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> HashKeyError {
    let path = path.to_owned();
    move |source| HashKeyError::File {
        action,
        path,
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapters::chance::SystemChance;

    #[test]
    fn the_key_is_made_once_and_read_ever_after() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("deep/.recado");
        let made = read_or_create(&folder, &SystemChance).unwrap();
        assert_eq!(read_or_create(&folder, &SystemChance).unwrap(), made);
        assert_ne!(made[..16], made[16..]);
        assert!(!folder.join("hash.key.new").exists());
    }

    #[cfg(unix)]
    #[test]
    fn only_its_owner_can_read_the_key_even_after_others_could() {
        use std::os::unix::fs::PermissionsExt;
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("hash.key");
        let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        read_or_create(home.path(), &SystemChance).unwrap();
        assert_eq!(mode(), 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        read_or_create(home.path(), &SystemChance).unwrap();
        assert_eq!(mode(), 0o600);
    }

    #[test]
    fn a_draft_of_a_crashed_start_is_replaced() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("hash.key.new"), "12").unwrap();
        let made = read_or_create(home.path(), &SystemChance).unwrap();
        assert_eq!(read_or_create(home.path(), &SystemChance).unwrap(), made);
    }

    #[test]
    fn a_damaged_key_is_refused_without_being_shown_or_replaced() {
        for (label, content) in [
            ("empty", String::new()),
            ("too short", "ab".repeat(31)),
            ("too long", "ab".repeat(33)),
            ("not hexadecimal", "xy".repeat(32)),
        ] {
            let home = tempfile::tempdir().unwrap();
            let path = home.path().join("hash.key");
            fs::write(&path, &content).unwrap();
            let error = read_or_create(home.path(), &SystemChance)
                .unwrap_err()
                .to_string();
            assert!(
                error.contains("must hold 64 hexadecimal characters"),
                "{label}: {error}"
            );
            assert!(
                content.is_empty() || !error.contains(&content),
                "{label}: {error}"
            );
            assert_eq!(fs::read_to_string(&path).unwrap(), content, "{label}");
        }
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("file");
        fs::write(&file, "").unwrap();
        let error = read_or_create(&file.join(".recado"), &SystemChance).unwrap_err();
        assert!(
            error.to_string().starts_with("hash key: cannot "),
            "{error}"
        );
    }
}
