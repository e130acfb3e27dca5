//! The estimator of tokens, held against real tokenizers after five turns of learning, as in a conversation.
//!
//! `cargo test -p recado-tests --test tokens -- --nocapture` prints the errors by language.

mod writer;

use std::collections::HashMap;

use recado::domain::{Output, Prompt, Turn};
use recado::policy::tokens;
use tiktoken_rs::CoreBPE;
use writer::{Exchange, Length, Style, Writer};

/// Conversations of each style and length.
const CONVERSATIONS: u64 = 18;
/// Turns that a conversation learns from before it is measured.
const LEARNT: usize = 5;
/// Turns that are measured after that.
const MEASURED: usize = 15;
/// Exchanges that a window holds, in turn from one conversation to the next: the fewer, the less one evens out another.
const WINDOWS: [usize; 3] = [2, 5, 10];
/// What a chat format puts around a message, by OpenAI's own rule for counting.
const FRAMING: usize = 4;

/// A tokenizer, and what it made of each text so far.
struct Tokenizer {
    name: &'static str,
    table: &'static CoreBPE,
    counted: HashMap<String, usize>,
}

impl Tokenizer {
    fn message(&mut self, text: &str) -> usize {
        if let Some(count) = self.counted.get(text) {
            return *count;
        }
        let count = self.table.encode_ordinary(text).len() + FRAMING;
        self.counted.insert(text.to_owned(), count);
        count
    }

    /// What a provider would report for a prompt of a rule and a window.
    fn prompt(&mut self, prompt: &Prompt) -> u64 {
        let mut texts: Vec<&String> = vec![&prompt.rules, &prompt.persona];
        texts.extend(&prompt.last);
        for turn in &prompt.history {
            match turn {
                Turn::User(blocks) => texts.extend(blocks),
                Turn::Assistant(text) => texts.push(text),
                Turn::Calls(_) => unreachable!("nothing is called here"),
            }
        }
        let count: usize = texts.into_iter().map(|text| self.message(text)).sum();
        u64::try_from(count).unwrap()
    }
}

fn tokenizers() -> [Tokenizer; 2] {
    let of = |name, table| Tokenizer {
        name,
        table,
        counted: HashMap::new(),
    };
    [
        of("o200k", tiktoken_rs::o200k_base_singleton()),
        of("cl100k", tiktoken_rs::cl100k_base_singleton()),
    ]
}

/// The request of a turn: the newest exchanges before it, and its messages. Rules and persona are as short as can be,
/// for they are the same each time and would only make the error smaller.
fn prompt(before: &[Exchange], now: &Exchange, window: usize) -> Prompt {
    let window = &before[before.len().saturating_sub(window)..];
    let turns = window.iter().flat_map(|exchange| {
        [
            Turn::User(exchange.said.clone()),
            Turn::Assistant(exchange.answer.clone()),
        ]
    });
    Prompt {
        tools: Vec::new(),
        rules: "Be kind.".to_owned(),
        persona: "Lia".to_owned(),
        memory: None,
        history: turns.collect(),
        last: now.said.clone(),
        notes: Vec::new(),
        rounds: Vec::new(),
        words_only: false,
        pause: None,
        output: Output::Text,
        output_tokens_max: 100,
        person_key: String::new(),
    }
}

/// Windows of one kind: how far each estimate was off, in parts of the true count, and how many were under by more than
/// the margin.
#[derive(Default, Clone)]
struct Errors {
    off: Vec<f64>,
    under: usize,
    /// The true count against the estimate before anything was learnt.
    unlearnt: Vec<f64>,
}

impl Errors {
    fn add(&mut self, other: &Self) {
        self.off.extend(&other.off);
        self.under += other.under;
        self.unlearnt.extend(&other.unlearnt);
    }

    /// The error that so many parts of a hundred do not exceed, in percent.
    fn percentile(&self, percent: usize) -> f64 {
        100.0 * percentile(&self.off, percent)
    }

    #[expect(clippy::cast_precision_loss, reason = "a few thousand windows")]
    fn under_percent(&self) -> f64 {
        100.0 * self.under as f64 / self.off.len() as f64
    }

    fn line(&self, tokenizer: &str, label: &str) -> String {
        format!(
            "{tokenizer:<7} {label:<22} {:>6} {:>7.1} % {:>6.1} % {:>7.2} % {:>6.2}",
            self.off.len(),
            self.percentile(50),
            self.percentile(95),
            self.under_percent(),
            percentile(&self.unlearnt, 50),
        )
    }
}

fn percentile(of: &[f64], percent: usize) -> f64 {
    let mut sorted = of.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[(sorted.len() * percent / 100).min(sorted.len() - 1)]
}

/// A conversation: what was learnt in each turn counts in the next.
fn converse(tokenizer: &mut Tokenizer, mut writer: Writer, window: usize) -> Errors {
    let mut errors = Errors::default();
    let mut factor = 1.0;
    let mut before = Vec::new();
    for turn in 0..LEARNT + MEASURED {
        let now = writer.exchange();
        let prompt = prompt(&before, &now, window);
        let (actual, estimate) = (tokenizer.prompt(&prompt), tokens::prompt(&prompt));
        let counted = f64::from(u32::try_from(actual).unwrap());
        errors.unlearnt.push(counted / f64::from(estimate));
        if turn >= LEARNT {
            errors
                .off
                .push((f64::from(estimate) * factor / counted - 1.0).abs());
            let budgeted = f64::from(tokens::budgeted(estimate, factor));
            errors.under += usize::from(budgeted < counted);
        }
        factor = tokens::learn(factor, actual, estimate);
        before.push(now);
    }
    errors
}

#[test]
fn after_five_turns_the_median_error_is_small_and_hardly_a_window_is_under_the_margin() {
    println!(
        "tokenizer, what is written, windows, median and p95 of the error, under by more than the margin"
    );
    for mut tokenizer in tokenizers() {
        let mut all = Errors::default();
        for style in Style::ALL {
            for length in Length::ALL {
                let mut errors = Errors::default();
                for (seed, window) in (0..CONVERSATIONS).zip(WINDOWS.into_iter().cycle()) {
                    let writer = Writer::new(style, length, seed);
                    errors.add(&converse(&mut tokenizer, writer, window));
                }
                let label = format!("{style:?} {length:?}");
                println!("{}", errors.line(tokenizer.name, &label));
                // Where every message is in another language or made of emoji, no factor holds for the next window.
                let most = if matches!(style, Style::Mixed | Style::Emoji) {
                    10.0
                } else {
                    6.0
                };
                assert!(errors.percentile(50) <= most, "{label}: the median");
                assert!(errors.under_percent() <= 2.5, "{label}: under the margin");
                // The first turn of a conversation has no factor yet: the classes alone must not be far off.
                let unlearnt = percentile(&errors.unlearnt, 50);
                assert!(
                    (0.8..1.32).contains(&unlearnt),
                    "{label}: {unlearnt} before learning"
                );
                all.add(&errors);
            }
        }
        println!("{}", all.line(tokenizer.name, "all"));
        assert!(all.percentile(50) <= 6.0, "{}: the median", tokenizer.name);
        assert!(
            all.under_percent() <= 1.0,
            "{}: under the margin",
            tokenizer.name
        );
    }
}
