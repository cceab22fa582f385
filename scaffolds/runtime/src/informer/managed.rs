//! The records of field ownership (`managedFields`) that a store keeps: whose, and in how much memory.

use std::borrow::Cow;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{FieldsV1, ManagedFieldsEntry, ObjectMeta};
use serde_json::Value;

/// Drops the records of managers whose names begin with none of `keep`, and all records about subresources.
pub(super) fn keep_only(metadata: &mut ObjectMeta, keep: &[String]) {
    let Some(mut entries) = metadata.managed_fields.take() else {
        return;
    };
    entries.retain(|entry| {
        let manager = entry.manager.as_deref().unwrap_or_default();
        entry.subresource.as_deref().unwrap_or_default().is_empty()
            && keep.iter().any(|keep| manager.starts_with(keep.as_str()))
    });
    entries.shrink_to_fit();
    metadata.managed_fields = (!entries.is_empty()).then_some(entries);
}

/// Replaces each record's tree by its text, and drops what nobody asks: the tree of a small object, all maps with one
/// entry, takes 10 KB where the text takes 300 bytes. [`fields`] reads both.
pub(super) fn pack(metadata: &mut ObjectMeta) {
    for entry in metadata.managed_fields.iter_mut().flatten() {
        (entry.api_version, entry.fields_type, entry.time) = (None, None, None);
        if let Some(FieldsV1(tree)) = &mut entry.fields_v1
            && !tree.is_string()
        {
            *tree = Value::String(tree.to_string().into_boxed_str().into_string());
        }
    }
}

/// The tree of fields that a record, packed or not, is about.
pub(crate) fn fields(entry: &ManagedFieldsEntry) -> Option<Cow<'_, Value>> {
    match &entry.fields_v1.as_ref()?.0 {
        Value::String(text) => serde_json::from_str(text).ok().map(Cow::Owned),
        tree => Some(Cow::Borrowed(tree)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn metadata() -> ObjectMeta {
        let entry = |manager: &str, subresource: &str| json!({"manager": manager, "subresource": subresource, "fieldsV1": {"f:data": {"f:target": {}}}});
        let entries = [
            entry("kubectl", ""),
            entry("ours/foobar", ""),
            entry("ours/foobar", "status"),
            entry("oursel", ""),
        ];
        serde_json::from_value(json!({"managedFields": entries})).expect("metadata")
    }

    #[test]
    fn records_are_kept_by_name_or_by_prefix() {
        for (keep, count) in [
            ("ours/", 1),
            ("ours/foobar", 1),
            ("ours", 2),
            ("oursel", 1),
            ("kubectl/", 0),
        ] {
            let mut metadata = metadata();
            keep_only(&mut metadata, &[keep.to_owned()]);
            assert_eq!(metadata.managed_fields.map_or(0, |kept| kept.len()), count, "{keep}");
        }
    }

    #[test]
    fn a_packed_record_reads_as_before() {
        let (plain, mut packed) = (metadata(), metadata());
        pack(&mut packed);
        pack(&mut packed);
        let trees = |metadata: &ObjectMeta| -> Vec<Value> {
            let entries = metadata.managed_fields.iter().flatten();
            entries.filter_map(|entry| fields(entry).map(Cow::into_owned)).collect()
        };
        assert_eq!(trees(&plain), trees(&packed));
        assert_eq!(trees(&plain).len(), 4);
    }
}
