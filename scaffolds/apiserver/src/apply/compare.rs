//! Compares two values, as sets of added, modified and removed fields.

use std::collections::{BTreeMap, BTreeSet};

use kubewright_schema::typed::{
    Element, Form, Id, List, ListType, Map, Path, Problem, Schema, check_scalar, display, is_empty, item, same,
};
use serde_json::Value;

use super::set::Set;

/// A comparison of two values. The three sets are disjoint.
#[derive(Debug, Default)]
pub(super) struct Comparison {
    pub(super) added: Set,
    pub(super) modified: Set,
    pub(super) removed: Set,
}

impl Comparison {
    /// All fields that have a new value.
    pub(super) fn changed(&self) -> Set {
        self.modified.union(&self.added)
    }

    /// Removes these fields and all fields below them.
    pub(super) fn without(self, fields: &Set) -> Self {
        Self {
            added: self.added.without(fields),
            modified: self.modified.without(fields),
            removed: self.removed.without(fields),
        }
    }
}

/// Compares two values of the schema's root type.
pub(super) fn compare(schema: &Schema, old: &Value, new: &Value) -> Result<Comparison, Vec<Problem>> {
    let mut walk = ComparisonWalk {
        schema,
        path: Vec::new(),
        out: Comparison::default(),
        problems: Vec::new(),
    };
    walk.visit(schema.root, Some(old), Some(new));
    if walk.problems.is_empty() {
        Ok(walk.out)
    } else {
        Err(walk.problems)
    }
}

/// Whether a visit ended in a leaf, which is then in the result.
#[derive(Clone, Copy, Eq, PartialEq)]
enum VisitEnd {
    Leaf,
    Inner,
}

struct ComparisonWalk<'a> {
    schema: &'a Schema,
    path: Path,
    out: Comparison,
    problems: Vec<Problem>,
}

impl ComparisonWalk<'_> {
    /// At least one of the two values is present.
    fn visit(&mut self, id: Id, old: Option<&Value>, new: Option<&Value>) {
        // Both values are known to match the schema, so equal values need no visit.
        if let (Some(old), Some(new)) = (old, new)
            && same(old, new)
        {
            return;
        }
        let schema = self.schema;
        let before = schema.get(id).deduce(old);
        let after = schema.get(id).deduce(new);
        let end = if new.is_none() {
            self.look(before.form, old, new)
        } else {
            if old.is_some() && !before.agrees(after) {
                self.look(before.form, old, new);
            }
            self.look(after.form, old, new)
        };
        if end == VisitEnd::Inner && old.is_none() {
            self.out.added.insert(&self.path);
        } else if end == VisitEnd::Inner && new.is_none() {
            self.out.removed.insert(&self.path);
        }
    }

    fn look(&mut self, form: Form<'_>, old: Option<&Value>, new: Option<&Value>) -> VisitEnd {
        match form {
            Form::Scalar(scalar) => match (check_scalar(scalar, old), check_scalar(scalar, new)) {
                (Err(before), Err(after)) => {
                    self.fail(format!("lhs: {before}"));
                    self.fail(format!("rhs: {after}"));
                    VisitEnd::Inner
                }
                _ => self.leaf(old, new),
            },
            Form::List(list) => {
                let (before, after) = (items(old), items(new));
                if list.kind == ListType::Atomic || (before.is_empty() && after.is_empty()) {
                    return self.leaf(old, new);
                }
                self.list(list, before, after);
                VisitEnd::Inner
            }
            Form::Map(map) => {
                let (before, after) = (members(old), members(new));
                if map.atomic || (is_empty(before) && is_empty(after)) {
                    return self.leaf(old, new);
                }
                self.map(map, before, after);
                VisitEnd::Inner
            }
        }
    }

    fn leaf(&mut self, old: Option<&Value>, new: Option<&Value>) -> VisitEnd {
        match (old, new) {
            (None, _) => self.out.added.insert(&self.path),
            (_, None) => self.out.removed.insert(&self.path),
            (Some(old), Some(new)) if !same(old, new) => self.out.modified.insert(&self.path),
            _ => {}
        }
        VisitEnd::Leaf
    }

    fn map<'v>(&mut self, map: &Map, old: Option<&'v Value>, new: Option<&'v Value>) {
        let names = |it: Option<&'v Value>| it.and_then(Value::as_object).into_iter().flat_map(|it| it.keys());
        let all: BTreeSet<&str> = names(old).chain(names(new)).map(String::as_str).collect();
        for name in all {
            let Some(id) = map.at(name) else { continue };
            let (before, after) = (old.and_then(|it| it.get(name)), new.and_then(|it| it.get(name)));
            self.path.push(Element::field(name));
            self.visit(id, before, after);
            self.path.pop();
        }
    }

    fn list(&mut self, list: &List, old: &[Value], new: &[Value]) {
        let mut named: BTreeMap<Element, (Vec<&Value>, Vec<&Value>)> = BTreeMap::new();
        for it in self.named(list, old) {
            named.entry(it.0).or_default().0.push(it.1);
        }
        for it in self.named(list, new) {
            named.entry(it.0).or_default().1.push(it.1);
        }
        for (element, (old, new)) in named {
            self.path.push(element);
            self.item(list, &old, &new);
            self.path.pop();
        }
    }

    fn named<'v>(&mut self, list: &List, items: &'v [Value]) -> Vec<(Element, &'v Value)> {
        let mut out = Vec::new();
        for (index, it) in items.iter().enumerate() {
            match item(self.schema, list, it) {
                Ok(element) => out.push((element, it)),
                Err(message) => self.fail(format!("element {index}: {message}")),
            }
        }
        out
    }

    /// Compares the items with one key. Duplicate items count as one item that is added, removed and modified as a
    /// whole.
    fn item(&mut self, list: &List, old: &[&Value], new: &[&Value]) {
        match (old, new) {
            ([_, _, ..], [_, _, ..]) => {
                if old.len() != new.len() || old.iter().zip(new).any(|(old, new)| !same(old, new)) {
                    self.out.modified.insert(&self.path);
                }
            }
            ([_, _, ..], _) => {
                if let Some(new) = new.first() {
                    self.visit(list.element, None, Some(new));
                }
                self.out.removed.insert(&self.path);
            }
            (_, [_, _, ..]) => {
                if let Some(old) = old.first() {
                    self.visit(list.element, Some(old), None);
                }
                self.out.added.insert(&self.path);
            }
            _ => self.visit(list.element, old.first().copied(), new.first().copied()),
        }
    }

    fn fail(&mut self, message: String) {
        self.problems.push(Problem {
            path: display(&self.path),
            message,
        });
    }
}

fn items(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn members(value: Option<&Value>) -> Option<&Value> {
    value.filter(|it| it.is_object())
}
