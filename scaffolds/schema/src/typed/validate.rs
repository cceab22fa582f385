//! Validates a value against its type.

use std::{collections::BTreeSet, fmt};

use kubewright_machinery::go::interface;
use serde_json::Value;

use super::{
    element::Element,
    form::{Form, MAX_DEPTH, Problem, check_scalar, item},
    schema::{Id, List, ListType, Map, Schema},
};

/// Whether lists may contain duplicate items: stored ones may, applied ones may not.
#[derive(Clone, Copy, Eq, PartialEq)]
pub enum Duplicates {
    /// In stored objects.
    Allowed,
    /// In applied configurations.
    Refused,
}

/// All problems of `value`, which is of the root type.
pub fn validate(schema: &Schema, value: &Value, duplicates: Duplicates) -> Vec<Problem> {
    let mut walk = ValidationWalk {
        schema,
        duplicates,
        path: Vec::new(),
        problems: Vec::new(),
    };
    walk.visit(schema.root, value);
    walk.problems
}

struct ValidationWalk<'a> {
    schema: &'a Schema,
    duplicates: Duplicates,
    /// The current path; formatted only for problems.
    path: Vec<PathStep<'a>>,
    problems: Vec<Problem>,
}

/// One step of the current path.
enum PathStep<'a> {
    Field(&'a str),
    Item(Element),
}

impl<'a> ValidationWalk<'a> {
    fn visit(&mut self, id: Id, value: &'a Value) {
        if self.path.len() > MAX_DEPTH {
            return self.fail("exceeded max depth".to_owned());
        }
        let schema = self.schema;
        match (schema.get(id).deduce(Some(value)).form, value) {
            (Form::Scalar(scalar), value) => {
                if let Err(message) = check_scalar(scalar, Some(value)) {
                    self.fail(message);
                }
            }
            (Form::List(list), Value::Array(items)) => self.list(list, items),
            (Form::Map(map), Value::Object(members)) => self.map(map, members),
            (_, Value::Null) => {}
            (Form::List(_), other) => self.fail(format!("expected list, got &{{{}}}", interface::plain(other))),
            (Form::Map(_), other) => self.fail(format!("expected map, got &{{{}}}", interface::plain(other))),
        }
    }

    fn list(&mut self, list: &List, items: &'a [Value]) {
        let mut seen = BTreeSet::new();
        for (index, it) in items.iter().enumerate() {
            // A list never has that many items.
            let mut element = Element::Index(i64::try_from(index).unwrap_or(i64::MAX));
            if list.kind != ListType::Atomic {
                match item(self.schema, list, it) {
                    Ok(named) => element = named,
                    Err(message) => return self.fail(format!("element {index}: {message}")),
                }
                if self.duplicates == Duplicates::Refused {
                    if seen.contains(&element) {
                        self.fail(format!("duplicate entries for key {element}"));
                    }
                    seen.insert(element.clone());
                }
            }
            self.path.push(PathStep::Item(element));
            self.visit(list.element, it);
            self.path.pop();
        }
    }

    fn map(&mut self, map: &Map, members: &'a serde_json::Map<String, Value>) {
        for (name, it) in members {
            self.path.push(PathStep::Field(name));
            let id = map.at(name);
            match id {
                Some(id) => self.visit(id, it),
                None => self.fail("field not declared in schema".to_owned()),
            }
            self.path.pop();
            if id.is_none() {
                return;
            }
        }
    }

    fn fail(&mut self, message: String) {
        let path = self.path.iter().map(PathStep::to_string).collect();
        self.problems.push(Problem { path, message });
    }
}

impl fmt::Display for PathStep<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => write!(f, ".{name}"),
            Self::Item(element) => write!(f, "{element}"),
        }
    }
}
