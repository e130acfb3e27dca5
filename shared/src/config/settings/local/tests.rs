//! Local settings right and wrong.

use super::*;

fn read_of(pairs: &[(&str, &str)]) -> Result<LocalSettings, SettingsError> {
    LocalSettings::read(&Environment::of(pairs.iter().copied()))
}

const APP_SECRET: &str = "0123456789abcdef0123456789abcdef";
const META: [(&str, &str); 5] = [
    ("RECADO_CHANNEL", "meta"),
    (
        "RECADO_META_APP_SECRET",
        "0123456789abcdef0123456789abcdef\n",
    ),
    ("RECADO_META_VERIFY_TOKEN", "verify canary"),
    ("RECADO_META_ACCESS_TOKEN", "access-canary "),
    ("RECADO_DATA_DIR", ".recado-whatsapp"),
];

#[test]
fn nothing_set_is_a_demo_on_a_phone() {
    let settings = read_of(&[]).unwrap();
    assert_eq!(settings.model, ModelAccess::Demo);
    assert_eq!(settings.channel, Channel::Phone(None));
    assert_eq!(settings.data_dir, PathBuf::from(".recado"));
    assert_eq!(settings.port, 8787);
    assert_eq!(settings.listen, Listen::LOOPBACK);
    assert_eq!(settings.log, "info");
    assert_eq!(settings.overrides, Overrides::none());
    assert!(settings.agent_files.is_empty());
    assert!(settings.warnings.is_empty());
}

#[test]
fn the_model_key_is_ours_before_it_is_shared() {
    let key_of = |pairs: &[(&str, &str)]| match read_of(pairs).unwrap().model {
        ModelAccess::Providers(models) => {
            let provider = models.providers[&models.default].clone();
            let key = provider.key.unwrap();
            (provider.base_url, key.reveal().to_owned())
        }
        ModelAccess::Demo => (String::new(), String::new()),
    };
    let openai = "https://api.openai.com/v1".to_owned();
    for (label, pairs, expected) in [
        (
            "shared",
            vec![("OPENAI_API_KEY", "sk-1\n")],
            (openai.clone(), "sk-1"),
        ),
        (
            "ours",
            vec![("OPENAI_API_KEY", "sk-1"), ("RECADO_MODEL_KEY", "sk-2")],
            (openai.clone(), "sk-2"),
        ),
        (
            "ours, the shared one broken",
            vec![("OPENAI_API_KEY", "s k"), ("RECADO_MODEL_KEY", "sk-2")],
            (openai, "sk-2"),
        ),
        (
            "another address",
            vec![
                ("RECADO_MODEL_KEY", "none"),
                ("RECADO_MODEL_BASE_URL", "http://localhost:11434/v1/"),
            ],
            ("http://localhost:11434/v1".to_owned(), "none"),
        ),
        ("blank", vec![("OPENAI_API_KEY", "  ")], (String::new(), "")),
    ] {
        assert_eq!(
            key_of(&pairs),
            (expected.0, expected.1.to_owned()),
            "{label}"
        );
    }
}

#[test]
fn agent_files_are_separated_by_commas() {
    let settings = read_of(&[("RECADO_AGENT_FILE", "a.toml, agents/ ,")]).unwrap();
    assert_eq!(
        settings.agent_files,
        [PathBuf::from("a.toml"), PathBuf::from("agents/")]
    );
}

#[test]
fn meta_comes_with_its_secrets_trimmed_and_its_defaults() {
    let settings = read_of(&META).unwrap();
    let Channel::Meta(meta) = &settings.channel else {
        panic!("the channel is Meta");
    };
    assert_eq!(meta.app_secret.reveal(), APP_SECRET);
    assert_eq!(meta.verify_token.reveal(), "verify canary");
    assert_eq!(meta.access_token.reveal(), "access-canary");
    assert_eq!(meta.graph_url, "https://graph.facebook.com");
    assert_eq!(meta.graph_version, "v25.0");
    let shown = format!("{settings:?}");
    assert!(!shown.contains("canary") && !shown.contains(APP_SECRET));
}

#[test]
fn demo_is_the_built_in_model_whatever_key_lies_about() {
    for (label, pairs) in [
        ("alone", vec![]),
        ("beside a key", vec![("OPENAI_API_KEY", "sk-1")]),
        (
            "beside an address",
            vec![("RECADO_MODEL_BASE_URL", "http://localhost:11434/v1")],
        ),
    ] {
        let settings = read_of(&[&[("RECADO_MODEL", "demo")], &pairs[..]].concat()).unwrap();
        assert_eq!(settings.model, ModelAccess::Demo, "{label}");
        assert!(settings.warnings.is_empty(), "{label}");
    }
}

#[test]
fn a_model_without_a_key_is_a_warning() {
    let settings = read_of(&[("RECADO_MODEL", "gpt-5.6-luna")]).unwrap();
    assert_eq!(settings.model, ModelAccess::Demo);
    assert_eq!(
        settings.warnings,
        ["RECADO_MODEL: is set, but without RECADO_MODEL_KEY the demo model answers"]
    );
}

#[test]
fn a_secret_of_meta_without_the_channel_is_a_warning() {
    let settings = read_of(&META[2..3]).unwrap();
    assert_eq!(
        settings.warnings,
        [
            "RECADO_META_VERIFY_TOKEN: is set, but messages come from the simulated phone; set RECADO_CHANNEL=meta to use it"
        ]
    );
}

