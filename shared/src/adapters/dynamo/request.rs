//! One write to one item, alone or in a transaction, and how requests are sent: tried again where that is safe.
//!
//! Expressions name attributes as `#name`; each `#name` is declared as the attribute `name`, so that none of
//! DynamoDB's reserved words is ever in the way.

use std::collections::HashMap;
use std::time::Duration;

use aws_sdk_dynamodb::config::http::HttpResponse;
use aws_sdk_dynamodb::error::{BuildError, SdkError};
use aws_sdk_dynamodb::types::{
    AttributeValue, ConditionCheck, Delete, Put, ReturnValuesOnConditionCheckFailure,
    TransactWriteItem, Update,
};

use super::DynamoStore;
use super::fault::{Call, Failure, Judged, plain, redact};
use super::schema::{CONVERSATION, ITEM};
use crate::error::StoreError;
use crate::ports::Written;

/// An item as the table holds it.
pub(super) type Item = HashMap<String, AttributeValue>;

/// Items in one transaction at most.
pub(super) const TRANSACTION_MAX: usize = 100;

const TRIES: u32 = 6;
const FIRST_WAIT: Duration = Duration::from_millis(15);

/// A text attribute.
#[expect(
    clippy::needless_pass_by_value,
    reason = "takes values and references alike"
)]
pub(super) fn text(value: impl ToString) -> AttributeValue {
    AttributeValue::S(value.to_string())
}

/// A number attribute.
#[expect(
    clippy::needless_pass_by_value,
    reason = "takes values and references alike"
)]
pub(super) fn number(value: impl ToString) -> AttributeValue {
    AttributeValue::N(value.to_string())
}

/// A list of texts.
pub(super) fn texts<T: ToString>(values: impl IntoIterator<Item = T>) -> AttributeValue {
    AttributeValue::L(values.into_iter().map(text).collect())
}

/// An item's key.
pub(super) fn key(partition: impl ToString, item: impl ToString) -> Item {
    Item::from([
        (CONVERSATION.to_owned(), text(partition)),
        (ITEM.to_owned(), text(item)),
    ])
}

enum Verb {
    Put(Item),
    Update(String),
    Delete,
    Check,
}

/// A write to one item.
pub(super) struct Statement {
    verb: Verb,
    key: Item,
    condition: Option<String>,
    names: HashMap<String, String>,
    values: HashMap<String, AttributeValue>,
    is_patient: bool,
}

impl Statement {
    fn new(verb: Verb, key: Item) -> Self {
        Self {
            verb,
            key,
            condition: None,
            names: HashMap::new(),
            values: HashMap::new(),
            is_patient: false,
        }
    }

    /// Replaces the whole item.
    pub(super) fn put(item: Item) -> Self {
        Self::new(Verb::Put(item), Item::new())
    }

    /// Changes attributes; creates the item unless a condition forbids it.
    pub(super) fn update(key: Item, expression: impl Into<String>) -> Self {
        let expression = expression.into();
        let mut statement = Self::new(Verb::Update(expression.clone()), key);
        statement.declare(&expression);
        statement
    }

    /// Deletes the item.
    pub(super) fn delete(key: Item) -> Self {
        Self::new(Verb::Delete, key)
    }

    /// Only tests the item; only in a transaction.
    pub(super) fn check(key: Item) -> Self {
        Self::new(Verb::Check, key)
    }

    /// Under this condition.
    pub(super) fn when(mut self, condition: impl Into<String>) -> Self {
        let condition = condition.into();
        self.declare(&condition);
        self.condition = Some(condition);
        self
    }

    /// Gives `:name` its value.
    pub(super) fn with(mut self, name: &str, value: AttributeValue) -> Self {
        self.values.insert(name.to_owned(), value);
        self
    }

    /// Tried longer against a throttle: a failure of this one costs more than the wait.
    pub(super) fn patiently(mut self) -> Self {
        self.is_patient = true;
        self
    }

