//! DELETE: marks an object as being deleted, or removes it from the store if no finalizer keeps it.

use kubewright_machinery::time;
use serde_json::{Value, json};

use super::{
    grace::{self, Grace},
    unreadable,
};
use crate::{
    meta::{
        self,
        finalizers::{FOREGROUND, ORPHAN},
    },
    registry::{
        Reply, empty,
        options::DeleteOptions,
        pipeline::{self, Fate, Removal, spec_finalizers},
        reply,
        work::Work,
    },
    status::Status,
};

/// Deletes the object of the path.
pub async fn delete(work: &Work<'_>) -> Result<Reply, Status> {
    let options = DeleteOptions::read(work.call)?;
    if options.of_unreadable {
        return Err(unreadable::refuse(work));
    }
    warn(work, &options);
    let forbids = work.resource().rules().deletion.forbids;
    if let Some(why) = forbids.and_then(|forbids| forbids(&work.call.name)) {
        return Err(Status::forbidden(work.subject(), &work.call.name, why));
    }
    let removal = one(work, &work.call.name, &options).await?;
    let is_gone = [Fate::Gone, Fate::Marked].contains(&removal.fate);
    // Upstream takes finalizers from a copy of the object first, and a dry run ends before it has an object for the answer.
    let is_blank =
        options.is_dry_run() && removal.fate == Fate::Gone && !meta::texts(&removal.object, "finalizers").is_empty();
    let mut reply = match removal.fate {
        _ if is_blank => reply::object(200, &Value::Object(empty::object(work.resource()))),
        Fate::Kept => reply::object(200, &removal.object),
        _ => last(work, &removal.object),
    };
    if !is_gone && options.orphan_dependents == Some(false) {
        reply.code = 202;
    }
    Ok(reply)
}

/// Deletes one object.
///
/// # Errors
/// 404, or 409 when the object does not meet the preconditions.
pub async fn one(work: &Work<'_>, name: &str, options: &DeleteOptions) -> Result<Removal, Status> {
    pipeline::remove(work, name, options.is_dry_run(), &|work, live| {
        decide(work, live, options)
    })
    .await
}

/// The fate of an object.
///
/// # Errors
/// 409 when the object does not meet the preconditions.
pub fn decide(work: &Work, live: &Value, options: &DeleteOptions) -> Result<Removal, Status> {
    options.matches(work.kind(), live)?;
    Ok(match begun(work, live, options) {
        Some(object) => Removal {
            fate: Fate::Kept,
            object,
        },
        None => ended(work, live.clone(), options),
    })
}

/// The fate of an object whose deletion does not wait for a controller to clean up first.
fn ended(work: &Work, mut object: Value, options: &DeleteOptions) -> Removal {
    let grace = grace::decide(work.resource(), &mut object, options.grace, work.core.now());
    if grace == Grace::Pending {
        return Removal {
            fate: Fate::Pending,
            object,
        };
    }
    set_finalizers(work, &mut object, options);
    let is_kept = !meta::texts(&object, "finalizers").is_empty();
    let fate = match grace {
        Grace::Marked(period) if is_kept || period > 0 => Fate::Kept,
        Grace::Marked(_) => Fate::Marked,
        _ if is_kept => {
            mark(work, &mut object);
            Fate::Kept
        }
        _ => Fate::Gone,
    };
    Removal { fate, object }
}

/// The answer about an object that was deleted, or is being deleted.
fn last(work: &Work, object: &Value) -> Reply {
    if work.resource().rules().deletion.returns_object {
        return reply::object(200, object);
    }
    reply::gone(work, object)
}

/// The next state of an object that remains because a controller has to clean up first (a namespace, for example):
/// marked by the first deletion, unchanged by later ones while its own finalizers keep it.
fn begun(work: &Work, live: &Value, options: &DeleteOptions) -> Option<Value> {
    let mut object = live.clone();
    let resource = work.resource();
    if meta::is_deleting(&object) {
        let is_kept = resource.rules().has_spec_finalizers && !spec_finalizers(&object).is_empty();
        return is_kept.then_some(object);
    }
    let is_begun = resource.strategy.begin_deletion(&mut object, &work.now);
    is_begun.then(|| {
        set_finalizers(work, &mut object, options);
        object
    })
}

/// Marks an object that finalizers keep as being deleted.
fn mark(work: &Work, object: &mut Value) {
    if !meta::is_deleting(object) {
        meta::system::next_generation(object);
    }
    let end = time::seconds(meta::text(object, "deletionTimestamp"));
    if end.is_none_or(|end| end > work.core.now()) {
        meta::set(object, "deletionTimestamp", Some(json!(work.now)));
    }
    meta::set(object, "deletionGracePeriodSeconds", Some(json!(0)));
}

/// Sets the garbage collector's finalizers according to the options or the kind's default.
fn set_finalizers(work: &Work, object: &mut Value, options: &DeleteOptions) {
    let had: Vec<String> = meta::texts(object, "finalizers")
        .into_iter()
        .map(str::to_owned)
        .collect();
    let wanted = wanted(work, &had, options);
    let others = had
        .iter()
        .map(String::as_str)
        .filter(|it| ![ORPHAN, FOREGROUND].contains(it));
    let next: Vec<&str> = others.chain(wanted).collect();
    if next.len() == had.len() && next.iter().all(|it| had.iter().any(|had| had == it)) {
        return;
    }
    let next = (!next.is_empty()).then(|| json!(next));
    meta::set(object, "finalizers", next);
}

/// The garbage collector's finalizer to set, if any: from the options, else from the present finalizers, else from the
/// kind's default.
fn wanted(work: &Work, had: &[String], options: &DeleteOptions) -> Option<&'static str> {
    if work.resource().rules().deletion.leaves_dependents {
        return None;
    }
    match (options.orphan_dependents, options.propagation.as_deref()) {
        (Some(orphan), _) => return orphan.then_some(ORPHAN),
        (None, Some("Orphan")) => return Some(ORPHAN),
        (None, Some("Foreground")) => return Some(FOREGROUND),
        (None, Some(_)) => return None,
        (None, None) => {}
    }
    if let Some(had) = had.iter().find(|it| [ORPHAN, FOREGROUND].contains(&it.as_str())) {
        return Some(if had == ORPHAN { ORPHAN } else { FOREGROUND });
    }
    work.resource().rules().deletion.orphans_dependents.then_some(ORPHAN)
}

/// Warns of what the deletion does to dependents if the options do not say.
pub(super) fn warn(work: &Work, options: &DeleteOptions) {
    let is_chosen = options.propagation.is_some() || options.orphan_dependents.is_some();
    if let Some(warning) = work.resource().rules().deletion.warning.filter(|_| !is_chosen) {
        work.warn(warning.to_owned());
    }
}
