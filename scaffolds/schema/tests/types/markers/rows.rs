//! The table of the page: for each marker of controller-gen its equivalent in Rust, or why it needs none.

/// One row.
pub struct Row {
    pub marker: &'static str,
    pub equivalent: Equivalent,
}

pub enum Equivalent {
    /// The name of an example, JSON pointers to the parts of its CRD to show, and a note.
    Example(&'static str, &'static [&'static str], &'static str),
    /// An explanation of why there is no attribute.
    Explained(&'static str),
}

const fn row(marker: &'static str, equivalent: Equivalent) -> Row {
    Row { marker, equivalent }
}

/// A field `f` of the spec.
const F: &[&str] = &["/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties"];
const SPEC: &[&str] = &[
    "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties",
    "/spec/versions/0/schema/openAPIV3Schema/properties/spec/required",
];

const fn field(marker: &'static str, example: &'static str, more: &'static str) -> Row {
    row(marker, Equivalent::Example(example, F, more))
}

const fn crd(marker: &'static str, example: &'static str, shown: &'static [&'static str], more: &'static str) -> Row {
    row(marker, Equivalent::Example(example, shown, more))
}

const fn none(marker: &'static str, words: &'static str) -> Row {
    row(marker, Equivalent::Explained(words))
}

/// A part of the page.
pub struct Part {
    pub title: &'static str,
    pub words: &'static str,
    pub rows: &'static [Row],
}

pub const PARTS: [Part; 6] = [
    Part {
        title: "Fields and types",
        words: "An attribute can also be on a newtype, `struct Port(#[schemars(range(min = 1))] u16)`. It then applies wherever \
                the type is used.",
        rows: &FIELDS,
    },
    Part {
        title: UNIONS,
        words: "The markers of unions are those of Kubernetes' own types; controller-gen has none. `make manifests` writes the rules: a member is set if \
                and only if the discriminator, a string or an enum, has its name. That is the name of the field with a capital letter, or \
                `extend(\"k8s:unionMember\" = {\"memberName\": \"…\"})`; `\"optional\": true` lets it be absent. To match on such a union, give the field an enum, \
                `#[schemars(with = \"Strategy\")] pub f: StrategyEnum`, that derives `Serialize` and `Deserialize` with `#[serde(tag = \"type\")]`: \
                `make manifests` checks that it decodes what the rules admit.",
        rows: &UNION,
    },
    Part {
        title: "Items of lists",
        words: "`inner(…)` applies to the items. For a marker without an equivalent inside `inner(…)`, use a newtype.",
        rows: &ITEMS,
    },
    Part {
        title: "Merging and pruning",
        words: "`#[x_kube(…)]` needs `KubeSchema` in place of `JsonSchema`.",
        rows: &TOPOLOGY,
    },
    Part {
        title: "The kind",
        words: "All of these attributes are on the spec.",
        rows: &KIND,
    },
    Part {
        title: "Markers that do not change the CRD",
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
        "The marker on a package has no equivalent: a field is required unless it is an `Option` or has a default.",
    ),
    crd("k8s:required", "required", SPEC, ""),
    crd("optional", "optional", SPEC, "Or `#[serde(default)]`, for any type."),
    crd(
        "kubebuilder:validation:Optional",
        "optional",
        SPEC,
        "The marker on a package has no equivalent.",
    ),
    crd("k8s:optional", "optional", SPEC, ""),
    crd(
        "nullable",
        "nullable",
        SPEC,
        "Only for required fields. An optional field needs no `null`: leave it out instead.",
    ),
    field("default", "default", ""),
    field(
        "kubebuilder:default",
        "default",
        "`#[serde(default)]` alone uses the `Default` of the field's type.",
    ),
    field("kubebuilder:example", "example", "For a string: `example = &\"text\"`."),
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
        "A regular expression in Go's syntax, without look-around and backreferences. `make manifests` checks it.",
    ),
    field("kubebuilder:validation:MaxItems", "max_items", ""),
    field("k8s:maxItems", "max_items", ""),
    field("kubebuilder:validation:MinItems", "min_items", ""),
    field(
        "kubebuilder:validation:UniqueItems",
        "unique_items",
        "API servers refuse `uniqueItems: true`. A list of type `set` has the same effect.",
    ),
    field(
        "kubebuilder:validation:MaxProperties",
        "max_properties",
        "Not `length(…)`: `make manifests` refuses it on maps.",
    ),
    field("kubebuilder:validation:MinProperties", "min_properties", ""),
    field(
        "kubebuilder:validation:Enum",
        "variants",
        "The enum is a separate type; its doc comment becomes the description of a field without one.",
    ),
    field("k8s:enum", "variants", ""),
    field(
        "kubebuilder:validation:Format",
        "format",
        "Some formats have a short form: `email`, `url`, `ipv4`, `ipv6`. `make manifests` refuses a format that API servers do not support.",
    ),
    field(
        "kubebuilder:validation:Type",
        "type_override",
        "`schema_with = \"function\"` replaces the whole schema.",
    ),
    field("kubebuilder:validation:XIntOrString", "int_or_string", ""),
    field("kubebuilder:validation:EmbeddedResource", "embedded", ""),
    field("kubebuilder:validation:XEmbeddedResource", "embedded", ""),
    field(
        "kubebuilder:validation:Schemaless",
        "preserve",
        "Any value, without pruning.",
    ),
    field(
        "kubebuilder:validation:XValidation",
        "rule",
        "Short forms: `validation = \"rule\"` and `validation = (\"rule\", \"message\")`. Put rules about several fields on the struct; `.field_path(…)` names the field that the error reports.",
    ),
    field(
        "k8s:immutable",
        "immutable",
        "Also on a struct. An optional field can still be set or removed later.",
    ),
    field("kubebuilder:validation:AtMostOneOf", "at_most_one", ""),
    field("kubebuilder:validation:AtLeastOneOf", "at_least_one", ""),
    field(
        "kubebuilder:validation:ExactlyOneOf",
        "exactly_one",
        "An enum with data. As a validation rule: `[has(self.a), has(self.b)].exists_one(it, it)`.",
    ),
    field("kubebuilder:validation:XPreserveUnknownFields", "preserve_struct", ""),
    field("kubebuilder:pruning:PreserveUnknownFields", "preserve_struct", ""),
    none(
        "kubebuilder:skip",
        "Not needed: only types in `manifests::crds()` have CRDs.",
    ),
];

