//! The texts that people read and no model wrote: the file's, or ours in the agent's language.

use super::document::{Document, Found};
use crate::domain::agent::Texts;

/// WhatsApp refuses a text that is longer, in characters.
const TEXT_CHARS_MAX: usize = 4096;

const OVER_LIMIT: &str = "over_limit";

/// The texts of `[texts]`, the missing ones from our own where the language has them.
pub(super) fn read(file: &mut Document<'_>, language: &Found<String>) -> Option<Texts> {
    let primary = language.value.split('-').next().unwrap_or_default();
    let defaults = of_language(primary);
    let has_limit = ["conversation_day_usd", "agent_day_usd"]
        .into_iter()
        .any(|limit| file.has("limits", limit));
    let mut missing = Vec::new();
    let mut text_of = |key: &'static str, pick: fn(&Texts) -> &String| {
        let default = defaults.as_ref().map(|texts| pick(texts).clone());
        let is_set = file.has("texts", key);
        let found = file.text(
            "texts",
            key,
            TEXT_CHARS_MAX,
            default.as_deref().unwrap_or("…"),
        );
        // What nobody will be told need not be there.
        let is_needed = key != OVER_LIMIT || has_limit;
        if !is_set && default.is_none() && is_needed {
            missing.push(key);
        }
        found.map(|found| found.value).or(default)
    };
    let apology = text_of("apology", |texts| &texts.apology);
    let opted_out = text_of("opted_out", |texts| &texts.opted_out);
    let refusal = text_of("refusal", |texts| &texts.refusal);
    let over_limit = text_of(OVER_LIMIT, |texts| &texts.over_limit);
    // There is no text of ours in this language, and a foreign one would puzzle people.
    if !missing.is_empty() && !file.is_broken() {
        let message = format!(
            "there are no built-in texts in {primary:?} (only in pt, es and en): write {} under [texts] in the agent file",
            missing.join(", ")
        );
        file.mistake("", "language", language.origin, message);
    }
    Some(Texts {
        apology: apology.clone()?,
        opted_out: opted_out?,
        refusal: refusal?,
        over_limit: over_limit.or(apology)?,
    })
}

/// The default texts of a primary language (`pt`, `es`, `en`), where there are any.
fn of_language(primary: &str) -> Option<Texts> {
    let [apology, opted_out, refusal, over_limit] = match primary {
        "pt" => [
            "Desculpe, não consegui responder agora. Pode me escrever de novo daqui a pouco?",
            "Certo, não vou mais mandar mensagens. Se quiser voltar a falar comigo, é só escrever.",
            "Desculpe, com isso eu não posso ajudar. Posso ajudar com outra coisa?",
            "Cheguei ao meu limite de conversas de hoje e não consigo mais responder. Amanhã volto a responder: é só me escrever.",
        ],
        "es" => [
            "Perdón, ahora no pude responder. ¿Puedes escribirme de nuevo en un rato?",
            "De acuerdo, no enviaré más mensajes. Si quieres volver a hablar conmigo, solo escríbeme.",
            "Perdón, con eso no puedo ayudar. ¿Puedo ayudarte con otra cosa?",
            "Llegué a mi límite de conversaciones de hoy y ya no puedo responder. Mañana vuelvo a responder: solo escríbeme.",
        ],
        "en" => [
            "Sorry, I could not answer just now. Could you write to me again in a little while?",
            "All right, I will send no more messages. If you want to talk to me again, just write.",
            "Sorry, I cannot help with that. Is there something else I can do for you?",
            "I have reached my limit of conversations for today and cannot answer any more. I will answer again tomorrow: just write to me.",
        ],
        _ => return None,
    };
    Some(Texts {
        apology: apology.to_owned(),
        opted_out: opted_out.to_owned(),
        refusal: refusal.to_owned(),
        over_limit: over_limit.to_owned(),
    })
}
