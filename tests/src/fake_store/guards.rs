//! The conditions of the table as switches: a suite leaves each out in turn to see who notices.

/// Declares the guards with their names, so that a suite can go through all of them.
macro_rules! guards {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The conditions of the table, each of which can be left out to see who notices.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct Guards {
            $($(#[$doc])* pub $name: bool,)*
        }

        impl Default for Guards {
            fn default() -> Self {
                Self { $($name: true,)* }
            }
        }

        impl Guards {
            /// Every guard's name.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name),)*];

            /// All of them but the one of this name.
            ///
            /// # Panics
            /// Where there is no such guard.
            pub fn without(name: &str) -> Self {
                Self::without_all(&[name])
            }

            /// All of them but those of these names.
            ///
            /// # Panics
            /// Where there is no such guard.
            pub fn without_all(names: &[&str]) -> Self {
                let mut guards = Self::default();
                for name in names {
                    match *name {
                        $(stringify!($name) => guards.$name = false,)*
                        other => panic!("no guard is called {other}"),
                    }
                }
                guards
            }
        }
    };
}

guards! {
    /// An event is put only where its id is new.
    conditional_put,
    /// A swap of the state tests the version.
    claim_by_version,
    /// Commit and release test the epoch.
    epoch,
    /// Commit and release test whose lease it is.
    lease_run,
    /// Commit and close test that an event was answered by nobody.
    answered_set,
    /// An update tests that what it changes is still there.
    exists_on_updates,
    /// A compaction writes memory only where the state exists.
    state_on_creations,
    /// A move out of `sending` tests the token, and so does a second move into it.
    sender_token,
    /// Closing tests the version.
    fenced_close,
    /// Closing a sealed turn opens its seal.
    closing_opens_the_seal,
    /// Closing a sealed turn makes its calls history.
    calls_outlive_their_turn,
    /// Commit tests that nobody opted out.
    opt_out_at_commit,
    /// Commit tests that no human took over.
    pause_at_commit,
    /// New calls, and the seal, test the epoch and the lease.
    epoch_at_calls,
    /// New calls, and the seal, test that nobody opted out.
    opt_out_at_calls,
    /// New calls, and the seal, test that no human took over.
    pause_at_calls,
    /// A call is stored only where there is none of its number.
    new_calls_only,
    /// A result tests that its call is still there.
    exists_on_results,
    /// A result tests that its call has none.
    first_result_stays,
    /// Sending tests that nobody opted out.
    opt_out_at_sending,
    /// Creation, and a new alias, test that the tombstones are older than the event.
    tombstone_at_creation,
    /// Creation tests that the contact id has had no life.
    one_life_per_contact,
    /// Creation, and a new alias, test that the alias names nobody else.
    alias_is_free,
    /// A new alias is added to the state's list and raises its version.
    alias_list_in_state,
    /// A new alias tests that the list has room.
    aliases_are_few,
    /// The beginning of an erasure tests the version whose alias list it read.
    erasure_by_version,
    /// The beginning of an erasure notes the ended life under the alias its contact id was made of.
    life_under_its_first_alias,
    /// An erasure deletes only aliases that still name the ended life.
    aliases_of_ended_life_only,
    /// Late messages are deleted only where there is no state.
    late_only_without_state,
    /// An unknown reply becomes ready only while no later one exists.
    no_later_reply,
    /// An unknown reply becomes ready only while no other run may be writing a later one.
    no_run_meanwhile,
    /// A compaction tests the summary's version.
    summary_version,
    /// A compaction deletes only replies at rest, and bares only answered messages.
    fold_at_rest_only,
    /// What a run has cost is booked on the person only where the state exists.
    spend_of_the_living_only,
    /// Aliases and tombstones are read in one snapshot.
    snapshot_resolve,
}
