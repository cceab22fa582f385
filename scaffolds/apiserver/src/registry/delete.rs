//! DELETE: marks an object, or takes it out of the store when nothing keeps it.

use serde_json::{Value, json};

use super::{
    Reply, admit, answer,
    change::{Live, spec_finalizers},
    grace::{self, Grace},
    options::DeleteOptions,
    work::Work,
};
use crate::{meta, status::Status};
use meta::finalizers::{FOREGROUND, ORPHAN};

/// Kinds that answer a deletion with the object and not with a Status. Recorded.
const RETURNED: [&str; 7] = [
    "persistentvolumeclaims",
    "persistentvolumes",
    "pods",
    "podtemplates",
    "resourcequotas",
    "serviceaccounts",
    "services",
];

/// Deletes the object of the path.
pub(super) fn delete(work: &mut Work) -> Result<Reply, Status> {
    let options = DeleteOptions::read(work.call)?;
    let name = work.call.name.clone();
    admit::deletion(work, &name)?;
    warn(work, &options);
    let mut reply = one(work, &name, &options)?;
    if !reply.is_gone && options.orphan_dependents == Some(false) {
        reply.reply.code = 202;
    }
    Ok(reply.reply)
}

/// What came of a deletion.
pub(super) struct Deleted {
    pub reply: Reply,
    /// False when something still keeps the object.
    pub is_gone: bool,
}

/// Deletes one object.
///
/// # Errors
/// 404, or 409 when it is not the one that the client means.
pub(super) fn one(work: &Work, name: &str, options: &DeleteOptions) -> Result<Deleted, Status> {
    loop {
        let Some(live) = Live::read(work, &work.key(name))? else {
            return Err(work.not_found(name));
        };
        check(work, &live.object, options)?;
        let done = match begun(work, &live) {
            Some(mut object) => {
                let written = live.write(work, &mut object, options.dry_run);
                written.map(|_| kept(&object))
            }
            None => step(work, &live, options),
        };
        if let Some(done) = done {
            return Ok(done);
        }
    }
}

/// One try; `None` when another writer came first.
fn step(work: &Work, live: &Live, options: &DeleteOptions) -> Option<Deleted> {
    let mut object = live.object.clone();
    let grace = grace::decide(work.resource(), &mut object, options.grace, work.core.now());
    if grace == Grace::Pending {
        return Some(Deleted {
            reply: last(work, &object),
            is_gone: false,
        });
    }
    set_finalizers(work, &mut object, options);
    let is_kept = !meta::texts(&object, "finalizers").is_empty();
    if let Grace::Marked(period) = grace {
        live.write(work, &mut object, options.dry_run)?;
        if is_kept || period > 0 {
            return Some(kept(&object));
        }
        if options.dry_run {
            return Some(Deleted {
                reply: last(work, &object),
                is_gone: true,
            });
        }
        // The mark is a change of its own, so what is deleted now is the object with it.
        let marked = Live::read(work, &work.key(meta::text(&object, "name"))).ok().flatten();
        let deleted = marked.filter(|it| meta::of(&it.object).get("uid") == meta::of(&object).get("uid"));
        let object = deleted.and_then(|it| it.delete(work, false)).unwrap_or(object);
        return Some(Deleted {
            reply: last(work, &object),
            is_gone: true,
        });
    }
    if is_kept {
        mark(work, &mut object);
        live.write(work, &mut object, options.dry_run)?;
        return Some(kept(&object));
    }
    let object = live.delete(work, options.dry_run)?;
    Some(Deleted {
        reply: last(work, &object),
        is_gone: true,
    })
}

fn kept(object: &Value) -> Deleted {
    Deleted {
        reply: answer::object(200, object),
        is_gone: false,
    }
}

/// The answer about an object that went, or is going.
fn last(work: &Work, object: &Value) -> Reply {
    let (group, plural) = work.subject();
    if group.is_empty() && RETURNED.contains(&plural) {
        return answer::object(200, object);
    }
    answer::gone(work, object)
}

/// The next state of an object whose deletion only begins here, for kinds that the server cleans up behind: at the first
/// deletion marked, later as it is while its own finalizers keep it.
fn begun(work: &Work, live: &Live) -> Option<Value> {
    let mut object = live.object.clone();
    let is_namespace = work.subject() == ("", "namespaces");
    if meta::is_deleting(&object) {
        return (is_namespace && !spec_finalizers(&object).is_empty()).then_some(object);
    }
    if !is_namespace {
        return work
            .resource()
            .strategy
            .begin_deletion(&mut object, &work.now)
            .then_some(object);
    }
    meta::set(&mut object, "deletionTimestamp", Some(json!(work.now)));
    object["status"]["phase"] = json!("Terminating");
    Some(object)
}

fn check(work: &Work, object: &Value, options: &DeleteOptions) -> Result<(), Status> {
    let name = meta::text(object, "name");
    let conflict = |why: String| Err(Status::conflict(work.kind(), name, &why));
    let uid = meta::text(object, "uid");
    if let Some(wanted) = options.uid.as_deref().filter(|wanted| *wanted != uid) {
        return conflict(format!(
            "the UID in the precondition ({wanted}) does not match the UID in record ({uid}). The object might have been \
             deleted and then recreated"
        ));
    }
    let version = meta::text(object, "resourceVersion");
    if let Some(wanted) = options.resource_version.as_deref().filter(|wanted| *wanted != version) {
        return conflict(format!(
            "the ResourceVersion in the precondition ({wanted}) does not match the ResourceVersion in record ({version}). \
             The object might have been modified"
        ));
    }
    Ok(())
}

/// Marks an object that finalizers keep.
fn mark(work: &Work, object: &mut Value) {
    if !meta::is_deleting(object) {
        meta::system::next_generation(object);
    }
    let end = meta::time::seconds(meta::text(object, "deletionTimestamp"));
    if end.is_none_or(|end| end > work.core.now()) {
        meta::set(object, "deletionTimestamp", Some(json!(work.now)));
    }
    meta::set(object, "deletionGracePeriodSeconds", Some(json!(0)));
}

/// Gives the object the finalizers that the garbage collector works on, as the client or the kind wants.
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

/// Which of the two, if any: by the options, else by the finalizers that there are, else by the kind.
fn wanted(work: &Work, had: &[String], options: &DeleteOptions) -> Option<&'static str> {
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
    let orphans = [("batch", "jobs"), ("", "replicationcontrollers")].contains(&work.subject());
    orphans.then_some(ORPHAN)
}

fn warn(work: &mut Work, options: &DeleteOptions) {
    let is_said = options.propagation.is_some() || options.orphan_dependents.is_some();
    if work.subject() == ("batch", "jobs") && !is_said {
        work.warn(
            "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or \
             set propagationPolicy=Orphan to suppress this warning"
                .to_owned(),
        );
    }
}
