//! In place of `webhooks.rs` in an operator that is built without the feature `webhooks`: it has neither webhooks nor policies.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Operator;
use crate::{error::Result, manager::Manager, metrics::Metrics, rbac::Rule};

/// There is none.
pub(super) type Server = AbsentWebhookServer;

/// A server that cannot exist.
pub(super) enum AbsentWebhookServer {}

impl AbsentWebhookServer {
    pub(super) fn drain(&self) {
        match *self {}
    }
}

pub(super) fn are_registered(_: &Manager) -> bool {
    false
}

pub(super) fn has_policies(_: &Manager) -> bool {
    false
}

pub(super) fn check(_: &Manager, _: &[Value]) -> Result<Vec<String>> {
    Ok(Vec::new())
}

pub(super) fn rules(_: &Manager) -> Vec<Rule> {
    Vec::new()
}

/// Without documents: `make manifests` removes the files that webhooks and policies had.
pub(super) fn files(_: &Manager) -> [BTreeMap<String, Vec<Value>>; 2] {
    Default::default()
}

pub(super) fn serve(_: &Operator, _: &Manager, _: &Metrics) -> Result<Option<Server>> {
    Ok(None)
}
