//! The table of a local run: made at the first start.

use std::sync::Arc;

use aws_config::SdkConfig;
use recado::adapters::dynamo::DynamoStore;
use recado::domain::Hasher;
use recado::error::StoreError;

/// Its name; on AWS the template gives one.
const TABLE: &str = "recado";

/// Opens the table behind `endpoint`, made if it is not there.
pub async fn open(
    sdk: &SdkConfig,
    endpoint: &str,
    hasher: Arc<Hasher>,
) -> Result<DynamoStore, StoreError> {
    let config = aws_sdk_dynamodb::config::Builder::from(sdk)
        .endpoint_url(endpoint)
        .build();
    let client = aws_sdk_dynamodb::Client::from_conf(config);
    recado::adapters::dynamo::schema::create_table(&client, TABLE).await?;
    Ok(DynamoStore::new(client, TABLE, hasher))
}
