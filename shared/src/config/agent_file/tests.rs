//! Agent files right and wrong.

use std::time::Duration;

use proptest::prelude::*;

use super::*;

mod mistakes;
mod money;
mod tools;

const LEAST: &str = "id = \"recepcao\"\npersona = \"Você é a Lia.\"\n";

#[test]
fn an_id_and_a_persona_are_enough() {
    let agent = parse(LEAST).unwrap();
    assert_eq!(agent.persona, "Você é a Lia.");
    assert_eq!(agent.language, "pt-BR");
    assert_eq!(agent.time_zone, "America/Sao_Paulo");
    assert_eq!(agent.timing.window, Duration::from_secs(5));
    assert_eq!(agent.timing.ceiling, Duration::from_secs(20));
    assert_eq!(agent.timing.give_up_after, Duration::from_mins(5));
    assert_eq!(agent.timing.model_budget, Duration::from_secs(75));
    assert_eq!(agent.timing.model_timeout, Duration::from_mins(1));
    assert_eq!(agent.budget.history_tokens_max, 3000);
    assert_eq!(agent.budget.messages_max, 60);
    assert_eq!(agent.budget.facts_max, 30);
    assert_eq!(agent.budget.output_tokens_max, 1024);
    assert_eq!(agent.model.light, None);
    assert_eq!(
        (agent.routing.threshold, agent.routing.light_chars_max),
        (8, 48)
    );
    assert!(agent.routing.main_words.is_empty() && agent.routing.light_words.is_empty());
    assert_eq!(agent.compaction.trigger, 40);
    assert_eq!(agent.compaction.keep, 20);
    assert_eq!(agent.compaction.summary_words_max, 200);
    assert_eq!(agent.compaction.fact_chars_max, 160);
    assert_eq!(agent.opt_out_words.len(), 7);
    assert!(!agent.opt_out_words.contains(&"cancelar".to_owned()));
}

#[test]
fn the_embedded_agent_shows_the_defaults_that_hold_without_it() {
    let shown = default_agent(&Overrides::none()).unwrap();
    let mut least = parse(LEAST).unwrap();
    least.persona.clone_from(&shown.persona);
    assert_eq!(shown, least);
    assert!(
        shown.persona.contains("exemplo"),
        "it says that it is an example"
    );
}

#[test]
fn every_setting_of_a_file_reaches_the_agent() {
    let text = r#"
        id = "vendas-2"
        persona = "Eres Ana."
        language = "es-mx"
        time_zone = "america/mexico_city"
        numbers = ["111", " 222 "]
        timing = { window_s = 2.5, ceiling_s = 10, give_up_after_s = 60, model_budget_s = 40, model_timeout_s = 30 }
        model.main = "big"
        model.compaction = "small"
        model.light = "tiny"
        model.fallback = "spare"
        [routing]
        threshold = 12
        light_chars_max = 0
        main_words = ["Presupuesto", "póliza  nueva"]
        light_words = ["DUPLICADO"]
        [budget]
        history_tokens_max = 8_000
        messages_max = 0x64
        facts_max = 0
        output_tokens_max = 500
        [compaction]
        trigger = 60
        keep = 30
        summary_words_max = 100
        fact_chars_max = 80
        [opt_out]
        words = ["BASTA", "no más  mensajes"]
        [texts]
        apology = "uno"
        opted_out = "dos"
        refusal = "tres"
    "#;
    let agent = parse(text).unwrap();
    assert_eq!(agent.language, "es-MX");
    assert_eq!(agent.time_zone, "America/Mexico_City");
    assert_eq!(
        agent.numbers,
        ["111", "222"].map(|n| BusinessNumber::parse(n).unwrap())
    );
    assert_eq!(agent.timing.window, Duration::from_millis(2500));
    assert_eq!(agent.timing.model_timeout, Duration::from_secs(30));
    assert_eq!(agent.model.compaction.as_deref(), Some("small"));
    assert_eq!(agent.model.light.as_deref(), Some("tiny"));
    assert_eq!(
        (agent.routing.threshold, agent.routing.light_chars_max),
        (12, 0)
    );
    assert_eq!(agent.routing.main_words, ["presupuesto", "poliza nueva"]);
    assert_eq!(agent.routing.light_words, ["duplicado"]);
    assert_eq!(agent.model.fallback.as_deref(), Some("spare"));
    assert_eq!(agent.budget.history_tokens_max, 8000);
    assert_eq!(agent.budget.messages_max, 100);
    assert_eq!(agent.budget.facts_max, 0);
    assert_eq!(agent.compaction.fact_chars_max, 80);
    assert_eq!(agent.opt_out_words, ["basta", "no mas mensajes"]);
    assert_eq!(agent.texts.refusal, "tres");
}

