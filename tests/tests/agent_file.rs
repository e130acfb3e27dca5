//! The whole report on a file with ten mistakes, as `recado agent check` prints it.

use recado::config::agent_file::check_report;

const TEN_MISTAKES: &str = r#"# Um arquivo com dez erros.
id = "Recepção"
persona = "  "
language = "pt_BR"
time_zone = "Sao Paulo"
numbers = ["111", 222, "111"]

[timing]
windw_s = 5
window_s = "5s"

[compaction]
trigger = 20
keep = 20

[opt_out]
words = ["parar", "PARAR"]
"#;

#[test]
fn ten_mistakes_are_told_in_one_go() {
    let (report, right) = check_report("agents/recepcao.toml", TEN_MISTAKES);
    assert!(!right);
    insta::assert_snapshot!(report);
}
