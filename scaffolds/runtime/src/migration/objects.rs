//! Makes the API server store all objects of a kind anew, page by page.

use futures::{StreamExt, stream};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ListMeta;
use kube::{
    Client,
    api::{DynamicObject, ListParams},
};

use super::{MANAGER, patience::patiently, progress::Progress};
use crate::{
    api::Requests,
    error::{Error, Result},
    key::ObjectKey,
    kind::Kind,
};

/// Objects in one page, as in client-go (`tools/pager`: `defaultPageSize`).
const PAGE: u32 = 500;
/// Writes at the same time: an API server does many more, and its other clients get theirs done.
const AT_ONCE: usize = 10;
/// After so many objects that cannot be written there is a common cause, and the others need not be tried.
const MAX_REFUSED: usize = 20;

/// A page of a list, or where to go on because the list has expired.
enum ListPage {
    Of { keys: Vec<ObjectKey>, metadata: ListMeta },
    Expired { next: String },
}

/// The number of objects on the API server.
///
/// # Errors
/// If it does not answer the list.
pub(super) async fn count(client: &Client, kind: &Kind<DynamicObject>) -> Result<u64> {
    match patiently(async || page(client, kind, &ListParams::default().limit(1)).await).await? {
        ListPage::Of { keys, metadata } => Ok(keys.len() as u64 + remaining(&metadata)),
        // Only a list that goes on expires.
        ListPage::Expired { .. } => Ok(0),
    }
}

/// Stores all objects anew, and returns how many. Objects that are created meanwhile are stored in the storage version
/// anyway; those that are deleted meanwhile do not matter.
///
/// # Errors
/// [`Error::Setup`], which names objects that could not be written. The others are stored anew.
pub(super) async fn store_all(client: &Client, kind: &Kind<DynamicObject>, progress: &mut Progress<'_>) -> Result<u64> {
    let mut params = ListParams::default().limit(PAGE);
    let (mut stored, mut refused) = (0, Vec::new());
    loop {
        let next = match patiently(async || page(client, kind, &params).await).await? {
            ListPage::Expired { next } => Some(next),
            ListPage::Of { keys, metadata } => {
                progress.expect(stored + keys.len() as u64 + remaining(&metadata));
                stored += keys.len() as u64;
                refused.extend(store(client, kind, &keys, progress).await);
                metadata.continue_.filter(|token| !token.is_empty())
            }
        };
        match next {
            Some(token) if refused.len() < MAX_REFUSED => params = params.continue_token(&token),
            _ if refused.is_empty() => return Ok(stored),
            _ => return Err(Error::Setup(unwritten(kind, &refused))),
        }
    }
}

/// One request for a list. A list that has expired, because the API server forgets old revisions after some minutes, goes
/// on where it was with the objects as they are now, which leaves out none that was there from the start.
async fn page(client: &Client, kind: &Kind<DynamicObject>, params: &ListParams) -> Result<ListPage> {
    match Requests::within(client, kind, None).list_metadata(params).await {
        Ok(list) => Ok(ListPage::Of {
            keys: list.items.iter().map(ObjectKey::of).collect(),
            metadata: list.metadata,
        }),
        Err(error) => match error.next_page() {
            Some(next) => Ok(ListPage::Expired { next }),
            None => Err(error),
        },
    }
}

fn remaining(metadata: &ListMeta) -> u64 {
    metadata
        .remaining_item_count
        .unwrap_or_default()
        .try_into()
        .unwrap_or_default()
}

/// Stores these objects anew, and returns those that could not be written, each with the reason.
async fn store(
    client: &Client,
    kind: &Kind<DynamicObject>,
    keys: &[ObjectKey],
    progress: &mut Progress<'_>,
) -> Vec<(ObjectKey, Error)> {
    let one = async |key: &ObjectKey| {
        let requests = Requests::beside(client, kind, key);
        let stored = patiently(async || requests.store_anew(key.name(), MANAGER).await).await;
        stored.err().map(|error| (key.clone(), error))
    };
    let mut writes = stream::iter(keys).map(one).buffer_unordered(AT_ONCE);
    let mut refused = Vec::new();
    while let Some(failed) = writes.next().await {
        progress.step();
        refused.extend(failed);
        if refused.len() >= MAX_REFUSED {
            break;
        }
    }
    refused
}

fn unwritten(kind: &Kind<DynamicObject>, refused: &[(ObjectKey, Error)]) -> String {
    let count = match refused.len() {
        1 => "1 object".to_owned(),
        count if count < MAX_REFUSED => format!("{count} objects"),
        count => format!("at least {count} objects"),
    };
    let resource = kind.resource();
    let mut text = format!("`{resource}`: {count} cannot be stored anew, so `status.storedVersions` stays as it is:");
    for (key, error) in refused {
        text += &format!("\n  {key}: {error}");
    }
    text + "\n\nhint: correct or delete them, and run it again"
}
