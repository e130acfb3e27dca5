//! Turns whose route is beyond doubt, and the laws of the decision.
use proptest::prelude::*;

use super::*;

fn routed(texts: &[&str]) -> Routed {
    let written = Written {
        texts: texts.to_vec(),
        language: "pt",
        ..Written::default()
    };
    decide(&written, &RoutingRules::default())
}

fn cues(routed: &Routed) -> Vec<Cue> {
    routed.reasons.iter().map(|reason| reason.cue).collect()
}

#[test]
fn each_kind_of_turn_has_its_route_and_its_cue() {
    for (label, texts, route, cue) in [
        ("thanks", &["obg!"][..], Route::Light, None),
        ("nothing", &[][..], Route::Light, None),
        ("signs only", &["👍", "!!"][..], Route::Light, None),
        (
            "one act",
            &["adiciona pão na lista"][..],
            Route::Light,
            Some(Cue::Acts),
        ),
        ("a fact", &["que horas abre?"][..], Route::Light, None),
        (
            "a change",
            &["muda pra 16h"][..],
            Route::Light,
            Some(Cue::Acts),
        ),
        (
            "one thing in pieces",
            &["oi", "queria marcar", "pra sexta"][..],
            Route::Light,
            Some(Cue::Acts),
        ),
        (
            "a question inside another",
            &["queria saber se vocês abrem domingo"][..],
            Route::Light,
            None,
        ),
        (
            "order",
            &["reorganiza minha semana por prioridade e joga o resto pra segunda"][..],
            Route::Main,
            Some(Cue::Arrangement),
        ),
        (
            "comparing",
            &["qual dos dois planos compensa se eu for 3x por semana?"][..],
            Route::Main,
            Some(Cue::Comparison),
        ),
        (
            "a complaint",
            &["vocês cobraram duas vezes e a moça disse que ia ver"][..],
            Route::Main,
            Some(Cue::Complaint),
        ),
        (
            "two acts",
            &["cancela a aula e avisa o professor"][..],
            Route::Main,
            Some(Cue::Acts),
        ),
        (
            "two acts in two messages",
            &["cancela a aula", "avisa o professor"][..],
            Route::Main,
            Some(Cue::Acts),
        ),
        (
            "a feeling",
            &["to mt triste hj"][..],
            Route::Main,
            Some(Cue::Feeling),
        ),
        (
            "what is to go?",
            &["apaga aquele"][..],
            Route::Main,
            Some(Cue::Ambiguity),
        ),
        (
            "no accents",
            &["nao aguento mais"][..],
            Route::Main,
            Some(Cue::Feeling),
        ),
        (
            "Spanish",
            &["¿cuál de los dos me conviene?"][..],
            Route::Main,
            Some(Cue::Comparison),
        ),
        (
            "English",
            &["which one is better value?"][..],
            Route::Main,
            Some(Cue::Comparison),
        ),
        (
            "crying with laughter",
            &["kkkkk to chorando"][..],
            Route::Light,
            None,
        ),
    ] {
        let routed = routed(texts);
        assert_eq!(routed.route, route, "{label}: {}", routed.why());
        if let Some(cue) = cue {
            assert!(cues(&routed).contains(&cue), "{label}: {}", routed.why());
        }
    }
}

#[test]
fn a_bare_yes_to_one_of_two_is_for_the_main_model() {
    let answer = |answered| {
        let written = Written {
            texts: vec!["sim, pode"],
            before: vec!["quero cancelar"],
            answered: Some(answered),
            language: "pt",
        };
        decide(&written, &RoutingRules::default()).route
    };
    assert_eq!(
        answer("Só a aula de amanhã ou o plano inteiro?"),
        Route::Main
    );
    assert_eq!(answer("Posso cancelar a aula de amanhã?"), Route::Light);
    assert_eq!(
        answer("Terça ou quarta eu vejo. Cancelo a de hoje?"),
        Route::Light
    );
}

#[test]
fn what_is_named_before_needs_no_second_guess() {
    let erase = |answered| {
        let written = Written {
            texts: vec!["apaga isso"],
            before: vec!["anota: dentista sexta"],
            answered,
            language: "pt",
        };
        decide(&written, &RoutingRules::default()).route
    };
    assert_eq!(erase(Some("Anotei: dentista na sexta.")), Route::Light);
    assert_eq!(erase(None), Route::Main);
}

#[test]
fn a_heavy_turn_is_not_over_with_the_next_message() {
    let after = |texts: Vec<&'static str>| {
        let written = Written {
            texts,
            before: vec!["meu pai morreu ontem"],
            answered: Some("Sinto muito."),
            language: "pt",
        };
        cues(&decide(&written, &RoutingRules::default())).contains(&Cue::Before)
    };
    assert!(after(vec!["ele tinha 80 anos"]));
    assert!(!after(vec!["obrigada"]));
}

#[test]
fn the_agents_own_words_decide_and_the_main_ones_win() {
    let rules = RoutingRules {
        main_words: vec!["orcamento".to_owned()],
        light_words: vec!["segunda via".to_owned()],
        ..RoutingRules::default()
    };
    for (label, text, route, cue) in [
        ("main", "manda o ORÇAMENTO", Route::Main, Cue::MainWord),
        (
            "a phrase",
            "apaga tudo e manda a segunda  via",
            Route::Light,
            Cue::LightWord,
        ),
        (
            "both",
            "segunda via do orçamento",
            Route::Main,
            Cue::MainWord,
        ),
    ] {
        let written = Written {
            texts: vec![text],
            language: "pt",
            ..Written::default()
        };
        let routed = decide(&written, &rules);
        assert_eq!((routed.route, cues(&routed)), (route, vec![cue]), "{label}");
    }
    let written = Written {
        texts: vec!["segundas vias"],
        ..Written::default()
    };
    assert!(
        !cues(&decide(&written, &rules)).contains(&Cue::LightWord),
        "no part of a word"
    );
}

#[test]
fn the_limits_of_an_agent_count() {
    let written = Written {
        texts: vec!["adiciona pão na lista"],
        language: "pt",
        ..Written::default()
    };
    let strict = RoutingRules {
        threshold: 1,
        ..RoutingRules::default()
    };
    assert_eq!(decide(&written, &strict).route, Route::Main);
    let short = RoutingRules {
        light_chars_max: 0,
        ..RoutingRules::default()
    };
    assert!(cues(&decide(&written, &short)).contains(&Cue::Length));
}

proptest! {
    #[test]
    fn the_points_add_up_and_decide(texts in prop::collection::vec("(?s).{0,80}", 0..4), before in ".{0,40}") {
        let written = Written {
            texts: texts.iter().map(String::as_str).collect(),
            before: vec![&before],
            answered: Some(&before),
            language: "es",
        };
        let routed = decide(&written, &RoutingRules::default());
        prop_assert_eq!(&routed, &decide(&written, &RoutingRules::default()));
        let sum: u32 = routed.reasons.iter().map(|reason| reason.points).sum();
        prop_assert_eq!(routed.score, sum);
        prop_assert_eq!(routed.route == Route::Main, sum >= routed.threshold);
        prop_assert!(routed.reasons.is_sorted_by_key(|reason| reason.cue));
        prop_assert!(routed.reasons.iter().all(|reason| reason.points > 0));
    }
}
