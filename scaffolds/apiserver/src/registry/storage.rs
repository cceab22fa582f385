//! The properties of the real etcd that responses show: keys, which some of them quote, and limits of messages.

use serde_json::Value;

use super::{record::Draft, work::Work};
use crate::{call::Verb, kinds::protobuf, meta, resource::Resource, status::Status, store::Key};

/// `--max-request-bytes` of etcd: the longest entry of its log, in bytes.
const LONGEST_ENTRY: usize = 3 * 512 * 1024;
/// The bytes of an entry around its message: two lengths and an identifier.
const AROUND: usize = 18;
/// The longest message that etcd's client sends, in bytes (`defaultMaxCallSendMsgSize`).
const LONGEST_MESSAGE: usize = 2 * 1024 * 1024;
/// Texts in JSON that are shorter, in bytes, fit in any encoding.
const HARMLESS: usize = 1024 * 1024;

/// The destination of an object in the store.
pub struct Target<'a> {
    pub key: &'a Key,
    /// The revision that it replaces; 0 for a new object.
    pub revision: u64,
}

/// The draft of an object to store; `other` is the object in the storage version, if that is another one. As upstream, an object
/// that is too large is tried once more without its managed fields, unless it was applied.
///
/// # Errors
/// 500 for an object that etcd would not store.
pub fn draft(work: &Work, to: &Target<'_>, object: &mut Value, other: &mut Option<Value>) -> Result<Draft, Status> {
    let draft = Draft::of(other.as_ref().unwrap_or(object));
    let refused = to.check(work.resource(), other.as_ref().unwrap_or(object), &draft);
    if refused.is_ok() || is_apply(work) {
        return refused.map(|()| draft);
    }
    meta::set(object, "managedFields", None);
    if let Some(other) = other {
        meta::set(other, "managedFields", None);
    }
    let stored = other.as_ref().unwrap_or(object);
    let draft = Draft::of(stored);
    to.check(work.resource(), stored, &draft).map(|()| draft)
}

fn is_apply(work: &Work) -> bool {
    work.call.verb == Verb::Patch && work.call.content_type.starts_with("application/apply-patch")
}

impl Target<'_> {
    fn check(&self, resource: &Resource, object: &Value, draft: &Draft) -> Result<(), Status> {
        if draft.len() < HARMLESS {
            return Ok(());
        }
        let value = match protobuf::stored(&resource.group, object) {
            Some(value) => value.len(),
            None => draft.len_in_go(),
        };
        let size = self.message(quoted(resource, self.key).len(), value);
        if size > LONGEST_MESSAGE {
            let why = format!("trying to send message larger than max ({size} vs. {LONGEST_MESSAGE})");
            return Err(Status::new(
                500,
                "",
                format!("rpc error: code = ResourceExhausted desc = {why}"),
            ));
        }
        match size + AROUND > LONGEST_ENTRY {
            true => Err(Status::new(500, "", "etcdserver: request is too large")),
            false => Ok(()),
        }
    }

    /// The size of a `TxnRequest` of etcd that stores a value: a comparison of the revision, the write, and for an update the read
    /// of what is there instead.
    fn message(&self, key: usize, value: usize) -> usize {
        let field = |length: usize| 1 + varint(length as u64) + length;
        let compare = 2 + field(key) + 1 + varint(self.revision);
        let put = field(field(key) + field(value));
        let get = match self.revision {
            0 => 0,
            _ => field(field(field(key))),
        };
        field(compare) + field(put) + get
    }
}

/// The length of a number in Protobuf, in bytes.
fn varint(number: u64) -> usize {
    (64 - number.leading_zeros()).div_ceil(7).max(1) as usize
}

/// The key that the real server uses for an object. Some resources have older names there; the keys of custom kinds and
/// CustomResourceDefinitions contain the group.
pub fn quoted(resource: &Resource, key: &Key) -> String {
    let plural = resource.names.plural.as_str();
    let directory = match resource.rules().storage.etcd_directory {
        Some(directory) => directory.to_owned(),
        None if resource.rules().is_built_in() => plural.to_owned(),
        None => format!("{}/{plural}", resource.group),
    };
    match key.namespace.as_str() {
        "" => format!("{PREFIX}/{directory}/{}", key.name),
        namespace => format!("{PREFIX}/{directory}/{namespace}/{}", key.name),
    }
}

/// The prefix of all keys.
const PREFIX: &str = "/registry";

/// 409 for an object that is not the one that a request means; `failed` says what differs. As upstream, the key has no
/// prefix in a dry run.
pub fn failed_precondition(work: &Work, name: &str, dry_run: bool, failed: &str) -> Status {
    let key = quoted(work.resource(), &work.key(name));
    let key = match key.strip_prefix(PREFIX) {
        Some(key) if dry_run => key,
        _ => &key,
    };
    let why = invalid_object(key, &format!("Precondition failed: {failed}"));
    Status::conflict(work.subject(), name, &why)
}

/// The storage's error about an object that a request must not change.
pub fn invalid_object(key: &str, why: &str) -> String {
    format!("StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: {why}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sizes that kube-apiserver 1.37.2 named of Deployments that were too large.
    #[test]
    fn messages_have_the_size_that_the_client_of_etcd_names() {
        let key = Key::new("apps/deployments", "default", "big");
        let size = |revision| {
            let target = Target { key: &key, revision };
            target.message("/registry/deployments/default/big".len(), 2_200_358)
        };
        assert_eq!(size(0), 2_200_449);
        assert_eq!(size(300), 2_200_489);
    }
}
