//! What nobody could handle is told: each dead-letter queue of the template has an alarm that goes off with one message.

use crate::source;
use crate::template::Template;

#[test]
fn every_dead_letter_queue_has_an_alarm_that_goes_off_with_its_first_message() {
    let template = Template::read();
    let dead = template.dead_letter_queues();
    assert_eq!(dead, ["CompactionsDead", "TicksDead"]);
    for queue in dead {
        let alarms = template.alarms_on(&queue);
        assert_eq!(alarms, [format!("{queue}Alarm")], "{queue}");
    }
}

/// An address is the only thing that is sent to, and without one nothing is.
#[test]
fn an_alarm_is_mailed_only_where_an_address_is_given() {
    let template = Template::read();
    assert_eq!(template.default_of("AlertEmail").as_deref(), Some(""));
    assert_eq!(template.condition_of("Alerts"), "HasAlertEmail");
}

/// A metric counts lines by their words: the log still has them, with the fields that the metric is split by.
#[test]
fn every_metric_counts_lines_that_the_log_has() {
    let journal = source::root().join("shared/src/adapters/log_journal.rs");
    let journal = std::fs::read_to_string(journal).unwrap();
    let metrics = Template::read().metrics();
    let names: Vec<&str> = metrics.iter().map(|metric| metric.name.as_str()).collect();
    assert_eq!(names, ["ModelIncidents", "SpendLimits"]);
    for metric in metrics {
        let words = metric.pattern.strip_prefix("{ $.message = \"");
        let words = words.and_then(|words| words.strip_suffix("*\" }")).unwrap();
        let lines: Vec<usize> = journal
            .match_indices(&format!("\"{words}"))
            .map(|(at, _)| at)
            .collect();
        let [at] = lines[..] else {
            panic!("{}: {} lines begin so", metric.name, lines.len());
        };
        let line = &journal[journal[..at].rfind("tracing::").unwrap()..at];
        for field in &metric.fields {
            let is_there =
                line.contains(&format!(" {field} = ")) || line.contains(&format!(" {field},"));
            assert!(is_there, "{}: {field} in {line}", metric.name);
        }
    }
}
