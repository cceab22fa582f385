//! The records of field ownership (`managedFields`) that a store keeps: whose, and in how much memory.

use std::{borrow::Cow, ops::Range};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{FieldsV1, ManagedFieldsEntry, ObjectMeta};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::scan::Scan;

/// Where the records stand in an object's JSON.
pub(super) fn find(json: &str) -> Option<Range<usize>> {
    let mut scan = Scan::new(json);
    scan.enter("metadata")?;
    scan.enter("managedFields")?;
    scan.value()
}

/// A record as it is sent; what nobody asks is not even read.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record<'a> {
    manager: Option<String>,
    operation: Option<String>,
    subresource: Option<String>,
    #[serde(borrow)]
    fields_v1: Option<&'a RawValue>,
}

/// Reads records as [`pack`] leaves them, but for those about subresources and of managers that are not to be kept. `None` if
/// no record is left, or they are no records.
pub(super) fn records(json: &str, keep: impl Fn(&str) -> bool) -> Option<Vec<ManagedFieldsEntry>> {
    let records: Vec<Record<'_>> = serde_json::from_str(json).ok()?;
    let kept = records.into_iter().filter(|record| {
        record.subresource.as_deref().unwrap_or_default().is_empty()
            && keep(record.manager.as_deref().unwrap_or_default())
    });
    let kept: Vec<_> = kept
        .map(|record| ManagedFieldsEntry {
            manager: record.manager,
            operation: record.operation,
            subresource: record.subresource,
            fields_v1: record
                .fields_v1
                .map(|fields| FieldsV1(Value::String(fields.get().to_owned()))),
            ..ManagedFieldsEntry::default()
        })
        .collect();
    (!kept.is_empty()).then_some(kept)
}

/// Drops the records of managers whose names begin with none of `keep`, and all records about subresources.
pub(super) fn keep_only(metadata: &mut ObjectMeta, keep: &[String]) {
    let Some(mut entries) = metadata.managed_fields.take() else {
        return;
    };
    entries.retain(|entry| {
        let manager = entry.manager.as_deref().unwrap_or_default();
        entry.subresource.as_deref().unwrap_or_default().is_empty() && is_kept(manager, keep)
    });
    entries.shrink_to_fit();
    metadata.managed_fields = (!entries.is_empty()).then_some(entries);
}

pub(super) fn is_kept(manager: &str, keep: &[String]) -> bool {
    keep.iter().any(|keep| manager.starts_with(keep.as_str()))
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
    fn records_read_from_text_are_those_that_are_packed() {
        let mut packed = metadata();
        let text = serde_json::to_string(&packed.managed_fields).expect("JSON");
        keep_only(&mut packed, &["ours/".to_owned()]);
        pack(&mut packed);
        assert_eq!(
            records(&text, |manager| manager.starts_with("ours/")),
            packed.managed_fields
        );
        assert_eq!(records(&text, |manager| manager == "nobody"), None);
        assert_eq!(records("null", |_| true), None);
    }

    #[test]
    fn records_are_found_in_an_object() {
        let object = json!({"apiVersion": "v1", "metadata": metadata(), "data": {"managedFields": "no"}}).to_string();
        let found = find(&object).map(|range| object[range].to_owned());
        assert_eq!(
            found,
            serde_json::to_string(&serde_json::to_value(metadata().managed_fields).expect("JSON")).ok()
        );
        assert_eq!(find(r#"{"metadata":{"name":"a"},"managedFields":[]}"#), None);
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
