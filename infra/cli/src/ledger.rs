//! The ledger as it is printed: lines by model and kind, their sum, and what is not known said plainly.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use recado::domain::Counters;
use serde_json::Value;

/// A sum in millionths as dollars, with as many digits as it needs and at least two.
pub fn dollars(micro: u64) -> String {
    let (whole, rest) = (micro / 1_000_000, micro % 1_000_000);
    let digits = format!("{rest:06}");
    let digits = digits.trim_end_matches('0');
    format!("{whole}.{digits:0<2}")
}

/// The page for these lines. `brl` is how many millionths of a real one dollar is worth.
pub fn page(lines: &[Value], brl: Option<u64>) -> String {
    if lines.is_empty() {
        return "Nothing is in the ledger for this.".to_owned();
    }
    let mut rows: BTreeMap<(String, String), Counters> = BTreeMap::new();
    for line in lines {
        let word = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
        let row = rows.entry((word("model"), word("kind"))).or_default();
        *row = row.plus(&counters(line));
    }
    let all = rows.values().fold(Counters::default(), Counters::plus);
    let mut page = String::new();
    let head = [
        "model", "kind", "calls", "input", "cached", "written", "output", "USD",
    ];
    push(
        &mut page,
        &head.map(str::to_owned),
        brl.map(|_| "BRL".to_owned()).as_ref(),
    );
    for ((model, kind), row) in &rows {
        push(
            &mut page,
            &cells(model, kind, row),
            in_brl(row, brl).as_ref(),
        );
    }
    push(
        &mut page,
        &cells("together", "", &all),
        in_brl(&all, brl).as_ref(),
    );
    page.push('\n');
    page.push_str(&remarks(&all));
    page.trim_end().to_owned()
}

/// The counters of a line; what is missing is zero.
fn counters(line: &Value) -> Counters {
    let mut counters = Counters::default();
    for (name, counter) in counters.fields_mut() {
        *counter = line[name].as_u64().unwrap_or_default();
    }
    counters
}

fn cells(model: &str, kind: &str, row: &Counters) -> [String; 8] {
    [
        model.to_owned(),
        kind.to_owned(),
        row.calls.to_string(),
        row.input_uncached.to_string(),
        row.input_cache_read.to_string(),
        row.input_cache_write.to_string(),
        row.output.to_string(),
        cost(row, row.micro_usd),
    ]
}

/// What is known of a cost; a word where nothing is.
fn cost(row: &Counters, micro: u64) -> String {
    if row.calls > 0 && row.calls_of_unknown_cost == row.calls {
        return "unknown".to_owned();
    }
    let more = if row.calls_of_unknown_cost > 0 {
        "+"
    } else {
        ""
    };
    format!("{}{more}", dollars(micro))
}

fn in_brl(row: &Counters, brl: Option<u64>) -> Option<String> {
    let micro = u128::from(row.micro_usd) * u128::from(brl?) / 1_000_000;
    Some(cost(row, u64::try_from(micro).unwrap_or(u64::MAX)))
}

fn push(page: &mut String, cells: &[String; 8], last: Option<&String>) {
    let [model, kind, numbers @ ..] = cells;
    // Writing to a text cannot fail.
    let _ = write!(page, "{model:<28} {kind:<11}");
    for number in numbers.iter().chain(last) {
        let _ = write!(page, " {number:>9}");
    }
    page.push('\n');
}

/// `1 turn`, `2 turns`.
fn counted(n: u64, what: &str) -> String {
    let many = if n == 1 { "" } else { "s" };
    format!("{n} {what}{many}")
}

fn remarks(all: &Counters) -> String {
    let mut lines = Vec::new();
    if all.calls_of_unknown_cost > 0 {
        lines.push(format!(
            "{} of {} calls have no known price: give it under [[prices]] in the agent file.",
            all.calls_of_unknown_cost, all.calls
        ));
    }
    if all.estimated_calls > 0 {
        lines.push(format!(
            "{} calls were dropped or ended without a report: their US$ {} are an estimate.",
            all.estimated_calls,
            dollars(all.estimated_micro_usd)
        ));
    }
    if let Some(each) = all.micro_usd.checked_div(all.turns) {
        let each = match (all.calls_of_unknown_cost, all.micro_usd) {
            (0, _) => format!(", US$ {} each", dollars(each)),
            (_, 0) => String::new(),
            _ => format!(", US$ {}+ each", dollars(each)),
        };
        lines.push(format!("{} answered{each}.", counted(all.turns, "turn")));
    }
    if let Some(tenths) = (all.turns * 10).checked_div(all.sessions) {
        let (whole, tenth) = (tenths / 10, tenths % 10);
        let of = counted(all.sessions, "session");
        lines.push(format!(
            "{of} began, {whole}.{tenth} exchanges to a session."
        ));
    }
    lines.push("WhatsApp's own fees are in it only where a price for them is known.".to_owned());
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_sum_is_written_with_the_digits_it_needs() {
        for (micro, written) in [
            (0, "0.00"),
            (1, "0.000001"),
            (306, "0.000306"),
            (10_000, "0.01"),
            (1_500_000, "1.50"),
            (12_345_678, "12.345678"),
        ] {
            assert_eq!(dollars(micro), written);
        }
    }

    #[test]
    fn the_page_adds_up_and_says_what_nobody_knows() {
        let lines = [
            json!({
                "day": "2026-11-30", "model": "gpt-6-luna", "kind": "answer", "calls": 2, "input_uncached": 900,
                "input_cache_read": 100, "output": 80, "micro_usd": 131, "turns": 3, "sessions": 2,
            }),
            json!({
                "day": "2026-11-29", "model": "gpt-6-luna", "kind": "answer", "calls": 1, "micro_usd": 1, "turns": 1,
            }),
            json!({
                "model": "gpt-6-luna", "kind": "discarded", "calls": 1, "micro_usd": 40, "estimated_calls": 1,
                "estimated_micro_usd": 40,
            }),
            json!({ "model": "mystery", "kind": "answer", "calls": 1, "calls_of_unknown_cost": 1 }),
        ];
        let page = page(&lines, Some(5_500_000));
        let row = |begins: &str| page.lines().find(|line| line.starts_with(begins)).unwrap();
        let words = |begins| row(begins).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(
            words("model"),
            "model kind calls input cached written output USD BRL"
        );
        assert_eq!(
            words("gpt-6-luna"),
            "gpt-6-luna answer 3 900 100 0 80 0.000132 0.000726"
        );
        assert_eq!(words("mystery"), "mystery answer 1 0 0 0 0 unknown unknown");
        assert_eq!(
            words("together"),
            "together 5 900 100 0 80 0.000172+ 0.000946+"
        );
        assert!(page.contains("1 of 5 calls have no known price"));
        assert!(page.contains("US$ 0.00004 are an estimate"));
        assert!(page.contains("4 turns answered, US$ 0.000043+ each."));
        assert!(page.contains("2 sessions began, 2.0 exchanges to a session."));
        let unknown = json!({
            "model": "mystery", "kind": "answer", "calls": 1, "calls_of_unknown_cost": 1, "turns": 1, "sessions": 1,
        });
        let page = super::page(&[unknown], None);
        assert!(
            page.contains("\n1 turn answered.\n1 session began,"),
            "{page}"
        );
        assert_eq!(super::page(&[], None), "Nothing is in the ledger for this.");
    }
}
