//! Accepts the names of a CustomResourceDefinition that no other definition of its group has.

use super::conditions::{DefinitionCondition, find, holds};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Whether all names that `crd` requests are accepted.
pub(crate) fn are_settled(crd: &Value) -> bool {
    same_names(&crd["spec"]["names"], &crd["status"]["acceptedNames"])
}

/// Writes the accepted names and their condition to `crd`'s status. `taken` are the names of the group, which may
/// include `crd`'s own. Returns whether anything changed.
pub(crate) fn accept(crd: &mut Value, taken: &Taken, now: &str) -> bool {
    let (names, accepted) = choose(crd, taken);
    if names == crd["status"]["acceptedNames"] && accepted.stands_in(crd) {
        return false;
    }
    crd["status"]["acceptedNames"] = names;
    accepted.set(crd, now);
    if holds(crd, "Established") {
        return true;
    }
    if accepted.status {
        DefinitionCondition::new(
            "Established",
            false,
            "Installing",
            "the initial names have been accepted",
        )
        .set(crd, now);
    } else if find(crd, "Established").is_none() {
        DefinitionCondition::new("Established", false, "NotAccepted", "not all names are accepted").set(crd, now);
    }
    true
}

/// The names that definitions of one group have, each with the number of definitions that have it: resource names and
/// kinds.
#[derive(Default)]
pub(crate) struct Taken {
    resources: BTreeMap<String, usize>,
    kinds: BTreeMap<String, usize>,
}

impl Taken {
    /// Adds or removes the accepted names of a definition.
    pub(crate) fn count(&mut self, names: &Value, is_more: bool) {
        // An absent name counts as an empty one, as upstream.
        let resources = [text(names, "plural"), text(names, "singular")].into_iter();
        for name in resources.chain(texts(&names["shortNames"])) {
            count(&mut self.resources, name, is_more);
        }
        for name in [text(names, "kind"), text(names, "listKind")] {
            count(&mut self.kinds, name, is_more);
        }
    }
}

fn count(counts: &mut BTreeMap<String, usize>, name: String, is_more: bool) {
    let of = counts.entry(name.clone()).or_default();
    *of = if is_more {
        of.saturating_add(1)
    } else {
        of.saturating_sub(1)
    };
    if *of == 0 {
        counts.remove(&name);
    }
}

fn choose(crd: &Value, taken: &Taken) -> (Value, DefinitionCondition) {
    let (wanted, had) = (&crd["spec"]["names"], &crd["status"]["acceptedNames"]);
    let mut names = had.clone();
    let mut condition = DefinitionCondition::new("NamesAccepted", true, "NoConflicts", "no conflicts found");
    let mut refuse = |reason, message| {
        condition = DefinitionCondition {
            kind: "NamesAccepted",
            status: false,
            reason,
            message,
        }
    };
    for (key, reason) in [("plural", "PluralConflict"), ("singular", "SingularConflict")] {
        take(&mut names, wanted, key, &taken.resources).unwrap_or_else(|message| refuse(reason, message));
    }
    match short_names(wanted, had, &taken.resources) {
        Ok(()) => replace(&mut names, wanted, "shortNames"),
        Err(message) => refuse("ShortNamesConflict", message),
    }
    for (key, reason) in [("kind", "KindConflict"), ("listKind", "ListKindConflict")] {
        take(&mut names, wanted, key, &taken.kinds).unwrap_or_else(|message| refuse(reason, message));
    }
    replace(&mut names, wanted, "categories");
    (names, condition)
}

/// Replaces one of the names by the wanted one, unless that is new and another definition has it.
fn take(names: &mut Value, wanted: &Value, key: &str, taken: &BTreeMap<String, usize>) -> Result<(), String> {
    let name = text(wanted, key);
    if name != text(names, key) && taken.contains_key(&name) {
        return Err(format!("{} is already in use", json!(name)));
    }
    replace(names, wanted, key);
    Ok(())
}

fn short_names(wanted: &Value, had: &Value, taken: &BTreeMap<String, usize>) -> Result<(), String> {
    let had = texts(&had["shortNames"]);
    let mut refused: Vec<String> = Vec::new();
    for name in texts(&wanted["shortNames"]) {
        let message = format!("{} is already in use", json!(name));
        if !had.contains(&name) && taken.contains_key(&name) && !refused.contains(&message) {
            refused.push(message);
        }
    }
    match refused.as_slice() {
        [] => Ok(()),
        [one] => Err(one.clone()),
        many => Err(format!("[{}]", many.join(", "))),
    }
}

fn replace(names: &mut Value, wanted: &Value, key: &str) {
    match wanted.get(key) {
        Some(value) => names[key] = value.clone(),
        None => {
            if let Some(names) = names.as_object_mut() {
                names.remove(key);
            }
        }
    }
}

fn same_names(one: &Value, other: &Value) -> bool {
    ["plural", "singular", "kind", "listKind"]
        .iter()
        .all(|key| text(one, key) == text(other, key))
        && ["shortNames", "categories"]
            .iter()
            .all(|key| texts(&one[*key]) == texts(&other[*key]))
}

fn text(names: &Value, key: &str) -> String {
    names[key].as_str().unwrap_or_default().to_owned()
}

fn texts(list: &Value) -> Vec<String> {
    let texts = list.as_array().into_iter().flatten().filter_map(Value::as_str);
    texts.map(str::to_owned).collect()
}
