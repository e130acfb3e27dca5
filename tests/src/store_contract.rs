//! What every table must do, as one suite: the fake one, the embedded one and an independent emulator pass the same.
//!
//! Each contract is a sentence and starts from an empty table. A condition that is left out of a table makes at least
//! one of them fail.

pub mod agenda;
pub mod calls;
pub mod claims;
pub mod closings;
pub mod commits;
pub mod erasure;
pub mod formats;
pub mod identity;
pub mod ledger;
pub mod memory;
pub mod messages;
pub mod outbox;
pub mod scene;
pub mod statuses;
pub mod unrest;

use async_trait::async_trait;
use recado::domain::{ConversationId, Hasher, MessageId};
use recado::ports::{Agenda, Ledger, Store};

/// A table under test, with what a test may do past the port.
#[async_trait]
pub trait Bench: Send + Sync {
    /// The table.
    fn store(&self) -> &dyn Store;
    /// The agendas in it.
    fn agenda(&self) -> &dyn Agenda;
    /// The ledger in it.
    fn ledger(&self) -> &dyn Ledger;
    /// What names people in it.
    fn hasher(&self) -> &Hasher;
    /// Everything it holds, in a form that is equal where nothing has changed.
    async fn dump(&self) -> String;
    /// Damages a stored message.
    async fn damage(&self, conversation: &ConversationId, event: &MessageId, damage: Damage);
    /// Damages the job of this person's erasure.
    async fn damage_job(&self, conversation: &ConversationId, damage: Damage);
}

/// What an accident or a newer program leaves behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damage {
    /// A format version above ours.
    Future,
    /// A field that holds what it must not.
    Broken,
}

