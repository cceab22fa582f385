//! Values that a version cannot hold: found by converting back, written into an annotation, and restored where what was visible
//! of it is unchanged.

use std::fmt::Write;

use ring::digest::{Context, SHA256};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::webhook::{envelope::DEEPEST, merge::carry_over};

/// API servers refuse objects with invalid metadata, so none is kept where anybody could write it.
const METADATA: &str = "metadata";

/// The name of the annotation with what only this version can hold.
pub(crate) fn annotation(group: &str, version: &str) -> String {
    format!("{group}/{version}-only")
}

/// The text of the annotation.
#[derive(Deserialize, Serialize)]
struct Kept {
    /// The digest of the body beside which the annotation was written.
    digest: String,
    kept: Vec<Lost>,
}

/// A value that gets lost.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
struct Lost {
    /// The names of the fields that lead to it.
    path: Vec<String>,
    /// The value before the conversion: empty if the field is absent, else one item.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    value: Vec<Value>,
    /// The value after conversion and back: empty if the field is absent, else one item.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    shown: Vec<Value>,
}

/// The levels of the annotation's text around a value.
const LEVELS: usize = 4;

/// The values of `original` that the annotation has to keep beside `converted`, because they differ in `back`, the conversion
/// of `converted` to the first version. `None` if nothing is lost.
///
/// # Errors
///
/// A value is so deep that it could not be restored.
pub(super) fn lost(original: &Value, back: &Value, converted: &Value) -> Result<Option<String>, String> {
    let mut kept = Vec::new();
    if let (Value::Object(original), Value::Object(back)) = (original, back) {
        compare(&mut Vec::new(), original, back, &mut kept);
    }
    if kept.is_empty() {
        return Ok(None);
    }
    let values = |entry: &Lost| entry.value.iter().chain(&entry.shown).map(levels).max();
    if let Some(entry) = kept
        .iter()
        .find(|entry| values(entry).unwrap_or_default() + LEVELS > DEEPEST)
    {
        let (path, most) = (entry.path.join("."), DEEPEST - LEVELS);
        return Err(format!(
            "the field {path}, which this version does not have, has more than {most} levels of nested lists and objects"
        ));
    }
    let digest = digest(converted);
    let text = serde_json::to_string(&Kept { digest, kept });
    text.map(Some).map_err(|error| error.to_string())
}

/// The nesting depth of lists and objects.
fn levels(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(levels).max().unwrap_or_default(),
        Value::Object(fields) => 1 + fields.values().map(levels).max().unwrap_or_default(),
        _ => 0,
    }
}

/// The fields that an object's annotation of this name keeps, and that the object shows nothing of, as `spec.tries`.
#[cfg(feature = "testing")]
pub(crate) fn hidden(object: &Value, annotation: &str) -> Vec<String> {
    let text = object["metadata"]["annotations"][annotation].as_str();
    let kept: Option<Kept> = text.and_then(|text| serde_json::from_str(text).ok());
    let entries = kept.into_iter().flat_map(|it| it.kept);
    let is_empty = |value: &Value| [Value::Null, Value::Array(vec![]), Value::Object(Map::new())].contains(value);
    let hidden = entries.filter(|entry| entry.shown.is_empty() && !entry.value.iter().all(is_empty));
    hidden.map(|entry| entry.path.join(".")).collect()
}

/// Adds the differences. Metadata is left to the functions.
fn compare(path: &mut Vec<String>, original: &Map<String, Value>, back: &Map<String, Value>, kept: &mut Vec<Lost>) {
    let added = back.keys().filter(|name| !original.contains_key(*name));
    let is_metadata = |name: &str| path.is_empty() && name == METADATA;
    let names: Vec<_> = original.keys().chain(added).filter(|name| !is_metadata(name)).collect();
    for name in names {
        path.push(name.clone());
        match (original.get(name), back.get(name)) {
            (value, shown) if value == shown => {}
            (Some(Value::Object(original)), Some(Value::Object(back))) => compare(path, original, back, kept),
            (value, shown) => kept.push(Lost {
                path: path.clone(),
                value: value.cloned().into_iter().collect(),
                shown: shown.cloned().into_iter().collect(),
            }),
        }
        path.pop();
    }
}

