//! Answers to a person: what was understood, from the whole batch, and what is remembered when they ask.

use super::prompt_text::{facts, folded_all, language, number, summary};
use super::{calls, patterns};
use crate::domain::{Prompt, Turn};
use crate::policy::prompt::Language;

/// Letters of one part that are quoted back.
const QUOTE_CHARS_MAX: usize = 60;

const NAME_QUESTIONS: [&str; 16] = [
    "como eu me chamo",
    "como me chamo",
    "qual e o meu nome",
    "qual e meu nome",
    "qual o meu nome",
    "qual meu nome",
    "sabe meu nome",
    "sabe o meu nome",
    "lembra do meu nome",
    "como me llamo",
    "cual es mi nombre",
    "sabes mi nombre",
    "recuerdas mi nombre",
    "what is my name",
    "whats my name",
    "my name again",
];
const MEMORY_QUESTIONS: [&str; 11] = [
    "lembra de mim",
    "lembra sobre mim",
    "sabe de mim",
    "sabe sobre mim",
    "recuerdas de mi",
    "sabes de mi",
    "acuerdas de mi",
    "remember about me",
    "know about me",
    "remember me",
    "sabes sobre mi",
];

/// Words that tell one language from the others.
const HINTS: [(Language, &[&str]); 3] = [
    (
        Language::Portuguese,
        &[
            "oi", "ola", "voce", "nao", "eu", "meu", "minha", "obrigado", "obrigada", "quero",
            "queria", "uma", "pra", "sou", "moro", "qual", "chamo", "tudo", "em", "com", "mim",
        ],
    ),
    (
        Language::Spanish,
        &[
            "hola", "usted", "yo", "mi", "quiero", "quisiera", "gracias", "una", "soy", "vivo",
            "cual", "llamo", "el", "en", "con", "estoy", "puedo", "tengo",
        ],
    ),
    (
        Language::English,
        &[
            "hello", "hi", "the", "you", "my", "i", "is", "am", "want", "please", "thanks", "what",
            "would", "like", "to",
        ],
    ),
];

/// The answer's words.
pub fn answer(prompt: &Prompt) -> String {
    let language = spoken(prompt);
    let words = folded_all(&prompt.last.join(" "));
    let asks = |questions: &[&str]| {
        questions
            .iter()
            .any(|question| words.contains(&format!(" {question} ")))
    };
    let name = known_name(prompt);
    let reply = if let Some(told) = calls::told(language, prompt) {
        told
    } else if asks(&MEMORY_QUESTIONS) {
        remembered(language, prompt)
    } else if asks(&NAME_QUESTIONS) {
        named(language, name.as_deref())
    } else {
        let greeting = greeting(language, name.as_deref(), prompt);
        format!("{greeting}{}", understood(language, &prompt.last))
    };
    format!("{reply}\n\n{}", confession(language))
}

/// The language of the person's words; that of the rules where they do not tell.
fn spoken(prompt: &Prompt) -> Language {
    let words = folded_all(&prompt.last.join(" "));
    let score = |hints: &[&str]| words.split(' ').filter(|word| hints.contains(word)).count();
    let scores = HINTS.map(|(language, hints)| (score(hints), language));
    let best = scores.iter().map(|(score, _)| *score).max().unwrap_or(0);
    let mut leaders = scores.iter().filter(|(score, _)| *score == best);
    match (leaders.next(), leaders.next()) {
        (Some((_, language)), None) => *language,
        _ => language(prompt),
    }
}

/// The name said last, wherever it was said.
fn known_name(prompt: &Prompt) -> Option<String> {
    let now = prompt.last.iter().rev();
    let before = prompt.history.iter().rev().flat_map(|turn| match turn {
        Turn::User(blocks) => blocks.as_slice(),
        Turn::Calls(_) | Turn::Assistant(_) => &[],
    });
    let said = now.chain(before).find_map(|text| patterns::name(text));
    let memory = prompt.memory.as_deref().unwrap_or_default();
    said.or_else(|| {
        facts(memory)
            .iter()
            .rev()
            .find_map(|fact| patterns::name(&fact.text))
    })
    .or_else(|| summary(memory).and_then(|text| patterns::name(&text)))
}

