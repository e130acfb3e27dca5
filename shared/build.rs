//! Writes down the agent files of `infra/agents`, so that they travel inside the program: what deploys a function
//! takes its binary and nothing beside it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

#[expect(
    clippy::disallowed_methods,
    reason = "cargo tells a build script its folders by the environment"
)]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let folder = root.join("../infra/agents");
    // The folder itself, so that a file that comes or goes is noticed too.
    println!("cargo::rerun-if-changed={}", folder.display());
    println!("cargo::rerun-if-changed=build.rs");
    let mut list = String::from("&[");
    for file in agent_files(&folder)? {
        let name = file
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let path = file.canonicalize()?.display().to_string();
        write!(list, "({name:?}, include_str!({path:?})),")?;
    }
    list.push(']');
    let target = PathBuf::from(env::var("OUT_DIR")?).join("agents.rs");
    Ok(fs::write(target, list)?)
}

/// In the order of their names; none where the folder is not there.
fn agent_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    if !folder.is_dir() {
        return Ok(files);
    }
    for entry in fs::read_dir(folder)? {
        let file = entry?.path();
        if file.extension().is_some_and(|ending| ending == "toml") {
            files.push(file);
        }
    }
    files.sort();
    Ok(files)
}
