//! Tools of an agent file: what is read, and what is said of wrong ones.

use std::time::Duration;

use super::*;
use crate::domain::tool_spec::{Header, HttpTarget, Method, UrlPiece};
use crate::domain::{Effect, Target};

/// A right tool on lines 3 to 7, its request on line 8; `http` replaces what the request says.
fn tool(http: &str) -> String {
    format!(
        "{LEAST}[[tools]]\nname = \"slots\"\ndescription = \"d\"\neffect = \"read\"\n\
         parameters = {{ type = \"object\", required = [\"day\"], properties = {{ day = {{ type = \"string\" }}, \
         page = {{ type = \"integer\" }}, tags = {{ type = \"array\" }} }} }}\n{http}\n"
    )
}

fn mistakes(text: &str) -> Vec<String> {
    match parse(text) {
        Ok(_) => Vec::new(),
        Err(mistakes) => mistakes.iter().map(ToString::to_string).collect(),
    }
}

#[test]
fn a_tool_is_read_with_its_request() {
    let text = tool(
        r#"http = { method = "POST", url = "https://API.example.com:8443/a b/{day}?v=1&d={day}", hosts = ["api.example.com"], query = ["page"], headers = { Authorization = "Bearer secret:CLINIC", X-Team = "desk" } }
timeout_s = 7"#,
    );
    let agent = parse(&text).unwrap();
    let [spec] = agent.tools.as_slice() else {
        panic!("one tool");
    };
    assert_eq!(spec.tool.effect, Effect::Read);
    assert_eq!(spec.timeout, Duration::from_secs(7));
    assert_eq!(spec.secrets().collect::<Vec<_>>(), ["CLINIC"]);
    let piece = |text: &str| UrlPiece::Text(text.to_owned());
    let day = || UrlPiece::Argument("day".to_owned());
    let header = |name: &str, text: &str, secret: Option<&str>| Header {
        name: name.to_owned(),
        text: text.to_owned(),
        secret: secret.map(str::to_owned),
    };
    let right = HttpTarget {
        method: Method::Post,
        url: vec![
            piece("https://api.example.com:8443/a%20b/"),
            day(),
            piece("?v=1&d="),
            day(),
            piece(""),
        ],
        host: "api.example.com".to_owned(),
        headers: vec![
            header("Authorization", "Bearer ", Some("CLINIC")),
            header("X-Team", "desk", None),
        ],
        query: vec!["page".to_owned()],
        private: false,
    };
    assert_eq!(spec.target, Target::Http(right));
}

#[test]
fn a_schema_may_be_a_text_and_a_function_may_be_called() {
    let text = format!(
        "{LEAST}[[tools]]\nname = \"a\"\ndescription = \"d\"\neffect = \"write\"\nconfirm = \"person\"\n\
         idempotent = true\nlambda = \"cancel\"\nparameters = '{{\"type\": \"object\"}}'\n\
         [[tools]]\nname = \"b\"\ndescription = \"d\"\neffect = \"read\"\nlambda = \"b\"\n"
    );
    let agent = parse(&text).unwrap();
    let [one, other] = agent.tools.as_slice() else {
        panic!("two tools");
    };
    assert!(one.tool.confirm && one.tool.idempotent);
    assert_eq!(one.target, Target::Lambda("cancel".to_owned()));
    assert_eq!(one.timeout, Duration::from_secs(10));
    assert_eq!(other.tool.parameters["additionalProperties"], false);
}

