//! Reading the index `live`, page by page, and setting aside what cannot be read.

use super::DynamoStore;
use super::items::kind_of;
use super::request::{Item, text};
use super::schema::{CONVERSATION, ITEM, LIVE, SLOT};
use crate::domain::ConversationId;
use crate::error::StoreError;

/// Some items in order, and where the next ones begin.
pub(super) struct Page {
    pub(super) items: Vec<Item>,
    pub(super) next: Option<Item>,
}

impl DynamoStore {
    /// At most `limit` live items of a range of slots, as they are now, from `from` on.
    pub(super) async fn live_page(
        &self,
        operation: &'static str,
        conversation: &ConversationId,
        (first, last): (&str, &str),
        limit: usize,
        from: Option<Item>,
    ) -> Result<Page, StoreError> {
        let request = self
            .client
            .query()
            .table_name(&self.table)
            .index_name(LIVE)
            .consistent_read(true)
            .key_condition_expression(
                "#conversation = :conversation AND #slot BETWEEN :first AND :last",
            )
            .expression_attribute_names("#conversation", CONVERSATION)
            .expression_attribute_names("#slot", SLOT)
            .expression_attribute_values(":conversation", text(conversation.key()))
            .expression_attribute_values(":first", text(first))
            .expression_attribute_values(":last", text(last))
            .limit(i32::try_from(limit).unwrap_or(i32::MAX))
            .set_exclusive_start_key(from);
        let call = self.call(operation, "Query");
        let page = self.ask(call, || request.clone().send()).await?;
        Ok(Page {
            items: page.items.unwrap_or_default(),
            next: page.last_evaluated_key.filter(|key| !key.is_empty()),
        })
    }

    /// One unreadable item must not silence a person: it is left out, and the log tells of it.
    pub(super) fn or_aside<T>(
        &self,
        conversation: &ConversationId,
        item: &Item,
        decoded: Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        match decoded {
            Ok(value) => Ok(Some(value)),
            Err(error @ StoreError::Undecodable { .. }) => {
                let key = item.get(ITEM).and_then(|key| key.as_s().ok());
                let key = key.map_or("", String::as_str);
                tracing::warn!(
                    conversation.hash = self.hasher.conversation(conversation),
                    item.hash = self.hasher.hash("item", key),
                    item.kind = kind_of(key),
                    error = %error,
                    "an item cannot be read and is set aside"
                );
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}
