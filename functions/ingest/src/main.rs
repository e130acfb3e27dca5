//! The ingest Lambda, behind an HTTP API: what it answers is in the library beside it.

use lambda_runtime::{Error, LambdaEvent, run, service_fn};
use recado::installation::{self, Installation, Part};
use recado_ingest::gateway::{self, GatewayRequest};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let installation = &Installation::open(Part::TAKES).await;
    run(service_fn(
        async move |event: LambdaEvent<GatewayRequest>| {
            let deadline = installation::deadline(event.context.deadline);
            Ok::<_, Error>(gateway::handle(installation, event.payload, deadline).await)
        },
    ))
    .await
}
