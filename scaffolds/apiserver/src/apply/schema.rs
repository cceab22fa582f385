//! The shape of a kind as server-side apply, strategic merge and decoding need it: which fields there are, which lists
//! merge and by what, what is one leaf. It is compiled once from OpenAPI v3; types may refer to each other in circles.

use std::collections::BTreeMap;

use serde_json::Value;

use super::compile;

/// The shape of one kind in one version.
#[derive(Debug)]
pub struct Schema {
    pub(super) types: Vec<Type>,
    pub(super) root: Id,
    /// Whether objects are Go structs on the real server, which are there even when nothing is in them.
    pub(super) structs: bool,
}

/// Where a type stands in [`Schema::types`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Id(pub(super) usize);

impl Id {
    /// Anything at all, as one leaf.
    pub(super) const UNTYPED: Self = Self(0);
    /// Anything at all; its maps are granular, its lists are leaves.
    pub(super) const DEDUCED: Self = Self(1);
}

/// What a value may be; at least one of the three is there.
#[derive(Clone, Debug, Default)]
pub(super) struct Type {
    pub(super) scalar: Option<Scalar>,
    pub(super) list: Option<List>,
    pub(super) map: Option<Map>,
    /// Of the definition, without its package: `DeploymentSpec`. Empty for what is defined in place.
    pub(super) name: String,
    /// `type` and `format` of the OpenAPI schema; empty where it names none.
    pub(super) declared: String,
    pub(super) format: String,
    pub(super) int_or_string: bool,
}

/// What a scalar may be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Scalar {
    Numeric,
    String,
    Boolean,
    Untyped,
}

#[derive(Clone, Debug)]
pub(super) struct List {
    pub(super) element: Id,
    pub(super) kind: ListType,
}

/// How the items of a list belong together.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ListType {
    /// The list is one value.
    Atomic,
    /// Every item stands for itself and is there once.
    Set,
    /// Items are told apart by these fields.
    Map(Vec<String>),
}

#[derive(Clone, Debug)]
pub(super) struct Map {
    pub(super) fields: BTreeMap<String, Property>,
    /// The type of what has no field of its own; without one such keys are unknown.
    pub(super) element: Option<Id>,
    pub(super) atomic: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Property {
    pub(super) id: Id,
    pub(super) default: Option<Value>,
    pub(super) required: bool,
    pub(super) patch: Patch,
}

/// How a strategic merge patch treats a field: `x-kubernetes-patch-strategy` and `-patch-merge-key`.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Patch {
    /// Items are merged instead of the list being replaced.
    pub merge: bool,
    /// Keys that the patch does not retain go.
    pub retain_keys: bool,
    /// The field is replaced as a whole.
    pub replace: bool,
    /// Tells the items of a merged list apart; items without one are scalars.
    pub merge_key: Option<String>,
}

impl Schema {
    /// Compiles the schema of a built-in kind, `{"$ref": …}` allowed. `definitions` gives the schema that a reference
    /// `#/components/schemas/NAME` names; what it does not have is untyped. `default` and `required` are worth keeping
    /// in recorded schemas: keys of list items take their defaults from it, and both tell what is there in an object that nobody has set anything in.
    pub fn compile(openapi: &Value, definitions: &dyn Fn(&str) -> Option<Value>) -> Self {
        compile::schema(openapi, definitions)
    }

    /// Compiles the `openAPIV3Schema` of a CRD's version: `apiVersion`, `kind` and `metadata` are those of every kind.
    pub fn custom(openapi: &Value) -> Self {
        Self {
            structs: false,
            ..compile::schema(&compile::with_object_meta(openapi), &|_| None)
        }
    }

    /// The shape of a kind about which nothing is known: maps are granular, lists are leaves.
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

    pub(super) fn get(&self, id: Id) -> &Type {
        // Ids are only made by the compiler, for types that it has pushed.
        &self.types[id.0]
    }
}

/// A type within a [`Schema`], to look around from.
#[derive(Clone, Copy, Debug)]
pub struct Shape<'a> {
    schema: &'a Schema,
    id: Id,
}

/// A declared field of an object.
#[derive(Clone, Copy, Debug)]
pub struct Field<'a> {
    /// What its value is.
    pub shape: Shape<'a>,
    /// The default of the schema.
    pub default: Option<&'a Value>,
    /// Whether the schema requires it.
    pub required: bool,
    /// How strategic merge patches treat it.
    pub patch: &'a Patch,
}

impl<'a> Shape<'a> {
    /// The name of its definition without the package, `DeploymentSpec`; empty for what is defined in place.
    pub fn name(self) -> &'a str {
        &self.schema.get(self.id).name
    }

    /// Whether it is an object with declared fields, and not a map of keys to values.
    pub fn is_struct(self) -> bool {
        self.schema
            .get(self.id)
            .map
            .as_ref()
            .is_some_and(|map| !map.fields.is_empty())
    }

    /// `object`, `array`, `string`, `integer`, `number`, `boolean`, or empty when the schema names no type.
    pub fn declared(self) -> &'a str {
        &self.schema.get(self.id).declared
    }

    /// `int32`, `date-time` and so on, as the schema has it.
    pub fn format(self) -> &'a str {
        &self.schema.get(self.id).format
    }

    /// Whether it is a number or a string: `x-kubernetes-int-or-string`, format `int-or-string`.
    pub fn is_int_or_string(self) -> bool {
        self.schema.get(self.id).int_or_string
    }

    /// The declared field of that name.
    pub fn field(self, name: &str) -> Option<Field<'a>> {
        let property = self.schema.get(self.id).map.as_ref()?.fields.get(name)?;
        Some(self.as_field(property))
    }

    /// All declared fields by name.
    pub fn fields(self) -> impl Iterator<Item = (&'a str, Field<'a>)> {
        let map = self.schema.get(self.id).map.as_ref();
        map.into_iter()
            .flat_map(|map| &map.fields)
            .map(move |(name, it)| (name.as_str(), self.as_field(it)))
    }

    /// What keys have that are no declared fields: `additionalProperties`, or anything where unknown fields are
    /// preserved. `None` means that there are no such keys.
    pub fn values(self) -> Option<Shape<'a>> {
        let id = self.schema.get(self.id).map.as_ref()?.element?;
        Some(Shape {
            schema: self.schema,
            id,
        })
    }

    /// Whether `name` is a field or may be a key here.
    pub fn knows(self, name: &str) -> bool {
        self.at(name).is_some()
    }

    /// The shape of the value under `name`, declared or not.
    pub fn at(self, name: &str) -> Option<Shape<'a>> {
        self.field(name).map(|field| field.shape).or_else(|| self.values())
    }

    /// The shape of a list's items.
    pub fn items(self) -> Option<Shape<'a>> {
        let id = self.schema.get(self.id).list.as_ref()?.element;
        Some(Shape {
            schema: self.schema,
            id,
        })
    }

    /// How a list's items belong together.
    pub fn list_type(self) -> Option<&'a ListType> {
        self.schema.get(self.id).list.as_ref().map(|list| &list.kind)
    }

    /// Whether a map is one value.
    pub fn is_atomic_map(self) -> bool {
        self.schema.get(self.id).map.as_ref().is_some_and(|map| map.atomic)
    }

    fn as_field(self, property: &'a Property) -> Field<'a> {
        Field {
            shape: Shape {
                schema: self.schema,
                id: property.id,
            },
            default: property.default.as_ref(),
            required: property.required,
            patch: &property.patch,
        }
    }
}
