//! Contracts of memory and its compaction.

use recado::domain::memory::Fold;
use recado::domain::reply::Settlement;
use recado::domain::{Fact, Memory, Summary};
use recado::ports::{Appended, Written};

use super::Bench;
use super::scene::{Scene, at, event, fact_id, message, reply_id, run_id};

fn summary(version: u64) -> Summary {
    Summary {
        version,
        text: format!("summary {version}"),
        through: reply_id(version),
        written_at: at(300),
    }
}

fn fact(n: u64, said: u64) -> Fact {
    Fact {
        id: fact_id(n),
        text: format!("fact {n}"),
        sources: vec![message("m1"), message("#")],
        said_at: at(said),
    }
}

/// The n-th compaction, of nothing yet.
fn fold(version: u64) -> Fold {
    Fold {
        from_version: (version > 1).then(|| version - 1),
        summary: summary(version),
        facts: Vec::new(),
        retired: Vec::new(),
        messages: Vec::new(),
        replies: Vec::new(),
        calls: Vec::new(),
    }
}

async fn write(scene: &Scene<'_>, fold: &Fold) -> Written {
    let written = scene.store().fold(&scene.conversation, fold, at(300)).await;
    written.expect("fold")
}

async fn load(scene: &Scene<'_>) -> Memory {
    let memory = scene.store().load(&scene.conversation).await;
    memory.expect("load")
}

/// The n-th turn, sent.
async fn turn(scene: &Scene<'_>, n: u64, ids: &[&str]) {
    let reply = scene.answered(n, ids).await;
    assert_eq!(scene.sending(&reply, n).await, Written::Done);
    let (token, sent) = (Some(run_id(n)), Settlement::Sent { provider_id: None });
    let store = scene.store();
    let settled = store.settle(&scene.conversation, reply.id, token, &sent, at(130));
    assert_eq!(settled.await.expect("settle"), Written::Done);
}

pub async fn memory_comes_in_layers_and_turns_in_order(bench: &dyn Bench) {
    let nobody = Scene::of(bench, 2);
    assert!(load(&nobody).await == Memory::default());
    let scene = Scene::new(bench).await;
    // Answered later, though sent earlier: turns are ordered by commit.
    scene.append(&event("z", 90)).await;
    let epoch = scene.claim(1).await;
    let commit = scene.commit_of(1, epoch, &["z"]);
    assert_eq!(scene.commit(&commit).await, Written::Done);
    turn(&scene, 2, &["a", "b"]).await;
    let both = Fold {
        facts: vec![fact(1, 20), fact(2, 10)],
        ..fold(1)
    };
    assert_eq!(write(&scene, &both).await, Written::Done);
    scene.receive(&["waiting"]).await;
    let memory = load(&scene).await;
    assert!(memory.summary == Some(summary(1)));
    assert!(
        memory.facts == [fact(2, 10), fact(1, 20)],
        "by when it was said"
    );
    let turns: Vec<_> = memory
        .exchanges
        .iter()
        .map(|turn| {
            let ids: Vec<_> = turn.messages.iter().map(|m| m.id.to_string()).collect();
            (turn.reply, ids.join(" "), turn.answer.clone())
        })
        .collect();
    let answer = Some("answer 2".to_owned());
    let expected = [
        (reply_id(1), "z".to_owned(), None),
        (reply_id(2), "a b".to_owned(), answer),
    ];
    assert_eq!(turns, expected);
    let words = &memory.exchanges[1].messages[1];
    assert_eq!((words.text.as_str(), words.sent_at), ("words of b", at(11)));
    assert_eq!(memory.items(), 4);
}

