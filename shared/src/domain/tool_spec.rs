//! A tool of an agent file: what its model is told, and what is called in its name.

use std::time::Duration;

use super::tool::Tool;

/// A tool as declared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolSpec {
    /// What the model is told.
    pub tool: Tool,
    /// One call of it. 1 s to 20 s, default 10 s.
    pub timeout: Duration,
    /// What is called.
    pub target: Target,
}

impl ToolSpec {
    /// The names of the secrets that it sends.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        let headers = match &self.target {
            Target::Http(http) => http.headers.as_slice(),
            Target::Lambda(_) => &[],
        };
        headers.iter().filter_map(|header| header.secret.as_deref())
    }
}

/// What is called for a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A service of the web.
    Http(HttpTarget),
    /// A function of AWS Lambda, by its name or ARN.
    Lambda(String),
}

/// A request to a service of the web, but for its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpTarget {
    /// How.
    pub method: Method,
    /// Where: whole texts and the names of the arguments between them. The host is in the first text.
    pub url: Vec<UrlPiece>,
    /// The host in that address, as it is in every request.
    pub host: String,
    /// Sent with every request.
    pub headers: Vec<Header>,
    /// Arguments that go behind the `?`; those of a GET or DELETE all do.
    pub query: Vec<String>,
    /// Whether the host may be in a private network.
    pub private: bool,
}

/// How a service is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// GET.
    Get,
    /// POST.
    Post,
    /// PUT.
    Put,
    /// PATCH.
    Patch,
    /// DELETE.
    Delete,
}

impl Method {
    /// Every method.
    pub const ALL: [Self; 5] = [Self::Get, Self::Post, Self::Put, Self::Patch, Self::Delete];

    /// As it stands in a request.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    /// Whether arguments that have no place of their own go into a JSON body, not behind the `?`.
    pub const fn has_body(self) -> bool {
        !matches!(self, Self::Get | Self::Delete)
    }
}

/// A part of an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UrlPiece {
    /// As it stands, escaped already.
    Text(String),
    /// The value of this argument, escaped.
    Argument(String),
}

/// A header of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Its name.
    pub name: String,
    /// Its value, or what stands before the secret.
    pub text: String,
    /// The name of the secret that ends it.
    pub secret: Option<String>,
}
