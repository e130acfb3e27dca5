//! Laws of the ledger: what the models reported to an invocation that came to its end is booked by it, and once.

use recado::domain::{Booking, ConversationId, Usage};

use super::Witness;

/// What one invocation has been told and has booked, in tokens; estimates are in neither.
#[derive(Debug, Clone, Copy, Default)]
pub struct Books {
    reported: u64,
    booked: u64,
    has_failed: bool,
}

impl Witness {
    /// A model answered, and said what it took.
    pub fn reported(&mut self, invocation: u64, usage: &Usage) {
        let books = self.books.entry(invocation).or_default();
        books.reported += usage.input() + usage.output;
    }

    /// The table took a booking.
    pub fn booked(&mut self, invocation: u64, booking: &Booking) {
        let told = booking.charges.iter().filter(|charge| !charge.is_estimate);
        let tokens = told.map(|charge| charge.usage.input() + charge.usage.output);
        self.books.entry(invocation).or_default().booked += tokens.sum::<u64>();
    }

    /// The ledger could not be asked.
    pub fn books_fail(&mut self, invocation: u64) {
        self.books.entry(invocation).or_default().has_failed = true;
    }

    /// The invocation has come to its end.
    pub fn books_close(&mut self, of: &ConversationId, invocation: u64) {
        let Some(books) = self.books.remove(&invocation) else {
            return;
        };
        let is_lost = books.booked < books.reported && !books.has_failed;
        if is_lost || books.booked > books.reported {
            let detail = format!("{books:?}");
            self.find("what models report is booked, once", of, detail);
        }
    }
}