    /// Gives `#name` another attribute than the one of its own name.
    pub(super) fn naming(mut self, name: &str, attribute: &str) -> Self {
        self.names.insert(name.to_owned(), attribute.to_owned());
        self
    }

    fn declare(&mut self, expression: &str) {
        for part in expression.split('#').skip(1) {
            let end = part
                .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
                .unwrap_or(part.len());
            let name = &part[..end];
            self.names
                .entry(format!("#{name}"))
                .or_insert_with(|| name.to_owned());
        }
    }

    fn names(&self) -> Option<HashMap<String, String>> {
        (!self.names.is_empty()).then(|| self.names.clone())
    }

    fn values(&self) -> Option<HashMap<String, AttributeValue>> {
        (!self.values.is_empty()).then(|| self.values.clone())
    }

    fn in_transaction(self, table: &str) -> Result<TransactWriteItem, BuildError> {
        let (names, values) = (self.names(), self.values());
        let item = TransactWriteItem::builder();
        Ok(match self.verb {
            Verb::Put(stored) => item.put(
                Put::builder()
                    .table_name(table)
                    .set_item(Some(stored))
                    .set_condition_expression(self.condition)
                    .set_expression_attribute_names(names)
                    .set_expression_attribute_values(values)
                    .build()?,
            ),
            Verb::Update(expression) => item.update(
                Update::builder()
                    .table_name(table)
                    .set_key(Some(self.key))
                    .update_expression(expression)
                    .set_condition_expression(self.condition)
                    .set_expression_attribute_names(names)
                    .set_expression_attribute_values(values)
                    .build()?,
            ),
            Verb::Delete => item.delete(
                Delete::builder()
                    .table_name(table)
                    .set_key(Some(self.key))
                    .set_condition_expression(self.condition)
                    .set_expression_attribute_names(names)
                    .set_expression_attribute_values(values)
                    .build()?,
            ),
            Verb::Check => item.condition_check(
                ConditionCheck::builder()
                    .table_name(table)
                    .set_key(Some(self.key))
                    .set_condition_expression(self.condition)
                    .set_expression_attribute_names(names)
                    .set_expression_attribute_values(values)
                    .build()?,
            ),
        }
        .build())
    }
}

/// What became of a request with a condition.
pub(super) enum Answer<T> {
    /// It was done.
    Given(T),
    /// Its condition does not hold; the item as it is, where it was asked for and exists.
    Lost(Option<Item>),
}

