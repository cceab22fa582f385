//! The controller and the duplicates among `ownerReferences`.

use serde_json::Value;

/// The owner reference of the controller of an object.
pub fn controller(object: &Value) -> Option<&Value> {
    let owners = super::of(object).get("ownerReferences")?.as_array()?;
    owners.iter().find(|owner| owner["controller"] == true)
}

/// Takes away references that stand twice, and returns the uids of these.
pub fn dedupe(object: &mut Value) -> Vec<String> {
    let list = object.get_mut("metadata").and_then(|it| it.get_mut("ownerReferences"));
    let Some(list) = list.and_then(Value::as_array_mut) else {
        return Vec::new();
    };
    let mut twice = Vec::new();
    let mut kept: Vec<Value> = Vec::with_capacity(list.len());
    for reference in list.drain(..) {
        if kept.contains(&reference) {
            twice.push(reference["uid"].as_str().unwrap_or_default().to_owned());
        } else {
            kept.push(reference);
        }
    }
    *list = kept;
    twice
}
