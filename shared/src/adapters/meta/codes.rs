//! The error codes that Meta answers with or reports later: what each means and what follows from it.
//!
//! One table for the sender, which tries again or not, and for the operator, who reads in the log and in the README
//! what to do. Beside Meta's numbers it holds the words that we note in their place (`http_401`, `not_connected`).

/// What follows from a code for the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// A later try may succeed.
    Passing,
    /// A later try may succeed, after some seconds in which this person gets nothing.
    PairRate,
    /// Every further try makes it worse, so they come slowly.
    Blocked,
    /// Token or rights: every message waits until the operator has mended it.
    Token,
    /// The account, the number or our settings: this message fails, and the next one until it is mended.
    Account,
    /// This message will never go; the next one may.
    Message,
}

/// A row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// Codes with commas between them; `200-299` is all from one to the other.
    pub codes: &'static str,
    /// What follows for the message.
    pub class: Class,
    /// What it means.
    pub meaning: &'static str,
    /// What to do.
    pub advice: &'static str,
}

const fn row(
    codes: &'static str,
    class: Class,
    meaning: &'static str,
    advice: &'static str,
) -> Row {
    Row {
        codes,
        class,
        meaning,
        advice,
    }
}

/// What is said of a code that stands in no row.
pub const UNKNOWN: Row = row(
    "any other",
    Class::Message,
    "a code that Recado does not know",
    "look it up in Meta's list of Cloud API error codes",
);

/// The table: first what the operator mends, then what concerns one message, then what passes.
pub const ROWS: [Row; 25] = [
    row(
        "0, 190, http_401",
        Class::Token,
        "the access token is expired, revoked or of another app",
        "make a permanent token of a system user and put it in the old one's place (a local run is started again); replies wait for it",
    ),
    row(
        "3, 10, 200-299, 131005",
        Class::Token,
        "the token may not send for this number",
        "assign app and WhatsApp account to the system user, with full control, and make the token with \
         whatsapp_business_messaging; replies wait for it",
    ),
    row(
        "131031",
        Class::Account,
        "Meta has locked the account",
        "see Account quality in Business Manager, and ask for a review there",
    ),
    row(
        "131042",
        Class::Account,
        "the account's payment method is missing or was refused",
        "mend it in the WhatsApp account's payment settings",
    ),
    row(
        "130497",
        Class::Account,
        "the account may not write to people of this country",
        "see Meta's rules for the trade and the country; nothing else helps",
    ),
    row(
        "133010",
        Class::Account,
        "the number is not registered with the Cloud API",
        "register it: POST /{phone_number_id}/register with its PIN, or in WhatsApp Manager",
    ),
    row(
        "http_302, http_307, http_403, http_404",
        Class::Account,
        "this is not the Graph API, or not this version of it",
        "check RECADO_META_GRAPH_URL and RECADO_META_GRAPH_VERSION",
    ),
    row(
        "131030",
        Class::Message,
        "the app is in development mode and the person is not on its list of recipients",
        "add the person under API Setup; in Brazil with and without the ninth digit",
    ),
    row(
        "131047",
        Class::Message,
        "more than 24 hours have passed since the person's last message",
        "nothing: only a template may be sent now, and the next message is answered again",
    ),
    row(
        "100, 131008, 131009",
        Class::Message,
        "a field is wrong, missing or too long, or the number is of an account that the token does not see",
        "if it is every message: check that the token's account owns the number; if it is one: report it",
    ),
    row(
        "131026",
        Class::Message,
        "it cannot be delivered: no WhatsApp there, an old version, or terms not accepted",
        "nothing from here; reach the person another way",
    ),
    row(
        "131051, 131052",
        Class::Message,
        "a kind of message or a file that WhatsApp does not take",
        "report it: Recado sends plain text only",
    ),
    row(
        "130472, 131049, 131050",
        Class::Message,
        "Meta limits marketing to this person",
        "nothing: it goes by itself, and answers to the person's own messages are not meant",
    ),
    row(
        "131062, 132000-132999",
        Class::Message,
        "it concerns templates, which Recado does not send",
        "look for another program that sends from this number",
    ),
    row(
        "opted_out",
        Class::Message,
        "the person wrote STOP before it was sent",
        "nothing: they hear from the agent again once they write",
    ),
    row(
        "blank",
        Class::Message,
        "the model's answer has no text",
        "see the model's lines in the log",
    ),
    row(
        "request_not_buildable",
        Class::Account,
        "the access token has characters that no request can carry",
        "copy it again",
    ),
    row(
        "131048",
        Class::Blocked,
        "people have blocked or reported the number too often",
        "see its quality in WhatsApp Manager, and send nothing that nobody asked for",
    ),
    row(
        "131064",
        Class::Blocked,
        "the number has reached its messaging limit",
        "see the limit in WhatsApp Manager; it grows with quality and a verified business",
    ),
    row(
        "368",
        Class::Blocked,
        "the account is blocked for a while for breaking a policy",
        "see Account quality in Business Manager; tries come once a minute at most",
    ),
    row(
        "131056",
        Class::PairRate,
        "too many messages to one person: one in six seconds lasts",
        "nothing: it is sent later",
    ),
    row(
        "4, 80007, 130429, http_429",
        Class::Passing,
        "too many requests of the app, the account or the number (80 messages a second, 20 beside the phone app)",
        "nothing: it is sent later; if it stays, use a second number or ask Meta for more",
    ),
    row(
        "1, 2, 131000, 131016, 131053, 131057",
        Class::Passing,
        "something at Meta is down or in maintenance",
        "nothing: it is sent later, for five minutes by default; if it stays, see Meta's status page",
    ),
    row(
        "133016",
        Class::Passing,
        "the number was registered too often",
        "wait some days before it is registered again",
    ),
    row(
        "not_connected",
        Class::Passing,
        "the Graph API could not be reached, so nothing left",
        "check network and DNS, and RECADO_META_GRAPH_URL if it is set; it is sent later",
    ),
];

/// The row of a code, where there is one.
#[must_use]
pub fn find(code: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.holds(code))
}

/// The row of a code, or what is said of an unknown one.
#[must_use]
pub fn explain(code: &str) -> &'static Row {
    find(code).unwrap_or(&UNKNOWN)
}

impl Row {
    fn holds(&self, code: &str) -> bool {
        let number = code.parse::<i64>().ok();
        self.codes
            .split(", ")
            .any(|part| match part.split_once('-') {
                Some((first, last)) => number
                    .zip(first.parse().ok().zip(last.parse().ok()))
                    .is_some_and(|(number, (first, last))| (first..=last).contains(&number)),
                None => part == code,
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_found_alone_in_a_span_and_as_a_word() {
        for (code, codes) in [
            ("190", "0, 190, http_401"),
            ("0", "0, 190, http_401"),
            ("200", "3, 10, 200-299, 131005"),
            ("299", "3, 10, 200-299, 131005"),
            ("300", "any other"),
            ("132001", "131062, 132000-132999"),
            ("http_401", "0, 190, http_401"),
            ("unknown", "any other"),
            ("200-299", "any other"),
            ("", "any other"),
        ] {
            assert_eq!(explain(code).codes, codes, "{code}");
        }
    }

    #[test]
    fn no_code_stands_in_two_rows() {
        for code in (0..400).chain(80_000..80_100).chain(130_000..134_000) {
            let code = code.to_string();
            let rows = ROWS.iter().filter(|row| row.holds(&code)).count();
            assert!(rows <= 1, "{code} stands in {rows} rows");
        }
    }
}
