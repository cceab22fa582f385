//! One ResourceQuota, decoded.

use serde_json::Value;

use super::{amounts::Amounts, measure::Measure, scopes::QuotaScope};
use crate::meta;

/// A ResourceQuota.
#[derive(Clone, Debug)]
pub struct Quota {
    /// Its name.
    pub name: String,
    /// `spec.hard`.
    pub wanted: Amounts,
    /// `status.hard`: the limits that are enforced.
    pub hard: Amounts,
    /// `status.used`.
    pub used: Amounts,
    scopes: Vec<QuotaScope>,
}

impl Quota {
    /// Reads a quota.
    pub fn of(object: &Value) -> Self {
        Self {
            name: meta::text(object, "name").to_owned(),
            wanted: Amounts::of(object.pointer("/spec/hard")),
            hard: Amounts::of(object.pointer("/status/hard")),
            used: Amounts::of(object.pointer("/status/used")),
            scopes: QuotaScope::of(&object["spec"]),
        }
    }

    /// Whether another quota counts the same objects.
    pub fn counts_like(&self, other: &Self) -> bool {
        self.scopes == other.scopes && self.wanted.names().eq(other.wanted.names())
    }

    /// Whether an object is in all scopes of the quota.
    pub fn is_about(&self, measure: Measure<'_>, object: &Value) -> bool {
        self.scopes.iter().all(|scope| scope.holds(measure, object))
    }

    /// Whether the quota has scopes.
    pub fn has_scopes(&self) -> bool {
        !self.scopes.is_empty()
    }
}
