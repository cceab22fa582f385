//! PUT: replaces an object or its status.

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

/// Replaces an object with that of the body; creates it if it does not exist and the kind allows that.
pub async fn update(work: &Work<'_>) -> Result<Reply, Status> {
    let options = WriteOptions::read(work.call, "UpdateOptions")?;
    let mut sent = body::read(work, options.validation)?;
    body::check_namespace(work, &mut sent.object)?;
    body::check_name(work, &sent.object)?;
    work.dedupe_owners(&mut sent.object, false);
    let plan = Plan {
        name: Some(&work.call.name),
        uid: meta::text(&sent.object, "uid"),
        dry_run: options.dry_run,
        may_create: work.resource().rules().put.creates,
        manager: Some(&options.manager),
    };
    let done = pipeline::write(work, &plan, &mut Sent(&sent)).await?;
    Ok(reply::done(done))
}

/// The body is the next state.
struct Sent<'a>(&'a Decoded);

impl Transition for Sent<'_> {
    fn next(&mut self, _work: &Work, _old: Option<&Value>) -> Result<Decoded, Status> {
        Ok(self.0.clone())
    }
}
