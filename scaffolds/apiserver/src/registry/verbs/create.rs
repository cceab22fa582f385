//! POST: creates an object.

use serde_json::Value;

use crate::{
    meta,
    registry::{
        Reply,
        body::{self, Decoded},
        options::WriteOptions,
        pipeline::{self, Plan, Transition},
        reply,
        work::Work,
    },
    status::Status,
};

/// Creates the object of the body.
pub async fn create(work: &Work<'_>) -> Result<Reply, Status> {
    let options = WriteOptions::read(work.call, "CreateOptions")?;
    let mut new = body::read(work, options.validation)?;
    meta::system::wipe(&mut new.object);
    body::check_namespace(work, &mut new.object)?;
    work.dedupe_owners(&mut new.object, false);
    let plan = Plan {
        name: None,
        uid: "",
        dry_run: options.dry_run,
        may_create: true,
        manager: Some(&options.manager),
    };
    let done = pipeline::write(work, &plan, &mut New(new)).await?;
    Ok(reply::written(201, done.written))
}

/// A new object. Its next state is computed only once: there is no stored object that another writer could change.
struct New(Decoded);

impl Transition for New {
    fn next(&mut self, _work: &Work, _old: Option<&Value>) -> Result<Decoded, Status> {
        Ok(std::mem::take(&mut self.0))
    }
}
