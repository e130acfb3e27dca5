//! What README.md says about costs, and the arithmetic behind it.

use recado::config::prices;

/// What one story took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    pub webhooks: u64,
    pub invocations: u64,
    pub table_requests: u64,
    pub write_units: f64,
    pub read_units: f64,
    pub fifo: u64,
    pub standard: u64,
    pub sends: u64,
    /// Time in the processor that passes waiting: for the model, and for a moment less than a second away.
    pub waited_ms: u64,
    /// The functions' own lines, without those that Lambda adds.
    pub log_bytes: usize,
}

const NOTHING: Measured = Measured {
    webhooks: 0,
    invocations: 0,
    table_requests: 0,
    write_units: 0.0,
    read_units: 0.0,
    fifo: 0,
    standard: 0,
    sends: 0,
    waited_ms: 0,
    log_bytes: 0,
};

pub const ONE: Measured = Measured {
    webhooks: 1,
    invocations: 2,
    table_requests: 18,
    write_units: 34.0,
    read_units: 15.0,
    fifo: 4,
    sends: 1,
    waited_ms: 5_500,
    log_bytes: 1_486,
    ..NOTHING
};

pub const FOUR: Measured = Measured {
    webhooks: 4,
    invocations: 9,
    table_requests: 29,
    write_units: 58.0,
    read_units: 32.0,
    fifo: 15,
    sends: 1,
    waited_ms: 5_600,
    log_bytes: 2_689,
    ..NOTHING
};

pub const SUPERSEDED: Measured = Measured {
    webhooks: 2,
    invocations: 5,
    table_requests: 32,
    write_units: 52.0,
    read_units: 29.0,
    fifo: 10,
    sends: 1,
    waited_ms: 9_100,
    log_bytes: 2_398,
    ..NOTHING
};

pub const COMPACTION: Measured = Measured {
    invocations: 1,
    table_requests: 6,
    write_units: 71.0,
    read_units: 8.0,
    standard: 3,
    waited_ms: 500,
    log_bytes: 556,
    ..NOTHING
};

pub const STATUS: Measured = Measured {
    webhooks: 1,
    invocations: 1,
    table_requests: 2,
    write_units: 1.0,
    read_units: 4.0,
    log_bytes: 182,
    ..NOTHING
};

pub const SWEEP: Measured = Measured {
    invocations: 1,
    table_requests: 8,
    read_units: 4.0,
    ..NOTHING
};

/// What the first message of somebody new writes beyond one of somebody known: state, alias, and a check.
pub const NEW_PERSON_WRITE_UNITS: f64 = 7.0;

/// USD in us-east-1 for one; README.md says more of each source.
fn price(name: &str) -> f64 {
    prices::of_aws(name).expect("a price of AWS") / 1e6
}

/// Memory of the processor.
const PROCESSOR_GB: f64 = 0.5;
/// Meta tells of each reply that it was sent, delivered and read.
const STATUSES: f64 = 3.0;
/// Messages of both sides that a compaction folds: it begins at 40 and keeps 20.
const FOLDED: f64 = 20.0;

/// Quantity and USD of each service for 1,000 messages.
fn thousand(turn: &Measured) -> Vec<(f64, f64)> {
    let per_turn = f64::from(u32::try_from(turn.webhooks).unwrap());
    let turns = 1000.0 / per_turn;
    let parts = [
        (turn, turns),
        (&STATUS, turns * STATUSES),
        (&COMPACTION, turns * (per_turn + 1.0) / FOLDED),
    ];
    let sum = |of: &dyn Fn(&Measured) -> f64| parts.iter().map(|(m, n)| of(m) * n).sum::<f64>();
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    let float = |count: u64| count as f64;
    let mut lines: Vec<(f64, f64)> = [
        (sum(&|m| float(m.webhooks)), price("http_api_request")),
        (sum(&|m| float(m.invocations)), price("lambda_run")),
        (
            sum(&|m| float(m.waited_ms) / 1000.0 * PROCESSOR_GB),
            price("lambda_arm_gb_second"),
        ),
        (sum(&|m| m.write_units), price("write_unit")),
        (sum(&|m| m.read_units), price("read_unit")),
        (sum(&|m| float(m.fifo)), price("fifo_request")),
        (sum(&|m| float(m.standard)), price("standard_request")),
        (
            sum(&|m| float(m.log_bytes as u64) / 1e6),
            price("log_gb") / 1000.0,
        ),
    ]
    .map(|(quantity, price)| (quantity, quantity * price))
    .into();
    lines.push((0.0, lines.iter().map(|(_, usd)| usd).sum()));
    lines
}

/// A number as README.md writes it: commas between thousands, one decimal where it is small.
fn written(quantity: f64) -> String {
    if quantity < 10.0 {
        return format!("{quantity:.1}");
    }
    let digits = format!("{quantity:.0}");
    match digits.len() {
        0..=3 => digits,
        length => format!("{},{}", &digits[..length - 3], &digits[length - 3..]),
    }
}

/// The cells of the table of requests after its label.
fn cells(m: &Measured) -> String {
    let (writes, reads) = (m.write_units, m.read_units);
    let (table, fifo, standard) = (m.table_requests, m.fifo, m.standard);
    let (webhooks, invocations, sends) = (m.webhooks, m.invocations, m.sends);
    format!(
        "| {webhooks} | {invocations} | {table} | {writes} | {reads} | {fifo} | {standard} | {sends} |"
    )
}

/// The ends of all rows that README.md must have.
fn rows() -> Vec<String> {
    let stories = [ONE, FOUR, SUPERSEDED, COMPACTION, STATUS, SWEEP];
    let mut rows: Vec<String> = stories.iter().map(cells).collect();
    for (one, four) in thousand(&ONE).into_iter().zip(thousand(&FOUR)) {
        rows.push(match one.0 {
            0.0 => format!("| | {:.3} | | {:.3} |", one.1, four.1),
            _ => format!(
                "| {} | {:.4} | {} | {:.4} |",
                written(one.0),
                one.1,
                written(four.0),
                four.1
            ),
        });
    }
    rows
}

#[test]
fn the_readme_says_what_was_measured() {
    let rows = rows();
    println!("{}", rows.join("\n"));
    let swap = |text: &str| {
        let swapped = text.chars().map(|sign| match sign {
            ',' => '.',
            '.' => ',',
            sign => sign,
        });
        swapped.collect::<String>()
    };
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    for (file, is_swapped) in [("README.md", false), ("README.pt-BR.md", true)] {
        let text = std::fs::read_to_string(root.unwrap().join(file)).unwrap();
        for row in &rows {
            let row = if is_swapped { swap(row) } else { row.clone() };
            let has = text.lines().any(|line| line.ends_with(&row));
            assert!(has, "{file} has no row that ends with {row}");
        }
    }
}
