//! The table's definition in code: attribute and index names, and its creation for local use and tests.
//!
//! On AWS the same table comes from `template.yaml`.

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::operation::create_table::CreateTableError;
use aws_sdk_dynamodb::operation::create_table::builders::CreateTableFluentBuilder;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, GlobalSecondaryIndex, KeySchemaElement, KeyType,
    LocalSecondaryIndex, Projection, ProjectionType, ScalarAttributeType, TimeToLiveSpecification,
};

use super::fault::{Call, redact};
use crate::error::{Source, StoreError};

/// Partition key.
pub const CONVERSATION: &str = "conversation";
/// Sort key.
pub const ITEM: &str = "item";
/// Sort key of the local index [`LIVE`]; only on what is live.
pub const SLOT: &str = "slot";
/// Local index over a conversation's live items, in reading order; projects everything.
pub const LIVE: &str = "live";
/// Partition key of the global index [`UNREST`]: one of [`SHARDS`] texts.
pub const UNREST_SHARD: &str = "unrest_shard";
/// Sort key of the global index [`UNREST`]: since when, in milliseconds.
pub const UNREST_SINCE: &str = "unrest_since";
/// Global index over what is not at rest; projects keys only.
pub const UNREST: &str = "unrest";
/// How many partitions the index [`UNREST`] is spread over.
pub const SHARDS: u8 = 8;
/// Time to live, in seconds since 1970.
pub const EXPIRES_AT: &str = "expires_at";
/// The format version in every stored item.
pub const FORMAT: &str = "v";
/// The newest format this program reads, and the one it writes.
pub const FORMAT_VERSION: u32 = 1;

/// Creates the table where it is missing, with both indexes and its time to live.
pub async fn create_table(client: &Client, name: &str) -> Result<(), StoreError> {
    let call = Call {
        operation: "create the table",
        action: "CreateTable",
        table: name,
        is_patient: false,
    };
    let request = definition(client.create_table().table_name(name))
        .map_err(|source| call.unavailable(source))?;
    match request.send().await {
        Ok(_) => {}
        Err(error)
            if error
                .as_service_error()
                .is_some_and(CreateTableError::is_resource_in_use_exception) =>
        {
            return Ok(());
        }
        Err(error) => return Err(redact(&call, &error)),
    }
    let call = Call {
        action: "UpdateTimeToLive",
        ..call
    };
    let lifetime = TimeToLiveSpecification::builder()
        .attribute_name(EXPIRES_AT)
        .enabled(true)
        .build()
        .map_err(|error| call.unavailable(error.into()))?;
    client
        .update_time_to_live()
        .table_name(name)
        .time_to_live_specification(lifetime)
        .send()
        .await
        .map_err(|error| redact(&call, &error))?;
    Ok(())
}

fn definition(request: CreateTableFluentBuilder) -> Result<CreateTableFluentBuilder, Source> {
    let keys_only = Projection::builder()
        .projection_type(ProjectionType::KeysOnly)
        .build();
    let everything = Projection::builder()
        .projection_type(ProjectionType::All)
        .build();
    let live = LocalSecondaryIndex::builder()
        .index_name(LIVE)
        .key_schema(key(CONVERSATION, KeyType::Hash)?)
        .key_schema(key(SLOT, KeyType::Range)?)
        .projection(everything)
        .build()?;
    let unrest = GlobalSecondaryIndex::builder()
        .index_name(UNREST)
        .key_schema(key(UNREST_SHARD, KeyType::Hash)?)
        .key_schema(key(UNREST_SINCE, KeyType::Range)?)
        .projection(keys_only)
        .build()?;
    Ok(request
        .billing_mode(BillingMode::PayPerRequest)
        .attribute_definitions(attribute(CONVERSATION, ScalarAttributeType::S)?)
        .attribute_definitions(attribute(ITEM, ScalarAttributeType::S)?)
        .attribute_definitions(attribute(SLOT, ScalarAttributeType::S)?)
        .attribute_definitions(attribute(UNREST_SHARD, ScalarAttributeType::S)?)
        .attribute_definitions(attribute(UNREST_SINCE, ScalarAttributeType::N)?)
        .key_schema(key(CONVERSATION, KeyType::Hash)?)
        .key_schema(key(ITEM, KeyType::Range)?)
        .local_secondary_indexes(live)
        .global_secondary_indexes(unrest))
}

fn key(name: &str, kind: KeyType) -> Result<KeySchemaElement, Source> {
    Ok(KeySchemaElement::builder()
        .attribute_name(name)
        .key_type(kind)
        .build()?)
}

fn attribute(name: &str, kind: ScalarAttributeType) -> Result<AttributeDefinition, Source> {
    Ok(AttributeDefinition::builder()
        .attribute_name(name)
        .attribute_type(kind)
        .build()?)
}