#[test]
fn the_phone_signs_with_the_app_secret_that_is_given() {
    let settings = read_of(&META[1..2]).unwrap();
    let Channel::Phone(Some(app_secret)) = &settings.channel else {
        panic!("the channel is the phone, with a secret");
    };
    assert_eq!(app_secret.reveal(), APP_SECRET);
    assert_eq!(settings.warnings, [""; 0]);
}

#[test]
fn each_wrong_variable_is_told_with_a_right_value() {
    for (name, value, expected) in [
        (
            "RECADO_PORT",
            "80 80",
            "must be a port from 0 to 65535, not \"80 80\"; for instance RECADO_PORT=8787",
        ),
        (
            "RECADO_PORT",
            "70000",
            "must be a port from 0 to 65535, not \"70000\"; for instance RECADO_PORT=8787",
        ),
        (
            "RECADO_LISTEN",
            "bot.example.org",
            "must be an address of this machine such as 127.0.0.1 or 0.0.0.0:8787, not \"bot.example.org\"",
        ),
        (
            "RECADO_CHANNEL",
            "whatsapp",
            "must be phone or meta, not \"whatsapp\"; for instance RECADO_CHANNEL=phone",
        ),
        (
            "RECADO_LOG",
            "debgu",
            "\"debgu\" is not a filter; did you mean debug?",
        ),
        (
            "RECADO_LOG",
            "recado=loud",
            "\"recado=loud\" is not a filter; for instance RECADO_LOG=info or RECADO_LOG=info,recado=debug",
        ),
        (
            "RECADO_META_GRAPH_VERSION",
            "25",
            "\"25\" is not a version; for instance RECADO_META_GRAPH_VERSION=v25.0",
        ),
        (
            "RECADO_META_GRAPH_URL",
            "graph.facebook.com",
            "must be an http or https address; for instance RECADO_META_GRAPH_URL=https://graph.facebook.com",
        ),
        (
            "RECADO_MODEL_BASE_URL",
            "ftp://x/v1",
            "must be an http or https address; for instance RECADO_MODEL_BASE_URL=https://api.openai.com/v1",
        ),
        (
            "RECADO_MODEL_BASE_URL",
            "https://u:canary@x/v1",
            "must not hold a user or a password; for instance RECADO_MODEL_BASE_URL=https://api.openai.com/v1",
        ),
        (
            "RECADO_MODEL_BASE_URL",
            "https://x/v1?key=canary",
            "must end with its path, without ? or #; for instance RECADO_MODEL_BASE_URL=https://api.openai.com/v1",
        ),
        (
            "RECADO_MODEL_KEY",
            "\"canary\"",
            "has quotes around it; give it without them; wanted: the key as the provider shows it, for instance RECADO_MODEL_KEY=sk-…",
        ),
        (
            "OPENAI_API_KEY",
            "sk canary",
            "holds a space inside; copy it again as one word; wanted: the key as the provider shows it, for instance OPENAI_API_KEY=sk-…",
        ),
        (
            "RECADO_MODEL_KEY",
            "sk-\ncanary",
            "holds a line break or another control character inside; copy it again as one line; wanted: the key as the provider shows it, for instance RECADO_MODEL_KEY=sk-…",
        ),
        (
            "RECADO_META_APP_SECRET",
            "canary",
            "is not the secret of a Meta app; wanted: the app secret of the Meta app (App settings, Basic), 32 hexadecimal characters",
        ),
        (
            "RECADO_META_ACCESS_TOKEN",
            "canary canary",
            "holds a space inside; copy it again as one word; wanted: a system user's access token with whatsapp_business_messaging",
        ),
        (
            "RECADO_MODEL_BASE_URL",
            "https://api.openai.com/v1/responses",
            "must end before the name of the request, for /responses is added to it; for instance RECADO_MODEL_BASE_URL=https://api.openai.com/v1",
        ),
        (
            "RECADO_MODEL_BASE_URL",
            "http://localhost:8000/v1/chat/completions/",
            "must end before the name of the request, for /responses is added to it; for instance RECADO_MODEL_BASE_URL=https://api.openai.com/v1",
        ),
        (
            "RECADO_MODEL_BASE_URL",
            "https://api.openai.com",
            "must end in /v1 at OpenAI; for instance RECADO_MODEL_BASE_URL=https://api.openai.com/v1",
        ),
    ] {
        let error = read_of(&[(name, value)]).unwrap_err();
        assert_eq!(error.lines, [format!("{name}: {expected}")]);
        assert!(!error.to_string().contains("canary"));
    }
}

#[test]
fn every_mistake_is_told_at_once() {
    let error = read_of(&[
        ("RECADO_CHANNEL", "meta"),
        ("RECADO_PORT", "x"),
        ("RECADO_MODEL_BASE_URL", "https://x/v1"),
    ])
    .unwrap_err();
    let names: Vec<&str> = error
        .lines
        .iter()
        .filter_map(|line| line.split(':').next())
        .collect();
    assert_eq!(
        names,
        [
            "RECADO_MODEL_KEY",
            "RECADO_PORT",
            "RECADO_META_APP_SECRET",
            "RECADO_META_VERIFY_TOKEN",
            "RECADO_META_ACCESS_TOKEN",
            "RECADO_DATA_DIR",
        ]
    );
}
