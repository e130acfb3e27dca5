//! A model that calls tools before it answers.

use std::time::Duration;

use recado::domain::{Effect, Prompt, Step, ToolResult, Turn};
use recado::error::ModelErrorClass;
use recado::ports::Store as _;
use recado_tests::fake_model::Behaviour;
use recado_tests::fake_tools::{ADD, BOOK, HOURS, ToolBehaviour};
use recado_tests::fake_world::{FakeWorld, agent};

const ANA: &str = "5511900000001";
const SECOND: Duration = Duration::from_secs(1);
const SUNDAY: &str = r#"{"what":"domingo"}"#;

fn with_tools() -> FakeWorld {
    let world = FakeWorld::start();
    world.tools.declare();
    world
}

/// What the model was told of its calls, in order, in its last request.
fn results(world: &FakeWorld) -> Vec<ToolResult> {
    let prompts = world.model.prompts();
    let last: &Prompt = prompts.last().unwrap();
    let pairs = last.rounds.iter().flat_map(|round| &round.calls);
    pairs.map(|pair| pair.result.clone()).collect()
}

fn ok(text: &str) -> ToolResult {
    ToolResult::Ok(text.to_owned())
}

/// T11: the turn has one sender, and it is not the tool.
#[tokio::test(start_paused = true)]
async fn an_answer_is_given_after_a_look_and_a_write() {
    let world = with_tools();
    let both = vec![(HOURS, SUNDAY), (BOOK, r#"{"what":"9h"}"#)];
    world.model.then(Behaviour::Call(SECOND, both));
    world.say(ANA, "abre domingo? marca").await;
    world.pass_s(30).await;
    assert_eq!(world.messenger.texts(), ["ouvi: abre domingo? marca"]);
    assert_eq!(world.tools.effects(), [r#"book {"what":"9h"}"#]);
    assert_eq!(results(&world), [ok("opening_hours ok"), ok("book ok")]);
    let written = |step: &Step| {
        matches!(
            step,
            Step::ToolCalled {
                effect: Effect::Write,
                outcome: "ok",
                ..
            }
        )
    };
    assert_eq!(world.trace.count(written), 1);
}

#[tokio::test(start_paused = true)]
async fn what_was_called_is_history_between_the_person_and_the_answer() {
    let world = with_tools();
    world
        .model
        .then(Behaviour::Call(SECOND, vec![(HOURS, SUNDAY)]));
    world.say(ANA, "abre domingo?").await;
    world.pass_s(30).await;
    world.say(ANA, "obrigada").await;
    world.pass_s(30).await;
    let prompts = world.model.prompts();
    let last = prompts.last().unwrap();
    assert!(last.rounds.is_empty(), "another turn");
    let [Turn::User(_), Turn::Calls(calls), Turn::Assistant(_)] = &last.history[..] else {
        panic!("{:?}", last.history);
    };
    assert_eq!(calls[0].call.arguments.as_str(), SUNDAY);
    assert_eq!(calls[0].result, ok("opening_hours ok"));
}

#[tokio::test(start_paused = true)]
async fn a_look_is_dropped_for_a_newer_message_of_the_same_thought() {
    let world = with_tools();
    world
        .model
        .then(Behaviour::Call(SECOND, vec![(HOURS, SUNDAY)]));
    world.tools.then(ToolBehaviour::Act(10 * SECOND));
    world.say(ANA, "abre").await;
    world.pass_s(8).await;
    world.say(ANA, "domingo?").await;
    world.pass_s(30).await;
    assert_eq!(world.messenger.texts(), ["ouvi: abre / domingo?"]);
    let dropped = |step: &Step| matches!(step, Step::Superseded { .. });
    assert_eq!(world.trace.count(dropped), 1);
}

#[tokio::test(start_paused = true)]
async fn a_write_is_waited_for_and_the_newer_message_is_the_next_turn() {
    let world = with_tools();
    world
        .model
        .then(Behaviour::Call(SECOND, vec![(BOOK, SUNDAY)]));
    world.tools.then(ToolBehaviour::Act(10 * SECOND));
    world.say(ANA, "marca").await;
    world.pass_s(8).await;
    world.say(ANA, "não, segunda").await;
    world.pass_s(60).await;
    assert_eq!(
        world.messenger.texts(),
        ["ouvi: marca", "ouvi: não, segunda"]
    );
    assert_eq!(world.tools.effects().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_bad_call_is_told_to_the_model_and_nothing_is_done() {
    let world = with_tools();
    let bad = vec![("fly", "{}"), (BOOK, "{"), (BOOK, "[1]"), ("a b", "")];
    world.model.then(Behaviour::Call(SECOND, bad));
    world.say(ANA, "voa").await;
    world.pass_s(30).await;
    let results = results(&world);
    assert_eq!(results.len(), 4);
    assert!(
        results
            .iter()
            .all(|result| matches!(result, ToolResult::Error(_)))
    );
    assert_eq!(world.tools.tries(), []);
    assert_eq!(world.messenger.texts(), ["ouvi: voa"]);
    // The operator sees it, though no name that the model has made up.
    let steps = world.trace.steps().into_iter();
    let told: Vec<(String, &str)> = steps
        .filter_map(|(_, _, step)| match step {
            Step::ToolCalled { tool, outcome, .. } => Some((tool.to_string(), outcome)),
            _ => None,
        })
        .collect();
    let refused = ["unnamed", BOOK, BOOK, "unnamed"].map(|name| (name.to_owned(), "refused"));
    assert_eq!(told, refused);
}

#[tokio::test(start_paused = true)]
async fn the_same_write_asked_again_is_done_once_and_told_the_same() {
    let world = with_tools();
    let twice = vec![(BOOK, SUNDAY), (BOOK, r#" {"what" : "domingo"} "#)];
    world.model.then(Behaviour::Call(SECOND, twice));
    world
        .model
        .then(Behaviour::Call(SECOND, vec![(BOOK, SUNDAY)]));
    world.say(ANA, "marca").await;
    world.pass_s(30).await;
    assert_eq!(world.tools.tries().len(), 1);
    assert_eq!(
        results(&world),
        [ok("book ok"), ok("book ok"), ok("book ok")]
    );
    let table = world.store.look();
    assert_eq!(table.people[&world.conversation(ANA)].calls.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_write_without_an_answer_is_tried_once_more_only_under_a_key_that_counts() {
    for (tool, tries, told) in [(ADD, 2, ok("add_item ok")), (BOOK, 1, ToolResult::Unknown)] {
        let world = with_tools();
        world
            .model
            .then(Behaviour::Call(SECOND, vec![(tool, SUNDAY)]));
        world.tools.then(ToolBehaviour::ActSilently(SECOND));
        world.say(ANA, "faz").await;
        world.pass_s(60).await;
        assert_eq!(world.tools.effects().len(), 1, "{tool}");
        assert_eq!(world.tools.tries().len(), tries, "{tool}");
        assert_eq!(results(&world), [told], "{tool}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_never_answers_is_given_up_after_its_time() {
    let world = with_tools();
    let look = vec![(HOURS, SUNDAY)];
    world.model.then(Behaviour::Call(SECOND, look));
    world.tools.then(ToolBehaviour::LoseSilently(900 * SECOND));
    world.say(ANA, "abre?").await;
    world.pass_s(40).await;
    assert_eq!(world.messenger.texts(), ["ouvi: abre?"]);
    assert!(matches!(results(&world)[..], [ToolResult::Error(_)]));
}

#[tokio::test(start_paused = true)]
async fn a_model_that_only_calls_is_asked_for_words_and_given_up_at_last() {
    let world = with_tools();
    let look = Behaviour::Call(Duration::from_millis(200), vec![(HOURS, SUNDAY)]);
    world.model.usually(look);
    world.say(ANA, "oi").await;
    world.pass_s(12).await;
    let prompts = world.model.prompts();
    let rounds: Vec<_> = prompts[..7]
        .iter()
        .map(|prompt| (prompt.rounds.len(), prompt.words_only))
        .collect();
    let asked = (0..6).map(|n| (n, false)).chain([(6, true)]);
    assert_eq!(rounds, asked.collect::<Vec<_>>());
    world.pass_s(600).await;
    assert_eq!(world.messenger.texts(), [agent(|_| {}).texts.apology]);
}

#[tokio::test(start_paused = true)]
async fn what_was_called_before_a_failure_that_no_try_can_mend_is_history_too() {
    let world = with_tools();
    let book = Behaviour::Call(SECOND, vec![(BOOK, r#"{"what":"9h"}"#)]);
    world.model.then(book);
    world
        .model
        .then(Behaviour::Fail(SECOND, ModelErrorClass::Quota));
    world.say(ANA, "marca 9h").await;
    world.pass_s(30).await;
    assert_eq!(world.messenger.texts(), [agent(|_| {}).texts.apology]);
    let memory = world.store.load(&world.conversation(ANA)).await.unwrap();
    assert_eq!(memory.exchanges[0].calls[0].result, Some(ok("book ok")));
}

#[tokio::test(start_paused = true)]
async fn no_turn_makes_more_calls_than_its_commit_holds() {
    let world = with_tools();
    let many = vec![(HOURS, SUNDAY); 15];
    world.model.then(Behaviour::Call(SECOND, many));
    world.say(ANA, "oi").await;
    world.pass_s(30).await;
    assert_eq!(world.tools.tries().len(), 12);
    let told = results(&world);
    assert_eq!(told.len(), 15, "every call has a result");
    assert!(
        told[12..]
            .iter()
            .all(|one| matches!(one, ToolResult::Error(_)))
    );
    assert_eq!(world.messenger.texts(), ["ouvi: oi"]);
    let table = world.store.look();
    assert_eq!(table.people[&world.conversation(ANA)].calls.len(), 12);
}
