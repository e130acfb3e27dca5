//! Whether a turn asks for a compaction: at once where it has just become due, seldom where it has been due for long.
//!
//! Invariant: a span that is refused again and again costs one more call each time the backlog has grown by about a
//! quarter, not one a turn. The backlog itself is the count, so nothing has to be stored.

/// Whether to ask, where `exchanges` wait and a compaction is due; `was_due` tells whether it was already before the newest
/// of them, so that it was asked for then.
pub fn is_asked_for(exchanges: usize, was_due: bool) -> bool {
    !was_due || is_step(exchanges)
}

/// Numbers whose binary form has at most three digits before its zeros: 1 to 8, 10, 12, 14, 16, 20, 24, 28, 32, 40 ...
const fn is_step(count: usize) -> bool {
    let digits = usize::BITS - count.leading_zeros();
    count.trailing_zeros() + 3 >= digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_just_become_due_is_asked_for_whatever_its_size() {
        assert!((1..200).all(|exchanges| is_asked_for(exchanges, false)));
    }

    #[test]
    fn what_stays_due_is_asked_for_again_a_quarter_later() {
        let asked: Vec<usize> = (1..=100)
            .filter(|count| is_asked_for(*count, true))
            .collect();
        assert_eq!(
            asked,
            [
                1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96
            ]
        );
        let in_a_thousand_turns = (20..1_020).filter(|count| is_asked_for(*count, true));
        assert_eq!(in_a_thousand_turns.count(), 23);
    }
}
