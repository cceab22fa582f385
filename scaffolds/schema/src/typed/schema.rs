//! The schema of a kind as server-side apply, strategic merge patches and decoding need it: its fields, its mergeable
//! lists with their keys, and its atomic values. It is compiled once from OpenAPI v3; types may be recursive.

use std::collections::BTreeMap;

use serde_json::Value;

use super::compile;

/// The schema of one kind in one version.
#[derive(Debug)]
pub struct Schema {
    pub(super) types: Vec<Type>,
    /// The type of the whole object.
    pub root: Id,
    /// Whether objects are Go structs on the real server, which exist even if they are empty.
    pub structs: bool,
}

/// The index of a type in its [`Schema`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Id(pub(super) usize);

impl Id {
    /// Any value, as one leaf.
    pub const UNTYPED: Self = Self(0);
    /// Any value; its maps are granular, its lists are leaves.
    pub const DEDUCED: Self = Self(1);
}

/// The forms that a value may have, at least one of the three.
#[derive(Clone, Debug, Default)]
pub struct Type {
    /// As a scalar.
    pub scalar: Option<Scalar>,
    /// As a list.
    pub list: Option<List>,
    /// As a map or an object.
    pub map: Option<Map>,
    /// The name of the definition without its package, `DeploymentSpec`; empty for inline schemas.
    pub name: String,
}

/// The type of a scalar.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Scalar {
    /// An integer or a float.
    Numeric,
    /// A string.
    String,
    /// A boolean.
    Boolean,
    /// Any of them.
    Untyped,
}

/// The type of a list.
#[derive(Clone, Debug)]
pub struct List {
    /// The type of its items.
    pub element: Id,
    /// The identity of its items.
    pub kind: ListType,
}

/// The identity of the items of a list (`x-kubernetes-list-type`).
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ListType {
    /// The list is one value.
    Atomic,
    /// Items are identified by their values, which are unique.
    Set,
    /// Items are identified by these fields.
    Map(Vec<String>),
}

/// The type of a map or an object.
#[derive(Clone, Debug)]
pub struct Map {
    /// The declared fields.
    pub fields: BTreeMap<String, Property>,
    /// The type of keys that are not declared fields; without it, such keys are unknown.
    pub element: Option<Id>,
    /// Whether it is one value (`x-kubernetes-map-type: atomic`).
    pub atomic: bool,
}

/// A declared field.
#[derive(Clone, Debug)]
pub struct Property {
    /// The type of its value.
    pub id: Id,
    /// Its default.
    pub default: Option<Value>,
    /// Whether it has to be there.
    pub required: bool,
    /// Its treatment by strategic merge patches.
    pub patch: Patch,
}

/// The treatment of a field by strategic merge patches: `x-kubernetes-patch-strategy` and `-patch-merge-key`.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Patch {
    /// Items are merged instead of the list being replaced.
    pub merge: bool,
    /// Keys that the patch does not list in `$retainKeys` are removed.
    pub retain_keys: bool,
    /// The field is replaced as a whole.
    pub replace: bool,
    /// The key that identifies the items of a merged list; without it, items are scalars.
    pub merge_key: Option<String>,
}

impl Schema {
    /// Compiles the schema of a built-in kind, which may be `{"$ref": …}`. `definitions` returns the schema of the
    /// reference `#/components/schemas/NAME`; references that it does not resolve are untyped. Recorded schemas should
    /// keep `default` and `required`: the keys of list items take their defaults from the former, and both determine
    /// the fields of an object in which nothing is set.
    pub fn compile(openapi: &Value, definitions: &dyn Fn(&str) -> Option<Value>) -> Self {
        compile::schema(openapi, definitions)
    }

    /// Compiles the `openAPIV3Schema` of a CRD's version; `apiVersion`, `kind` and `metadata` are those of every kind.
    pub fn custom(openapi: &Value) -> Self {
        Self {
            structs: false,
            ..compile::schema(&compile::with_object_meta(openapi), &|_| None)
        }
    }

    /// The schema of an unknown kind: maps are granular, lists are leaves.
    pub fn deduced() -> Self {
        Self {
            root: Id::DEDUCED,
            structs: false,
            ..compile::schema(&Value::Null, &|_| None)
        }
    }

    /// The shape of the whole object.
    pub fn root(&self) -> Shape<'_> {
        Shape {
            schema: self,
            id: self.root,
        }
    }

    /// The type with this index.
    pub fn get(&self, id: Id) -> &Type {
        // The compiler alone creates IDs, and only for types that it has added.
        &self.types[id.0]
    }
}

/// A type within a [`Schema`], from which other types can be reached.
#[derive(Clone, Copy, Debug)]
pub struct Shape<'a> {
    schema: &'a Schema,
    id: Id,
}

/// A declared field of an object.
#[derive(Clone, Copy, Debug)]
pub struct Field<'a> {
    /// The shape of its value.
    pub shape: Shape<'a>,
    /// Its treatment by strategic merge patches.
    pub patch: &'a Patch,
}

impl<'a> Shape<'a> {
    /// The name of its definition without the package, `DeploymentSpec`; empty for inline schemas.
    pub fn name(self) -> &'a str {
        &self.schema.get(self.id).name
    }

    /// Whether it is an object with declared fields, not a map with arbitrary keys.
    pub fn is_struct(self) -> bool {
        self.schema
            .get(self.id)
            .map
            .as_ref()
            .is_some_and(|map| !map.fields.is_empty())
    }

    /// The declared field of this name.
    pub fn field(self, name: &str) -> Option<Field<'a>> {
        let property = self.schema.get(self.id).map.as_ref()?.fields.get(name)?;
        Some(self.as_field(property))
    }

    /// The shape of a list's items.
    pub fn items(self) -> Option<Shape<'a>> {
        let id = self.schema.get(self.id).list.as_ref()?.element;
        Some(Shape {
            schema: self.schema,
            id,
        })
    }

    /// The identity of the items of a list.
    pub fn list_type(self) -> Option<&'a ListType> {
        self.schema.get(self.id).list.as_ref().map(|list| &list.kind)
    }

    fn as_field(self, property: &'a Property) -> Field<'a> {
        Field {
            shape: Shape {
                schema: self.schema,
                id: property.id,
            },
            patch: &property.patch,
        }
    }
}