impl DynamoStore {
    pub(super) fn call(&self, operation: &'static str, action: &'static str) -> Call<'_> {
        Call {
            operation,
            action,
            table: &self.table,
            is_patient: false,
        }
    }

    /// Sends a request, again after a short wait where it was surely not applied and nobody has tried again yet (a
    /// patient one: also where the SDK has).
    pub(super) async fn attempt<T, E, R, F>(
        &self,
        call: Call<'_>,
        request: R,
    ) -> Result<Answer<T>, StoreError>
    where
        E: Judged + std::error::Error + 'static,
        R: Fn() -> F,
        F: Future<Output = Result<T, SdkError<E, HttpResponse>>>,
        SdkError<E, HttpResponse>: aws_sdk_dynamodb::operation::RequestId,
    {
        let mut wait = FIRST_WAIT;
        let mut tries = 1;
        loop {
            let error = match request().await {
                Ok(given) => return Ok(Answer::Given(given)),
                Err(error) => error,
            };
            let failure = error
                .as_service_error()
                .map_or(Failure::Other, Judged::judge);
            let again = match failure {
                Failure::Condition(item) => return Ok(Answer::Lost(item)),
                Failure::Conflict => true,
                Failure::Throttled => call.is_patient,
                Failure::Other => false,
            };
            if !again || tries == TRIES {
                return Err(redact(&call, &error));
            }
            tokio::time::sleep(wait).await;
            wait *= 2;
            tries += 1;
        }
    }

    /// A request without a condition: there is nothing it could lose to.
    pub(super) async fn ask<T, E, R, F>(&self, call: Call<'_>, request: R) -> Result<T, StoreError>
    where
        E: Judged + std::error::Error + 'static,
        R: Fn() -> F,
        F: Future<Output = Result<T, SdkError<E, HttpResponse>>>,
        SdkError<E, HttpResponse>: aws_sdk_dynamodb::operation::RequestId,
    {
        match self.attempt(call, request).await? {
            Answer::Given(given) => Ok(given),
            Answer::Lost(_) => Err(call.unavailable(plain("a condition failed that was not set"))),
        }
    }

    /// Writes one item by itself.
    pub(super) async fn write(
        &self,
        operation: &'static str,
        statement: Statement,
    ) -> Result<Answer<()>, StoreError> {
        let (names, values) = (statement.names(), statement.values());
        let old = ReturnValuesOnConditionCheckFailure::AllOld;
        let client = &self.client;
        let call = |action| Call {
            is_patient: statement.is_patient,
            ..self.call(operation, action)
        };
        match statement.verb {
            Verb::Put(item) => {
                let request = client
                    .put_item()
                    .table_name(&self.table)
                    .set_item(Some(item))
                    .set_condition_expression(statement.condition)
                    .set_expression_attribute_names(names)
                    .set_expression_attribute_values(values)
                    .return_values_on_condition_check_failure(old);
                let send = || async { request.clone().send().await.map(drop) };
                self.attempt(call("PutItem"), send).await
            }
            Verb::Update(expression) => {
                let request = client
                    .update_item()
                    .table_name(&self.table)
                    .set_key(Some(statement.key))
                    .update_expression(expression)
                    .set_condition_expression(statement.condition)
                    .set_expression_attribute_names(names)
                    .set_expression_attribute_values(values)
                    .return_values_on_condition_check_failure(old);
                let send = || async { request.clone().send().await.map(drop) };
                self.attempt(call("UpdateItem"), send).await
            }
            Verb::Delete => {
                let request = client
                    .delete_item()
                    .table_name(&self.table)
                    .set_key(Some(statement.key))
                    .set_condition_expression(statement.condition)
                    .set_expression_attribute_names(names)
                    .set_expression_attribute_values(values)
                    .return_values_on_condition_check_failure(old);
                let send = || async { request.clone().send().await.map(drop) };
                self.attempt(call("DeleteItem"), send).await
            }
            Verb::Check => Err(call("ConditionCheckItem")
                .unavailable(plain("a check stands only in a transaction"))),
        }
    }

    /// Writes several items or none. `token` makes a repeat of the same transaction harmless for ten minutes. Only the
    /// commit has one: behind it stands an answer that was paid for, so it is also tried longer against a throttle.
    pub(super) async fn transact(
        &self,
        operation: &'static str,
        statements: Vec<Statement>,
        token: Option<String>,
    ) -> Result<Written, StoreError> {
        let call = Call {
            is_patient: token.is_some(),
            ..self.call(operation, "TransactWriteItems")
        };
        let count = statements.len();
        if count > TRANSACTION_MAX {
            return Err(call.unavailable(plain(format!(
                "{count} items are more than one transaction holds ({TRANSACTION_MAX})"
            ))));
        }
        let items = statements
            .into_iter()
            .map(|statement| statement.in_transaction(&self.table))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|_| call.unavailable(plain("the transaction could not be built")))?;
        let request = self
            .client
            .transact_write_items()
            .set_transact_items(Some(items))
            .set_client_request_token(token);
        match self.attempt(call, || request.clone().send()).await? {
            Answer::Given(_) => Ok(Written::Done),
            Answer::Lost(_) => Ok(Written::Lost),
        }
    }

    /// One item, as it is now.
    pub(super) async fn get(
        &self,
        operation: &'static str,
        key: Item,
    ) -> Result<Option<Item>, StoreError> {
        let request = self
            .client
            .get_item()
            .table_name(&self.table)
            .set_key(Some(key))
            .consistent_read(true);
        let call = self.call(operation, "GetItem");
        Ok(self.ask(call, || request.clone().send()).await?.item)
    }
}