/// A name to begin with, and how long it has been.
fn greeting(language: Language, name: Option<&str>, prompt: &Prompt) -> String {
    let days = days_away(prompt);
    let name = name.map(|name| match language {
        Language::Portuguese => format!("Oi, {name}! "),
        Language::Spanish => format!("¡Hola, {name}! "),
        Language::English => format!("Hi, {name}! "),
    });
    let days = days.map(|days| match language {
        Language::Portuguese => format!("Faz {days} dia(s) que não nos falávamos. "),
        Language::Spanish => format!("Hace {days} día(s) que no hablábamos. "),
        Language::English => format!("It has been {days} day(s). "),
    });
    name.into_iter().chain(days).collect()
}

/// The days in the note of an absence. Other notes have numbers too (an agenda's days), so only the whole note counts.
fn days_away(prompt: &Prompt) -> Option<u64> {
    let words = language(prompt);
    prompt.notes.iter().find_map(|note| {
        let days = u64::try_from(number(note)?).ok()?;
        let absence = format!("<note>{}</note>", words.absence_note(days));
        (*note == absence).then_some(days)
    })
}

fn understood(language: Language, blocks: &[String]) -> String {
    let parts: Vec<String> = blocks.iter().map(|block| quote(block)).collect();
    let all = parts.join(" / ");
    match (language, parts.len()) {
        (Language::Portuguese, 1) => format!("Entendi: {all}"),
        (Language::Spanish, 1) => format!("Entendido: {all}"),
        (Language::English, 1) => format!("Understood: {all}"),
        (Language::Portuguese, _) => format!("Entendi, em uma coisa só: {all}"),
        (Language::Spanish, _) => format!("Entendido, todo junto: {all}"),
        (Language::English, _) => format!("Understood, as one thing: {all}"),
    }
}

/// The beginning of a message, on one line.
fn quote(block: &str) -> String {
    let line = block.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= QUOTE_CHARS_MAX {
        return line;
    }
    let start: String = line.chars().take(QUOTE_CHARS_MAX).collect();
    format!("{}…", start.trim_end())
}

fn named(language: Language, name: Option<&str>) -> String {
    match (language, name) {
        (Language::Portuguese, Some(name)) => format!("Você se chama {name}."),
        (Language::Spanish, Some(name)) => format!("Te llamas {name}."),
        (Language::English, Some(name)) => format!("Your name is {name}."),
        (Language::Portuguese, None) => "Você ainda não me disse o seu nome.".to_owned(),
        (Language::Spanish, None) => "Todavía no me dijiste tu nombre.".to_owned(),
        (Language::English, None) => "You have not told me your name yet.".to_owned(),
    }
}

/// Facts and summary, and what was said of oneself in the turns that are not compacted yet.
fn remembered(language: Language, prompt: &Prompt) -> String {
    let memory = prompt.memory.as_deref().unwrap_or_default();
    let mut lines: Vec<String> = facts(memory).into_iter().map(|fact| fact.text).collect();
    for turn in &prompt.history {
        let Turn::User(blocks) = turn else { continue };
        for found in blocks.iter().flat_map(|block| patterns::find(block)) {
            let line = patterns::sentence(language, &found);
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    lines.extend(summary(memory));
    if lines.is_empty() {
        return match language {
            Language::Portuguese => "Ainda não sei nada sobre você.".to_owned(),
            Language::Spanish => "Todavía no sé nada de ti.".to_owned(),
            Language::English => "I know nothing about you yet.".to_owned(),
        };
    }
    let all = lines.join("; ");
    match language {
        Language::Portuguese => format!("O que lembro de você: {all}"),
        Language::Spanish => format!("Lo que recuerdo de ti: {all}"),
        Language::English => format!("What I remember about you: {all}"),
    }
}

/// Nobody shall take this for a model.
const fn confession(language: Language) -> &'static str {
    match language {
        Language::Portuguese => {
            "(Sou uma demonstração, sem modelo de linguagem: só mostro o que recebi.)"
        }
        Language::Spanish => {
            "(Soy una demostración, sin modelo de lenguaje: solo muestro lo que recibí.)"
        }
        Language::English => {
            "(I am a demonstration without a language model: I only show what I was given.)"
        }
    }
}
