//! Marks the Kubernetes types inside a custom resource as Kubernetes marks them: keyed lists, sets, atomic maps, defaults. The schemas of
//! k8s-openapi have none of these, so two field managers could not own different containers of an embedded Pod template.
//!
//! The names of types are gone from a CRD's schema, which is inline. So the schema of the Rust type is made once more with references,
//! and both are walked side by side.
//!
//! Types that are one value (`Time`, `IntOrString`, `Quantity`) get the limits of their decoders, and conditions those that Kubernetes
//! documents. What the author has set stays. The metadata inside a Pod template has no marks: it is as k8s-openapi describes it.

mod conditions;
mod limits;
mod table;

use serde_json::{Map, Value};

#[cfg(feature = "lint")]
pub(crate) use self::limits::QUANTITY;
use self::table::{Mark, Type};

const LIST_TYPE: &str = "x-kubernetes-list-type";
const LIST_KEYS: &str = "x-kubernetes-list-map-keys";
const MAP_TYPE: &str = "x-kubernetes-map-type";

/// The type of metadata, whose fields have no marks.
const METADATA: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/// The path of a schema's definitions, as references have it.
const DEFINITIONS: &str = "#/$defs/";

/// Constrains and marks the schema of a CRD's version; `plain` leaves out the marks. `written` is the schema of its Rust type, in which
/// types are references to `$defs`.
pub(crate) fn mark(crd: &mut Value, written: &Value, plain: bool) {
    Types::of(written).walk(crd, written, !plain);
}

/// The definitions of a schema by the names of their types.
#[derive(Clone, Copy)]
pub(crate) struct Types<'w> {
    root: &'w Value,
}

impl<'w> Types<'w> {
    /// Of the schema of a Rust type, in which types are references to `$defs`.
    pub(crate) fn of(root: &'w Value) -> Self {
        Self { root }
    }

    /// Whether this is the name of one of Kubernetes' own types.
    pub(crate) fn is_of_kubernetes(name: &str) -> bool {
        name.starts_with("io.k8s.")
    }

    /// The schema of the type itself.
    pub(crate) fn root(self) -> &'w Value {
        self.root
    }

    fn walk(self, node: &mut Value, written: &'w Value, marks: bool) {
        let Value::Object(node) = node else { return };
        let (name, written) = self.resolve(written);
        match name {
            Some(conditions::CONDITION) => conditions::constrain(node),
            Some(name) => limits::apply(name, node),
            None => {}
        }
        let marks = marks && name != Some(METADATA);
        let row = name.filter(|_| marks).and_then(table::row);
        if let Some(own) = row.as_ref().and_then(Type::own) {
            node.entry(MAP_TYPE).or_insert_with(|| own.into());
        }
        if let Some(Value::Object(properties)) = node.get_mut("properties") {
            for (name, property) in properties {
                if let (Some(row), Value::Object(property)) = (&row, &mut *property)
                    && let Some(mark) = row.field(name)
                {
                    apply(property, &mark);
                }
                if let Some(written) = self.property(written, name) {
                    // kube puts the description of an optional enum in the place of the field's own.
                    if let (Value::Object(property), Some(own)) = (&mut *property, written.get("description")) {
                        property.insert("description".into(), own.clone());
                    }
                    self.walk(property, written, marks);
                }
            }
        }
        for key in ["items", "additionalProperties"] {
            if let (Some(child), Some(written)) = (node.get_mut(key), written.get(key)) {
                self.walk(child, written, marks);
            }
        }
        if self.resolve(&written["items"]).0 == Some(conditions::CONDITION) {
            conditions::key(node);
        }
    }

    /// The name of the type that a schema refers to, and its definition. An optional value refers to it in a branch beside null.
    pub(crate) fn resolve(self, written: &'w Value) -> (Option<&'w str>, &'w Value) {
        if let Some(name) = written["$ref"].as_str().and_then(|path| path.strip_prefix(DEFINITIONS)) {
            let definition = &self.root["$defs"][name];
            // A newtype refers to the type inside it.
            return match definition["$ref"].is_string() && definition["properties"].is_null() {
                true => self.resolve(definition),
                false => (Some(name), definition),
            };
        }
        let mut branches = branches(written).filter(|branch| branch["type"] != "null");
        match (branches.next(), branches.next()) {
            (Some(only), None) if written["properties"].is_null() => self.resolve(only),
            _ => (None, written),
        }
    }

    /// The schema of a property, which may belong to one variant of an enum.
    pub(crate) fn property(self, written: &'w Value, name: &str) -> Option<&'w Value> {
        written["properties"].get(name).or_else(|| {
            branches(written).find_map(|branch| {
                let (_, branch) = self.resolve(branch);
                self.property(branch, name)
            })
        })
    }
}

fn branches(written: &Value) -> impl Iterator<Item = &Value> {
    let lists = ["oneOf", "anyOf", "allOf"].map(|key| written[key].as_array());
    lists.into_iter().flatten().flatten()
}

fn apply(property: &mut Map<String, Value>, mark: &Mark<'_>) {
    let is_list = property.contains_key("items");
    match mark {
        Mark::Default(value) => _ = property.entry("default").or_insert_with(|| value.clone()),
        Mark::Keyed(keys) if is_list && !property.contains_key(LIST_TYPE) => {
            property.insert(LIST_TYPE.into(), "map".into());
            property.insert(LIST_KEYS.into(), keys.iter().copied().map(Value::from).collect());
        }
        Mark::Keyed(_) => {}
        Mark::Kind(kind) => {
            let key = if is_list { LIST_TYPE } else { MAP_TYPE };
            property.entry(key).or_insert_with(|| (*kind).into());
        }
    }
}
