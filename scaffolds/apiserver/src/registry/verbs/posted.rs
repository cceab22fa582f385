//! Reads objects whose create is answered but never stored: reviews, bindings, evictions.

use serde_json::Value;

use crate::{
    call::Call,
    registry::{body, options::WriteOptions, work::Work},
    state::Core,
    status::Status,
};

/// The body of a create that stores nothing.
pub struct Posted {
    /// The object, with its defaults.
    pub object: Value,
    /// Whether the request is a dry run.
    pub dry_run: bool,
}

/// The object that the client sent, read as by every create.
///
/// # Errors
/// The errors of a create, up to validation.
pub fn read(core: &Core, call: &Call, warnings: &mut Vec<String>) -> Result<Posted, Status> {
    let options = WriteOptions::read(call, "CreateOptions")?;
    let work = Work::new(core, call);
    let object = body::read(&work, options.validation).and_then(|mut new| {
        body::check_namespace(&work, &mut new.object)?;
        work.own(&options.manager, None, &mut new);
        Ok(new.object)
    });
    warnings.append(&mut call.warnings.take());
    let dry_run = options.dry_run;
    object.map(|object| Posted { object, dry_run })
}
