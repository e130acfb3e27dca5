//! The report as tables and as JSON.

use std::fmt::Write as _;

use recado::domain::routing::Route;
use serde_json::{Value, json};

use super::{Judged, LANGUAGES, Part, Report, Share};

const ROUTES: [Route; 2] = [Route::Light, Route::Main];

impl Report {
    /// Accuracy by part, language and route, the confusions, and the misses of the part that tuned it.
    pub fn table(&self) -> String {
        let mut page = String::from("right turns      tuned         held out      fresh\n");
        self.row(&mut page, "all", |_| true);
        for language in LANGUAGES {
            self.row(&mut page, language, |judged| {
                judged.example.language == language
            });
        }
        for route in ROUTES {
            self.row(&mut page, route.as_str(), |judged| {
                judged.example.route == route
            });
        }
        for wanted in ROUTES {
            let got = if wanted == Route::Light {
                Route::Main
            } else {
                Route::Light
            };
            let _ = write!(page, "{:<17}", format!("{wanted} to {got}"));
            for part in Part::ALL {
                let _ = write!(page, "{:<14}", self.went(part, wanted, got));
            }
            page.push('\n');
        }
        page.push_str("\nmisses of the tuned half (should be: score, why)\n");
        for judged in self.of(Part::Tuned).filter(|judged| !judged.is_right()) {
            let (example, routed) = (&judged.example, &judged.routed);
            let _ = writeln!(
                page,
                "  {} {}: {}, {}\n    {}",
                example.language,
                example.route,
                routed.score,
                routed.why(),
                example.texts.join(" | ")
            );
        }
        page.trim_end()
            .lines()
            .map(str::trim_end)
            .collect::<Vec<_>>()
            .join("\n")
    }

    fn row(&self, page: &mut String, label: &str, wanted: impl Fn(&Judged) -> bool) {
        // Writing to a String cannot fail.
        let _ = write!(page, "{label:<17}");
        for part in Part::ALL {
            let share = self.share(part, &wanted);
            let cell = format!("{:.3} ({})", share.accuracy(), share.of);
            let _ = write!(page, "{cell:<14}");
        }
        page.push('\n');
    }

    /// The same as one JSON object.
    pub fn json(&self) -> String {
        let share = |share: Share| json!({ "right": share.right, "of": share.of, "accuracy": share.accuracy() });
        let parts = Part::ALL.map(|part| {
            let languages = LANGUAGES.map(|language| {
                let of = self.share(part, |judged| judged.example.language == language);
                (language.to_owned(), share(of))
            });
            let routes = ROUTES.map(|route| {
                let of = self.share(part, |judged| judged.example.route == route);
                (route.as_str().to_owned(), share(of))
            });
            let report = json!({
                "overall": share(self.overall(part)),
                "languages": Value::Object(languages.into_iter().collect()),
                "routes": Value::Object(routes.into_iter().collect()),
                "light_to_main": self.went(part, Route::Light, Route::Main),
                "main_to_light": self.went(part, Route::Main, Route::Light),
            });
            (part.as_str().replace(' ', "_"), report)
        });
        let misses = self.of(Part::Tuned).filter(|judged| !judged.is_right());
        let misses: Vec<Value> = misses
            .map(|judged| {
                json!({
                    "language": judged.example.language,
                    "route": judged.example.route.as_str(),
                    "score": judged.routed.score,
                    "why": judged.routed.why(),
                    "texts": judged.example.texts,
                })
            })
            .collect();
        json!({ "parts": Value::Object(parts.into_iter().collect()), "misses": misses }).to_string()
    }
}
