//! The set of fields in a value: its leaves, the items of its mergeable lists and the keys of its maps.

use kubewright_schema::typed::{Element, Form, Id, List, ListType, Map, Path, Schema, is_empty, item};
use serde_json::Value;

use super::set::Set;

/// The fields that a manager owns after applying `value`.
pub(super) fn fields(schema: &Schema, value: &Value) -> Set {
    let mut walk = OwnedWalk {
        schema,
        path: Vec::new(),
        set: Set::default(),
    };
    walk.visit(schema.root, value);
    walk.set
}

struct OwnedWalk<'a> {
    schema: &'a Schema,
    path: Path,
    set: Set,
}

impl OwnedWalk<'_> {
    fn visit(&mut self, id: Id, value: &Value) {
        let schema = self.schema;
        match (schema.get(id).deduce(Some(value)).form, value) {
            (Form::Map(map), Value::Object(members)) if !map.atomic => self.map(map, members),
            (Form::List(list), Value::Array(items)) if list.kind != ListType::Atomic => self.list(list, items),
            // An empty list or map, or null, has no fields and is not a leaf; its parent decides whether it is owned.
            (Form::Map(Map { atomic: false, .. }), _) => {}
            (
                Form::List(List {
                    kind: ListType::Set | ListType::Map(_),
                    ..
                }),
                _,
            ) => {}
            _ => self.set.insert(&self.path),
        }
    }

    fn map(&mut self, map: &Map, members: &serde_json::Map<String, Value>) {
        for (name, it) in members {
            self.path.push(Element::field(name));
            if let Some(id) = map.at(name) {
                self.visit(id, it);
            }
            let nothing = it.is_null() || (it.is_object() && is_empty(Some(it)));
            if nothing || !map.fields.contains_key(name) {
                self.set.insert(&self.path);
            }
            self.path.pop();
        }
    }

    /// Duplicate items are owned as a whole, not by their fields.
    fn list(&mut self, list: &List, items: &[Value]) {
        let named: Vec<_> = items
            .iter()
            .filter_map(|it| Some((item(self.schema, list, it).ok()?, it)))
            .collect();
        let (mut once, mut twice) = (Set::default(), Set::default());
        for (element, _) in &named {
            let seen = if once.member(element) { &mut twice } else { &mut once };
            seen.insert(std::slice::from_ref(element));
        }
        for (element, it) in named {
            let single = !twice.member(&element);
            self.path.push(element);
            if single {
                self.visit(list.element, it);
            }
            self.set.insert(&self.path);
            self.path.pop();
        }
    }
}
