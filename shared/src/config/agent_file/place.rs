//! Language tags and time zones: checked, and brought to their usual spelling.

use std::sync::LazyLock;

use crate::config::nearest::nearest;
use crate::policy::opt_out::plain;

/// `pt-BR` of `PT-br`; an error says what is wrong and what may have been meant.
pub(super) fn language(text: &str) -> Result<String, String> {
    if let Some(tag) = language_tag(text) {
        return Ok(tag);
    }
    let meant = language_tag(&text.trim().replace('_', "-")).or_else(|| named_language(text));
    Err(match meant {
        Some(tag) => format!("{text:?} is not a language tag; did you mean {tag:?}?"),
        None => {
            format!("{text:?} is not a language tag; one looks like \"pt-BR\", \"es-MX\" or \"en\"")
        }
    })
}

/// Language, then script, region and variants where they are given (BCP 47 without its extensions).
fn language_tag(text: &str) -> Option<String> {
    let mut parts = text.split('-').peekable();
    let letters = |part: &str| part.bytes().all(|b| b.is_ascii_alphabetic());
    let primary = parts.next()?;
    if !(2..=3).contains(&primary.len()) || !letters(primary) {
        return None;
    }
    let mut tag = primary.to_ascii_lowercase();
    if let Some(script) = parts.next_if(|part| part.len() == 4 && letters(part)) {
        tag.push('-');
        tag.push_str(&script[..1].to_ascii_uppercase());
        tag.push_str(&script[1..].to_ascii_lowercase());
    }
    if let Some(region) = parts.next_if(|part| {
        (part.len() == 2 && letters(part))
            || (part.len() == 3 && part.bytes().all(|b| b.is_ascii_digit()))
    }) {
        tag.push('-');
        tag.push_str(&region.to_ascii_uppercase());
    }
    for variant in parts {
        if !(5..=8).contains(&variant.len()) || !variant.bytes().all(|b| b.is_ascii_alphanumeric())
        {
            return None;
        }
        tag.push('-');
        tag.push_str(&variant.to_ascii_lowercase());
    }
    Some(tag)
}

/// The tag of a language that was written out.
fn named_language(text: &str) -> Option<String> {
    let name = plain(text);
    [
        ("portug", "pt-BR"),
        ("brazil", "pt-BR"),
        ("brasil", "pt-BR"),
        ("span", "es"),
        ("espan", "es"),
        ("castel", "es"),
        ("engl", "en"),
        ("ingl", "en"),
    ]
    .iter()
    .find(|(start, _)| name.starts_with(start))
    .map(|(_, tag)| (*tag).to_owned())
}

static TIME_ZONES: LazyLock<Vec<String>> = LazyLock::new(|| {
    jiff::tz::db()
        .available()
        .map(|name| name.as_str().to_owned())
        .collect()
});

/// `America/Sao_Paulo` of `america/sao_paulo`; an error says what is wrong and what may have been meant.
pub(super) fn time_zone(text: &str) -> Result<String, String> {
    if let Ok(zone) = jiff::tz::TimeZone::get(text)
        && let Some(name) = zone.iana_name()
    {
        return Ok(name.to_owned());
    }
    let wanted = plain(text).replace(' ', "_");
    // Brazil's official time is called so, and IANA's list has it under another city.
    let is_brasilia = wanted.ends_with("brasilia") || wanted == "brt";
    let city_is = |name: &&String| {
        name.rsplit('/')
            .next()
            .is_some_and(|city| city.eq_ignore_ascii_case(&wanted))
    };
    let names = TIME_ZONES.iter().map(String::as_str);
    let meant = is_brasilia
        .then_some("America/Sao_Paulo")
        .or_else(|| TIME_ZONES.iter().find(city_is).map(String::as_str))
        .or_else(|| nearest(&wanted, names));
    Err(match meant {
        Some(name) => format!("{text:?} is not a known time zone; did you mean {name:?}?"),
        None => format!(
            "{text:?} is not a known time zone; one looks like \"America/Sao_Paulo\" or \"UTC\""
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_tag_takes_its_usual_spelling() {
        for (written, tag) in [
            ("pt-BR", "pt-BR"),
            ("PT-br", "pt-BR"),
            ("es", "es"),
            ("es-419", "es-419"),
            ("zh-hant-tw", "zh-Hant-TW"),
            ("ca-VALENCIA", "ca-valencia"),
        ] {
            assert_eq!(language(written).as_deref(), Ok(tag));
        }
    }

    #[test]
    fn a_wrong_language_tag_is_refused_with_the_one_that_was_meant() {
        for (written, meant) in [
            ("pt_BR", "\"pt-BR\"?"),
            ("Português", "\"pt-BR\"?"),
            ("español", "\"es\"?"),
            ("english", "\"en\"?"),
            ("", "looks like"),
            ("x", "looks like"),
            ("pt-BR-", "looks like"),
            ("klingon", "looks like"),
        ] {
            let message = language(written).unwrap_err();
            assert!(message.contains(meant), "{written}: {message}");
        }
    }

    #[test]
    fn a_time_zone_takes_its_usual_spelling() {
        for (written, name) in [
            ("America/Sao_Paulo", "America/Sao_Paulo"),
            ("america/sao_paulo", "America/Sao_Paulo"),
            ("UTC", "UTC"),
        ] {
            assert_eq!(time_zone(written).as_deref(), Ok(name));
        }
    }

    #[test]
    fn a_wrong_time_zone_is_refused_with_the_one_that_was_meant() {
        for (written, meant) in [
            ("São Paulo", "\"America/Sao_Paulo\"?"),
            ("America/SaoPaulo", "\"America/Sao_Paulo\"?"),
            ("America/Brasilia", "\"America/Sao_Paulo\"?"),
            ("Horário de Brasília", "\"America/Sao_Paulo\"?"),
            ("lisbon", "\"Europe/Lisbon\"?"),
            ("-03:00", "looks like"),
            ("Etc/Unknown", "Etc/"),
            ("", "looks like"),
        ] {
            let message = time_zone(written).unwrap_err();
            assert!(message.contains(meant), "{written}: {message}");
        }
    }
}
