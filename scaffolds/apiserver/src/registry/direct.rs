//! Changes and deletions that the server makes itself in the course of another request (a binding, an eviction, the deletion of a
//! definition): upstream does them in its storage, without admission and without the checks of an update.

use serde_json::Value;

use super::{
    options::DeleteOptions,
    pipeline::{self, Live},
    record, storage,
    verbs::delete,
    work::Work,
};
use crate::{call::Call, meta, state::Core, status::Status};

/// The next state of an object, from the present one.
pub type Change<'c> = dyn Fn(&mut Value) -> Result<(), Status> + Send + Sync + 'c;

/// Changes the object of a call, and returns it as it then is.
///
/// # Errors
/// 404, what `change` says, and 500 once the disk has failed.
pub fn amend(core: &Core, call: &Call, dry_run: bool, change: &Change<'_>) -> Result<Value, Status> {
    core.check_disk()?;
    let work = Work::new(core, call);
    let key = work.key(&call.name);
    loop {
        let live = Live::read_unconverted(&work, &key)?.ok_or_else(|| work.not_found(&call.name))?;
        let mut new = live.object.clone();
        change(&mut new)?;
        let other = record::settle(work.resource(), &mut new);
        if live.write(&work, &mut new, other, dry_run)?.is_some() {
            return Ok(new);
        }
    }
}

/// Deletes the object of a call, or begins to.
///
/// # Errors
/// 404, 409 when it is not the one that the options mean, 422 for options that contradict each other, 500 once the disk has failed.
pub fn delete(core: &Core, call: &Call, options: &DeleteOptions) -> Result<(), Status> {
    core.check_disk()?;
    options.check()?;
    let work = Work::new(core, call);
    let decide = |work: &Work<'_>, live: &Value| delete::decide(work, live, options);
    pipeline::remove_directly(&work, &call.name, options.is_dry_run(), &decide)?;
    Ok(())
}

/// The uid and the revision that an object must have, unless these are empty.
pub struct Preconditions<'a> {
    pub uid: &'a str,
    pub resource_version: &'a str,
    pub dry_run: bool,
}

/// Checks that an object meets the preconditions.
///
/// # Errors
/// 409, as upstream's storage says it.
pub fn check(core: &Core, call: &Call, wanted: &Preconditions<'_>, object: &Value) -> Result<(), Status> {
    let work = Work::new(core, call);
    let fields = [
        ("UID", "uid", wanted.uid),
        ("ResourceVersion", "resourceVersion", wanted.resource_version),
    ];
    for (name, field, expected) in fields {
        let found = meta::text(object, field);
        if !expected.is_empty() && expected != found {
            let failed = format!("{name} in precondition: {expected}, {name} in object meta: {found}");
            return Err(storage::failed_precondition(&work, &call.name, wanted.dry_run, &failed));
        }
    }
    Ok(())
}
