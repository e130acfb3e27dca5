//! What every keeper of breakers must do, as one suite: the fake one, the embedded table and an independent emulator pass
//! the same. Each contract begins with all breakers closed.

use futures_util::future::join_all;
use recado::domain::{Breaker, RunId, Timestamp};
use recado::error::ModelErrorClass;
use recado::ports::{Breakers, Written};

/// In the year 2030: nothing expires while the contracts run.
fn at(seconds: u64) -> Timestamp {
    Timestamp::from_ms(1_900_000_000_000 + seconds * 1_000)
}

/// Open until 30 s after the beginning, by the n-th transition.
fn open(n: u64) -> Breaker {
    Breaker {
        class: ModelErrorClass::Transient,
        since: at(0),
        open_until: at(30),
        mark: RunId::from_parts(at(0).ms(), u128::from(n)),
    }
}

async fn swap(bench: &dyn Breakers, seen: Option<&Breaker>, next: Option<&Breaker>) -> Written {
    let swapped = bench.swap_breaker("openai:big", seen, next).await;
    swapped.expect("a breaker that moves or does not")
}

async fn now(bench: &dyn Breakers) -> Option<Breaker> {
    let read = bench.breaker("openai:big").await;
    read.expect("a breaker that can be read")
}

pub async fn a_breaker_that_nobody_opened_is_closed(bench: &dyn Breakers) {
    assert_eq!(now(bench).await, None);
}

pub async fn whatever_a_breaker_holds_reads_back(bench: &dyn Breakers) {
    let mut seen = None;
    for (class, n) in ModelErrorClass::ALL.into_iter().zip(1..) {
        let next = Breaker {
            class,
            since: at(n),
            open_until: at(100 * n),
            mark: open(n).mark,
        };
        assert_eq!(swap(bench, seen.as_ref(), Some(&next)).await, Written::Done);
        assert_eq!(now(bench).await, Some(next));
        seen = Some(next);
    }
}

pub async fn of_many_that_open_it_one_does(bench: &dyn Breakers) {
    let all: Vec<_> = (1..=8).map(open).collect();
    let swaps = all.iter().map(|next| swap(bench, None, Some(next)));
    let swapped = join_all(swaps).await;
    let done = swapped.iter().filter(|written| **written == Written::Done);
    assert_eq!(done.count(), 1);
    let winner = swapped.iter().position(|written| *written == Written::Done);
    assert_eq!(now(bench).await, winner.map(|n| all[n]));
}

pub async fn of_many_that_would_try_the_model_one_may(bench: &dyn Breakers) {
    let before = open(9);
    assert_eq!(swap(bench, None, Some(&before)).await, Written::Done);
    let all: Vec<_> = (1..=8).map(open).collect();
    let swaps = all
        .iter()
        .map(|next| swap(bench, Some(&before), Some(next)));
    let done = join_all(swaps).await;
    let done = done.iter().filter(|written| **written == Written::Done);
    assert_eq!(done.count(), 1);
}

pub async fn a_transition_is_lost_where_another_came_between(bench: &dyn Breakers) {
    let (first, second, third) = (open(1), open(2), open(3));
    assert_eq!(swap(bench, None, Some(&first)).await, Written::Done);
    assert_eq!(
        swap(bench, Some(&first), Some(&second)).await,
        Written::Done
    );
    for (label, next) in [("opened", Some(&third)), ("closed", None)] {
        assert_eq!(
            swap(bench, Some(&first), next).await,
            Written::Lost,
            "{label}"
        );
        assert_eq!(now(bench).await, Some(second), "{label}");
    }
    assert_eq!(swap(bench, None, Some(&third)).await, Written::Lost);
    assert_eq!(now(bench).await, Some(second));
}

pub async fn a_closed_breaker_is_not_opened_by_who_saw_it_open(bench: &dyn Breakers) {
    let (first, second) = (open(1), open(2));
    assert_eq!(swap(bench, None, Some(&first)).await, Written::Done);
    assert_eq!(swap(bench, Some(&first), None).await, Written::Done);
    assert_eq!(
        swap(bench, Some(&first), Some(&second)).await,
        Written::Lost
    );
    assert_eq!(now(bench).await, None);
    assert_eq!(swap(bench, None, Some(&second)).await, Written::Done);
}

pub async fn a_repeated_transition_is_done_and_changes_nothing(bench: &dyn Breakers) {
    let (first, second) = (open(1), open(2));
    for _ in 0..2 {
        assert_eq!(swap(bench, None, Some(&first)).await, Written::Done);
        assert_eq!(now(bench).await, Some(first));
    }
    for _ in 0..2 {
        let swapped = swap(bench, Some(&first), Some(&second)).await;
        assert_eq!(swapped, Written::Done);
        assert_eq!(now(bench).await, Some(second));
    }
    for _ in 0..2 {
        assert_eq!(swap(bench, Some(&second), None).await, Written::Done);
        assert_eq!(now(bench).await, None);
    }
}

pub async fn each_model_has_a_breaker_of_its_own(bench: &dyn Breakers) {
    let names = ["big", "openrouter:big/large:free", "big#2"];
    for (name, n) in names.into_iter().zip(1..) {
        let opened = bench.swap_breaker(name, None, Some(&open(n))).await;
        assert_eq!(opened.expect("opened"), Written::Done, "{name}");
    }
    let closed = bench.swap_breaker("big", Some(&open(1)), None).await;
    assert_eq!(closed.expect("closed"), Written::Done);
    for (name, right) in names.into_iter().zip([None, Some(open(2)), Some(open(3))]) {
        assert_eq!(bench.breaker(name).await.expect("read"), right, "{name}");
    }
}

/// Hands the list of all contracts to a macro.
#[macro_export]
macro_rules! for_each_breaker_contract {
    ($callback:ident) => {
        $callback! {
            a_breaker_that_nobody_opened_is_closed,
            whatever_a_breaker_holds_reads_back,
            of_many_that_open_it_one_does,
            of_many_that_would_try_the_model_one_may,
            a_transition_is_lost_where_another_came_between,
            a_closed_breaker_is_not_opened_by_who_saw_it_open,
            a_repeated_transition_is_done_and_changes_nothing,
            each_model_has_a_breaker_of_its_own,
        }
    };
}

/// Declares [`run`] from the list.
macro_rules! run_them {
    ($($name:ident,)*) => {
        /// Every contract's name.
        pub const NAMES: &[&str] = &[$(stringify!($name),)*];

        /// Runs the contract of this name.
        ///
        /// # Panics
        /// Where it is broken, or there is none of this name.
        pub async fn run(name: &str, bench: &dyn Breakers) {
            match name {
                $(stringify!($name) => $name(bench).await,)*
                other => panic!("no contract is called {other}"),
            }
        }
    };
}

for_each_breaker_contract!(run_them);
