//! The contract of the queues, on the fake ones, on our SQS server, and on whatever else speaks SQS's protocol.

use recado_tests::for_each_ticks_contract;
use recado_tests::ticks_benches::{FakeTicksBench, SqsBench};
use recado_tests::ticks_contract;

macro_rules! on_each_queue {
    ($($name:ident,)*) => {
        mod fake {
            use super::*;
            $(#[tokio::test(start_paused = true)]
            async fn $name() {
                ticks_contract::$name(&FakeTicksBench::default()).await;
            })*
        }

        mod local {
            use super::*;
            $(#[tokio::test]
            async fn $name() {
                ticks_contract::$name(&SqsBench::local().await).await;
            })*
        }
    };
}

for_each_ticks_contract!(on_each_queue);

/// On the endpoint of `RECADO_TEST_SQS_URL`, each contract on queues of its own.
#[tokio::test]
#[ignore = "needs an endpoint of SQS's protocol in RECADO_TEST_SQS_URL"]
async fn another_server_keeps_the_contract() {
    let url = std::env::var("RECADO_TEST_SQS_URL").expect("RECADO_TEST_SQS_URL");
    for (name, n) in ticks_contract::NAMES.iter().zip(0..) {
        println!("{name}");
        let prefix = format!("recado-contract-{}-{n}", std::process::id());
        let bench = SqsBench::at(&url, &prefix).await;
        ticks_contract::run(name, &bench).await;
    }
}
