//! The parameter `resourceVersion`.

use std::time::Duration;

use kubewright_machinery::go;

use crate::{status::Status, store::Store};

/// The time that upstream's watch cache waits for a future revision.
const PATIENCE: Duration = Duration::from_secs(3);

/// A revision; `None` for an empty text.
///
/// # Errors
/// The server's sentence about a text that is not a uint64.
pub fn parse(text: &str) -> Result<Option<u64>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let why = if text.bytes().all(|digit| digit.is_ascii_digit()) {
        match text.parse() {
            Ok(revision) => return Ok(Some(revision)),
            Err(_) => "value out of range",
        }
    } else {
        "invalid syntax"
    };
    let text = go::quote(text);
    Err(format!(
        "resourceVersion: Invalid value: {text}: strconv.ParseUint: parsing {text}: {why}"
    ))
}

/// Waits until a revision is reached.
///
/// # Errors
/// 504 when it is not reached in time.
pub async fn wait(store: &Store, revision: u64) -> Result<(), Status> {
    if revision <= store.revision() {
        return Ok(());
    }
    match tokio::time::timeout(PATIENCE, store.reached(revision)).await {
        Ok(Ok(())) => Ok(()),
        _ => Err(Status::too_large_resource_version(revision, store.revision())),
    }
}
