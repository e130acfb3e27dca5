//! The texts that people read and no model wrote: the file's, or ours in the agent's language.

use super::document::Document;
use crate::domain::agent::Texts;

/// WhatsApp refuses a text that is longer, in characters.
const TEXT_CHARS_MAX: usize = 4096;
/// The texts of `[texts]`, the missing ones from our own where the language has them.
pub(super) fn read(file: &mut Document<'_>, language: &str) -> Option<Texts> {
    let primary = language.split('-').next().unwrap_or_default();
    let defaults = of_language(primary);
    let example = |pick: fn(&Texts) -> &String| defaults.as_ref().map(|texts| pick(texts).clone());
    let mut text_of = |key: &'static str, default: Option<String>| match default {
        Some(text) => {
            let found = file.text("texts", key, TEXT_CHARS_MAX, &text);
            Some(found.map_or(text, |found| found.value))
        }
        // There is no text of ours in this language, and a foreign one would puzzle people.
        None => file
            .required_text("texts", key, TEXT_CHARS_MAX, "…")
            .map(|found| found.value),
    };
    let apology = text_of("apology", example(|texts| &texts.apology));
    let opted_out = text_of("opted_out", example(|texts| &texts.opted_out));
    let refusal = text_of("refusal", example(|texts| &texts.refusal));
    Some(Texts {
        apology: apology?,
        opted_out: opted_out?,
        refusal: refusal?,
    })
}

/// The default texts of a primary language (`pt`, `es`, `en`), where there are any.
fn of_language(primary: &str) -> Option<Texts> {
    let [apology, opted_out, refusal] = match primary {
        "pt" => [
            "Desculpe, não consegui responder agora. Pode me escrever de novo daqui a pouco?",
            "Certo, não vou mais mandar mensagens. Se quiser voltar a falar comigo, é só escrever.",
            "Desculpe, com isso eu não posso ajudar. Posso ajudar com outra coisa?",
        ],
        "es" => [
            "Perdón, ahora no pude responder. ¿Puedes escribirme de nuevo en un rato?",
            "De acuerdo, no enviaré más mensajes. Si quieres volver a hablar conmigo, solo escríbeme.",
            "Perdón, con eso no puedo ayudar. ¿Puedo ayudarte con otra cosa?",
        ],
        "en" => [
            "Sorry, I could not answer just now. Could you write to me again in a little while?",
            "All right, I will send no more messages. If you want to talk to me again, just write.",
            "Sorry, I cannot help with that. Is there something else I can do for you?",
        ],
        _ => return None,
    };
    Some(Texts {
        apology: apology.to_owned(),
        opted_out: opted_out.to_owned(),
        refusal: refusal.to_owned(),
    })
}
