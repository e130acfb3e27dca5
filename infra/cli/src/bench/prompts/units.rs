//! A request's body as a provider's cache reads it: tools, then what holds for all, then the conversation, piece by piece,
//! with the marks that stand behind a piece.

use recado::policy::tokens;
use serde_json::Value;

/// A piece of a request.
#[derive(Debug, Clone)]
pub struct Unit {
    /// Its bytes, with the role it stands under and without its mark.
    pub text: String,
    /// Its tokens, by our estimate.
    pub tokens: u32,
    /// Whether the cache is asked to keep everything up to here.
    pub is_marked: bool,
    /// Whether it is the same for all people: tools, rules, persona.
    pub is_fixed: bool,
}

/// The keys of a mark.
const MARKS: [&str; 2] = ["prompt_cache_breakpoint", "cache_control"];

/// The pieces of a request in any dialect, in the order that a cache compares them.
pub fn units(body: &Value) -> Vec<Unit> {
    let mut units = Vec::new();
    for tool in body["tools"].as_array().into_iter().flatten() {
        units.push(unit("tools", tool, true));
    }
    for part in body["system"].as_array().into_iter().flatten() {
        units.push(unit("system", part, true));
    }
    let items = body["input"].as_array().or(body["messages"].as_array());
    for item in items.into_iter().flatten() {
        let role = item["role"].as_str().unwrap_or("item");
        let is_fixed = matches!(role, "developer" | "system");
        match item["content"].as_array() {
            Some(parts) => units.extend(parts.iter().map(|part| unit(role, part, is_fixed))),
            None => units.push(unit(role, item, is_fixed)),
        }
    }
    let marks_the_end = body.get("cache_control").is_some()
        || body
            .pointer("/prompt_cache_options/mode")
            .and_then(Value::as_str)
            == Some("implicit");
    if let Some(last) = units.last_mut().filter(|_| marks_the_end) {
        last.is_marked = true;
    }
    units
}

fn unit(role: &str, piece: &Value, is_fixed: bool) -> Unit {
    let mut bare = piece.clone();
    let mut is_marked = false;
    if let Some(fields) = bare.as_object_mut() {
        for mark in MARKS {
            is_marked |= fields.remove(mark).is_some();
        }
    }
    let words = bare["text"].as_str().or(bare["content"].as_str());
    let text = format!("{role} {bare}");
    let tokens = tokens::message(words.unwrap_or(&text));
    Unit {
        text,
        tokens,
        is_marked,
        is_fixed,
    }
}
