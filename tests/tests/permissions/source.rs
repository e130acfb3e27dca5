//! Source files as functions that call each other: by file and name, which is enough for a tree without clever calls.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use syn::visit::Visit;

/// The top of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_owned()
}

/// Every Rust file below `place`, with its path from the root.
pub fn files(place: &str) -> Vec<(String, syn::File)> {
    let mut found = Vec::new();
    collect(&root().join(place), &mut found);
    found.sort_by(|(one, _), (two, _)| one.cmp(two));
    assert!(!found.is_empty(), "no file below {place}");
    found
}

fn collect(path: &Path, found: &mut Vec<(String, syn::File)>) {
    if path.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            collect(&entry.unwrap().path(), found);
        }
    } else if path.extension().is_some_and(|extension| extension == "rs") {
        let name = path.strip_prefix(root()).unwrap().to_string_lossy();
        let text = std::fs::read_to_string(path).unwrap();
        found.push((name.into_owned(), syn::parse_file(&text).unwrap()));
    }
}

/// The module that a file is: its name without the ending.
pub fn module(file: &str) -> String {
    let path = Path::new(file);
    path.file_stem().unwrap().to_string_lossy().into_owned()
}

/// What one function does, as far as it matters here.
#[derive(Debug, Clone, Default)]
pub struct Doings {
    /// `module::name` of functions called by a path; the module is empty where the path has one part.
    pub calls: Vec<(String, String)>,
    /// Methods called on `self`.
    pub own: Vec<String>,
    /// Methods called on a field: `(field, method)`.
    pub on_fields: Vec<(String, String)>,
    /// Every method called, whatever on.
    pub methods: Vec<String>,
    /// The words given to `index_name`.
    pub indexes: Vec<String>,
    /// Fields of `self` that are read.
    pub fields: Vec<String>,
}

/// The functions of some files, by module and name. Tests are left out.
pub fn functions(files: &[(String, syn::File)]) -> BTreeMap<(String, String), Doings> {
    let mut functions = Functions::default();
    for (name, file) in files {
        functions.module = module(name);
        functions.visit_file(file);
    }
    functions.found
}

#[derive(Default)]
struct Functions {
    module: String,
    found: BTreeMap<(String, String), Doings>,
}

impl Functions {
    fn add(&mut self, name: &syn::Ident, block: &syn::Block) {
        let mut doings = Doings::default();
        doings.visit_block(block);
        let key = (self.module.clone(), name.to_string());
        self.found.insert(key, doings);
    }
}

impl<'ast> Visit<'ast> for Functions {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if item.ident != "tests" {
            syn::visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.add(&item.sig.ident, &item.block);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.add(&item.sig.ident, &item.block);
    }
}

impl<'ast> Visit<'ast> for Doings {
    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if let syn::Expr::Path(path) = &*call.func {
            let mut parts = path.path.segments.iter().rev();
            let name = parts.next().map(|part| part.ident.to_string());
            let module = parts.next().map(|part| part.ident.to_string());
            self.calls
                .push((module.unwrap_or_default(), name.unwrap_or_default()));
        }
        syn::visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let method = call.method.to_string();
        match &*call.receiver {
            syn::Expr::Path(path) if path.path.is_ident("self") => self.own.push(method.clone()),
            syn::Expr::Field(field) => {
                if let syn::Member::Named(name) = &field.member {
                    self.on_fields.push((name.to_string(), method.clone()));
                }
            }
            _ => {}
        }
        if method == "index_name"
            && let Some(syn::Expr::Path(path)) = call.args.first()
        {
            let index = path.path.segments.last().unwrap().ident.to_string();
            self.indexes.push(index);
        }
        self.methods.push(method);
        syn::visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_field(&mut self, field: &'ast syn::ExprField) {
        if let syn::Member::Named(name) = &field.member {
            self.fields.push(name.to_string());
        }
        syn::visit::visit_expr_field(self, field);
    }
}
