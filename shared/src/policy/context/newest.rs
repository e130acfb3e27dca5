//! The newest turn: the batch, one block per message, cut from its oldest end where it alone is too long.
//!
//! Invariant: the blocks cost at most what was allowed, and the person's newest words are among them.

use crate::domain::Batch;
use crate::policy::prompt::text::{MARK, marked_tail, neutralised};
use crate::policy::tokens;
use crate::policy::visible::is_blank;

/// What the newest turn may cost however small the budget: less would not hold a sentence.
pub const TOKENS_MIN: u32 = 64;

/// A turn that fits.
pub struct Newest {
    /// One block per message, oldest first.
    pub blocks: Vec<String>,
    /// What they cost, before the learnt factor.
    pub tokens: u32,
}

/// The batch within `allowance`; the oldest words go first and leave a mark.
pub fn fitted(batch: &Batch, allowance: u32) -> Newest {
    let whole: Vec<String> = batch
        .events()
        .iter()
        .filter_map(|event| event.text())
        .filter(|text| !is_blank(text))
        .map(neutralised)
        .collect();
    let blocks = if price(&whole) <= allowance {
        whole
    } else {
        cut(whole, allowance)
    };
    Newest {
        tokens: price(&blocks),
        blocks,
    }
}

fn price(blocks: &[String]) -> u32 {
    blocks.iter().map(|block| tokens::message(block)).sum()
}

/// Blocks from the newest back while they fit; the first that does not is cut inside and marked.
fn cut(whole: Vec<String>, allowance: u32) -> Vec<String> {
    let reserve = tokens::message(MARK);
    let mut room = allowance;
    let mut kept = Vec::new();
    for block in whole.into_iter().rev() {
        let price = tokens::message(&block);
        if price + reserve > room {
            kept.push(marked_tail(
                &block,
                room.saturating_sub(tokens::MESSAGE_OVERHEAD),
            ));
            break;
        }
        room -= price;
        kept.push(block);
    }
    kept.reverse();
    kept
}