#[test]
fn the_texts_follow_the_language() {
    let apology = |language: &str| {
        let text = format!("{LEAST}language = {language:?}");
        parse(&text).unwrap().texts.apology
    };
    assert!(apology("pt-PT").starts_with("Desculpe"));
    assert!(apology("es").starts_with("Perdón"));
    assert!(apology("en-GB").starts_with("Sorry"));
}

/// The overrides of these variables.
fn overrides(pairs: &[(&str, &str)]) -> Overrides {
    Overrides::read(|name| {
        pairs
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| (*value).to_owned())
    })
}

#[test]
fn a_variable_replaces_a_setting_of_the_file() {
    let over = overrides(&[
        ("RECADO_MODEL", "big "),
        ("RECADO_MODEL_COMPACTION", "small"),
        ("RECADO_MODEL_LIGHT", "tiny"),
        ("RECADO_MODEL_FALLBACK", "spare"),
        ("RECADO_WINDOW_S", "1.5"),
        ("RECADO_CEILING_S", "6"),
        ("RECADO_LANGUAGE", "en"),
        ("RECADO_TIME_ZONE", "utc"),
    ]);
    let agent = default_agent(&over).unwrap();
    assert_eq!(agent.model.main, "big");
    assert_eq!(agent.model.compaction.as_deref(), Some("small"));
    assert_eq!(agent.model.light.as_deref(), Some("tiny"));
    assert_eq!(agent.model.fallback.as_deref(), Some("spare"));
    assert_eq!(agent.timing.window, Duration::from_millis(1500));
    assert_eq!(agent.timing.ceiling, Duration::from_secs(6));
    assert_eq!(agent.language, "en");
    assert_eq!(agent.time_zone, "UTC");
    let least = parse_with(LEAST, &over).unwrap();
    assert!(least.texts.apology.starts_with("Sorry"));
    assert_eq!(
        agent.texts, least.texts,
        "the embedded agent has no texts of its own"
    );
}

#[test]
fn a_copy_of_the_embedded_file_in_another_language_has_no_text_in_ours() {
    for (language, opted_out) in [
        ("en", "All right"),
        ("es-MX", "De acuerdo"),
        ("pt-PT", "Certo"),
    ] {
        let copy =
            DEFAULT_AGENT_FILE.replace("language = \"pt-BR\"", &format!("language = {language:?}"));
        let texts = parse(&copy).unwrap().texts;
        assert!(
            texts.opted_out.starts_with(opted_out),
            "{language}: {texts:?}"
        );
    }
}

#[test]
fn the_texts_that_the_embedded_file_shows_are_the_built_in_ones() {
    let shown = DEFAULT_AGENT_FILE
        .replace("# [texts]", "[texts]")
        .replace("# apology", "apology")
        .replace("# opted_out", "opted_out")
        .replace("# refusal", "refusal");
    assert_eq!(shown.matches("\n[texts]\n").count(), 1);
    for key in ["\napology = ", "\nopted_out = ", "\nrefusal = "] {
        assert_eq!(shown.matches(key).count(), 1, "{key}");
    }
    assert_eq!(parse(&shown).unwrap(), parse(DEFAULT_AGENT_FILE).unwrap());
}

#[test]
fn a_blank_variable_replaces_nothing() {
    assert_eq!(overrides(&[("RECADO_WINDOW_S", " \n")]), Overrides::none());
}

