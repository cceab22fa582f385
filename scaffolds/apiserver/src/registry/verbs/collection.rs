//! DELETE of a collection: every object that a list with the same query has, one after the other.

use super::delete::one;
use crate::{
    registry::{
        Reply,
        list::{self, options::Options},
        options::DeleteOptions,
        work::Work,
    },
    status::Status,
};

/// Deletes what the query chooses, a page of it where it has a limit, and answers with the list of it as it was before.
pub async fn delete(work: &mut Work<'_>) -> Result<Reply, Status> {
    let wanted = Options::read(work.call)?;
    let options = DeleteOptions::read(work.call)?;
    let chosen = list::choose(work.core, work.call, &wanted)?;
    for record in &chosen.records {
        match one(work, &record.key.name, &options).await {
            Err(status) if status.code != 404 => return Err(status),
            _ => {}
        }
    }
    Ok(chosen.reply)
}
