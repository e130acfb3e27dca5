//! Chat completions: OpenRouter, and any server that speaks them (Ollama, vLLM, llama.cpp).
//!
//! OpenRouter takes parts with cache marks, which it turns into those of whoever serves the model. Others get the plain
//! form that every server and every model's template reads: one system message, strings for contents.

mod answer;
mod request;

pub(super) use answer::{read, usage};
pub(super) use request::{called_names, encode};
