//! Writes the status of the object itself, by patches that name the resource version they are based on.

use std::sync::{Arc, atomic::Ordering};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::{api::Patch, core::object::HasStatus};
use serde::Serialize;
use serde_json::{Value, json};

use super::{Context, Sent};
use crate::{
    api::Requests,
    error::{Error, Result},
    object::AnyObject,
    patch::merge_diff,
    status,
};

impl<K: AnyObject> Context<K> {
    /// A condition of this object, true, false or unknown (`None`), with the generation being reconciled and the
    /// [clock's](Self::now) time.
    pub fn condition(
        &self,
        type_: &str,
        verdict: impl Into<Option<bool>>,
        reason: &str,
        message: impl Into<String>,
    ) -> Condition {
        Condition {
            observed_generation: self.object.meta().generation,
            last_transition_time: Time(status::in_seconds(self.now())),
            ..status::condition(type_, verdict, reason, message)
        }
    }

    /// Changes the object's status, through the status subresource: the spec and the generation are never touched.
    /// Returns whether anything was written; if the change leaves the status equal, no request is sent, and the write
    /// does not wake this controller again.
    ///
    /// # Errors
    ///
    /// [`Error::Kube`] if the request fails; a 409, because the object changed meanwhile, is
    /// [`Class::Conflict`](crate::Class::Conflict) and soon retried.
    pub async fn patch_status(&self, change: impl FnOnce(&mut K::Status)) -> Result<bool>
    where
        K: HasStatus,
        K::Status: Clone + Default + PartialEq + Serialize,
    {
        self.patched.store(true, Ordering::Relaxed);
        let latest = self.latest();
        let before = latest.status().cloned().unwrap_or_default();
        let mut after = before.clone();
        change(&mut after);
        if latest.status().is_some() && before == after {
            return Ok(false);
        }
        let before = latest
            .status()
            .map_or(Value::Null, |_| serde_json::to_value(&before).unwrap_or_default());
        let after = serde_json::to_value(&after).map_err(Error::retry)?;
        self.send_status(&latest, [&before, &after], &self.shared.manager).await
    }

    /// As [`patch_status`](Self::patch_status), for a kind whose status has no Rust type. `change` gets the status as JSON;
    /// an object without a status has an empty one.
    ///
    /// # Errors
    ///
    /// As [`patch_status`](Self::patch_status).
    pub async fn patch_status_json(&self, change: impl FnOnce(&mut Value)) -> Result<bool> {
        self.patched.store(true, Ordering::Relaxed);
        let latest = self.latest();
        let mut object = serde_json::to_value(&*latest).map_err(Error::retry)?;
        let before = object["status"].take();
        let mut after = if before.is_object() { before.clone() } else { json!({}) };
        change(&mut after);
        if before.is_null() && after == json!({}) {
            return Ok(false);
        }
        self.send_status(&latest, [&before, &after], &self.shared.manager).await
    }

    /// The newest version of this object (by uid) in the cache.
    pub(crate) fn latest(&self) -> Arc<K> {
        let cached = self.shared.main.informer.store().get(&self.key);
        cached
            .filter(|cached| cached.meta().uid == self.object.meta().uid)
            .unwrap_or_else(|| self.object.clone())
    }

    /// Changes the status from the first value to the second one, under this field manager.
    pub(crate) async fn send_status(&self, latest: &K, [before, after]: [&Value; 2], manager: &str) -> Result<bool> {
        let Some(diff) = merge_diff(before, after) else {
            return Ok(false);
        };
        let patch = json!({"metadata": {"resourceVersion": latest.meta().resource_version}, "status": diff});
        let guard = self
            .shared
            .state
            .in_flight
            .begin(&self.key, Sent::Status(after.clone()));
        let written = self.patch(Some("status"), patch, manager).await?;
        self.observe(written);
        drop(guard);
        Ok(true)
    }

    /// A merge patch of the object itself. The caller decides whether to store the response in the cache.
    pub(crate) async fn patch(&self, part: Option<&str>, patch: Value, manager: &str) -> Result<K> {
        let requests = Requests::beside(&self.shared.client, self.shared.kind(), &self.key);
        requests
            .patch(self.key.name(), part, &Patch::Merge(patch), manager)
            .await
    }

    pub(crate) fn observe(&self, written: K) {
        self.shared
            .main
            .informer
            .observe_write(written, Some(self.shared.main.subscription));
    }
}
