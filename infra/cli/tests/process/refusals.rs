//! What cannot be started is told in one line that says what to do.

use crate::harness::{Ended, Place};

fn check(ended: &Ended, words: &[&str]) {
    assert_eq!(ended.code, Some(1), "{}{}", ended.out, ended.err);
    assert_eq!(ended.err.trim_end().lines().count(), 1, "{}", ended.err);
    assert_eq!(ended.out, "");
    for word in words {
        assert!(ended.err.contains(word), "{word} in {}", ended.err);
    }
}

#[tokio::test]
async fn a_second_process_on_the_same_folder_is_refused() {
    let place = Place::new();
    let instance = place.run().await;
    let second = place.recado(&["run", "--port", "0"]).await;
    check(&second, &["another recado runs on", "RECADO_DATA_DIR"]);
    // Also where it asks for the port that the first one has.
    let port = instance.url.rsplit(':').next().unwrap();
    let third = place.recado(&["run", "--port", port]).await;
    check(&third, &["another recado runs on"]);
    instance.stop().await;
}

#[tokio::test]
async fn a_taken_port_is_refused() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let place = Place::new();
    let refused = place.recado(&["run", "--port", &port]).await;
    check(&refused, &[&port, "--port"]);
}

#[tokio::test]
async fn a_wrong_setting_is_named_and_shown_right() {
    for (name, value, right) in [
        ("RECADO_PORT", "abc", "8787"),
        ("RECADO_WINDOW_S", "zero", "RECADO_WINDOW_S=5"),
        ("RECADO_WINDOW_S", "30", "RECADO_CEILING_S=120"),
        ("RECADO_MODEL", "a b", "RECADO_MODEL=gpt-5.6-luna"),
        ("RECADO_MODEL_COMPACTION", "a b", "gpt-5.6-luna"),
        ("RECADO_LANGUAGE", "fr", "[texts]"),
        ("RECADO_LISTEN", "0.0.0.0", "RECADO_LISTEN=127.0.0.1"),
        ("RECADO_MODEL_KEY", "sk-\nab", "RECADO_MODEL_KEY=sk-"),
        (
            "RECADO_MODEL_BASE_URL",
            "https://api.openai.com",
            "https://api.openai.com/v1",
        ),
        ("RECADO_AGENT_FILE", "missing.toml", "missing.toml"),
        ("RECADO_MODEL_BASE_URL", "ftp://x", "https://"),
        ("RECADO_CHANNEL", "sms", "RECADO_CHANNEL=phone"),
        ("RECADO_LOG", "debgu", "debug"),
        ("RECADO_LOG", "bogus", "info"),
    ] {
        let place = Place::new()
            .with("RECADO_MODEL_KEY", "none")
            .with(name, value);
        let refused = place.recado(&["run", "--port", "0"]).await;
        check(&refused, &[name, right]);
    }
}

#[tokio::test]
async fn a_model_of_a_provider_that_is_not_set_up_is_refused_with_its_agent() {
    for (model, variable) in [
        ("anthropic:claude-haiku-4-5", "RECADO_ANTHROPIC_KEY="),
        ("compatible:llama3.2:3b", "RECADO_COMPATIBLE_BASE_URL=http"),
    ] {
        let place = Place::new()
            .with("RECADO_MODEL_KEY", "none")
            .with("RECADO_MODEL", model);
        let refused = place.recado(&["run", "--port", "0"]).await;
        check(&refused, &["agent ", model, variable]);
    }
}

/// Nor under any other.
#[tokio::test]
async fn a_table_whose_key_was_changed_is_not_opened() {
    let place = Place::new();
    place.run().await.stop().await;
    place.run().await.stop().await;
    let file = place.data().join("hash.key");
    let right = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, "ab".repeat(32)).unwrap();
    let refused = place.recado(&["run", "--port", "0"]).await;
    check(&refused, &["hash.key is not the key", "put it back"]);
    std::fs::write(&file, right).unwrap();
    place.run().await.stop().await;
}

/// Without its key a table no longer knows whom it has forgotten.
#[tokio::test]
async fn a_table_whose_key_is_gone_is_not_given_a_new_one() {
    let place = Place::new();
    place.run().await.stop().await;
    std::fs::remove_file(place.data().join("hash.key")).unwrap();
    let refused = place.recado(&["run", "--port", "0"]).await;
    check(&refused, &["hash.key is gone", "put it back"]);
}

