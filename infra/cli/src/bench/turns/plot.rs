//! The report as a picture: bars for what goes wrong, curves for how long people wait. Plain SVG, on white.

use std::fmt::Write as _;

use super::Report;
use super::figures::Figures;

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 640.0;
/// Colours that can be told apart in grey and by colour-blind people; ours first.
const COLOURS: [&str; 5] = ["#0b6e4f", "#d1495b", "#8d96a3", "#5b8fb9", "#e9a03b"];
const INK: &str = "#222222";
const GRID: &str = "#dddddd";
/// The curves end here; what is slower is in the table.
const WAIT_MAX_S: f64 = 40.0;

/// A place on the picture, in its own units.
#[derive(Clone, Copy)]
struct Panel {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

/// A group of bars: its title, its decimals, and where its figure is.
type Bars = (&'static str, usize, fn(&Figures) -> f64);

const BARS: [Bars; 3] = [
    ("Split thoughts, %", 1, |of| of.split_percent_of_thoughts),
    ("Replies that ignore a message, %", 1, |of| {
        of.ignoring_percent_of_replies
    }),
    ("Discarded model seconds per thought", 2, |of| {
        of.discarded_model_s_per_thought
    }),
];

/// The whole file.
pub(super) fn svg(report: &Report) -> String {
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"system-ui, sans-serif\" font-size=\"12\" fill=\"{INK}\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#ffffff\"/>\n"
    );
    let title = format!(
        "Turn-taking: {} thoughts of each kind, seed {}, window {} s, ceiling {} s",
        report.thoughts, report.seed, report.window_s, report.ceiling_s
    );
    text(&mut svg, 24.0, 30.0, "start", 17, &title);
    legend(&mut svg, &report.single);
    for (place, bars) in (0_u8..).zip(BARS) {
        let panel = Panel {
            left: 24.0 + f64::from(place) * 312.0,
            top: 96.0,
            width: 288.0,
            height: 200.0,
        };
        draw_bars(&mut svg, panel, bars, report);
    }
    for (left, title, columns) in [
        (60.0, "single", &report.single),
        (530.0, "chained", &report.chained),
    ] {
        let panel = Panel {
            left,
            top: 376.0,
            width: 400.0,
            height: 200.0,
        };
        let title = format!("Reply after the last fragment, {title}: % of thoughts");
        draw_curves(&mut svg, panel, &title, columns);
    }
    svg.push_str("</svg>\n");
    svg
}

fn legend(svg: &mut String, columns: &[Figures]) {
    let mut x = 24.0;
    for (of, colour) in columns.iter().zip(COLOURS) {
        rectangle(svg, x, 46.0, 12.0, 12.0, colour);
        text(svg, x + 18.0, 56.0, "start", 13, &of.algorithm);
        x += 120.0;
    }
}

/// Both paces side by side, one bar an algorithm, the figure above it.
fn draw_bars(svg: &mut String, panel: Panel, (title, decimals, figure): Bars, report: &Report) {
    text(svg, panel.left, panel.top - 8.0, "start", 13, title);
    let paces = [("single", &report.single), ("chained", &report.chained)];
    let highest = paces
        .iter()
        .flat_map(|(_, columns)| columns.iter().map(figure))
        .fold(f64::MIN_POSITIVE, f64::max);
    let bottom = panel.top + panel.height;
    let half = panel.width / 2.0;
    // Room for the figure above the highest bar.
    let scale = (panel.height - 18.0) / highest;
    for (place, (pace, columns)) in (0_u8..).zip(paces) {
        let left = panel.left + f64::from(place) * half;
        let step = (half - 12.0) / f64::from(u8::try_from(columns.len()).unwrap_or(u8::MAX).max(1));
        for ((number, of), colour) in (0_u8..).zip(columns).zip(COLOURS) {
            let (x, value) = (left + f64::from(number) * step, figure(of));
            let height = value * scale;
            rectangle(svg, x + 1.0, bottom - height, step - 2.0, height, colour);
            let middle = x + step / 2.0;
            let value = format!("{value:.decimals$}");
            text(svg, middle, bottom - height - 4.0, "middle", 10, &value);
        }
        let middle = left + (half - 12.0) / 2.0;
        text(svg, middle, bottom + 16.0, "middle", 12, pace);
    }
    line(
        svg,
        (panel.left, bottom),
        (panel.left + panel.width - 12.0, bottom),
        INK,
    );
}

/// How many of a hundred thoughts have their reply so many seconds after their last fragment.
fn draw_curves(svg: &mut String, panel: Panel, title: &str, columns: &[Figures]) {
    text(svg, panel.left, panel.top - 12.0, "start", 13, title);
    let bottom = panel.top + panel.height;
    let x = |seconds: f64| panel.left + seconds / WAIT_MAX_S * panel.width;
    let y = |percent: f64| bottom - percent / 100.0 * panel.height;
    for percent in [0.0, 25.0, 50.0, 75.0, 100.0] {
        let height = y(percent);
        line(
            svg,
            (panel.left, height),
            (panel.left + panel.width, height),
            GRID,
        );
        text(
            svg,
            panel.left - 8.0,
            height + 4.0,
            "end",
            11,
            &percent.to_string(),
        );
    }
    for seconds in [0.0, 10.0, 20.0, 30.0, WAIT_MAX_S] {
        line(svg, (x(seconds), panel.top), (x(seconds), bottom), GRID);
        text(
            svg,
            x(seconds),
            bottom + 16.0,
            "middle",
            11,
            &seconds.to_string(),
        );
    }
    text(
        svg,
        panel.left + panel.width / 2.0,
        bottom + 34.0,
        "middle",
        12,
        "seconds",
    );
    // Ours last, so that no other line lies over it.
    for (of, colour) in columns.iter().zip(COLOURS).rev() {
        let mut points = String::new();
        for (percent, seconds) in (0_u8..).zip(&of.sent_by_percent_s) {
            if *seconds <= WAIT_MAX_S {
                let _ = write!(points, "{:.1},{:.1} ", x(*seconds), y(f64::from(percent)));
            }
        }
        let points = points.trim_end();
        let _ = writeln!(
            svg,
            "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>"
        );
    }
}

fn rectangle(svg: &mut String, x: f64, y: f64, width: f64, height: f64, colour: &str) {
    let _ = writeln!(
        svg,
        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{colour}\"/>"
    );
}

fn line(svg: &mut String, (x1, y1): (f64, f64), (x2, y2): (f64, f64), colour: &str) {
    let _ = writeln!(
        svg,
        "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{colour}\"/>"
    );
}

/// `words` are ours or a number: none needs escaping.
fn text(svg: &mut String, x: f64, y: f64, anchor: &str, size: u8, words: &str) {
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" font-size=\"{size}\">{words}</text>"
    );
}
