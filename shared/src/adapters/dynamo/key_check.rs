//! Whether the table was written under the key at hand: under another one no tombstone is found any more, and whoever
//! was forgotten could come back.

use super::DynamoStore;
use super::fields::{Build, Fields};
use super::keys::{INSTALLATION, KEY_CHECK};
use super::request::{Answer, Statement, key};
use crate::error::StoreError;

impl DynamoStore {
    /// Whether the key is the table's own. A table that knows of none takes it for good.
    pub async fn is_of_this_key(&self) -> Result<bool, StoreError> {
        let check = self.hasher.hash(KEY_CHECK, INSTALLATION);
        let item = Build::new(key(INSTALLATION, KEY_CHECK))
            .text("check", &check)
            .done();
        let put = Statement::put(item).when("attribute_not_exists(#item)");
        match self.write("check the hash key", put).await? {
            Answer::Given(()) => Ok(true),
            Answer::Lost(None) => Ok(false),
            Answer::Lost(Some(found)) => {
                Ok(Fields::open("key check", &found)?.text("check")? == check)
            }
        }
    }
}