#[tokio::test]
async fn a_table_that_was_emptied_is_not_taken_for_a_new_one() {
    let place = Place::new();
    place.run().await.stop().await;
    std::fs::write(place.data().join("recado.db"), "").unwrap();
    let refused = place.recado(&["run", "--port", "0"]).await;
    check(&refused, &["recado.db is empty", "put a copy of it back"]);
}

#[tokio::test]
async fn a_damaged_table_is_told_with_what_to_do() {
    let place = Place::new();
    place.run().await.stop().await;
    let table = place.data().join("recado.db");
    let whole = std::fs::read(&table).unwrap();
    // What every database begins with stays; in the second one the list of tables does too.
    for begin in [100, whole.len() / 5] {
        let mut bytes = whole.clone();
        bytes[begin..].fill(0xff);
        std::fs::write(&table, bytes).unwrap();
        let refused = place.recado(&["run", "--port", "0"]).await;
        assert_eq!(refused.code, Some(1), "{begin}: {}", refused.err);
        for word in ["put a copy of the whole", "move the folder away"] {
            assert!(refused.err.contains(word), "{begin}: {}", refused.err);
        }
    }
}

#[tokio::test]
async fn a_folder_that_cannot_be_used_is_told_with_a_right_one() {
    let mut place = Place::new();
    let file = place.file("a-file", "");
    let under = file.join("data");
    for (folder, word) in [
        (file.to_str().unwrap(), "a-file is no folder"),
        (under.to_str().unwrap(), "a-file is no folder"),
        #[cfg(target_os = "linux")]
        ("/proc/nothing", "cannot be made"),
        #[cfg(target_os = "linux")]
        ("/proc/self", "/proc/self cannot be written to"),
    ] {
        place.set("RECADO_DATA_DIR", folder);
        let arguments = [&["run", "--port", "0"][..], &["say", "oi"]];
        for arguments in arguments {
            let refused = place.recado(arguments).await;
            check(&refused, &[word, "RECADO_DATA_DIR=.recado"]);
        }
    }
}

#[tokio::test]
async fn what_is_no_agent_file_is_told_with_what_to_give() {
    let place = Place::new();
    std::fs::write(place.file("latin.toml", ""), [0xe7, 0xe3, 0x6f]).unwrap();
    for (given, word) in [
        (".", ". is a folder; give the path of an agent file"),
        ("missing.toml", "missing.toml is not there; give the path"),
        ("latin.toml", "is not UTF-8 text; save it again"),
    ] {
        let refused = place.recado(&["agent", "check", given]).await;
        check(&refused, &[word]);
    }
}

#[tokio::test]
async fn what_say_cannot_write_is_refused_with_a_sentence() {
    let place = Place::new();
    let many: Vec<&str> = std::iter::repeat_n("oi", 300).collect();
    let too_many = [&["say", "--ephemeral"], &many[..]].concat();
    for (label, arguments, word) in [
        (
            "a phone of letters",
            vec!["say", "--ephemeral", "--phone", "ana", "oi"],
            "5511900000001",
        ),
        (
            "a phone that is a path",
            vec!["say", "--ephemeral", "--phone", "../x?y=1", "oi"],
            "5511900000001",
        ),
        ("300 texts", too_many, "200"),
        (
            "an empty text",
            vec!["say", "--ephemeral", "oi", ""],
            "empty",
        ),
        (
            "a forget of letters",
            vec!["forget", "--yes", "--phone", "ana/../x"],
            "5511900000001",
        ),
    ] {
        let refused = place.recado(&arguments).await;
        println!("{label}: {}", refused.err);
        check(&refused, &[word]);
    }
    let nothing = place.recado(&["say", "--ephemeral"]).await;
    assert_eq!(nothing.code, Some(2), "no texts are wrong arguments");
}

#[tokio::test]
async fn emoji_and_very_long_texts_are_answered() {
    let place = Place::new().with("RECADO_WINDOW_S", "1");
    let emoji = "👩‍👩‍👧‍👦🇧🇷é".repeat(700);
    let long = "palavra longa ".repeat(4_500);
    let said = place.say(&["--ephemeral", &emoji, &long, "🎂"]).await;
    assert_eq!(said["events"], 3);
    assert_eq!(said["turns"], 1);
    assert_eq!(said["sends"], 1);
    assert!(said["reply"].as_str().unwrap().contains('🎂'));
}
