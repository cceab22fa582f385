//! Adapts field sets to a changed schema: the owner of a part of a value that has become atomic owns the whole value.

use kubewright_schema::typed::{Element, Form, Id, ListType, Map, Path, Scalar, Schema};

use super::set::{Node, Set};

/// The set under the present schema.
pub(super) fn reconcile(schema: &Schema, set: Set) -> Set {
    let mut walk = ReconcileWalk {
        schema,
        path: Vec::new(),
        whole: Set::default(),
    };
    walk.visit(schema.root, Some(&set), false);
    if walk.whole.is_empty() {
        set
    } else {
        set.without(&walk.whole).union(&walk.whole)
    }
}

struct ReconcileWalk<'a> {
    schema: &'a Schema,
    path: Path,
    /// The values that are now owned as a whole.
    whole: Set,
}

impl ReconcileWalk<'_> {
    /// `leaf` means that the set contains the value itself and nothing below it.
    fn visit(&mut self, id: Id, set: Option<&Set>, leaf: bool) {
        let schema = self.schema;
        match schema.get(id).form() {
            Form::Scalar(_) => {}
            Form::List(list) if list.kind == ListType::Atomic => {
                if !leaf {
                    self.whole.insert(&self.path);
                }
            }
            Form::List(list) => self.below(set, |_| Some(list.element)),
            Form::Map(map) if self.is_anything(map) => {}
            Form::Map(map) if map.atomic => {
                if !leaf && set.is_some_and(|it| !it.is_empty()) {
                    self.whole.insert(&self.path);
                }
            }
            Form::Map(map) => self.below(set, |element| match element {
                Element::Field(name) => map.at(name),
                _ => map.element,
            }),
        }
    }

    fn below(&mut self, set: Option<&Set>, of: impl Fn(&Element) -> Option<Id>) {
        for (element, Node { member, children }) in set.into_iter().flat_map(Set::nodes) {
            let Some(id) = of(element) else { continue };
            self.path.push(element.clone());
            let below = Some(children).filter(|it| !it.is_empty());
            self.visit(id, below, *member && below.is_none());
            self.path.pop();
        }
    }

    /// Whether the schema leaves a map entirely open.
    fn is_anything(&self, map: &Map) -> bool {
        let untyped =
            |id: Id| id == Id::DEDUCED || (id != Id::UNTYPED && self.schema.get(id).scalar == Some(Scalar::Untyped));
        map.fields.is_empty() && map.element.is_some_and(untyped)
    }
}
