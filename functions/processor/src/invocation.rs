//! One invocation of the processor's Lambda: is everything there that an answer takes? Then the batch; else it waits.

use recado::domain::Timestamp;
use recado::flow::World;
use recado::installation::Installation;
use recado::ports::Receipt;

use crate::{BatchItemFailure, BatchResponse, SqsEvent, handle as work_through, hold};

/// While a key is missing, a tick looks again this often.
const NOT_READY_HOLD_S: u32 = 60;

/// Works through a batch until `deadline`, when the invocation is cut off. Where something is missing, the operator
/// is told and every message stays: nobody is answered wrongly, and nothing is lost.
pub async fn handle(
    installation: &Installation,
    event: SqsEvent,
    deadline: Timestamp,
) -> BatchResponse {
    let world = match installation.world().await {
        Ok(world) => world,
        Err(not_ready) => {
            not_ready.log();
            // Without settings there is no queue to hold in: the messages come back by the queue's own timeout.
            return every(event);
        }
    };
    if let Err(not_ready) = installation.can_answer().await {
        not_ready.log();
        return wait(world, event).await;
    }
    work_through(world, event, deadline).await
}

async fn wait(world: &World, event: SqsEvent) -> BatchResponse {
    for record in &event.records {
        // A compaction comes back by its queue's own timeout.
        if record.attributes.group.is_some() {
            hold(
                world,
                &Receipt(record.receipt_handle.clone()),
                NOT_READY_HOLD_S,
            )
            .await;
        }
    }
    every(event)
}

fn every(event: SqsEvent) -> BatchResponse {
    let failure = |record: crate::SqsRecord| BatchItemFailure {
        item_identifier: record.message_id,
    };
    BatchResponse {
        batch_item_failures: event.records.into_iter().map(failure).collect(),
    }
}