/// The title of the part with markers that controller-gen does not have.
pub const UNIONS: &str = "Unions";

const UNION: [Row; 2] = [
    field("k8s:unionDiscriminator", "union", ""),
    field("k8s:unionMember", "union", ""),
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
        "The default is `atomic`. `make manifests` makes a list of `Condition` a `map` with the key `type`.",
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
        "A kind without `namespaced` is cluster-scoped. `create api` writes `namespaced` unless you pass `--cluster`.",
    ),
    crd(
        "kubebuilder:storageversion",
        "storage",
        &["/spec/versions/1/name", "/spec/versions/1/storage"],
        "The reverse of the marker: put it on every version except the storage version.",
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
        "`make manifests` refuses `scale` without `status`.",
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
        "Not needed: `manifests::crds()` lists the versions. Remove one with `kubewright delete api`, or by hand.",
    ),
];

const OTHERS: [Row; 9] = [
    none(
        "kubebuilder:rbac",
        "Permissions are derived from what a controller watches and owns; `.rule(groups, resources, verbs)` adds others. See [Permissions](rbac.md).",
    ),
    none(
        "kubebuilder:webhook",
        "`Webhook::validating` and `Webhook::defaulting` declare webhooks in code. See [Admission webhooks](../concepts/admission.md).",
    ),
    none(
        "kubebuilder:webhookconfiguration",
        "Not needed: `make manifests` writes the configurations of the declared webhooks.",
    ),
    none(
        "kubebuilder:object:root",
        "`#[derive(CustomResource)]` generates the root type.",
    ),
    none(
        "kubebuilder:object:generate",
        "Not needed: `#[derive(Clone)]` replaces deep copies.",
    ),
    none(
        "k8s:deepcopy-gen",
        "Not needed: `#[derive(Clone)]` replaces deep copies.",
    ),
    none(
        "k8s:deepcopy-gen:interfaces",
        "Not needed: `#[derive(Clone)]` replaces deep copies.",
    ),
    none(
        "kubebuilder:ac:generate",
        "Not needed: `cx.apply_child` applies the types themselves. See [Applying a child](../concepts/ownership.md#applying-a-child).",
    ),
    none(
        "kubebuilder:ac:output:package",
        "Not needed: `cx.apply_child` applies the types themselves. See [Applying a child](../concepts/ownership.md#applying-a-child).",
    ),
];
