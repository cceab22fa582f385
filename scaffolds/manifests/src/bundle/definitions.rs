//! The kinds of the operator: as a CSV describes them, with examples.

use crate::rendered::text;
use serde_json::{Value, json};

/// `customresourcedefinitions.owned`: each served version of each kind.
pub(super) fn owned(objects: &[Value]) -> Vec<Value> {
    let definitions = objects
        .iter()
        .filter(|it| text(it, "/kind") == "CustomResourceDefinition");
    definitions.flat_map(versions).collect()
}

fn versions(definition: &Value) -> impl Iterator<Item = Value> {
    let [name, kind, group] = ["/metadata/name", "/spec/names/kind", "/spec/group"].map(|path| text(definition, path));
    let versions = definition.pointer("/spec/versions").and_then(Value::as_array);
    // OLM demands that those in the list are served.
    let served = versions
        .into_iter()
        .flatten()
        .filter(|version| version["served"] == true);
    served.map(move |version| {
        let number = text(version, "/name");
        let description = match text(version, "/schema/openAPIV3Schema/description") {
            "" => format!("{kind} of {group}/{number}"),
            known => known.to_owned(),
        };
        json!({"name": name, "version": number, "kind": kind, "displayName": title(kind), "description": description})
    })
}

/// `alm-examples`: the samples of these kinds, as a JSON list.
pub(super) fn examples(owned: &[Value], samples: &[Value]) -> String {
    let is_owned = |sample: &&Value| {
        let (group, version) = text(sample, "/apiVersion").split_once('/').unwrap_or_default();
        owned.iter().any(|of| {
            let of_group = text(of, "/name").split_once('.').map(|(_, group)| group);
            of_group == Some(group) && text(of, "/version") == version && of["kind"] == sample["kind"]
        })
    };
    let examples: Vec<_> = samples.iter().filter(is_owned).collect();
    // A list of objects can be written.
    serde_json::to_string_pretty(&examples).unwrap_or_default()
}

/// A name in words: `FooBar` and `foo-bar` are `Foo Bar`, `HTTPRoute` is `HTTP Route`.
pub(super) fn title(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut out = String::new();
    for (at, &letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| letters.get(at)).copied();
        let after_lower = before.is_some_and(|it| !it.is_uppercase() && it != '-');
        let next_is_lower = letters.get(at + 1).is_some_and(|it| it.is_lowercase());
        if letter.is_uppercase() && before.is_some_and(|it| it != '-') && (after_lower || next_is_lower) {
            out.push(' ');
        }
        match letter {
            '-' => out.push(' '),
            _ if before.is_none_or(|it| it == '-') => out.extend(letter.to_uppercase()),
            _ => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::title;

    #[test]
    fn a_name_is_written_in_words() {
        let cases = [
            ("FooBar", "Foo Bar"),
            ("foobar-operator", "Foobar Operator"),
            ("HTTPRoute", "HTTP Route"),
            ("Greeter", "Greeter"),
            ("RouteV2Config", "Route V2 Config"),
        ];
        for (name, wanted) in cases {
            assert_eq!(title(name), wanted);
        }
    }
}
