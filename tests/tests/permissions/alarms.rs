//! What nobody could handle is told: each dead-letter queue of the template has an alarm that goes off with one message.

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
