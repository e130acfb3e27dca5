//! What is said of wrong agent files.

use super::*;

/// The mistakes of a file of `LEAST` (two lines) and `rest`.
fn mistakes(rest: &str) -> Vec<String> {
    let text = format!("{LEAST}{rest}");
    match parse(&text) {
        Ok(_) => Vec::new(),
        Err(mistakes) => mistakes.iter().map(ToString::to_string).collect(),
    }
}

#[test]
fn each_mistake_is_told_with_its_line_and_a_right_value() {
    for (label, rest, expected) in [
        (
            "mistyped key",
            "[timing]\nwindw_s = 5",
            "4:1: timing.windw_s: unknown key; did you mean window_s?",
        ),
        (
            "key without its unit",
            "[timing]\ngive_up = 5",
            "4:1: timing.give_up: unknown key; did you mean give_up_after_s?",
        ),
        (
            "key in the wrong place",
            "window_s = 5",
            "3:1: window_s: belongs in the section [timing]",
        ),
        (
            "top key under a section",
            "[timing]\nnumbers = []",
            "4:1: timing.numbers: belongs at the top of the file, before the first [section]",
        ),
        (
            "mistyped section",
            "[timming]\nwindow_s = 5",
            "3:2: timming: unknown section; did you mean [timing]?",
        ),
        (
            "section as a value",
            "timing = 5",
            "3:1: timing: must be a section: [timing] on a line of its own, its settings below it",
        ),
        (
            "section as a list",
            "[[timing]]\nwindow_s = 5",
            "3:3: timing: must be a section: [timing] on a line of its own, its settings below it",
        ),
        (
            "model of two words",
            "[model]\nmain = \"gpt 5\"",
            "4:8: model.main: \"gpt 5\" is not the name of a model, which is one word; for instance main = \"gpt-5.6-luna\"",
        ),
        (
            "model on two lines",
            "[model]\ncompaction = \"a\\nb\"",
            "4:14: model.compaction: \"a\\nb\" is not the name of a model, which is one word; for instance compaction = \"gpt-5.6-luna\"",
        ),
        (
            "number as text",
            "[timing]\nwindow_s = \"5s\"",
            "4:12: timing.window_s: must be 1 to 60 seconds, without quotes or unit; for instance window_s = 5",
        ),
        (
            "window under a second",
            "[timing]\nwindow_s = 0.9",
            "4:12: timing.window_s: must be 1 to 60 seconds, not 0.9; for instance window_s = 5",
        ),
        (
            "window over a minute",
            "[timing]\nwindow_s = 61\nceiling_s = 100",
            "4:12: timing.window_s: must be 1 to 60 seconds, not 61; for instance window_s = 5",
        ),
        (
            "window that is no number",
            "[timing]\nwindow_s = nan",
            "4:12: timing.window_s: must be 1 to 60 seconds, not nan; for instance window_s = 5",
        ),
        (
            "number of forty digits",
            "[budget]\nfacts_max = 9999999999999999999999999999999999999999",
            "4:13: budget.facts_max: must be a whole number from 0 to 400, not a number too long; for instance facts_max = 30",
        ),
        (
            "ceiling under window",
            "[timing]\nwindow_s = 10\nceiling_s = 8",
            "5:13: timing.ceiling_s: the ceiling (8 s) must not be under the window (10 s); four windows is a good ceiling; for instance ceiling_s = 40",
        ),
        (
            "window over the default ceiling",
            "[timing]\nwindow_s = 30",
            "4:12: timing.window_s: the ceiling (20 s) must not be under the window (30 s); four windows is a good ceiling; for instance ceiling_s = 120",
        ),
        (
            "one call longer than all",
            "[timing]\nmodel_budget_s = 50",
            "4:18: timing.model_budget_s: the timeout of one call (60 s) must not be over the budget of all calls (50 s); for instance model_timeout_s = 50",
        ),
        (
            "part of a message",
            "[budget]\nmessages_max = 2.5",
            "4:16: budget.messages_max: must be a whole number from 2 to 400, not 2.5; for instance messages_max = 60",
        ),
        (
            "keep as large as trigger",
            "[compaction]\ntrigger = 30\nkeep = 30",
            "5:8: compaction.keep: keep (30) must be less than trigger (30), else there is nothing to compact; half of it is a good value; for instance keep = 15",
        ),
        (
            "trigger under the default keep",
            "[compaction]\ntrigger = 15",
            "4:11: compaction.trigger: keep (20) must be less than trigger (15), else there is nothing to compact; half of it is a good value; for instance keep = 7",
        ),
        (
            "more kept than a transaction holds",
            "[compaction]\ntrigger = 200\nkeep = 81",
            "5:8: compaction.keep: must be a whole number from 2 to 80, not 81; for instance keep = 20",
        ),
        (
            "one kept",
            "[compaction]\nkeep = 1",
            "4:8: compaction.keep: must be a whole number from 2 to 80, not 1; for instance keep = 20",
        ),
        (
            "unknown time zone",
            "time_zone = \"Sao Paulo\"",
            "3:13: time_zone: \"Sao Paulo\" is not a known time zone; did you mean \"America/Sao_Paulo\"?",
        ),
        (
            "language tag with an underscore",
            "language = \"pt_BR\"",
            "3:12: language: \"pt_BR\" is not a language tag; did you mean \"pt-BR\"?",
        ),
        (
            "number without quotes",
            "numbers = [123]",
            "3:12: numbers: must hold texts in quotes, not a number; for instance numbers = [\"106540352242922\"]",
        ),
        (
            "number twice",
            "numbers = [\"1\", \"2\", \"1\"]",
            "3:22: numbers: 1 is listed twice",
        ),
        (
            "numbers not in a list",
            "numbers = \"1\"",
            "3:11: numbers: must be a list, not text; for instance numbers = [\"106540352242922\"]",
        ),
        (
            "blank stop word",
            "[opt_out]\nwords = [\"parar\", \" \"]",
            "4:19: opt_out.words: holds a word without a letter; for instance \"parar\"",
        ),
        (
            "stop word with a sign",
            "[opt_out]\nwords = [\"pare!\"]",
            "4:10: opt_out.words: \"pare!\" holds more than letters, digits and spaces; for instance \"parar\"",
        ),
        (
            "stop word twice",
            "[opt_out]\nwords = [\"Não\", \"nao\"]",
            "4:17: opt_out.words: \"nao\" is listed twice (case and accents do not count)",
        ),
        (
            "no stop word",
            "[opt_out]\nwords = []",
            "4:9: opt_out.words: must hold at least one word, or nobody could make the agent stop; for instance words = [\"parar\", \"stop\"]",
        ),
        (
            "routing word without a letter",
            "[routing]\nmain_words = [\"orçamento\", \"!\"]",
            "4:28: routing.main_words: holds a word without a letter; for instance \"orçamento\"",
        ),
        (
            "routing word twice",
            "[routing]\nlight_words = [\"Não\", \"nao\"]",
            "4:23: routing.light_words: \"nao\" is listed twice (case and accents do not count)",
        ),
        (
            "no threshold at all",
            "[routing]\nthreshold = 0",
            "4:13: routing.threshold: must be a whole number from 1 to 100, not 0; for instance threshold = 8",
        ),
        (
            "blank model",
            "[model]\nmain = \"  \"",
            "4:8: model.main: is blank; for instance main = \"gpt-5.6-luna\"",
        ),
        (
            "model with a sign that cannot be seen",
            "[model]\ncompaction = \"a\\u200bb\"",
            "4:14: model.compaction: \"a\\u{200b}b\" is not the name of a model, which is one word; for instance compaction = \"gpt-5.6-luna\"",
        ),
        (
            "a text of a NUL",
            "[texts]\napology = \"\\u0000\"",
            "4:11: texts.apology: is blank; for instance apology = \"Desculpe, não consegui responder agora. Pode me escrever de novo daqui a pouco?\"",
        ),
        (
            "a text of a direction",
            "[texts]\napology = \"\\u202e\"",
            "4:11: texts.apology: is blank; for instance apology = \"Desculpe, não consegui responder agora. Pode me escrever de novo daqui a pouco?\"",
        ),
        (
            "a text with a NUL",
            "[texts]\napology = \"o\\u0000i\"",
            "4:11: texts.apology: holds the control character U+0000; take it out",
        ),
        (
            "true as text",
            "[model]\nmain = true",
            "4:8: model.main: must be text in quotes, not true or false; for instance main = \"gpt-5.6-luna\"",
        ),
        (
            "no value",
            "[timing]\nwindow_s =",
            "4:11: syntax: string values must be quoted, expected literal string",
        ),
        (
            "key twice",
            "[timing]\nwindow_s = 5\nwindow_s = 6",
            "5:1: syntax: duplicate key",
        ),
    ] {
        assert_eq!(mistakes(rest), [expected], "{label}");
    }
}

