//! The API server's rules for a CustomResourceDefinition. For each rule: cases that follow it, and cases that violate it. A rule without
//! both is not tested.

/// The rule, cases that are accepted, cases that are refused.
pub type Line = (&'static str, &'static [&'static str], &'static [&'static str]);

pub const CHECKLIST: [Line; 39] = [
    (
        "the name is plural.group",
        &["base"],
        &["name of another resource", "name not a subdomain", "name missing"],
    ),
    (
        "the group has a dot",
        &["base", "group like the community's"],
        &[
            "group without a dot",
            "group empty",
            "group in capitals",
            "group with an underscore",
        ],
    ),
    (
        "groups of the community are protected",
        &["group of the community, approved", "group of the community, unapproved"],
        &["group of the community", "group of the community, nonsense"],
    ),
    (
        "names are DNS labels",
        &["singular absent", "short names and categories", "list kind absent"],
        &[
            "plural empty",
            "plural too long",
            "plural with a digit first",
            "singular in capitals",
            "kind with a dash last",
            "short name in capitals",
            "category with a slash",
        ],
    ),
    ("kind and list kind differ", &["base"], &["list kind equal to kind"]),
    (
        "the scope is one of two",
        &["scope cluster", "base"],
        &["scope unknown", "scope empty"],
    ),
    (
        "exactly one version is stored",
        &["two versions alike"],
        &["no storage version", "two storage versions", "no versions"],
    ),
    (
        "versions have unique names",
        &["two versions alike"],
        &[
            "two versions of one name",
            "version name empty",
            "version name in capitals",
        ],
    ),
    (
        "every version has a schema",
        &["base"],
        &["schema absent", "schema empty", "two versions, one without schema"],
    ),
    (
        "preserveUnknownFields is no longer allowed",
        &["base"],
        &["preserveUnknownFields", "preserveUnknownFields with a default"],
    ),
    (
        "a deprecation warning has at most 256 bytes",
        &["deprecation warning", "deprecation warning, as long as can be"],
        &[
            "deprecation warning, too long",
            "deprecation warning, empty",
            "deprecation warning, two lines",
            "deprecation warning, not deprecated",
        ],
    ),
    (
        "columns have types and formats",
        &["column", "column with everything"],
        &[
            "column with an unknown type",
            "column with an unknown format",
            "column without a type",
            "column without a name",
            "column without a path",
            "column with a path without a dot",
        ],
    ),
    (
        "at most eight selectable fields",
        &["selectable fields", "selectable eight times"],
        &["selectable nine times", "selectable twice"],
    ),
    (
        "selectable fields are scalars outside of metadata",
        &["selectable fields", "selectable map entry"],
        &[
            "selectable metadata",
            "selectable object",
            "selectable list",
            "selectable number",
            "selectable unknown",
            "selectable anything",
        ],
    ),
    (
        "scale has paths into spec and status",
        &["scale", "scale with a selector"],
        &[
            "scale without the path of the spec",
            "scale without the path of the status",
            "scale with the spec in the status",
            "scale with the status in the spec",
            "scale with a selector elsewhere",
        ],
    ),
    (
        "a conversion webhook is complete",
        &["conversion none", "conversion by service", "conversion by url"],
        &[
            "conversion unknown",
            "conversion none with a webhook",
            "conversion without a client",
            "conversion without review versions",
            "conversion by http",
            "conversion by url and service",
            "conversion by service without a name",
        ],
    ),
    (
        "types are one of six",
        &["format known", "type missing but anything"],
        &["type unknown", "type null"],
    ),
    (
        "keywords of JSON schema that are not supported",
        &["base"],
        &[
            "id",
            "ref",
            "ref with a type",
            "schema keyword",
            "definitions",
            "dependencies",
            "pattern properties",
            "additional items",
            "items as a list",
            "unique items",
        ],
    ),
    (
        "properties or additional properties",
        &["properties empty", "properties and additional properties true"],
        &[
            "properties and additional properties",
            "properties and additional properties false",
        ],
    ),
    (
        "list types are only for arrays",
        &["list atomic", "list set", "list map"],
        &["list type on a string", "list type without a type", "list unknown"],
    ),
    (
        "map types are only for objects",
        &["map atomic"],
        &["map type on a string", "map type without a type", "map unknown"],
    ),
    (
        "items of a set are scalars or atomic",
        &["list set", "list set of atomic objects", "list set of lists"],
        &[
            "list set of objects",
            "list set of granular objects",
            "list set of sets",
            "list set of nulls",
        ],
    ),
    (
        "keys of a list of type map exist, are scalar, and are required or have a default",
        &["list map", "list map by a default"],
        &[
            "list map without keys",
            "list map by nothing",
            "list map by an object",
            "list map by an optional",
            "list map by a null",
            "list map by the same twice",
            "list keys on a set",
            "list keys without a list type",
            "list map of strings",
            "list map without items",
        ],
    ),
    (
        "patterns are Go's",
        &["pattern (?i:[a-z]{2})"],
        &[
            "pattern (?!a)",
            "pattern (?<=a)b",
            "pattern (a)\\1",
            "pattern a++",
            "pattern (a{100}){11}",
        ],
    ),
    (
        "defaults fit their schema",
        &["default", "default of anything"],
        &[
            "default of the wrong type",
            "default not in its enum",
            "default against its pattern",
            "default object without what is required",
            "default object with unknown fields",
            "default integer out of bounds",
        ],
    ),
    (
        "no defaults in metadata or at the root",
        &["default name of a resource"],
        &[
            "default in metadata",
            "default in the kind",
            "default at the root",
            "default metadata of a resource",
        ],
    ),
    (
        "rules compile and are of type bool",
        &["rule", "rule on a text"],
        &[
            "rule that does not compile",
            "rule of the wrong type",
            "rule on a field that is not there",
            "rule empty",
        ],
    ),
    (
        "messages, reasons and paths of rules",
        &[
            "rule with a reason",
            "rule with a field path",
            "rule of two lines with a message",
            "rule with a message expression",
        ],
        &[
            "rule with an empty message",
            "rule with a message of two lines",
            "rule of two lines",
            "rule with an empty message expression",
            "rule with a message expression of a number",
            "rule with an unknown reason",
            "rule with a field path to nothing",
            "rule with an empty field path",
            "rule with a field path of two lines",
        ],
    ),
    (
        "a rule's cost",
        &["rule over a list with an end", "rule over a list without an end"],
        &["rule too expensive", "rule with a message expression too expensive"],
    ),
    (
        "the cost of all rules",
        &["rule over a list with an end"],
        &["rules too expensive together"],
    ),
    (
        "the root is an object",
        &["root preserving"],
        &["root a list", "root without a type", "root with additional properties"],
    ),
    (
        "the root with a status subresource",
        &["root with status", "root with status and rules"],
        &[
            "root with status and a branch",
            "root with status and nullable",
            "root with status and no object",
            "root with status and additional properties",
        ],
    ),
    (
        "the schema of metadata restricts only names",
        &["metadata plain", "metadata named"],
        &[
            "metadata described",
            "metadata labelled",
            "metadata required",
            "metadata a string",
        ],
    ),
    (
        "every value has a type",
        &["type missing but anything", "int or string"],
        &[
            "type missing",
            "items without a type",
            "additional properties without a type",
        ],
    ),
    ("lists have items", &["list atomic"], &["items missing"]),
    (
        "branches contain only constraints",
        &["branch not", "branch with known properties"],
        &[
            "branch with a type",
            "branch with a default",
            "branch with a description",
            "branch with a title",
            "branch nullable",
            "branch with additional properties",
            "branch preserving",
            "branch embedded",
            "branch with a list type",
            "branch with rules",
        ],
    ),
    (
        "fields in a branch are also in the structure",
        &["root branch with known properties"],
        &["root branch with unknown properties", "root branch with unknown items"],
    ),
    (
        "x-kubernetes-int-or-string",
        &[
            "int or string",
            "int or string with its types",
            "int or string with its types in all",
        ],
        &["int or string preserving", "int or string with other types"],
    ),
    (
        "embedded resources",
        &["embedded"],
        &[
            "embedded string",
            "embedded without a type",
            "embedded without anything",
            "embedded with values",
            "embedded in its metadata",
            "embedded with a kind",
        ],
    ),
];
