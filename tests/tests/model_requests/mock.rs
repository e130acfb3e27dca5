//! The real client against a mock server that somebody else wrote, in every dialect. `RECADO_MODEL_MOCK_URL` names it;
//! `.ci/run` starts it with the answers of `tests/mock/models.json`.

use std::sync::Arc;
use std::time::Duration;

use recado::adapters::models::{ApiKey, Endpoint, FixedKey, RoutedModel};
use recado::domain::{Finish, ModelReply, Provider};
use recado::error::{ModelError, ModelErrorClass};
use recado::ports::Model;
use recado_tests::fake_tools::HOURS;

use super::end_to_end::answered;
use super::shapes::{said, with_tools};

/// Every provider at the mock's one address.
fn routed() -> RoutedModel {
    let url = std::env::var("RECADO_MODEL_MOCK_URL").expect("RECADO_MODEL_MOCK_URL names the mock");
    let endpoints = Provider::ALL.map(|provider| {
        let path = match provider {
            Provider::OpenRouter => "/api/v1",
            _ => "/v1",
        };
        Endpoint {
            provider,
            base: format!("{url}{path}"),
            key: Some(Arc::new(FixedKey("mock".to_owned())) as Arc<dyn ApiKey>),
        }
    });
    RoutedModel::new(Provider::OpenAi, endpoints.into()).unwrap()
}

async fn ask(
    model: &RoutedModel,
    provider: Provider,
    text: &str,
) -> Result<ModelReply, ModelError> {
    let name = format!("{provider}:mock-{provider}");
    let wait = Duration::from_secs(10);
    model.converse(&name, &said(text), wait).await
}

#[tokio::test]
#[ignore = "needs the outside mock server"]
async fn words_come_from_every_dialect() {
    let model = routed();
    for provider in Provider::ALL {
        let reply = ask(&model, provider, "oi").await.unwrap();
        assert_eq!(reply.text, "Oi! Em que posso ajudar?", "{provider}");
        assert_eq!(reply.model, format!("mock-{provider}"));
        let cut = ask(&model, provider, "cortado").await.unwrap();
        assert_eq!(
            (cut.text.as_str(), cut.finish),
            ("Era uma", Finish::Cut),
            "{provider}"
        );
        let usage = ask(&model, provider, "quanto custou").await.unwrap().usage;
        assert_eq!((usage.input(), usage.output), (100, 5), "{provider}");
        let cost = (provider == Provider::OpenRouter).then_some(250);
        assert_eq!(usage.cost_micro_usd, cost, "{provider}");
    }
}

#[tokio::test]
#[ignore = "needs the outside mock server"]
async fn a_full_one_says_how_long_and_answers_then() {
    let model = routed();
    for provider in Provider::ALL {
        let error = ask(&model, provider, "primeiro cheio").await.unwrap_err();
        assert_eq!(error.class, ModelErrorClass::Throttled, "{provider}");
        assert_eq!(
            error.retry_after,
            Some(Duration::from_secs(2)),
            "{provider}"
        );
        let reply = ask(&model, provider, "primeiro cheio").await.unwrap();
        assert_eq!(reply.text, "Agora deu.", "{provider}");
    }
}

#[tokio::test]
#[ignore = "needs the outside mock server"]
async fn trouble_passes_by_itself() {
    let model = routed();
    for provider in Provider::ALL {
        for text in ["sobrecarregado", "quebrado"] {
            let error = ask(&model, provider, text).await.unwrap_err();
            assert_eq!(
                error.class,
                ModelErrorClass::Transient,
                "{provider}: {text}"
            );
        }
    }
}

#[tokio::test]
#[ignore = "needs the outside mock server"]
async fn a_call_is_made_and_answered_in_every_dialect() {
    let model = routed();
    for provider in Provider::ALL {
        let name = format!("{provider}:mock-{provider}");
        let ask = async |rounds: &[_]| {
            let prompt = with_tools(said("que horas abre?"), rounds, false);
            let reply = model
                .converse(&name, &prompt, Duration::from_secs(10))
                .await;
            reply.unwrap_or_else(|error| panic!("{provider}: {error}"))
        };
        let reply = ask(&[]).await;
        assert_eq!(
            (reply.calls.len(), reply.calls[0].tool.as_str()),
            (1, HOURS)
        );
        let reply = ask(&[answered(reply)]).await;
        assert_eq!(reply.text, "Abre às 7h30.", "{provider}");
    }
}
