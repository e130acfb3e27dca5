//! The table of a local run: made at the first start.

use std::sync::Arc;

use aws_config::SdkConfig;
use aws_sdk_dynamodb::Client;
use recado::adapters::dynamo::DynamoStore;
use recado::domain::Hasher;
use recado::error::StoreError;

/// Its name; on AWS the template gives one.
pub const TABLE: &str = "recado";

/// Makes the table behind `endpoint`, if it is not there.
pub async fn make(sdk: &SdkConfig, endpoint: &str) -> Result<Client, StoreError> {
    let config = aws_sdk_dynamodb::config::Builder::from(sdk)
        .endpoint_url(endpoint)
        .build();
    let client = Client::from_conf(config);
    recado::adapters::dynamo::schema::create_table(&client, TABLE).await?;
    Ok(client)
}

/// Opens the table behind `endpoint`.
pub async fn open(
    sdk: &SdkConfig,
    endpoint: &str,
    hasher: Arc<Hasher>,
) -> Result<DynamoStore, StoreError> {
    let client = make(sdk, endpoint).await?;
    Ok(DynamoStore::new(client, TABLE, hasher))
}