#[test]
fn a_text_is_refused_when_blank_or_longer_than_whatsapp_takes() {
    let fits = "é".repeat(4096);
    assert!(mistakes(&format!("[texts]\napology = \"{fits}\"")).is_empty());
    assert_eq!(
        mistakes(&format!("[texts]\napology = \"{fits}é\"\nrefusal = \"\"")),
        [
            "4:11: texts.apology: is 4097 characters long; at most 4096 fit",
            "5:11: texts.refusal: is blank; for instance refusal = \"Desculpe, com isso eu não posso ajudar. Posso ajudar com outra coisa?\"",
        ]
    );
}

#[test]
fn a_language_without_texts_of_ours_asks_for_them() {
    let found = mistakes("language = \"fr\"\n[texts]\napology = \"Pardon.\"");
    assert_eq!(
        found,
        [
            "3:12: language: there are no built-in texts in \"fr\" (only in pt, es and en): write opted_out, refusal under \
             [texts] in the agent file"
        ]
    );
    let whole = "language = \"fr\"\n[texts]\napology = \"a\"\nopted_out = \"b\"\nrefusal = \"c\"";
    assert_eq!(mistakes(whole), Vec::<String>::new());
}

#[test]
fn an_empty_file_misses_its_id_and_persona() {
    for (label, text) in [
        ("empty", ""),
        ("only a comment", "# nothing\n"),
        ("byte order mark", "\u{feff}"),
    ] {
        let found = parse(text).unwrap_err();
        let lines: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(
            lines,
            [
                "1:1: id: is missing; for instance id = \"recepcao\"",
                "1:1: persona: is missing; for instance persona = \"Você é a recepcionista da Barbearia Exemplo.\"",
            ],
            "{label}"
        );
    }
}

#[test]
fn a_wrong_id_or_a_blank_persona_is_refused() {
    let found = parse("id = \"Recepção\"\npersona = \"\"\"\n  \"\"\"\n").unwrap_err();
    let lines: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(
        lines,
        [
            "1:6: id: must be 1 to 40 of a-z, 0-9 and -; for instance id = \"recepcao\"",
            "2:11: persona: is blank; for instance persona = \"Você é a recepcionista da Barbearia Exemplo.\"",
        ]
    );
}

#[test]
fn after_a_syntax_error_the_rest_is_checked_and_nothing_is_called_missing() {
    let found = parse("id = \"a\nlanguage = \"xx-\"\n").unwrap_err();
    let lines: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(
        lines,
        [
            "1:8: syntax: invalid basic string, expected `\"`",
            "2:12: language: \"xx-\" is not a language tag; one looks like \"pt-BR\", \"es-MX\" or \"en\"",
        ]
    );
}
