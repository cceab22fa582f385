//! The plugin `ResourceQuota`, the last one of admission: a write has to fit into the quotas of its namespace, whose usage it
//! raises before it is stored. It is here and not in `admission` because it writes objects.
//!
//! A quota is updated only in the state that was checked, so that writes at the same time never exceed a limit together.

use std::collections::BTreeSet;

use bytes::Bytes;
use futures::{FutureExt, future::BoxFuture};
use serde_json::Value;

use super::Work;
use crate::{
    admission::{Attributes, Objects, Operation},
    call::{Call, Verb},
    meta,
    quota::{self, Charged, Measure, Quota, QuotaRequest, Reservation},
    registry::{self, Reply},
    state::Core,
    status::Status,
};

/// The user agent of the server itself, from which managedFields take the manager.
const MANAGER: &str = "kube-apiserver";
/// The number of tries of a write while others change the same quotas. Each time another writer has come first, so that all come to
/// their end.
const TRIES: usize = 256;

/// Charges the quotas of the namespace for a write. Returns a reservation to keep once the object is stored, if some quota was
/// charged. Without quotas in the namespace this is one look into the store.
///
/// # Errors
/// 403 for a write that does not fit, 409 if the quotas always change.
pub(super) async fn charge<'w>(
    work: &Work<'w>,
    attributes: &Attributes<'_>,
    objects: &Objects<'_>,
) -> Result<Option<Reservation<'w>>, Status> {
    let (core, call) = (work.core, work.call);
    let Some(request) = request(call, attributes, objects) else {
        return Ok(None);
    };
    if read(core, call.namespace()).is_empty() {
        return Ok(None);
    }
    let reservation = core.charged.begin(call.namespace());
    let mut done = BTreeSet::new();
    for _ in 0..TRIES {
        let mut present = read(core, call.namespace());
        present.retain(|object| !done.contains(meta::text(object, "name")));
        let quotas: Vec<Quota> = present.iter().map(Quota::of).collect();
        let refuse = |why: String| attributes.forbid(objects, &why);
        let charged = quota::charge(&quotas, &request).map_err(refuse)?;
        if charged.is_empty() || attributes.dry_run {
            return Ok(finish(reservation, !done.is_empty()));
        }
        let mut is_changed = false;
        for Charged { position, used } in charged {
            let mut object = present[position].clone();
            object["status"]["used"] = used.json();
            match put(core, &object).await {
                Ok(_) => _ = done.insert(quotas[position].name.clone()),
                Err(status) if [404, 409].contains(&status.code) => is_changed = true,
                Err(status) => return Err(status),
            }
        }
        if !is_changed {
            return Ok(finish(reservation, true));
        }
    }
    Err(Status::conflict(
        work.subject(),
        objects.name(),
        "the quotas of the namespace are changing",
    ))
}

/// The reservation; `None` if nothing was charged, so that a write that fails leaves nothing to correct.
fn finish(reservation: Reservation<'_>, is_charged: bool) -> Option<Reservation<'_>> {
    if is_charged {
        return Some(reservation);
    }
    reservation.keep();
    None
}

/// The request to quotas; `None` for writes that they do not limit.
fn request<'a>(call: &'a Call, attributes: &Attributes<'_>, objects: &'a Objects<'_>) -> Option<QuotaRequest<'a>> {
    if call.namespace().is_empty() {
        return None;
    }
    let measure = Measure::of(&call.resource.group, &call.resource.names.plural)?;
    let new = objects.new.as_deref()?;
    let old = objects.old.filter(|_| attributes.operation == Operation::Update);
    let is_limited = match (call.subresource.as_str(), old) {
        ("", None) => true,
        ("", Some(old)) => measure.follows_update(new, old),
        ("resize", Some(_)) => measure == Measure::Pods,
        ("status", Some(old)) => measure == Measure::VolumeClaims && measure.follows_update(new, old),
        _ => false,
    };
    is_limited.then_some(QuotaRequest {
        measure,
        new,
        old,
        is_report: call.subresource == "status",
    })
}

fn read(core: &Core, namespace: &str) -> Vec<Value> {
    let quotas = core.store.all(quota::RESOURCE, namespace).into_iter();
    quotas.filter_map(|record| record.read().ok()).collect()
}

/// PUT of a quota's status, as a client of the server's own. It is boxed because it is a write within a write.
fn put<'a>(core: &'a Core, object: &Value) -> BoxFuture<'a, Result<Reply, Status>> {
    let (name, namespace) = (meta::text(object, "name"), meta::text(object, "namespace"));
    let resource = core.catalogue.snapshot().stored(quota::RESOURCE).cloned();
    let call = resource.map(|resource| Call {
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        subresource: "status".to_owned(),
        content_type: "application/json".to_owned(),
        body: Bytes::from(object.to_string()),
        ..Call::by_server(MANAGER, Verb::Update, resource)
    });
    async move {
        let call = call.ok_or_else(Status::no_such_resource)?;
        registry::write(core, &call, &mut Vec::new()).await
    }
    .boxed()
}
