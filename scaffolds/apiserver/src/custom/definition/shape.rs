//! What a CustomResourceDefinition is made of, field by field, as the server's decoder sees it: names, types (with the
//! names that its errors mention) and whether an empty value is kept. Schemas nest in themselves; so do the tables.

/// One object of a CustomResourceDefinition.
pub(super) struct Shape {
    /// As errors name it: `JSONSchemaProps`.
    pub name: &'static str,
    pub fields: &'static [Field],
}

pub(super) struct Field {
    pub name: &'static str,
    pub kind: Kind,
    pub empty: Empty,
}

/// What becomes of a field that is left out, null or empty.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(super) enum Empty {
    /// Shown all the same: `""`, `false`, `0`, `null` for lists.
    Shown,
    /// Left out.
    Dropped,
    /// Left out only when null or missing.
    Kept,
}

/// The type of a value.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// With the name of the type, most often `string`.
    Text(&'static str),
    Flag,
    Int32,
    Int64,
    Float,
    /// Base64.
    Bytes,
    Time,
    /// Any JSON.
    Any,
    Object(&'static Shape),
    List(&'static str, &'static Kind),
    Map(&'static str, &'static Kind),
    /// `items`: a schema, or a list of them, which no CRD may have.
    SchemaOrList,
    /// `additionalProperties`.
    SchemaOrBool,
    /// `dependencies`: a schema, or a list of names.
    SchemaOrNames,
}

use Empty::{Dropped, Kept, Shown};
use Kind::{
    Any, Bytes, Flag, Float, Int32, Int64, List, Map, Object, SchemaOrBool, SchemaOrList, SchemaOrNames, Text, Time,
};

const STRING: Kind = Text("string");
const STRINGS: Kind = List("[]string", &STRING);

const fn field(name: &'static str, kind: Kind, empty: Empty) -> Field {
    Field { name, kind, empty }
}

pub(super) static DEFINITION: Shape = Shape {
    name: "CustomResourceDefinition",
    fields: &[
        field("spec", Object(&SPEC), Shown),
        field("status", Object(&STATUS), Shown),
    ],
};

static SPEC: Shape = Shape {
    name: "CustomResourceDefinitionSpec",
    fields: &[
        field("group", STRING, Shown),
        field("names", Object(&NAMES), Shown),
        field("scope", Text("v1.ResourceScope"), Shown),
        field(
            "versions",
            List("[]v1.CustomResourceDefinitionVersion", &Object(&VERSION)),
            Shown,
        ),
        field("conversion", Object(&CONVERSION), Kept),
        field("preserveUnknownFields", Flag, Dropped),
    ],
};

static NAMES: Shape = Shape {
    name: "CustomResourceDefinitionNames",
    fields: &[
        field("plural", STRING, Shown),
        field("singular", STRING, Dropped),
        field("shortNames", STRINGS, Dropped),
        field("kind", STRING, Shown),
        field("listKind", STRING, Dropped),
        field("categories", STRINGS, Dropped),
    ],
};

static VERSION: Shape = Shape {
    name: "CustomResourceDefinitionVersion",
    fields: &[
        field("name", STRING, Shown),
        field("served", Flag, Shown),
        field("storage", Flag, Shown),
        field("deprecated", Flag, Dropped),
        field("deprecationWarning", STRING, Kept),
        field("schema", Object(&VALIDATION), Kept),
        field("subresources", Object(&SUBRESOURCES), Kept),
        field(
            "additionalPrinterColumns",
            List("[]v1.CustomResourceColumnDefinition", &Object(&COLUMN)),
            Dropped,
        ),
        field(
            "selectableFields",
            List("[]v1.SelectableField", &Object(&SELECTABLE)),
            Dropped,
        ),
    ],
};

static SELECTABLE: Shape = Shape {
    name: "SelectableField",
    fields: &[field("jsonPath", STRING, Shown)],
};

static COLUMN: Shape = Shape {
    name: "CustomResourceColumnDefinition",
    fields: &[
        field("name", STRING, Shown),
        field("type", STRING, Shown),
        field("format", STRING, Dropped),
        field("description", STRING, Dropped),
        field("priority", Int32, Dropped),
        field("jsonPath", STRING, Shown),
    ],
};

static VALIDATION: Shape = Shape {
    name: "CustomResourceValidation",
    fields: &[field("openAPIV3Schema", Object(&SCHEMA), Kept)],
};

static SUBRESOURCES: Shape = Shape {
    name: "CustomResourceSubresources",
    fields: &[
        field("status", Object(&NOTHING), Kept),
        field("scale", Object(&SCALE), Kept),
    ],
};

static NOTHING: Shape = Shape {
    name: "CustomResourceSubresourceStatus",
    fields: &[],
};

static SCALE: Shape = Shape {
    name: "CustomResourceSubresourceScale",
    fields: &[
        field("specReplicasPath", STRING, Shown),
        field("statusReplicasPath", STRING, Shown),
        field("labelSelectorPath", STRING, Kept),
    ],
};

static CONVERSION: Shape = Shape {
    name: "CustomResourceConversion",
    fields: &[
        field("strategy", Text("v1.ConversionStrategyType"), Shown),
        field("webhook", Object(&WEBHOOK), Kept),
    ],
};

static WEBHOOK: Shape = Shape {
    name: "WebhookConversion",
    fields: &[
        field("clientConfig", Object(&CLIENT), Kept),
        field("conversionReviewVersions", STRINGS, Shown),
    ],
};

static CLIENT: Shape = Shape {
    name: "WebhookClientConfig",
    fields: &[
        field("url", STRING, Kept),
        field("service", Object(&SERVICE), Kept),
        field("caBundle", Bytes, Dropped),
    ],
};

static SERVICE: Shape = Shape {
    name: "ServiceReference",
    fields: &[
        field("namespace", STRING, Shown),
        field("name", STRING, Shown),
        field("path", STRING, Kept),
        field("port", Int32, Kept),
    ],
};

static STATUS: Shape = Shape {
    name: "CustomResourceDefinitionStatus",
    fields: &[
        field(
            "conditions",
            List("[]v1.CustomResourceDefinitionCondition", &Object(&CONDITION)),
            Shown,
        ),
        field("acceptedNames", Object(&NAMES), Shown),
        field("storedVersions", STRINGS, Shown),
        field("observedGeneration", Int64, Dropped),
    ],
};

static CONDITION: Shape = Shape {
    name: "CustomResourceDefinitionCondition",
    fields: &[
        field("type", Text("v1.CustomResourceDefinitionConditionType"), Shown),
        field("status", Text("v1.ConditionStatus"), Shown),
        field("lastTransitionTime", Time, Shown),
        field("reason", STRING, Dropped),
        field("message", STRING, Dropped),
        field("observedGeneration", Int64, Dropped),
    ],
};

/// A static, so that the table may refer to itself.
pub(super) static ONE_SCHEMA: Kind = Object(&SCHEMA);

/// JSON Schema as CRDs have it.
static SCHEMA: Shape = Shape {
    name: "JSONSchemaProps",
    fields: &[
        field("id", STRING, Dropped),
        field("$schema", Text("v1.JSONSchemaURL"), Dropped),
        field("$ref", STRING, Kept),
        field("description", STRING, Dropped),
        field("type", STRING, Dropped),
        field("format", STRING, Dropped),
        field("title", STRING, Dropped),
        field("default", Any, Kept),
        field("maximum", Float, Kept),
        field("exclusiveMaximum", Flag, Dropped),
        field("minimum", Float, Kept),
        field("exclusiveMinimum", Flag, Dropped),
        field("maxLength", Int64, Kept),
        field("minLength", Int64, Kept),
        field("pattern", STRING, Dropped),
        field("maxItems", Int64, Kept),
        field("minItems", Int64, Kept),
        field("uniqueItems", Flag, Dropped),
        field("multipleOf", Float, Kept),
        field("enum", List("[]v1.JSON", &Any), Dropped),
        field("maxProperties", Int64, Kept),
        field("minProperties", Int64, Kept),
        field("required", STRINGS, Dropped),
        field("items", SchemaOrList, Kept),
        field("allOf", List("[]v1.JSONSchemaProps", &ONE_SCHEMA), Dropped),
        field("oneOf", List("[]v1.JSONSchemaProps", &ONE_SCHEMA), Dropped),
        field("anyOf", List("[]v1.JSONSchemaProps", &ONE_SCHEMA), Dropped),
        field("not", Object(&SCHEMA), Kept),
        field("properties", Map("map[string]v1.JSONSchemaProps", &ONE_SCHEMA), Dropped),
        field("additionalProperties", SchemaOrBool, Kept),
        field(
            "patternProperties",
            Map("map[string]v1.JSONSchemaProps", &ONE_SCHEMA),
            Dropped,
        ),
        field(
            "dependencies",
            Map("v1.JSONSchemaDependencies", &SchemaOrNames),
            Dropped,
        ),
        field("additionalItems", SchemaOrBool, Kept),
        field("definitions", Map("v1.JSONSchemaDefinitions", &ONE_SCHEMA), Dropped),
        field("externalDocs", Object(&DOCS), Kept),
        field("example", Any, Kept),
        field("nullable", Flag, Dropped),
        field("x-kubernetes-preserve-unknown-fields", Flag, Kept),
        field("x-kubernetes-embedded-resource", Flag, Dropped),
        field("x-kubernetes-int-or-string", Flag, Dropped),
        field("x-kubernetes-list-map-keys", STRINGS, Dropped),
        field("x-kubernetes-list-type", STRING, Kept),
        field("x-kubernetes-map-type", STRING, Kept),
        field(
            "x-kubernetes-validations",
            List("v1.ValidationRules", &Object(&RULE)),
            Dropped,
        ),
    ],
};

static DOCS: Shape = Shape {
    name: "ExternalDocumentation",
    fields: &[field("description", STRING, Dropped), field("url", STRING, Dropped)],
};

static RULE: Shape = Shape {
    name: "ValidationRule",
    fields: &[
        field("rule", STRING, Shown),
        field("message", STRING, Dropped),
        field("messageExpression", STRING, Dropped),
        field("reason", Text("v1.FieldValueErrorReason"), Kept),
        field("fieldPath", STRING, Dropped),
        field("optionalOldSelf", Flag, Kept),
    ],
};
