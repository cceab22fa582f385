//! Merges an applied configuration into the live object. A merge removes nothing: what an applier has given up is removed
//! by the fields that it owned.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    element::Element,
    form::{Form, Problem, check_scalar, item},
    order::is_empty,
    schema::{Id, List, ListType, Map, Schema},
};

/// Merges two values of the schema's root type. List items have the order of the configuration, and other live items
/// stay between them where they were.
///
/// # Errors
/// The values that do not match the schema.
pub fn merge(schema: &Schema, live: &Value, applied: &Value) -> Result<Value, Vec<Problem>> {
    let mut walk = MergeWalk {
        schema,
        problems: Vec::new(),
    };
    let merged = walk.visit(schema.root, Some(live), Some(applied));
    if walk.problems.is_empty() {
        Ok(merged.unwrap_or(Value::Null))
    } else {
        Err(walk.problems)
    }
}

struct MergeWalk<'a> {
    schema: &'a Schema,
    problems: Vec<Problem>,
}

impl MergeWalk<'_> {
    /// At least one of the two values is present.
    fn visit(&mut self, id: Id, live: Option<&Value>, applied: Option<&Value>) -> Option<Value> {
        let schema = self.schema;
        let before = schema.get(id).deduce(live);
        let after = schema.get(id).deduce(applied);
        if applied.is_none() {
            return self.look(before.form, live, applied);
        }
        if live.is_some() && !before.agrees(after) {
            self.look(before.form, live, applied);
        }
        self.look(after.form, live, applied)
    }

    fn look(&mut self, form: Form<'_>, live: Option<&Value>, applied: Option<&Value>) -> Option<Value> {
        let leaf = || applied.or(live).cloned();
        match form {
            Form::Scalar(scalar) => {
                if let (Err(before), Err(after)) = (check_scalar(scalar, live), check_scalar(scalar, applied)) {
                    self.fail(format!("lhs: {before}"));
                    self.fail(format!("rhs: {after}"));
                    return None;
                }
                leaf()
            }
            Form::List(list) => {
                let (before, after) = (live.filter(|it| it.is_array()), applied.filter(|it| it.is_array()));
                if list.kind == ListType::Atomic || (is_empty(before) && is_empty(after)) {
                    return leaf();
                }
                self.list(list, before, after)
            }
            Form::Map(map) => {
                let (before, after) = (live.filter(|it| it.is_object()), applied.filter(|it| it.is_object()));
                if map.atomic || (is_empty(before) && is_empty(after)) {
                    return leaf();
                }
                self.map(map, before, after)
            }
        }
    }

    fn map(&mut self, map: &Map, live: Option<&Value>, applied: Option<&Value>) -> Option<Value> {
        let names: BTreeSet<&String> = [live, applied]
            .into_iter()
            .flatten()
            .filter_map(Value::as_object)
            .flat_map(|it| it.keys())
            .collect();
        let mut out = serde_json::Map::new();
        for name in names {
            let Some(id) = map.at(name) else { continue };
            let (before, after) = (live.and_then(|it| it.get(name)), applied.and_then(|it| it.get(name)));
            if let Some(it) = self.visit(id, before, after) {
                out.insert(name.clone(), it);
            }
        }
        (!out.is_empty()).then_some(Value::Object(out))
    }

    fn list(&mut self, list: &List, live: Option<&Value>, applied: Option<&Value>) -> Option<Value> {
        let left = self.named(list, live, true)?;
        let right = self.named(list, applied, false)?;
        let out = self.interleave(list, &left, &right);
        (!out.is_empty()).then_some(Value::Array(out))
    }

    /// Returns the applied items in their order, each preceded by the other live items that preceded it.
    fn interleave(&mut self, list: &List, left: &Named<'_>, right: &Named<'_>) -> Vec<Value> {
        let mut shared = right.order.iter().filter(|it| left.items.contains_key(*it));
        let mut next = shared.next();
        let (mut l, mut r) = (0, 0);
        let (mut out, mut merged) = (Vec::new(), BTreeSet::new());
        loop {
            let (live, applied) = (left.order.get(l), right.order.get(r));
            if let (Some(live), Some(applied)) = (live, applied) {
                if live == applied {
                    merged.insert(applied);
                    out.extend(self.item(list, left.get(live), right.get(applied)));
                    (l, r) = (l + 1, r + 1);
                    next = shared.next();
                    continue;
                }
                if right.items.contains_key(live) && next.is_some_and(|next| next != live) {
                    l += 1;
                    continue;
                }
            }
            if let Some(live) = live {
                if !right.items.contains_key(live) {
                    out.extend(self.item(list, left.all.get(l).copied(), None));
                    l += 1;
                    continue;
                }
                if merged.contains(live) {
                    l += 1;
                }
            }
            let Some(applied) = applied else {
                if live.is_none() {
                    return out;
                }
                continue;
            };
            merged.insert(applied);
            out.extend(self.item(list, left.get(applied), right.get(applied)));
            r += 1;
            if next == Some(applied) {
                next = shared.next();
            }
        }
    }

    /// Merges an item. Problems within items do not stop a merge.
    fn item(&mut self, list: &List, live: Option<&Value>, applied: Option<&Value>) -> Option<Value> {
        let before = self.problems.len();
        let out = self.visit(list.element, live, applied);
        self.problems.truncate(before);
        out
    }

    fn named<'v>(&mut self, list: &List, all: Option<&'v Value>, duplicates: bool) -> Option<Named<'v>> {
        let before = self.problems.len();
        let mut named = Named {
            order: Vec::new(),
            items: BTreeMap::new(),
            all: Vec::new(),
        };
        for (index, it) in all.and_then(Value::as_array).into_iter().flatten().enumerate() {
            let element = match item(self.schema, list, it) {
                Ok(element) => element,
                Err(message) => {
                    self.fail(format!("element {index}: {message}"));
                    continue;
                }
            };
            let known = named.items.contains_key(&element);
            if known && !duplicates {
                self.fail(format!("duplicate entries for key {element}"));
                continue;
            }
            // A duplicate live item is not merged with the applied item but replaced by it.
            named.items.insert(element.clone(), if known { &NOTHING } else { it });
            named.order.push(element);
            named.all.push(it);
        }
        (self.problems.len() == before).then_some(named)
    }

    fn fail(&mut self, message: String) {
        self.problems.push(Problem {
            path: String::new(),
            message,
        });
    }
}

static NOTHING: Value = Value::Null;

/// The items of a list by key.
struct Named<'v> {
    order: Vec<Element>,
    items: BTreeMap<Element, &'v Value>,
    all: Vec<&'v Value>,
}

impl<'v> Named<'v> {
    fn get(&self, element: &Element) -> Option<&'v Value> {
        self.items.get(element).copied()
    }
}
