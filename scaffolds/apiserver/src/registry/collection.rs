//! DELETE of a collection: every object that a list with the same query has, one after the other.

use serde_json::{Value, json};

use super::{Reply, answer, delete::one, options::DeleteOptions, record, storage, work::Work};
use crate::{
    request,
    select::{FieldSelector, LabelSelector},
    status::Status,
    store::{Page, Range, Record},
};

/// Deletes what the selectors of the query choose, and answers with the list of it as it was before.
pub(super) fn delete(work: &mut Work) -> Result<Reply, Status> {
    let page = chosen(work)?;
    let options = DeleteOptions::read(work.call)?;
    let mut items = Vec::with_capacity(page.records.len());
    for record in &page.records {
        let mut item = record::read(work.resource(), record)?;
        match one(work, &record.key.name, &options) {
            Err(status) if status.code != 404 => return Err(status),
            _ => {}
        }
        strip(work, &mut item);
        items.push(item);
    }
    let resource = work.resource();
    let list = json!({
        "kind": resource.names.list_kind,
        "apiVersion": resource.api_version(),
        "metadata": {"resourceVersion": page.revision.to_string()},
        "items": items,
    });
    Ok(answer::object(200, &list))
}

/// What the query chooses.
fn chosen(work: &Work) -> Result<Page, Status> {
    let (call, resource) = (work.call, work.resource());
    let query = |name| call.parameter(name).unwrap_or_default();
    let labels = LabelSelector::parse(query("labelSelector")).map_err(Status::bad_request)?;
    let fields = FieldSelector::parse(query("fieldSelector")).map_err(Status::bad_request)?;
    fields.check(resource).map_err(Status::bad_request)?;
    if !query("continue").is_empty() {
        return Err(Status::not_implemented("continue in the deletion of a collection"));
    }
    let limit = call
        .parameter("limit")
        .map_or(Ok(0), request::query::integer)
        .map_err(Status::bad_request)?;
    let range = fields.narrow(Range::new(&storage::resource_key(resource), work.namespace()));
    let page = work.core.store.list(&range, None, None, 0);
    let mut page = page.map_err(|_| Status::internal("the present is compacted"))?;
    let is_chosen = |record: &Record| {
        let object = || record::read(resource, record).unwrap_or_default();
        labels.matches(record.labels()) && fields.matches(resource, &record.key, object)
    };
    page.records.retain(|record| is_chosen(record));
    // A part of a collection is answered with the place where the next one begins, which is not done here.
    if usize::try_from(limit).is_ok_and(|limit| limit > 0 && limit < page.records.len()) {
        return Err(Status::not_implemented("limit in the deletion of a larger collection"));
    }
    Ok(page)
}

/// Items of built-in lists do not say what they are.
fn strip(work: &Work, item: &mut Value) {
    if let Some(fields) = item.as_object_mut().filter(|_| work.is_built_in()) {
        fields.remove("kind");
        fields.remove("apiVersion");
    }
}
