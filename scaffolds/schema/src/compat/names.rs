//! Compares what is not a field: scope, names, subresources and selectable fields.

use super::text;
use serde_json::Value;
use std::collections::BTreeSet;

/// Changes of the kind as a whole, and who is affected.
pub(super) fn changes(before: &Value, after: &Value) -> impl Iterator<Item = (String, &'static str)> {
    let mut found = Vec::new();
    for (what, pointer, consequence) in [
        (
            "the scope",
            "/spec/scope",
            "the API server refuses the change once the kind is established",
        ),
        (
            "the kind",
            "/spec/names/kind",
            "the API server refuses the change once the kind is established",
        ),
        ("the singular", "/spec/names/singular", "commands that use it fail"),
    ] {
        let (was, is) = (text(before, pointer), text(after, pointer));
        if was != is {
            found.push((format!("{what} was `{was}` and is `{is}`"), consequence));
        }
    }
    for (what, pointer) in [
        ("short name", "/spec/names/shortNames"),
        ("category", "/spec/names/categories"),
    ] {
        let now = list(after, pointer);
        for name in list(before, pointer).difference(&now) {
            found.push((format!("the {what} `{name}` is gone"), "commands that use it fail"));
        }
    }
    found.into_iter()
}

/// Changes of the endpoints of a version, and who is affected.
pub(super) fn of_version(was: &Value, is: &Value) -> Vec<(String, &'static str)> {
    let mut found = Vec::new();
    for subresource in ["status", "scale"] {
        let (had, has) = (
            was["subresources"].get(subresource),
            is["subresources"].get(subresource),
        );
        match (had, has) {
            (Some(_), None) => {
                let change = format!("the subresource `{subresource}` is gone");
                found.push((change, "clients of its endpoint get a 404"));
            }
            (None, Some(_)) if subresource == "status" => {
                let change = "the subresource `status` is new".to_owned();
                found.push((change, "the status in writes of the whole object is ignored"));
            }
            (Some(had), Some(has)) if had != has => {
                found.push((
                    format!("the paths of the subresource `{subresource}` changed"),
                    "autoscalers read and write other fields",
                ));
            }
            _ => {}
        }
    }
    let fields = |version: &Value| -> BTreeSet<String> {
        let fields = version["selectableFields"].as_array().into_iter().flatten();
        fields.map(|field| text(field, "/jsonPath").to_owned()).collect()
    };
    for field in fields(was).difference(&fields(is)) {
        found.push((
            format!("the selectable field `{field}` is gone"),
            "requests with it in a field selector get a 400",
        ));
    }
    found
}

fn list(crd: &Value, pointer: &str) -> BTreeSet<String> {
    let names = crd.pointer(pointer).and_then(Value::as_array).into_iter().flatten();
    names.filter_map(Value::as_str).map(str::to_owned).collect()
}