#[test]
fn each_mistake_of_a_request_is_told_with_its_place() {
    for (label, http, expected) in [
        (
            "an argument that is none",
            r#"http = { method = "GET", url = "https://a.example/{id}" }"#,
            "8:32: tools.slots.http.url: {id} is no argument of the parameters; there are: day, page, tags; for",
        ),
        (
            "an argument that may be missing",
            r#"http = { method = "GET", url = "https://a.example/{page}" }"#,
            "8:32: tools.slots.http.url: {page} must be in required of the parameters, for the address needs it; for",
        ),
        (
            "an argument in the host",
            r#"http = { method = "GET", url = "https://{day}.example/" }"#,
            "8:32: tools.slots.http.url: must have its whole host written out, without an argument in it; for",
        ),
        (
            "an argument in the port",
            r#"http = { method = "GET", url = "https://a.example:{day}/" }"#,
            "8:32: tools.slots.http.url: is no address; for",
        ),
        (
            "a bracket left open",
            r#"http = { method = "GET", url = "https://a.example/{day" }"#,
            "8:32: tools.slots.http.url: has a { without its }; for",
        ),
        (
            "without TLS",
            r#"http = { method = "GET", url = "http://a.example/" }"#,
            "8:32: tools.slots.http.url: must begin with https:// (http:// only beside private = true); for",
        ),
        (
            "another scheme",
            r#"http = { method = "GET", url = "file:///etc/passwd" }"#,
            "8:32: tools.slots.http.url: must begin with https://; for",
        ),
        (
            "a password",
            r#"http = { method = "GET", url = "https://u:canary@a.example/" }"#,
            "8:32: tools.slots.http.url: must not hold a user or a password; put them into headers, as a secret; for",
        ),
        (
            "a host that is not in the list",
            r#"http = { method = "GET", url = "https://a.example/", hosts = ["b.example"] }"#,
            "8:62: tools.slots.http.hosts: a.example, where the url leads, is not in the list; for instance hosts = [\"a.example\"]",
        ),
        (
            "an unknown method",
            r#"http = { method = "FETCH", url = "https://a.example/" }"#,
            "8:19: tools.slots.http.method: must be one of \"GET\", \"POST\", \"PUT\", \"PATCH\", \"DELETE\"; for",
        ),
        (
            "a mistyped key",
            r#"http = { methd = "GET", url = "https://a.example/" }"#,
            "8:8: tools.slots.http.method: is missing; for instance method = \"GET\"",
        ),
        (
            "a secret in small letters",
            r#"http = { method = "GET", url = "https://a.example/", headers = { A = "secret:clinic" } }"#,
            "8:70: tools.slots.http.headers.A: must end in the name of a secret, in capitals, digits and _ (not ID or JSON); for",
        ),
        (
            "a secret that the environment has for itself",
            r#"http = { method = "GET", url = "https://a.example/", headers = { A = "secret:JSON" } }"#,
            "8:70: tools.slots.http.headers.A: must end in the name of a secret",
        ),
        (
            "a header of ours",
            r#"http = { method = "GET", url = "https://a.example/", headers = { Host = "b" } }"#,
            "8:66: tools.slots.http.headers.Host: is set by the program itself; take it out",
        ),
        (
            "a query of a GET",
            r#"http = { method = "GET", url = "https://a.example/", query = ["day"] }"#,
            "8:62: tools.slots.http.query: is needless: all arguments of a GET or DELETE go behind the ?; take it out",
        ),
        (
            "neither",
            "",
            "3:1: tools.slots.http: must have one of http and lambda; for",
        ),
        (
            "a function's name with a space",
            "lambda = \"a b\"",
            "8:10: tools.slots.lambda: must be the name or the ARN of a function; for",
        ),
        (
            "confirm of a read",
            "lambda = \"a\"\nconfirm = \"person\"",
            "9:11: tools.slots.confirm: asks for a yes to what changes nothing; take it out, or set effect = \"write\"",
        ),
        (
            "a timeout that is too long",
            "lambda = \"a\"\ntimeout_s = 21",
            "9:13: tools.slots.timeout_s: must be 1 to 20 whole seconds; for instance timeout_s = 10",
        ),
        (
            "an unknown key",
            "lambda = \"a\"\nefect = 1",
            "9:1: tools.slots.efect: unknown key; did you mean effect?",
        ),
    ] {
        let found = mistakes(&tool(http));
        let first = found.first().map(String::as_str).unwrap_or_default();
        assert!(first.starts_with(expected), "{label}: {found:?}");
        assert!(!found.join("").contains("canary"), "{label}");
    }
}

#[test]
fn mistakes_of_a_tool_itself_are_told() {
    let named = |name: &str, rest: &str| {
        format!(
            "[[tools]]\nname = \"{name}\"\ndescription = \"d\"\neffect = \"read\"\nlambda = \"a\"\n{rest}\n"
        )
    };
    for (label, text, expected) in [
        (
            "a name used twice",
            named("a", "") + &named("a", ""),
            "10:8: tools[2].name: a is the name of another tool above; give each its own",
        ),
        (
            "a name that no provider takes",
            named("a b", ""),
            "4:8: tools[1].name: must be 1 to 64 letters, digits, _ or -; for instance name = \"consultar_agenda\"",
        ),
        (
            "a schema of another kind",
            named("a", "parameters = { type = \"array\" }"),
            "8:14: tools.a.parameters: must have \"type\": \"object\": arguments are one object; a right one: parameters = {",
        ),
        (
            "JSON that breaks",
            named("a", "parameters = '{\"type\": '"),
            "8:14: tools.a.parameters: the JSON breaks at line 1 column 9 of the text",
        ),
        (
            "a section in place of a list",
            "[tools]\nname = \"a\"\n".to_owned(),
            "3:1: tools: must be [[tools]] on a line of its own, once for each, its settings below it",
        ),
        (
            "nothing in it",
            "[[tools]]\n".to_owned(),
            "3:1: tools[1].name: is missing; for instance name = \"consultar_agenda\"",
        ),
    ] {
        let found = mistakes(&format!("{LEAST}{text}"));
        let first = found.first().map(String::as_str).unwrap_or_default();
        assert!(first.starts_with(expected), "{label}: {found:?}");
    }
}

/// What a newcomer uncomments is right.
#[test]
fn the_tools_in_the_default_file_are_right() {
    let (before, tools) = DEFAULT_AGENT_FILE.split_once("# [[tools]]").unwrap();
    let lines = tools
        .lines()
        .map(|line| line.strip_prefix("# ").unwrap_or(line));
    let text = format!("{before}[[tools]]{}", lines.collect::<Vec<_>>().join("\n"));
    let agent = parse(&text).unwrap_or_else(|mistakes| panic!("{mistakes:?}"));
    let names: Vec<&str> = agent
        .tools
        .iter()
        .map(|spec| spec.tool.name.as_str())
        .collect();
    assert_eq!(names, ["horarios_livres", "cancelar_horario"]);
    let (report, _) = check_report("agent.toml", &text);
    let lines: Vec<&str> = report.lines().skip(1).collect();
    assert_eq!(
        lines,
        [
            "    tool horarios_livres: read, GET api.example.com, 10 s, secrets AGENDA",
            "    tool cancelar_horario: write, lambda cancelar-horario, 10 s, idempotent, after the person's yes",
        ]
    );
}
