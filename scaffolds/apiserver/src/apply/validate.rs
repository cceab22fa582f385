//! Whether a value is of its type.

use serde_json::Value;

use super::{
    element::Element,
    go,
    schema::{Id, List, ListType, Map, Schema},
    set::Set,
    typed::{Form, MAX_DEPTH, Problem, check_scalar, item},
};

/// Whether lists may hold an item twice: what is stored may, what is applied may not.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(super) enum Duplicates {
    Allowed,
    Refused,
}

/// Everything that is wrong with `value`.
pub(super) fn validate(schema: &Schema, value: &Value, duplicates: Duplicates) -> Vec<Problem> {
    let mut walk = Walk {
        schema,
        duplicates,
        problems: Vec::new(),
    };
    walk.visit(schema.root, value, String::new(), 0);
    walk.problems
}

struct Walk<'a> {
    schema: &'a Schema,
    duplicates: Duplicates,
    problems: Vec<Problem>,
}

impl Walk<'_> {
    fn visit(&mut self, id: Id, value: &Value, path: String, depth: usize) {
        if depth > MAX_DEPTH {
            return self.fail(path, "exceeded max depth".to_owned());
        }
        let schema = self.schema;
        match (schema.get(id).deduce(Some(value)).form, value) {
            (Form::Scalar(scalar), value) => {
                if let Err(message) = check_scalar(scalar, Some(value)) {
                    self.fail(path, message);
                }
            }
            (Form::List(list), Value::Array(items)) => self.list(list, items, &path, depth),
            (Form::Map(map), Value::Object(members)) => self.map(map, members, &path, depth),
            (_, Value::Null) => {}
            (Form::List(_), other) => self.fail(path, format!("expected list, got &{{{}}}", go::plain(other))),
            (Form::Map(_), other) => self.fail(path, format!("expected map, got &{{{}}}", go::plain(other))),
        }
    }

    fn list(&mut self, list: &List, items: &[Value], path: &str, depth: usize) {
        let mut seen = Set::default();
        for (index, it) in items.iter().enumerate() {
            // A list of that length cannot be.
            let mut element = Element::Index(i64::try_from(index).unwrap_or(i64::MAX));
            if list.kind != ListType::Atomic {
                match item(self.schema, list, it) {
                    Ok(named) => element = named,
                    Err(message) => return self.fail(path.to_owned(), format!("element {index}: {message}")),
                }
                if self.duplicates == Duplicates::Refused && seen.member(&element) {
                    self.fail(path.to_owned(), format!("duplicate entries for key {element}"));
                }
                seen.insert(std::slice::from_ref(&element));
            }
            self.visit(list.element, it, format!("{path}{element}"), depth + 1);
        }
    }

    fn map(&mut self, map: &Map, members: &serde_json::Map<String, Value>, path: &str, depth: usize) {
        for (name, it) in members {
            let below = format!("{path}.{name}");
            let Some(id) = map.at(name) else {
                return self.fail(below, "field not declared in schema".to_owned());
            };
            self.visit(id, it, below, depth + 1);
        }
    }

    fn fail(&mut self, path: String, message: String) {
        self.problems.push(Problem { path, message });
    }
}
