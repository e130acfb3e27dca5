//! What an installation keeps on disk is nobody else's business: its files are closed to other users in whatever folder
//! they lie, and a folder that it makes is too. A folder that was there already keeps the rights that it has: `/tmp`
//! may be named, and belongs to everybody.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

/// How to open a file that is closed to others once it is made. On systems without Unix rights, as any other.
pub fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options
}

/// Writes a whole file that others cannot read.
pub fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut file = options()
        .create(true)
        .truncate(true)
        .write(true)
        .open(path)?;
    file.write_all(text.as_bytes())
}

/// Takes back what rights others have to a file of ours (a copy or a backup may have widened them). A file that is not
/// there is none.
pub fn close(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let metadata = match fs::symlink_metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            metadata => metadata?,
        };
        if metadata.is_file() && metadata.permissions().mode() & 0o077 != 0 {
            fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
        }
    }
    Ok(())
}

/// Makes a folder, closed to others, where none is.
pub fn make_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.recursive(true).create(path)
}

/// Whether other users may enter a folder.
pub fn is_open(folder: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        folder
            .metadata()
            .is_ok_and(|folder| folder.permissions().mode() & 0o011 != 0)
    }
    #[cfg(not(unix))]
    {
        let _ = folder;
        false
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn files_are_closed_and_only_a_folder_of_ours_is() {
        let home = tempfile::tempdir().unwrap();
        let theirs = home.path().join("theirs");
        fs::create_dir(&theirs).unwrap();
        fs::set_permissions(&theirs, fs::Permissions::from_mode(0o1777)).unwrap();
        make_folder(&theirs).unwrap();
        assert_eq!(mode(&theirs), 0o1777);
        assert!(is_open(&theirs));
        let ours = home.path().join("deep/ours");
        make_folder(&ours).unwrap();
        assert_eq!(mode(&ours), 0o700);
        assert!(!is_open(&ours));

        let file = theirs.join("file");
        write(&file, "a").unwrap();
        assert_eq!(mode(&file), 0o600);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        close(&file).unwrap();
        assert_eq!(mode(&file), 0o600);
        close(&theirs.join("nothing")).unwrap();
    }
}