pub async fn a_compaction_replaces_words_by_summary_and_facts(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    turn(&scene, 1, &["m1", "m2"]).await;
    turn(&scene, 2, &["m3"]).await;
    let first = Fold {
        facts: vec![fact(1, 10), fact(2, 20)],
        messages: vec![message("m1"), message("m2")],
        replies: vec![reply_id(1)],
        ..fold(1)
    };
    assert_eq!(write(&scene, &first).await, Written::Done);
    let memory = load(&scene).await;
    assert_eq!(memory.exchanges.len(), 1);
    assert_eq!(memory.exchanges[0].reply, reply_id(2));
    let dump = bench.dump().await;
    for gone in ["words of m1", "words of m2", "answer 1"] {
        assert!(!dump.contains(gone), "{gone} is still there");
    }
    assert!(dump.contains("words of m3") && dump.contains("answer 2"));
    let before = bench.dump().await;
    assert_eq!(scene.append(&event("m1", 10)).await, Appended::AtRest);
    scene.is_unchanged(&before, "a repeat").await;
    let said_anew = Fact {
        text: "fact 2, corrected".to_owned(),
        ..fact(2, 40)
    };
    let second = Fold {
        facts: vec![said_anew.clone(), fact(3, 30)],
        retired: vec![fact_id(1), fact_id(9)],
        messages: vec![message("m3"), message("m1")],
        replies: vec![reply_id(2), reply_id(1)],
        ..fold(2)
    };
    assert_eq!(write(&scene, &second).await, Written::Done);
    let memory = load(&scene).await;
    assert!(memory.summary == Some(summary(2)));
    assert!(memory.facts == [fact(3, 30), said_anew]);
    assert_eq!(memory.items(), 0);
}

pub async fn a_compaction_needs_the_summary_it_was_computed_from(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    let before = bench.dump().await;
    assert_eq!(
        write(&scene, &fold(2)).await,
        Written::Lost,
        "there is none"
    );
    scene.is_unchanged(&before, "of nothing").await;
    assert_eq!(write(&scene, &fold(1)).await, Written::Done);
    assert_eq!(write(&scene, &fold(2)).await, Written::Done);
    let before = bench.dump().await;
    for (label, from_version) in [("none", None), ("an older", Some(1)), ("a newer", Some(3))] {
        let stale = Fold {
            from_version,
            facts: vec![fact(1, 1)],
            ..fold(3)
        };
        assert_eq!(write(&scene, &stale).await, Written::Lost, "{label}");
        scene.is_unchanged(&before, label).await;
    }
}

pub async fn a_compaction_is_lost_where_the_person_is_gone(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    turn(&scene, 1, &["m1"]).await;
    assert_eq!(write(&scene, &fold(1)).await, Written::Done);
    let erasure = scene.begin(140).await;
    let late = Fold {
        facts: vec![fact(1, 1)],
        messages: vec![message("m1")],
        replies: vec![reply_id(1)],
        ..fold(2)
    };
    let before = bench.dump().await;
    assert_eq!(write(&scene, &late).await, Written::Lost);
    scene.is_unchanged(&before, "half erased").await;
    assert!(bench.store().erase(&erasure).await.expect("erase") > 0);
    let before = bench.dump().await;
    assert_eq!(write(&scene, &fold(1)).await, Written::Lost);
    scene.is_unchanged(&before, "erased").await;
}

pub async fn a_compaction_touches_only_what_is_answered_and_at_rest(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    turn(&scene, 1, &["m1"]).await;
    let leaving = scene.answered(2, &["m2"]).await;
    scene.receive(&["waiting"]).await;
    let refused = async |label: &str, messages: &[&str], reply: u64| {
        let before = bench.dump().await;
        let fold = Fold {
            messages: messages.iter().map(|id| message(id)).collect(),
            replies: vec![reply_id(reply)],
            ..fold(1)
        };
        assert_eq!(write(&scene, &fold).await, Written::Lost, "{label}");
        scene.is_unchanged(&before, label).await;
    };
    refused("a pending message", &["m1", "waiting"], 1).await;
    refused("a message never seen", &["m1", "never seen"], 1).await;
    refused("a reply that is ready", &["m1"], 2).await;
    assert_eq!(scene.sending(&leaving, 2).await, Written::Done);
    refused("a reply being sent", &["m1"], 2).await;
}

pub async fn a_compaction_of_more_than_a_transaction_is_an_error(bench: &dyn Bench) {
    let scene = Scene::new(bench).await;
    let before = bench.dump().await;
    let facts: Vec<_> = (0..99).map(|n| fact(n, n)).collect();
    let big = Fold { facts, ..fold(1) };
    let refused = bench.store().fold(&scene.conversation, &big, at(300)).await;
    assert!(refused.is_err());
    scene.is_unchanged(&before, "too much").await;
    let fits = Fold {
        facts: (0..98).map(|n| fact(n, n)).collect(),
        ..fold(1)
    };
    assert_eq!(write(&scene, &fits).await, Written::Done);
    assert_eq!(load(&scene).await.facts.len(), 98);
}
