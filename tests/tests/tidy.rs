//! The laws of the source tree: layers point one way, files and functions stay small, every file says what it is for.

use std::path::{Path, PathBuf};

use syn::spanned::Spanned as _;
use syn::visit::Visit;

/// Near 300 is the aim; this is where a file has to be split.
const FILE_LINES_MAX: usize = 400;
const FUNCTION_LINES_MAX: usize = 70;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_owned()
}

/// Every Rust file of the workspace, with its path from the root and its text.
fn sources() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for folder in [
        "shared/src",
        "functions",
        "infra/cli/src",
        "infra/cli/tests",
        "tests/src",
        "tests/tests",
    ] {
        collect(&root().join(folder), &mut found);
    }
    found.sort();
    assert!(
        found.len() > 40,
        "only {} files found: is the tree where it was?",
        found.len()
    );
    found
}

fn collect(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path
                .strip_prefix(root())
                .unwrap()
                .to_string_lossy()
                .into_owned();
            found.push((name, std::fs::read_to_string(&path).unwrap()));
        }
    }
}

fn complain(broken: &[String]) {
    assert!(broken.is_empty(), "\n{}", broken.join("\n"));
}

#[test]
fn every_file_opens_with_what_it_is_for() {
    let broken: Vec<String> = sources()
        .iter()
        .filter(|(_, text)| !text.starts_with("//! ") && !text.starts_with("#!["))
        .map(|(name, _)| format!("{name}: has no //! first"))
        .collect();
    complain(&broken);
}

#[test]
fn files_stay_small() {
    let broken: Vec<String> = sources()
        .iter()
        .map(|(name, text)| (name, text.lines().count()))
        .filter(|(_, lines)| *lines > FILE_LINES_MAX)
        .map(|(name, lines)| format!("{name}: {lines} lines, at most {FILE_LINES_MAX}"))
        .collect();
    complain(&broken);
}

/// What each layer of the library may not name. Tests inside a file are free to.
#[test]
fn layers_point_one_way() {
    let laws: [(&str, &[&str]); 5] = [
        (
            "shared/src/domain",
            &["policy", "ports", "flow", "adapters", "config"],
        ),
        (
            "shared/src/error.rs",
            &["domain", "policy", "ports", "flow", "adapters", "config"],
        ),
        ("shared/src/policy", &["flow", "adapters", "config"]),
        (
            "shared/src/ports.rs",
            &["policy", "flow", "adapters", "config"],
        ),
        ("shared/src/flow", &["adapters", "config"]),
    ];
    let mut broken = Vec::new();
    for (name, text) in sources() {
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for (_, forbidden) in laws.iter().filter(|(place, _)| name.starts_with(place)) {
            for layer in *forbidden {
                if code.contains(&format!("crate::{layer}::")) {
                    broken.push(format!("{name}: names crate::{layer}"));
                }
            }
        }
    }
    complain(&broken);
}

#[test]
fn domain_and_policy_are_pure() {
    let impure = [
        ".await",
        "async fn",
        "tokio::",
        "reqwest::",
        "aws_sdk",
        "std::fs",
        "std::env",
        "std::net",
        "rand::",
    ];
    let mut broken = Vec::new();
    for (name, text) in sources() {
        if !name.starts_with("shared/src/domain") && !name.starts_with("shared/src/policy") {
            continue;
        }
        for word in impure.iter().filter(|word| text.contains(**word)) {
            broken.push(format!("{name}: holds {word}"));
        }
    }
    complain(&broken);
}

struct Functions<'a> {
    name: &'a str,
    broken: Vec<String>,
}

impl Functions<'_> {
    /// A test that is a table may be as long as its table.
    fn check(
        &mut self,
        attributes: &[syn::Attribute],
        function: &syn::Signature,
        block: &syn::Block,
    ) {
        if attributes
            .iter()
            .any(|a| a.path().segments.last().is_some_and(|s| s.ident == "test"))
        {
            return;
        }
        let span = block.span();
        let lines = span.end().line - span.start().line + 1;
        if lines > FUNCTION_LINES_MAX {
            let (name, file) = (&function.ident, self.name);
            self.broken.push(format!(
                "{file}: fn {name} has {lines} lines, at most {FUNCTION_LINES_MAX}"
            ));
        }
    }
}

impl<'ast> Visit<'ast> for Functions<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.check(&item.attrs, &item.sig, &item.block);
        syn::visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.check(&item.attrs, &item.sig, &item.block);
        syn::visit::visit_impl_item_fn(self, item);
    }
}

#[test]
fn functions_stay_small() {
    let mut broken = Vec::new();
    for (name, text) in sources() {
        let file = syn::parse_file(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut functions = Functions {
            name: &name,
            broken: Vec::new(),
        };
        functions.visit_file(&file);
        broken.extend(functions.broken);
    }
    complain(&broken);
}

#[test]
fn mains_are_thin() {
    let broken: Vec<String> = sources()
        .iter()
        .filter(|(name, _)| name.ends_with("src/main.rs"))
        .map(|(name, text)| (name, text.lines().count()))
        .filter(|(_, lines)| *lines > 50)
        .map(|(name, lines)| format!("{name}: {lines} lines, at most 50"))
        .collect();
    complain(&broken);
}