/// The body with what the annotation's text keeps; `beside` is the digest of the body that has the annotation now. `None`
/// if the text keeps nothing for this body, or has another form than [`lost`] writes.
///
/// Whoever may write the object may write the annotation, so the result is a claim: the caller has to check it.
pub(super) fn restored(body: &Value, text: &str, beside: &str) -> Option<Value> {
    let Kept { digest, mut kept } = serde_json::from_str(text).ok()?;
    // Each entry has a part of the body of its own: otherwise a short text could have a large part copied many times.
    kept.sort_by(|one, other| one.path.cmp(&other.path));
    if kept.windows(2).any(|pair| pair[1].path.starts_with(&pair[0].path)) {
        return None;
    }
    let mut restored = body.clone();
    let is_unchanged = digest == beside;
    for entry in kept {
        entry.restore(&mut restored, is_unchanged);
    }
    (restored != *body).then_some(restored)
}

/// Whether each value of `back`, the conversion back of a restored body, is one that the client wrote, or one that it would
/// see without the restoration.
pub(super) fn adds_nothing(back: &Value, written: &Value, shown: &Value) -> bool {
    if back == written || back == shown {
        return true;
    }
    match (back, written, shown) {
        (Value::Object(back), Value::Object(written), Value::Object(shown)) => {
            let mut names = back.keys().chain(written.keys()).chain(shown.keys());
            names.all(|name| match (back.get(name), written.get(name), shown.get(name)) {
                (Some(back), Some(written), Some(shown)) => adds_nothing(back, written, shown),
                (back, written, shown) => back == written || back == shown,
            })
        }
        (Value::Array(back), Value::Array(written), Value::Array(shown)) => {
            let same_length = back.len() == written.len() && back.len() == shown.len();
            let mut items = back.iter().zip(written).zip(shown);
            same_length && items.all(|((back, written), shown)| adds_nothing(back, written, shown))
        }
        _ => false,
    }
}

impl Lost {
    /// Sets the value, unless what was visible has been changed or removed. Of a list that was changed, the items that
    /// were not changed get back what they have lost.
    fn restore(mut self, body: &mut Value, is_unchanged: bool) {
        let Some((name, parents)) = self.path.split_last() else {
            return;
        };
        if self.path.first().is_some_and(|first| first == METADATA) {
            return;
        }
        let parent = parents.iter().try_fold(body, |value, name| value.get_mut(name));
        let Some(Value::Object(parent)) = parent else {
            return;
        };
        let (value, shown, now) = (self.value.pop(), self.shown.pop(), parent.get(name));
        let restored = if is_unchanged || now == shown.as_ref() {
            value
        } else {
            match (value, shown, now) {
                (Some(value), Some(shown), Some(now)) => Some(carry_over(&value, &shown, now)),
                _ => return,
            }
        };
        match restored {
            Some(value) => _ = parent.insert(name.clone(), value),
            None => _ = parent.remove(name),
        }
    }
}

/// A digest that does not depend on the order of fields.
pub(super) fn digest(value: &Value) -> String {
    let mut context = Context::new(&SHA256);
    feed(&mut context, value);
    let mut text = String::new();
    for byte in context.finish().as_ref() {
        // A String takes everything.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn feed(context: &mut Context, value: &Value) {
    match value {
        Value::Object(fields) => {
            let mut names: Vec<_> = fields.keys().collect();
            names.sort();
            context.update(b"{");
            for name in names {
                context.update(Value::String(name.clone()).to_string().as_bytes());
                feed(context, &fields[name]);
            }
            context.update(b"}");
        }
        Value::Array(items) => {
            context.update(b"[");
            for item in items {
                feed(context, item);
                context.update(b",");
            }
            context.update(b"]");
        }
        leaf => context.update(leaf.to_string().as_bytes()),
    }
}
