//! PUT: the object, or its status, as the client wants it as a whole.

use super::{
    Reply, admit, answer, body,
    change::{Plan, change},
    options::Options,
    work::Work,
};
use crate::{meta, status::Status};

/// Updates an object to what the body says; creates it where the kind allows it.
pub(super) fn update(work: &mut Work) -> Result<Reply, Status> {
    let options = Options::read(work.call, "UpdateOptions")?;
    let mut sent = body::read(work, options.validation)?;
    body::check_namespace(work, &mut sent)?;
    body::check_name(work, &sent)?;
    work.dedupe_owners(&mut sent, false);
    let plan = Plan {
        name: &work.call.name,
        uid: meta::text(&sent, "uid"),
        dry_run: options.dry_run,
        may_create: work.resource().strategy.creates_on_update(),
    };
    let (code, written) = change(work, &plan, &mut |work, live| {
        let mut new = sent.clone();
        work.own(&options.manager, live, &mut new);
        match live {
            Some(_) => admit::change(work)?,
            None => admit::creation(work, &new)?,
        }
        Ok(new)
    })?;
    Ok(answer::written(code, written))
}
