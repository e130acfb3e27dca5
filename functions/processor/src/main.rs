//! The processor's Lambda, behind both queues: what it does is in the library beside it.

use lambda_runtime::{Error, LambdaEvent, run, service_fn};
use recado::installation::{self, Installation, Part};
use recado_processor::{SqsEvent, invocation};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let installation = &Installation::open(Part::ANSWERS).await;
    run(service_fn(async move |event: LambdaEvent<SqsEvent>| {
        let deadline = installation::deadline(event.context.deadline);
        Ok::<_, Error>(invocation::handle(installation, event.payload, deadline).await)
    }))
    .await
}