/// Hands the list of all contracts, as `module::name`, to a macro.
#[macro_export]
macro_rules! for_each_store_contract {
    ($callback:ident) => {
        $callback! {
            identity::a_created_contact_is_known_by_each_of_its_aliases,
            identity::of_two_racing_creations_one_wins_and_the_other_leaves_nothing,
            identity::a_contact_id_that_has_a_state_is_not_created_again,
            identity::an_alias_that_names_somebody_is_not_taken_by_a_creation,
            identity::an_alias_that_names_the_given_ended_life_is_replaced,
            identity::a_creation_needs_every_tombstone_older_than_its_event,
            identity::an_ended_life_is_never_lived_again,
            identity::a_life_whose_alias_is_anothers_by_now_is_not_lived_again_either,
            identity::an_added_alias_is_in_the_states_list_and_raises_its_version,
            identity::a_contact_has_so_many_aliases_and_no_more,
            identity::a_meeting_is_noted_once_and_so_many_of_them,
            identity::an_alias_is_not_added_to_a_contact_without_state,
            identity::an_alias_that_names_somebody_is_not_added,
            identity::an_alias_is_not_added_on_an_event_from_before_its_erasure,
            identity::an_alias_of_an_ended_life_is_added_only_while_it_names_that_life,
            messages::a_repeated_message_is_pending_until_it_is_answered,
            messages::a_repeat_never_changes_what_was_stored,
            messages::a_message_stored_closed_waits_for_nobody,
            messages::a_message_stored_closed_needs_a_living_person,
            messages::pending_messages_come_in_the_order_they_were_sent,
            messages::a_peek_gives_the_oldest_up_to_its_limit,
            messages::a_peek_reads_on_where_a_page_is_cut_at_a_megabyte,
            messages::whatever_a_message_holds_reads_back,
            messages::late_messages_are_deleted_only_where_there_is_no_state,
            claims::a_swap_needs_the_version_that_was_read,
            claims::of_two_racing_claims_one_wins,
            claims::a_swap_never_brings_back_a_state_that_is_gone,
            claims::whatever_a_state_holds_reads_back,
            claims::a_release_needs_the_epoch_and_the_lease,
            claims::a_release_sets_what_the_run_leaves_behind,
            claims::a_repeated_release_is_done_and_changes_nothing,
            claims::a_release_keeps_the_seal,
            claims::a_closed_message_is_at_rest,
            claims::what_was_counted_against_closed_messages_counts_against_no_others,
            claims::closing_needs_the_version_that_was_read,
            claims::closing_is_lost_where_one_message_is_no_longer_pending,
            commits::a_commit_moves_messages_reply_and_state_at_once,
            commits::a_commit_is_lost_to_anyone_who_came_between,
            commits::a_commit_is_lost_where_one_message_is_no_longer_pending,
            commits::a_pause_that_is_over_does_not_fence,
            commits::a_commit_never_brings_back_what_is_gone,
            commits::a_repeated_commit_is_done_and_changes_nothing,
            commits::a_commit_may_carry_the_opt_out_it_confirms,
            commits::a_reply_id_is_committed_once,
            commits::eighty_messages_are_answered_in_one_commit_and_keep_their_order,
            commits::more_than_a_transaction_holds_is_an_error,
            calls::the_first_write_seals_the_batch_and_stores_what_was_called,
            calls::new_calls_are_lost_to_anyone_who_came_between,
            calls::new_calls_after_a_pause_that_is_over_are_stored,
            calls::repeated_new_calls_are_done_and_change_nothing,
            calls::a_call_is_stored_once,
            calls::the_first_result_of_a_call_stays,
            calls::calls_become_history_with_their_reply_and_go_with_it,
            closings::what_was_done_for_a_turn_that_is_closed_becomes_history,
            closings::a_closed_turn_is_compacted_like_any_other,
            closings::a_closing_with_a_call_that_is_not_there_is_lost,
            closings::a_closing_is_lost_to_a_call_that_came_between,
            closings::a_full_batch_with_all_its_calls_is_one_closing,
            calls::no_call_is_brought_back_after_an_erasure,
            calls::a_full_batch_with_all_its_calls_is_one_commit,
            outbox::only_one_token_may_send,
            outbox::nothing_but_the_confirmation_goes_to_someone_who_opted_out,
            outbox::nothing_is_sent_where_the_state_is_gone,
            outbox::only_the_sender_moves_a_reply_on,
            outbox::a_settled_reply_leaves_the_outbox_for_the_history,
            outbox::a_refused_reply_is_ready_again_and_counts_it_once,
            outbox::since_when_a_reply_is_refused_is_kept_until_something_else_keeps_it,
            outbox::an_unknown_reply_is_sent_or_ready_again_for_its_sender,
            outbox::an_unknown_reply_is_ready_again_where_nobody_works,
            outbox::an_unknown_reply_is_not_ready_again_while_another_run_works,
            outbox::an_unknown_reply_is_not_ready_again_after_a_later_one,
            outbox::a_ready_reply_is_withheld_only_by_who_holds_no_token,
            statuses::a_status_moves_a_reply_that_may_have_been_sent,
            outbox::a_settlement_never_brings_back_a_reply,
            memory::memory_comes_in_layers_and_turns_in_order,
            memory::a_compaction_replaces_words_by_summary_and_facts,
            memory::a_compaction_needs_the_summary_it_was_computed_from,
            memory::a_compaction_is_lost_where_the_person_is_gone,
            memory::a_compaction_touches_only_what_is_answered_and_at_rest,
            memory::a_compaction_of_more_than_a_transaction_is_an_error,
            agenda::an_agenda_comes_in_the_order_it_was_made,
            agenda::a_change_needs_the_version_it_was_made_from,
            agenda::a_repeated_entry_is_done_and_changes_nothing,
            agenda::nothing_is_written_for_a_person_who_is_gone,
            ledger::what_is_booked_is_counted_by_day_and_by_conversation,
            ledger::a_run_that_is_booked_again_counts_once,
            ledger::the_ledger_names_nobody_and_an_erasure_takes_what_is_of_the_person,
            ledger::what_is_booked_after_an_erasure_is_of_the_day_alone,
            commits::a_commit_may_hand_the_person_to_a_human,
            commits::a_commit_and_a_release_note_what_was_spent,
            unrest::unrest_follows_a_message_until_its_reply_is_at_rest,
            unrest::unrest_comes_oldest_first_and_no_more_than_asked_for,
            unrest::a_conversation_in_unrest_is_named_once,
            unrest::an_erasure_under_way_is_unrest,
            unrest::an_erasure_that_cannot_be_read_keeps_nobody_else_waiting,
            erasure::an_erasure_needs_the_version_whose_aliases_it_read,
            erasure::an_alias_added_meanwhile_stops_an_erasure,
            erasure::a_begun_erasure_is_found_until_it_has_ended,
            erasure::a_repeated_beginning_is_done_and_changes_nothing,
            erasure::an_erasure_of_any_number_of_aliases_ends_each_of_them,
            erasure::nothing_is_left_of_a_person_but_hashes,
            erasure::an_erasure_run_again_leaves_the_next_life_alone,
            erasure::every_ended_life_of_an_alias_is_remembered,
            erasure::no_update_brings_back_what_was_erased,
            formats::a_message_that_cannot_be_read_is_set_aside,
            formats::a_message_of_a_newer_program_stops_the_reading,
        }
    };
}

/// Declares [`run`] from the list.
macro_rules! run_them {
    ($($module:ident::$name:ident,)*) => {
        /// Every contract's name.
        pub const NAMES: &[&str] = &[$(stringify!($name),)*];

        /// Runs the contract of this name.
        ///
        /// # Panics
        /// Where the table breaks the contract, or there is none of this name.
        pub async fn run(name: &str, bench: &dyn Bench) {
            match name {
                $(stringify!($name) => $module::$name(bench).await,)*
                other => panic!("no contract is called {other}"),
            }
        }
    };
}

for_each_store_contract!(run_them);