#[test]
fn a_wrong_variable_is_told_by_its_own_name() {
    for (name, value, expected) in [
        (
            "RECADO_WINDOW_S",
            "five",
            "RECADO_WINDOW_S: must be 1 to 60 seconds, not five; for instance RECADO_WINDOW_S=5",
        ),
        (
            "RECADO_WINDOW_S",
            "25",
            "RECADO_WINDOW_S: the ceiling (20 s) must not be under the window (25 s); four windows is a good ceiling; for instance RECADO_CEILING_S=100",
        ),
        (
            "RECADO_CEILING_S",
            "2",
            "RECADO_CEILING_S: the ceiling (2 s) must not be under the window (5 s); four windows is a good ceiling; for instance RECADO_CEILING_S=20",
        ),
        (
            "RECADO_WINDOW_S",
            "60",
            "RECADO_WINDOW_S: the ceiling (20 s) must not be under the window (60 s); four windows is a good ceiling; for instance RECADO_CEILING_S=240",
        ),
        (
            "RECADO_MODEL",
            "a b",
            "RECADO_MODEL: \"a b\" is not the name of a model, which is one word; for instance RECADO_MODEL=gpt-5.6-luna",
        ),
        (
            "RECADO_MODEL_COMPACTION",
            "a\tb",
            "RECADO_MODEL_COMPACTION: \"a\\tb\" is not the name of a model, which is one word; for instance RECADO_MODEL_COMPACTION=gpt-5.6-luna",
        ),
        (
            "RECADO_MODEL_FALLBACK",
            "a b",
            "RECADO_MODEL_FALLBACK: \"a b\" is not the name of a model, which is one word; for instance RECADO_MODEL_FALLBACK=gpt-5.6-luna",
        ),
        (
            "RECADO_LANGUAGE",
            "fr",
            "RECADO_LANGUAGE: there are no built-in texts in \"fr\" (only in pt, es and en): write apology, opted_out, refusal under [texts] in the agent file",
        ),
        (
            "RECADO_TIME_ZONE",
            "Lisbon",
            "RECADO_TIME_ZONE: \"Lisbon\" is not a known time zone; did you mean \"Europe/Lisbon\"?",
        ),
        (
            "RECADO_LANGUAGE",
            "pt_BR",
            "RECADO_LANGUAGE: \"pt_BR\" is not a language tag; did you mean \"pt-BR\"?",
        ),
    ] {
        let found = default_agent(&overrides(&[(name, value)])).unwrap_err();
        let lines: Vec<String> = found.iter().map(|m| m.in_file("agent.toml")).collect();
        assert_eq!(lines, [expected]);
    }
}

#[test]
fn the_report_of_a_right_file_is_one_line() {
    let (report, right) = check_report("agent.toml", DEFAULT_AGENT_FILE);
    assert!(right);
    assert_eq!(
        report,
        "ok: agent recepcao, pt-BR, America/Sao_Paulo, every number that no other agent has, window 5 s, \
         ceiling 20 s, model gpt-5.6-luna, compaction at 40 messages to 20"
    );
    let with_light = format!("{LEAST}model.light = \"gpt-5-nano\"");
    let (report, _) = check_report("agent.toml", &with_light);
    assert!(report.contains(", model gpt-5.6-luna (light turns: gpt-5-nano), compaction"));
}

proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(text in any::<String>()) {
        let text = format!("{text}\n\"{}\" = 1", text.escape_default());
        let (report, _) = check_report("agent.toml", &text);
        prop_assert!(report.lines().all(|line| line.starts_with("agent.toml:")));
    }

    #[test]
    fn no_change_of_a_right_file_makes_the_parser_panic(
        at in 0..DEFAULT_AGENT_FILE.len(),
        length in 0..40_usize,
        patch in "[\\[\\]\"'={}.,#\n\\\\a-z0-9é_-]{0,8}",
    ) {
        let bytes = DEFAULT_AGENT_FILE.as_bytes();
        let end = (at + length).min(bytes.len());
        let changed = [&bytes[..at], patch.as_bytes(), &bytes[end..]].concat();
        if let Err(mistakes) = parse(&String::from_utf8_lossy(&changed)) {
            prop_assert!(!mistakes.is_empty());
            prop_assert!(mistakes.iter().all(|mistake| mistake.to_string().lines().count() == 1));
        }
    }

    #[test]
    fn whatever_is_accepted_keeps_its_promises(window in -5.0..120.0_f64, ceiling in -5.0..400.0_f64, trigger in 0..500_u32, keep in 0..100_u32) {
        let rest = format!("[timing]\nwindow_s = {window:?}\nceiling_s = {ceiling:?}\n[compaction]\ntrigger = {trigger}\nkeep = {keep}\n");
        if let Ok(agent) = parse(&format!("{LEAST}{rest}")) {
            prop_assert!(agent.timing.window >= Duration::from_secs(1));
            prop_assert!(agent.timing.window <= Duration::from_mins(1));
            prop_assert!(agent.timing.ceiling >= agent.timing.window);
            prop_assert!((2..=80).contains(&agent.compaction.keep));
            prop_assert!(agent.compaction.trigger > agent.compaction.keep);
        }
    }
}
