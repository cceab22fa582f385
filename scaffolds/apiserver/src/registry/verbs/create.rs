//! POST: creates an object.

use serde_json::Value;

use crate::{
    meta,
    registry::{
        Reply, body,
        options::WriteOptions,
        pipeline::{self, Plan, Transition},
        reply,
        work::Work,
    },
    status::Status,
};

/// Creates the object of the body.
pub async fn create(work: &mut Work<'_>) -> Result<Reply, Status> {
    let options = WriteOptions::read(work.call, "CreateOptions")?;
    let mut object = body::read(work, options.validation)?;
    meta::system::wipe(&mut object);
    body::check_namespace(work, &mut object)?;
    work.dedupe_owners(&mut object, false);
    let plan = Plan {
        name: None,
        uid: "",
        dry_run: options.dry_run,
        may_create: true,
        manager: Some(&options.manager),
    };
    let done = pipeline::write(work, &plan, &mut New(object)).await?;
    Ok(reply::written(201, done.written))
}

/// A new object. Its next state is computed only once: there is no stored object that another writer could change.
struct New(Value);

impl Transition for New {
    fn next(&mut self, _work: &mut Work, _old: Option<&Value>) -> Result<Value, Status> {
        Ok(std::mem::take(&mut self.0))
    }
}
