//! Mutants of the DynamoDB adapter: its requests with one term of one condition left out, on their way to the table.
//!
//! Nothing in the adapter knows of it: an interceptor of the SDK's client rewrites what is sent. A condition is told from
//! others by what it stands on: the kind of request, the kind of item, and the change it guards.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use aws_sdk_dynamodb::config::interceptors::BeforeSerializationInterceptorContextMut;
use aws_sdk_dynamodb::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_dynamodb::error::BoxError;
use aws_sdk_dynamodb::operation::delete_item::DeleteItemInput;
use aws_sdk_dynamodb::operation::put_item::PutItemInput;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsInput;
use aws_sdk_dynamodb::operation::update_item::UpdateItemInput;
use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem};

use crate::store_condition::Condition;

type Item = HashMap<String, AttributeValue>;

/// One term of one condition.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mutant {
    /// What the condition stands on.
    pub place: String,
    /// The whole condition.
    pub condition: String,
    /// Which term is left out.
    pub term: usize,
}

impl Mutant {
    /// The term that is left out.
    pub fn left_out(&self) -> String {
        let condition = Condition::parse(&self.condition);
        condition.term(self.term).unwrap_or_default().to_owned()
    }
}

impl fmt::Display for Mutant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let term = self.left_out();
        let Self {
            place, condition, ..
        } = self;
        write!(f, "{place}\n  when {condition}\n  without {term}")
    }
}

/// Notes every condition that is sent, and leaves out at most one term.
#[derive(Debug, Clone, Default)]
pub struct Mutator {
    without: Option<Mutant>,
    seen: Arc<Mutex<BTreeSet<(String, String)>>>,
}

impl Mutator {
    /// Leaves out this term.
    pub fn without(mutant: Mutant) -> Self {
        Self {
            without: Some(mutant),
            ..Self::default()
        }
    }

    /// A mutant for each term of each condition seen so far.
    pub fn mutants(&self) -> Vec<Mutant> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let each_term = |(place, condition): &(String, String)| {
            let (place, condition) = (place.clone(), condition.clone());
            (0..Condition::parse(&condition).terms()).map(move |term| Mutant {
                place: place.clone(),
                condition: condition.clone(),
                term,
            })
        };
        seen.iter().flat_map(each_term).collect()
    }

    /// Rewrites a condition where it is the mutant's, with the names and values that only its lost term used.
    fn mutate(
        &self,
        (place, change): (&str, &str),
        condition: &mut Option<String>,
        names: &mut Option<HashMap<String, String>>,
        values: &mut Option<Item>,
    ) {
        let Some(whole) = condition.clone() else {
            return;
        };
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.insert((place.to_owned(), whole.clone()));
        let Some(mutant) = &self.without else { return };
        if mutant.place != place || mutant.condition != whole {
            return;
        }
        *condition = Condition::parse(&whole).without(mutant.term);
        let left = format!("{change} {}", condition.as_deref().unwrap_or_default());
        keep_used(names, &left);
        keep_used(values, &left);
    }

    fn statement(&self, item: &mut TransactWriteItem) {
        if let Some(put) = &mut item.put {
            self.mutate(
                (&place("put in a transaction", &put.item, ""), ""),
                &mut put.condition_expression,
                &mut put.expression_attribute_names,
                &mut put.expression_attribute_values,
            );
        }
        if let Some(update) = &mut item.update {
            let change = update.update_expression.clone();
            self.mutate(
                (
                    &place("update in a transaction", &update.key, &change),
                    &change,
                ),
                &mut update.condition_expression,
                &mut update.expression_attribute_names,
                &mut update.expression_attribute_values,
            );
        }
        if let Some(delete) = &mut item.delete {
            self.mutate(
                (&place("delete in a transaction", &delete.key, ""), ""),
                &mut delete.condition_expression,
                &mut delete.expression_attribute_names,
                &mut delete.expression_attribute_values,
            );
        }
        if let Some(check) = &mut item.condition_check {
            let mut condition = Some(check.condition_expression.clone());
            self.mutate(
                (&place("check in a transaction", &check.key, ""), ""),
                &mut condition,
                &mut check.expression_attribute_names,
                &mut check.expression_attribute_values,
            );
            match condition {
                Some(condition) => check.condition_expression = condition,
                None => item.condition_check = None,
            }
        }
    }
}

/// Unused names and values are refused, so they go with the term that used them.
fn keep_used<T>(declared: &mut Option<HashMap<String, T>>, text: &str) {
    let used = |name: &str| {
        text.match_indices(name).any(|(at, _)| {
            let next = text[at + name.len()..].chars().next();
            !next.is_some_and(|next| next.is_ascii_alphanumeric() || next == '_')
        })
    };
    if let Some(all) = declared {
        all.retain(|name, _| used(name));
    }
    if declared.as_ref().is_some_and(HashMap::is_empty) {
        *declared = None;
    }
}

/// What a condition stands on: never an id, so that it is the same in every contract. Of a change the first attribute that
/// it sets: what it sets besides hangs on what there is to set.
fn place(request: &str, item: &Item, change: &str) -> String {
    let key = item.get("item").and_then(|key| key.as_s().ok());
    let kind = key.and_then(|key| key.split('#').next());
    let change = change.split(" =").next().unwrap_or_default();
    format!("{request} of {}: {change}", kind.unwrap_or_default())
}

impl Intercept for Mutator {
    fn name(&self) -> &'static str {
        "Mutator"
    }

    fn modify_before_serialization(
        &self,
        context: &mut BeforeSerializationInterceptorContextMut<'_>,
        _components: &RuntimeComponents,
        _config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let input = context.input_mut();
        if let Some(put) = input.downcast_mut::<PutItemInput>() {
            let item = put.item.clone().unwrap_or_default();
            self.mutate(
                (&place("put", &item, ""), ""),
                &mut put.condition_expression,
                &mut put.expression_attribute_names,
                &mut put.expression_attribute_values,
            );
        } else if let Some(update) = input.downcast_mut::<UpdateItemInput>() {
            let key = update.key.clone().unwrap_or_default();
            let change = update.update_expression.clone().unwrap_or_default();
            self.mutate(
                (&place("update", &key, &change), &change),
                &mut update.condition_expression,
                &mut update.expression_attribute_names,
                &mut update.expression_attribute_values,
            );
        } else if let Some(delete) = input.downcast_mut::<DeleteItemInput>() {
            let key = delete.key.clone().unwrap_or_default();
            self.mutate(
                (&place("delete", &key, ""), ""),
                &mut delete.condition_expression,
                &mut delete.expression_attribute_names,
                &mut delete.expression_attribute_values,
            );
        } else if let Some(transaction) = input.downcast_mut::<TransactWriteItemsInput>() {
            let items = transaction.transact_items.iter_mut().flatten();
            items.for_each(|item| self.statement(item));
            if let Some(items) = &mut transaction.transact_items {
                items.retain(|item| *item != TransactWriteItem::builder().build());
            }
        }
        Ok(())
    }
}
