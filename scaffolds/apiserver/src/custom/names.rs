//! Which of the names that a CustomResourceDefinition asks for it gets: those that no other definition of its group has.

use super::conditions::{Condition, find, holds};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Whether `crd` has all the names it asks for.
pub(crate) fn are_settled(crd: &Value) -> bool {
    same_names(&crd["spec"]["names"], &crd["status"]["acceptedNames"])
}

/// Puts the accepted names and what is said about them into `crd`'s status. `all` are the definitions of the server,
/// `crd` itself may be among them. Returns whether anything changed.
pub(crate) fn accept<'a>(crd: &mut Value, all: impl IntoIterator<Item = &'a Value>, now: &str) -> bool {
    let taken = Taken::by(all, &crd["spec"]["group"]);
    let (names, accepted) = choose(crd, &taken);
    if names == crd["status"]["acceptedNames"] && accepted.stands_in(crd) {
        return false;
    }
    crd["status"]["acceptedNames"] = names;
    accepted.set(crd, now);
    if holds(crd, "Established") {
        return true;
    }
    if accepted.status {
        Condition::new(
            "Established",
            false,
            "Installing",
            "the initial names have been accepted",
        )
        .set(crd, now);
    } else if find(crd, "Established").is_none() {
        Condition::new("Established", false, "NotAccepted", "not all names are accepted").set(crd, now);
    }
    true
}

/// The names that definitions of one group have: those of resources and those of kinds.
struct Taken {
    resources: BTreeSet<String>,
    kinds: BTreeSet<String>,
}

impl Taken {
    fn by<'a>(all: impl IntoIterator<Item = &'a Value>, group: &Value) -> Self {
        let mut taken = Self {
            resources: BTreeSet::new(),
            kinds: BTreeSet::new(),
        };
        for crd in all.into_iter().filter(|crd| crd["spec"]["group"] == *group) {
            let names = &crd["status"]["acceptedNames"];
            // An absent name counts as an empty one, as on the server.
            taken.resources.extend([text(names, "plural"), text(names, "singular")]);
            taken.resources.extend(texts(&names["shortNames"]));
            taken.kinds.extend([text(names, "kind"), text(names, "listKind")]);
        }
        taken
    }
}

fn choose(crd: &Value, taken: &Taken) -> (Value, Condition) {
    let (wanted, had) = (&crd["spec"]["names"], &crd["status"]["acceptedNames"]);
    let mut names = had.clone();
    let mut condition = Condition::new("NamesAccepted", true, "NoConflicts", "no conflicts found");
    let mut refuse = |reason, message| {
        condition = Condition {
            kind: "NamesAccepted",
            status: false,
            reason,
            message,
        }
    };
    for (key, reason) in [("plural", "PluralConflict"), ("singular", "SingularConflict")] {
        take(wanted, had, (key, &taken.resources), &mut names).unwrap_or_else(|message| refuse(reason, message));
    }
    match short_names(wanted, had, &taken.resources) {
        Ok(()) => replace(&mut names, wanted, "shortNames"),
        Err(message) => refuse("ShortNamesConflict", message),
    }
    for (key, reason) in [("kind", "KindConflict"), ("listKind", "ListKindConflict")] {
        take(wanted, had, (key, &taken.kinds), &mut names).unwrap_or_else(|message| refuse(reason, message));
    }
    replace(&mut names, wanted, "categories");
    (names, condition)
}

fn take(wanted: &Value, had: &Value, (key, taken): (&str, &BTreeSet<String>), names: &mut Value) -> Result<(), String> {
    let name = text(wanted, key);
    if name != text(had, key) && taken.contains(&name) {
        return Err(format!("{} is already in use", json!(name)));
    }
    replace(names, wanted, key);
    Ok(())
}

fn short_names(wanted: &Value, had: &Value, taken: &BTreeSet<String>) -> Result<(), String> {
    let had = texts(&had["shortNames"]);
    let mut refused: Vec<String> = Vec::new();
    for name in texts(&wanted["shortNames"]) {
        let message = format!("{} is already in use", json!(name));
        if !had.contains(&name) && taken.contains(&name) && !refused.contains(&message) {
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
