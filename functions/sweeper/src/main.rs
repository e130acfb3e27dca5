//! The sweeper's Lambda, on a schedule: what it does is in the library beside it.

use lambda_runtime::{Error, LambdaEvent, run, service_fn};
use recado::installation::{Installation, Part};
use recado_sweeper::invocation;
use serde::de::IgnoredAny;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let installation = &Installation::open(Part::TAKES).await;
    run(service_fn(async move |_: LambdaEvent<IgnoredAny>| {
        let swept = invocation::handle(installation).await;
        swept.map_err(Error::from)
    }))
    .await
}
