//! The table: for each marker of controller-gen what takes its place, or why nothing does.

/// One row.
pub struct Row {
    pub marker: &'static str,
    pub says: Says,
}

pub enum Says {
    /// An example, the places in the CRD that show what became of it, and what there is to add.
    Example(&'static str, &'static [&'static str], &'static str),
    /// Nothing to write.
    Words(&'static str),
}

const fn row(marker: &'static str, says: Says) -> Row {
    Row { marker, says }
}

/// A field `f` of the spec.
const F: &[&str] = &["/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties"];
const SPEC: &[&str] = &[
    "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties",
    "/spec/versions/0/schema/openAPIV3Schema/properties/spec/required",
];

const fn field(marker: &'static str, example: &'static str, more: &'static str) -> Row {
    row(marker, Says::Example(example, F, more))
}

const fn crd(marker: &'static str, example: &'static str, shown: &'static [&'static str], more: &'static str) -> Row {
    row(marker, Says::Example(example, shown, more))
}

const fn none(marker: &'static str, words: &'static str) -> Row {
    row(marker, Says::Words(words))
}

/// A part of the page.
pub struct Part {
    pub title: &'static str,
    pub words: &'static str,
    pub rows: &'static [Row],
}

pub const PARTS: [Part; 5] = [
    Part {
        title: "Fields and types",
        words: "What stands on a field may also stand on a newtype, `struct Port(#[schemars(range(min = 1))] u16)`, and then holds wherever \
                the type is used.",
        rows: &FIELDS,
    },
    Part {
        title: "Items of lists",
        words: "`inner(…)` holds for the items. What schemars has no word for stands on a newtype.",
        rows: &ITEMS,
    },
    Part {
        title: "Merging and pruning",
        words: "`#[x_kube(…)]` needs `KubeSchema` in place of `JsonSchema`.",
        rows: &TOPOLOGY,
    },
    Part {
        title: "The kind",
        words: "All of them stand on the spec.",
        rows: &KIND,
    },
    Part {
        title: "What is no matter of CRDs",
        words: "",
        rows: &OTHERS,
    },
];

const FIELDS: [Row; 44] = [
    crd("required", "required", SPEC, ""),
    crd(
        "kubebuilder:validation:Required",
        "required",
        SPEC,
        "On a package: nothing. A field is required unless its type says otherwise.",
    ),
    crd("k8s:required", "required", SPEC, ""),
    crd("optional", "optional", SPEC, "Or `#[serde(default)]` on any type."),
    crd(
        "kubebuilder:validation:Optional",
        "optional",
        SPEC,
        "On a package: nothing.",
    ),
    crd("k8s:optional", "optional", SPEC, ""),
    crd(
        "nullable",
        "nullable",
        SPEC,
        "Only for fields that have to be given; one that may be left out says the same by being left out.",
    ),
    field("default", "default", ""),
    field(
        "kubebuilder:default",
        "default",
        "`#[serde(default)]` alone takes that of the type.",
    ),
    field("kubebuilder:example", "example", "A text: `example = &\"text\"`."),
    field("kubebuilder:title", "title", ""),
    field("kubebuilder:externalDocs", "docs", ""),
    field("kubebuilder:validation:Maximum", "maximum", ""),
    field("k8s:maximum", "maximum", ""),
    field("kubebuilder:validation:Minimum", "minimum", ""),
    field("k8s:minimum", "minimum", ""),
    field("kubebuilder:validation:ExclusiveMaximum", "exclusive_maximum", ""),
    field("kubebuilder:validation:ExclusiveMinimum", "exclusive_minimum", ""),
    field("kubebuilder:validation:MultipleOf", "multiple_of", ""),
    field("kubebuilder:validation:MaxLength", "max_length", ""),
    field("kubebuilder:validation:MinLength", "min_length", ""),
    field(
        "kubebuilder:validation:Pattern",
        "pattern",
        "An expression of Go's kind, which is checked: no look-around, no backreferences.",
    ),
    field("kubebuilder:validation:MaxItems", "max_items", ""),
    field("k8s:maxItems", "max_items", ""),
    field("kubebuilder:validation:MinItems", "min_items", ""),
    field(
        "kubebuilder:validation:UniqueItems",
        "unique_items",
        "API servers refuse `uniqueItems: true`; a set is the same, and they take it.",
    ),
    field(
        "kubebuilder:validation:MaxProperties",
        "max_properties",
        "`length(…)` is not for maps, and `make manifests` refuses it there.",
    ),
    field("kubebuilder:validation:MinProperties", "min_properties", ""),
    field(
        "kubebuilder:validation:Enum",
        "variants",
        "A type of its own; its documentation is the field's.",
    ),
    field("k8s:enum", "variants", ""),
    field(
        "kubebuilder:validation:Format",
        "format",
        "Short for some: `email`, `url`, `ipv4`, `ipv6`. One that API servers do not know is refused.",
    ),
    field(
        "kubebuilder:validation:Type",
        "type_override",
        "`schema_with = \"function\"` says the whole schema by hand.",
    ),
    field("kubebuilder:validation:XIntOrString", "int_or_string", ""),
    field("kubebuilder:validation:EmbeddedResource", "embedded", ""),
    field("kubebuilder:validation:XEmbeddedResource", "embedded", ""),
    field(
        "kubebuilder:validation:Schemaless",
        "preserve",
        "Any value, kept as it is.",
    ),
    field(
        "kubebuilder:validation:XValidation",
        "rule",
        "Short: `validation = \"rule\"` or `(\"rule\", \"message\")`. On a struct for rules about several fields; `.field_path(…)` says which one is wrong.",
    ),
    field(
        "k8s:immutable",
        "immutable",
        "Also on a struct. What may be set later is optional: a rule is not asked when a field comes or goes.",
    ),
    field("kubebuilder:validation:AtMostOneOf", "at_most_one", ""),
    field("kubebuilder:validation:AtLeastOneOf", "at_least_one", ""),
    field(
        "kubebuilder:validation:ExactlyOneOf",
        "exactly_one",
        "An enum is what Rust has for it. As a rule: `[has(self.a), has(self.b)].exists_one(it, it)`.",
    ),
    field("kubebuilder:validation:XPreserveUnknownFields", "preserve_struct", ""),
    field("kubebuilder:pruning:PreserveUnknownFields", "preserve_struct", ""),
    none(
        "kubebuilder:skip",
        "A module makes no CRDs; a type that derives `CustomResource` does, when `api::crds()` lists it.",
    ),
];

const ITEMS: [Row; 18] = [
    field("kubebuilder:validation:items:Maximum", "items_maximum", ""),
    field("kubebuilder:validation:items:Minimum", "items_minimum", ""),
    field(
        "kubebuilder:validation:items:ExclusiveMaximum",
        "items_exclusive_maximum",
        "",
    ),
    field(
        "kubebuilder:validation:items:ExclusiveMinimum",
        "items_exclusive_minimum",
        "",
    ),
    field("kubebuilder:validation:items:MultipleOf", "items_multiple_of", ""),
    field("kubebuilder:validation:items:MaxLength", "items_max_length", ""),
    field("kubebuilder:validation:items:MinLength", "items_min_length", ""),
    field("kubebuilder:validation:items:Pattern", "items_pattern", ""),
    field("kubebuilder:validation:items:MaxItems", "items_max_items", ""),
    field("kubebuilder:validation:items:MinItems", "items_min_items", ""),
    field("kubebuilder:validation:items:UniqueItems", "items_unique", ""),
    field("kubebuilder:validation:items:MaxProperties", "items_max_properties", ""),
    field("kubebuilder:validation:items:MinProperties", "items_min_properties", ""),
    field("kubebuilder:validation:items:Enum", "items_enum", ""),
    field("kubebuilder:validation:items:Format", "items_format", ""),
    field("kubebuilder:validation:items:Type", "items_type", ""),
    field("kubebuilder:validation:items:XIntOrString", "items_int_or_string", ""),
    field("kubebuilder:validation:items:XEmbeddedResource", "items_embedded", ""),
];

const TOPOLOGY: [Row; 8] = [
    field(
        "listType",
        "list_type",
        "A list that does not say is atomic. A list of `Condition` is a map by `type` without asking.",
    ),
    field("k8s:listType", "list_type", ""),
    field("listMapKey", "list_map_key", ""),
    field("k8s:listMapKey", "list_map_key", ""),
    field("mapType", "map_type", ""),
    field("structType", "struct_type", ""),
    field(
        "kubebuilder:validation:items:XPreserveUnknownFields",
        "items_preserve",
        "",
    ),
    field("kubebuilder:validation:items:XValidation", "items_rule", ""),
];

const KIND: [Row; 12] = [
    crd("groupName", "group", &["/spec/group"], ""),
    crd("versionName", "version", &["/spec/versions/0/name"], ""),
    crd(
        "kubebuilder:resource",
        "resource",
        &["/spec/names", "/spec/scope"],
        "Without `namespaced` a kind belongs to the cluster; `create api` writes it.",
    ),
    crd(
        "kubebuilder:storageversion",
        "storage",
        &["/spec/versions/1/name", "/spec/versions/1/storage"],
        "The other way round: on all versions but the one to store.",
    ),
    crd(
        "kubebuilder:unservedversion",
        "unserved",
        &["/spec/versions/1/name", "/spec/versions/1/served"],
        "",
    ),
    crd(
        "kubebuilder:deprecatedversion",
        "deprecated",
        &["/spec/versions/0/deprecated", "/spec/versions/0/deprecationWarning"],
        "",
    ),
    crd(
        "kubebuilder:subresource:status",
        "status",
        &["/spec/versions/0/subresources"],
        "",
    ),
    crd(
        "kubebuilder:subresource:scale",
        "scale",
        &["/spec/versions/0/subresources"],
        "Needs `status`: `make manifests` refuses it without.",
    ),
    crd(
        "kubebuilder:printcolumn",
        "column",
        &["/spec/versions/0/additionalPrinterColumns"],
        "",
    ),
    crd(
        "kubebuilder:selectablefield",
        "selectable",
        &["/spec/versions/0/selectableFields"],
        "",
    ),
    crd(
        "kubebuilder:metadata",
        "metadata",
        &["/metadata/labels", "/metadata/annotations"],
        "",
    ),
    none(
        "kubebuilder:skipversion",
        "A version is left out by not listing it: `kubewright delete api`, or by hand in `api::crds()`.",
    ),
];

const OTHERS: [Row; 7] = [
    none(
        "kubebuilder:rbac",
        "Permissions follow from what a controller watches and owns; `.rule(groups, resources, verbs)` adds to them. See [Permissions](rbac.md).",
    ),
    none(
        "kubebuilder:webhook",
        "There are no webhooks yet: `create webhook` is not a command.",
    ),
    none("kubebuilder:webhookconfiguration", "The same."),
    none(
        "kubebuilder:object:root",
        "`#[derive(CustomResource)]` makes the root type.",
    ),
    none(
        "kubebuilder:object:generate",
        "Nothing is generated: `#[derive(Clone)]` is what deep copies are for.",
    ),
    none("k8s:deepcopy-gen", "The same."),
    none("k8s:deepcopy-gen:interfaces", "The same."),
];
