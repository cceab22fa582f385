//! DELETE of a collection: deletes every object of the list with the same query, one after the other.

use super::delete::{one, warn};
use crate::{
    registry::{
        Reply,
        list::{self, options::ListParameters},
        options::DeleteOptions,
        work::Work,
    },
    status::Status,
};

/// Deletes the objects that the query selects (one page if it has a limit), and answers with the list from before.
pub async fn delete(work: &Work<'_>) -> Result<Reply, Status> {
    let wanted = ListParameters::read(work.call)?;
    let options = DeleteOptions::read(work.call)?;
    options.check_of_collection()?;
    warn(work, &options);
    let chosen = list::choose(work.core, work.call, &wanted).await?;
    if work.resource().namespaced && work.call.namespace.is_empty() && !chosen.records.is_empty() {
        return Err(Status::bad_request("Namespace parameter required."));
    }
    for record in &chosen.records {
        match one(work, &record.key.name, &options).await {
            Err(status) if status.code != 404 => return Err(status),
            _ => {}
        }
    }
    Ok(chosen.reply)
}
