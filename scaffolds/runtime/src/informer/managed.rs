//! The `managedFields` entries that a store keeps: of which field managers, and in which form.

use std::{borrow::Cow, ops::Range};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{FieldsV1, ManagedFieldsEntry, ObjectMeta};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use crate::store::scan::Scan;

/// The position of `managedFields` in an object's JSON.
pub(super) fn find(json: &str) -> Option<Range<usize>> {
    let mut scan = Scan::new(json);
    scan.enter("metadata")?;
    scan.enter("managedFields")?;
    scan.value()
}

/// An entry as it is sent; unused fields are not decoded.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record<'a> {
    manager: Option<String>,
    operation: Option<String>,
    subresource: Option<String>,
    #[serde(borrow)]
    fields_v1: Option<&'a RawValue>,
}

/// Decodes entries into the form of [`pack`], except those for subresources. An empty entry stands for those of field
/// managers that are not to be kept. `None` if no entry is kept, or the text is not a list of entries.
pub(super) fn records(json: &str, keep: impl Fn(&str) -> bool) -> Option<Vec<ManagedFieldsEntry>> {
    let records: Vec<Record<'_>> = serde_json::from_str(json).ok()?;
    let whole = |record: &Record<'_>| record.subresource.as_deref().unwrap_or_default().is_empty();
    let (kept, others): (Vec<_>, Vec<_>) = records
        .into_iter()
        .filter(whole)
        .partition(|record| keep(record.manager.as_deref().unwrap_or_default()));
    let mut kept: Vec<_> = kept
        .into_iter()
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
    if kept.is_empty() {
        return None;
    }
    if !others.is_empty() {
        kept.push(ManagedFieldsEntry::default());
    }
    kept.shrink_to_fit();
    Some(kept)
}

/// Drops all entries for subresources, and replaces those of field managers that match none of the prefixes in `keep` by
/// one empty entry.
pub(super) fn keep_only(metadata: &mut ObjectMeta, keep: &[String]) {
    let Some(mut entries) = metadata.managed_fields.take() else {
        return;
    };
    let mut others = false;
    entries.retain(|entry| {
        if !entry.subresource.as_deref().unwrap_or_default().is_empty() {
            return false;
        }
        let kept = is_kept(entry.manager.as_deref().unwrap_or_default(), keep);
        others |= !kept;
        kept
    });
    if others && !entries.is_empty() {
        entries.push(ManagedFieldsEntry::default());
    }
    entries.shrink_to_fit();
    metadata.managed_fields = (!entries.is_empty()).then_some(entries);
}

pub(super) fn is_kept(manager: &str, keep: &[String]) -> bool {
    keep.iter().any(|keep| manager.starts_with(keep.as_str()))
}

/// Replaces each entry's tree by its text, and drops unused fields: the tree of a small object, all maps with one key,
/// takes 10 KB where the text takes 300 bytes. [`fields`] decodes both.
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

/// The field tree of an entry, packed or not.
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
    fn entries_are_kept_by_manager_or_by_prefix() {
        for (keep, count) in [
            ("ours/", 1),
            ("ours/foobar", 1),
            ("ours", 2),
            ("oursel", 1),
            ("kubectl/", 0),
        ] {
            let mut metadata = metadata();
            for _ in 0..2 {
                keep_only(&mut metadata, &[keep.to_owned()]);
                let entries = metadata.managed_fields.clone().unwrap_or_default();
                let kept = entries.iter().filter(|entry| entry.manager.is_some()).count();
                assert_eq!(kept, count, "{keep}");
                let others = entries.len() - kept;
                assert_eq!(
                    others,
                    usize::from(count > 0),
                    "one entry stands for all others: {keep}"
                );
            }
        }
    }

    #[test]
    fn entries_read_from_text_equal_packed_ones() {
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
    fn managed_fields_are_found_in_an_object() {
        let object = json!({"apiVersion": "v1", "metadata": metadata(), "data": {"managedFields": "no"}}).to_string();
        let found = find(&object).map(|range| object[range].to_owned());
        assert_eq!(
            found,
            serde_json::to_string(&serde_json::to_value(metadata().managed_fields).expect("JSON")).ok()
        );
        assert_eq!(find(r#"{"metadata":{"name":"a"},"managedFields":[]}"#), None);
    }

    #[test]
    fn a_packed_entry_decodes_to_the_same_fields() {
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
