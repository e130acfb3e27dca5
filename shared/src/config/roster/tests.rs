//! Rosters right and wrong.

use super::*;

fn agent(id: &str, numbers: &[&str]) -> Agent {
    agent_file::parse(&format!(
        "id = {id:?}\npersona = \"x\"\nnumbers = {numbers:?}"
    ))
    .unwrap()
}

fn number(text: &str) -> BusinessNumber {
    BusinessNumber::parse(text).unwrap()
}

#[tokio::test]
async fn a_number_finds_its_agent_and_any_other_the_one_without_numbers() {
    let roster = Roster::new(vec![agent("rest", &[]), agent("one", &["1", "2"])]).unwrap();
    for (label, asked, expected) in [("its own", "2", "one"), ("any other", "3", "rest")] {
        let found = roster.by_number(&number(asked)).await.unwrap();
        assert_eq!(found.id.as_str(), expected, "{label}");
    }
    assert!(
        roster
            .by_id(&AgentId::parse("one").unwrap())
            .await
            .is_some()
    );
    assert!(
        roster
            .by_id(&AgentId::parse("two").unwrap())
            .await
            .is_none()
    );
}

#[tokio::test]
async fn a_number_of_nobody_finds_nobody() {
    let roster = Roster::new(vec![agent("one", &["1"])]).unwrap();
    assert!(roster.by_number(&number("3")).await.is_none());
}

#[test]
fn agents_that_could_be_taken_for_each_other_are_refused() {
    for (label, agents, expected) in [
        (
            "one id",
            vec![agent("a", &["1"]), agent("a", &["2"])],
            "agent a: two agents have this id",
        ),
        (
            "one number",
            vec![agent("a", &["1"]), agent("b", &["1"])],
            "agent b: number 1 already belongs to agent a",
        ),
        (
            "two without numbers",
            vec![agent("a", &[]), agent("b", &[])],
            "agent b: like agent a it lists no numbers",
        ),
        ("none", vec![], "no agent"),
    ] {
        let problems = Roster::new(agents).unwrap_err();
        assert_eq!(problems.len(), 1, "{label}: {problems:?}");
        assert!(problems[0].starts_with(expected), "{label}: {problems:?}");
    }
}

#[test]
fn without_a_path_the_embedded_agent_answers() {
    let roster = Roster::load(&[], &Overrides::none()).unwrap();
    assert_eq!(roster.agents().count(), 1);
    assert_eq!(roster.window_min(), Duration::from_secs(5));
}

#[test]
fn agents_that_were_built_in_are_told_by_the_names_of_their_files() {
    let right = ("a.toml", "id = \"a\"\npersona = \"x\"");
    let roster = Roster::of_texts(&[right], &Overrides::none()).unwrap();
    assert_eq!(roster.agents().count(), 1);
    let wrong = ("b.toml", "id = \"b\"\npersona = \"\"");
    let problems = Roster::of_texts(&[right, wrong], &Overrides::none()).unwrap_err();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].starts_with("b.toml:2:11: persona: is blank"));
}

#[test]
fn a_folder_gives_each_of_its_agent_files_and_every_mistake_in_them() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let load = || Roster::load(&[folder.path().to_owned()], &Overrides::none());
    assert!(load().unwrap_err()[0].contains("holds no .toml file"));

    write("a.toml", "id = \"a\"\npersona = \"x\"\nnumbers = [\"1\"]");
    write(
        "b.toml",
        "id = \"b\"\npersona = \"x\"\n[timing]\nwindow_s = 2",
    );
    write("notes.txt", "not an agent");
    let roster = load().unwrap();
    assert_eq!(roster.agents().count(), 2);
    assert_eq!(roster.window_min(), Duration::from_secs(2));
    assert!(roster.check_delay(Duration::from_secs(2)).is_ok());
    let problems = roster.check_delay(Duration::from_secs(5)).unwrap_err();
    assert!(
        problems[0].starts_with("agent b: its window (2 s) is smaller"),
        "{problems:?}"
    );

    write("b.toml", "id = \"b\"\npersona = \"\"");
    fs::write(folder.path().join("c.toml"), [0xff, 0xfe]).unwrap();
    let problems = load().unwrap_err();
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(
        problems[0].contains("b.toml:2:11: persona: is blank"),
        "{problems:?}"
    );
    assert!(problems[1].contains("c.toml is not UTF-8"), "{problems:?}");
}

#[test]
fn a_file_that_is_not_there_is_told_with_the_setting_that_names_it() {
    let problems = Roster::load(&["nowhere/agent.toml".into()], &Overrides::none()).unwrap_err();
    assert_eq!(
        problems,
        [
            "RECADO_AGENT_FILE: nowhere/agent.toml is not there; give the path of an agent file, for instance \
             agents/recepcao.toml"
        ]
    );
}

#[test]
fn an_agent_is_warned_of_whose_limits_count_nothing_or_whose_provider_is_nearly_one() {
    let limited = "id = \"one\"\npersona = \"x\"\nnumbers = [\"1\"]\n[limits]\nagent_day_usd = 1\n\
                   [model]\nmain = \"opnai:unheard-of\"\n";
    let limited = agent_file::parse(limited).unwrap();
    let roster = Roster::new(vec![agent("rest", &[]), limited]).unwrap();
    let warnings: Vec<String> = roster.warnings().collect();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(warnings[0].ends_with("did you mean openai:?"));
    assert!(warnings[1].starts_with("agent one: no price is known for opnai:unheard-of, "));
}
