//! Conversations of chat and prose, written by a seed from texts of our own.

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

/// What people write, and in which language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    Portuguese,
    Spanish,
    English,
    Emoji,
    Cjk,
    /// Links, numbers, lists, what is copied and pasted.
    Codes,
    /// Another of them with every message.
    Mixed,
    /// Another of them every few turns: a conversation that changes its language.
    Drifting,
}

impl Style {
    pub const ALL: [Self; 8] = [
        Self::Portuguese,
        Self::Spanish,
        Self::English,
        Self::Emoji,
        Self::Cjk,
        Self::Codes,
        Self::Mixed,
        Self::Drifting,
    ];

    const TEXTS: [&str; 6] = [
        include_str!("texts/pt.txt"),
        include_str!("texts/es.txt"),
        include_str!("texts/en.txt"),
        include_str!("texts/emoji.txt"),
        include_str!("texts/cjk.txt"),
        include_str!("texts/codes.txt"),
    ];
}

/// What is written: only short messages, only long ones, or short ones with long answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    Chat,
    Prose,
    Both,
}

impl Length {
    pub const ALL: [Self; 3] = [Self::Chat, Self::Prose, Self::Both];
}

/// One exchange: the person's messages and the answer.
pub struct Exchange {
    pub said: Vec<String>,
    pub answer: String,
}

/// So many turns are about one thing; then the person speaks of another, with other words.
const TURNS_OF_A_TOPIC: usize = 4;
/// What is said of one thing.
const LINES_OF_A_TOPIC: usize = 4;

/// Writes conversations.
pub struct Writer {
    chance: StdRng,
    style: Style,
    length: Length,
    turn: usize,
    /// Decides what the topic is.
    topic: u64,
    language: usize,
}

impl Writer {
    pub fn new(style: Style, length: Length, seed: u64) -> Self {
        Self {
            chance: StdRng::seed_from_u64(seed),
            style,
            length,
            turn: 0,
            topic: 0,
            language: 0,
        }
    }

    /// The next exchange.
    pub fn exchange(&mut self) -> Exchange {
        if self.turn.is_multiple_of(TURNS_OF_A_TOPIC) {
            self.topic = self.chance.random();
            self.language = self.chance.random_range(0..Style::TEXTS.len());
        }
        self.turn += 1;
        let messages = self.chance.random_range(1..=4);
        let person = if self.length == Length::Prose {
            "prose"
        } else {
            "chat"
        };
        let agent = if self.length == Length::Chat {
            "chat"
        } else {
            "prose"
        };
        Exchange {
            said: (0..messages).map(|_| self.text(person)).collect(),
            answer: self.text(agent),
        }
    }

    fn text(&mut self, section: &str) -> String {
        let language = match self.style {
            Style::Portuguese => 0,
            Style::Spanish => 1,
            Style::English => 2,
            Style::Emoji => 3,
            Style::Cjk => 4,
            Style::Codes => 5,
            Style::Mixed => self.chance.random_range(0..Style::TEXTS.len()),
            Style::Drifting => self.language,
        };
        let bank = Style::TEXTS[language];
        let all = lines(bank, section);
        let line = self.chance.random_range(0..LINES_OF_A_TOPIC);
        let mut of_topic = StdRng::seed_from_u64(self.topic ^ u64::try_from(line).unwrap_or(0));
        let mut text = all[of_topic.random_range(0..all.len())].to_owned();
        for slot in ["name", "day", "thing", "place"] {
            let slotted = format!("{{{slot}}}");
            while text.contains(&slotted) {
                let fillings: Vec<&str> = lines(bank, slot)
                    .iter()
                    .flat_map(|line| line.split(", "))
                    .collect();
                let filling = fillings[self.chance.random_range(0..fillings.len())];
                text = text.replacen(&slotted, filling, 1);
            }
        }
        while text.contains("{n}") {
            let number = self.chance.random_range(2..=48_u32).to_string();
            text = text.replacen("{n}", &number, 1);
        }
        if section == "chat" {
            self.typed(&text)
        } else {
            text
        }
    }

    /// As thumbs type it: without accents, in capitals, with letters drawn out or left out.
    fn typed(&mut self, text: &str) -> String {
        match self.chance.random_range(0..10) {
            0 => text.to_uppercase(),
            1 | 2 => text.chars().map(without_accent).collect(),
            3 => format!("{text}{}", "!".repeat(self.chance.random_range(1..4))),
            4 if text.len() > 8 => {
                let left_out = self.chance.random_range(1..text.chars().count());
                let kept = text.chars().enumerate();
                kept.filter(|(at, _)| *at != left_out)
                    .map(|(_, letter)| letter)
                    .collect()
            }
            _ => text.to_owned(),
        }
    }
}

fn without_accent(letter: char) -> char {
    match letter {
        'á' | 'à' | 'ã' | 'â' => 'a',
        'é' | 'ê' => 'e',
        'í' => 'i',
        'ó' | 'õ' | 'ô' => 'o',
        'ú' | 'ü' => 'u',
        'ç' => 'c',
        'ñ' => 'n',
        _ => letter,
    }
}

/// The lines of a section.
fn lines<'a>(bank: &'a str, section: &str) -> Vec<&'a str> {
    let begins = format!("[{section}]");
    let lines = bank.lines().skip_while(|line| *line != begins).skip(1);
    lines.take_while(|line| !line.starts_with('[')).collect()
}
