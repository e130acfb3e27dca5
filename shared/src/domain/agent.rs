//! A persona with everything that decides how it behaves. Read from the agent file by `config::agent_file`.

use std::time::Duration;

use super::ids::{AgentId, BusinessNumber};
use super::prices::PriceList;
use super::routing::RoutingRules;
use super::tool_spec::ToolSpec;

/// One agent as configured.
#[derive(Debug, Clone, PartialEq)]
pub struct Agent {
    /// Its id: part of every key.
    pub id: AgentId,
    /// Who it is and how it speaks; the prompt's persona part.
    pub persona: String,
    /// BCP 47 tag, for instance `pt-BR`; picks the language of the engine rules.
    pub language: String,
    /// IANA time zone, for instance `America/Sao_Paulo`.
    pub time_zone: String,
    /// The business numbers it answers; empty means every number that no other agent has.
    pub numbers: Vec<BusinessNumber>,
    /// When it answers.
    pub timing: Timing,
    /// Which model it asks.
    pub model: ModelChoice,
    /// Which turns the light model gets.
    pub routing: RoutingRules,
    /// What a prompt may hold.
    pub budget: Budget,
    /// When old turns become memory.
    pub compaction: CompactionRules,
    /// Whether it keeps an agenda for each person, with tools for it. Default no.
    pub agenda: bool,
    /// How long it keeps quiet after it has handed a person to a human; absent where it has no one to hand over to.
    pub hand_off_pause: Option<Duration>,
    /// What counts as one session.
    pub session: SessionRules,
    /// What it may cost in a day.
    pub limits: Limits,
    /// What its models cost.
    pub prices: PriceList,
    /// Words that opt a person out, folded (lower case, plain letters).
    pub opt_out_words: Vec<String>,
    /// Everything a person can read that no model wrote.
    pub texts: Texts,
    /// What it may call outside; their names are unique.
    pub tools: Vec<ToolSpec>,
}

impl Agent {
    /// The primary language, `pt` of `pt-BR`.
    pub fn primary_language(&self) -> &str {
        self.language.split('-').next().unwrap_or("en")
    }
}

/// When it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// Silence after the newest message before the batch is answered. 1 s to 60 s, default 5 s.
    pub window: Duration,
    /// Time after the first message at which it is answered in any case. Default 20 s.
    pub ceiling: Duration,
    /// Give up and send the honest line this long after the first failed run. Default 5 minutes.
    pub give_up_after: Duration,
    /// All model calls of a run. Default 75 s.
    pub model_budget: Duration,
    /// One model call. Default 60 s.
    pub model_timeout: Duration,
}

/// Which model it asks. Names as the provider knows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelChoice {
    /// The model that answers.
    pub main: String,
    /// The model for light turns; without one every turn is the main model's.
    pub light: Option<String>,
    /// The model that writes summaries and facts; the main one where absent.
    pub compaction: Option<String>,
    /// The model that answers where the main one cannot be had; none where absent.
    pub fallback: Option<String>,
}

impl ModelChoice {
    /// Every model it may ask.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let others = [&self.light, &self.fallback, &self.compaction];
        let others = others.into_iter().filter_map(Option::as_deref);
        std::iter::once(self.main.as_str()).chain(others)
    }
}

/// What a prompt may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// History and memory together, in tokens. Default 3,000.
    pub history_tokens_max: u32,
    /// Past messages. Default 60.
    pub messages_max: usize,
    /// Facts. Default 30.
    pub facts_max: usize,
    /// The answer, in tokens. Default 1,024.
    pub output_tokens_max: u32,
}

/// When old turns become memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompactionRules {
    /// Live messages of either side that start a compaction. Default 40.
    pub trigger: usize,
    /// The newest messages that stay. Default 20, less than `trigger`.
    pub keep: usize,
    /// The summary's length. Default 200.
    pub summary_words_max: usize,
    /// A fact's length. Default 160.
    pub fact_chars_max: usize,
}

/// What counts as one session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionRules {
    /// A silence of this length ends one. Default 6 h.
    pub gap: Duration,
    /// After so many exchanges the model is advised to let a new one begin; never where it is 0. Default 0.
    pub advice_after: u32,
}

/// What an agent may cost in a day of its place, in millionths of a US dollar; no limit where absent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limits {
    /// One conversation.
    pub conversation_day_micro_usd: Option<u64>,
    /// All conversations together.
    pub agent_day_micro_usd: Option<u64>,
}

/// Everything a person can read that no model wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Texts {
    /// The honest line after giving up.
    pub apology: String,
    /// The one confirmation of a STOP.
    pub opted_out: String,
    /// In place of an answer the model declined to give.
    pub refusal: String,
    /// In place of an answer once a day's spending limit is reached.
    pub over_limit: String,
}

/// An agent with the defaults, for the tests of this crate.
#[cfg(test)]
pub(crate) fn sample() -> Agent {
    Agent {
        id: AgentId::parse("recepcao").unwrap(),
        persona: "Você é a recepção de uma clínica.".to_owned(),
        language: "pt-BR".to_owned(),
        time_zone: "America/Sao_Paulo".to_owned(),
        numbers: Vec::new(),
        timing: Timing {
            window: Duration::from_secs(5),
            ceiling: Duration::from_secs(20),
            give_up_after: Duration::from_mins(5),
            model_budget: Duration::from_secs(75),
            model_timeout: Duration::from_mins(1),
        },
        model: ModelChoice {
            main: "main".to_owned(),
            light: None,
            compaction: None,
            fallback: None,
        },
        routing: RoutingRules::default(),
        budget: Budget {
            history_tokens_max: 3_000,
            messages_max: 60,
            facts_max: 30,
            output_tokens_max: 1_024,
        },
        compaction: CompactionRules {
            trigger: 40,
            keep: 20,
            summary_words_max: 200,
            fact_chars_max: 160,
        },
        agenda: false,
        hand_off_pause: None,
        session: SessionRules {
            gap: Duration::from_hours(6),
            advice_after: 0,
        },
        limits: Limits::default(),
        prices: PriceList::default(),
        opt_out_words: ["stop", "parar", "sair"].map(String::from).to_vec(),
        texts: Texts {
            apology: "Desculpe, não consegui responder.".to_owned(),
            opted_out: "Certo, não escrevo mais.".to_owned(),
            refusal: "Não posso ajudar com isso.".to_owned(),
            over_limit: "Por hoje é só. Amanhã eu respondo.".to_owned(),
        },
        tools: Vec::new(),
    }
}
