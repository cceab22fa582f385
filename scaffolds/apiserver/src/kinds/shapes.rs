//! The shapes of the built-in kinds, recorded from a real server (`shapes.txt`). Each definition is parsed when it is
//! first used.
//!
//! A line without indentation begins a definition: its name (`io.k8s.api.` left out, `~` for
//! `io.k8s.apimachinery.pkg.`), then attributes `t=` type, `f=` format, `o=` alternatives, `m=` map type, `k=` group,
//! version and kind, `u=` unions. An indented line is a field: name, how Go encodes it (`*` pointer, `o` omitempty,
//! `z` omitzero, `-` none of them), type (`str`, `str:byte`, `i32`, `i64`, `f64`, `bool`, `[items]`, `{values}`,
//! `&definition` by `allOf`, `$definition` by `$ref`), then attributes `g=` the Go type where it does not follow,
//! `v=` the embedded Go structs that it stands in, `b=` its numbers in protobuf (those of such structs first),
//! `d=` default, `e=` and `ie=` values (of the items; blanks as `%20`), `l=` and `lk=` list type and keys, `m=` map type,
//! `p=` and `pk=` patch strategy and merge key, `!` required. Items have defaults that follow from their type, unless the
//! first line is [`PLAIN`].

use std::{
    collections::HashMap,
    sync::{LazyLock, OnceLock},
};

const TEXT: &str = include_str!("shapes.txt");
/// The first line of a recording whose release describes items without defaults: Kubernetes 1.37 and later.
const PLAIN: &str = "# items have no defaults\n";
/// Definitions that OpenAPI lacks: servers send them, and never receive them.
const SENT: &str = "\
~apis.meta.v1.APIGroup t=object k=/v1/APIGroup
 name - str b=1
 preferredVersion o &~apis.meta.v1.GroupVersionForDiscovery b=3
 serverAddressByClientCIDRs o [&~apis.meta.v1.ServerAddressByClientCIDR] b=4
 versions - [&~apis.meta.v1.GroupVersionForDiscovery] b=2
~apis.meta.v1.APIGroupList t=object k=/v1/APIGroupList
 groups - [&~apis.meta.v1.APIGroup] b=1
~apis.meta.v1.APIResource t=object
 categories o [str] b=7
 group o str b=8
 kind - str b=3
 name - str b=1
 namespaced - bool b=2
 shortNames o [str] b=5
 singularName - str b=6
 storageVersionHash o str b=10
 verbs *- &~apis.meta.v1.Verbs b=4
 version o str b=9
~apis.meta.v1.APIResourceList t=object k=/v1/APIResourceList k=//APIResourceList
 groupVersion - str b=1
 resources - [&~apis.meta.v1.APIResource] b=2
~apis.meta.v1.APIVersions t=object k=//APIVersions
 serverAddressByClientCIDRs - [&~apis.meta.v1.ServerAddressByClientCIDR] b=2
 versions - [str] b=1
~apis.meta.v1.GroupVersionForDiscovery t=object
 groupVersion - str b=1
 version - str b=2
~apis.meta.v1.PartialObjectMetadata t=object k=meta.k8s.io/v1/PartialObjectMetadata k=meta.k8s.io/v1beta1/PartialObjectMetadata
 metadata o &~apis.meta.v1.ObjectMeta b=1
~apis.meta.v1.PartialObjectMetadataList t=object k=meta.k8s.io/v1/PartialObjectMetadataList
 items - [&~apis.meta.v1.PartialObjectMetadata] b=2
 metadata o &~apis.meta.v1.ListMeta b=1
~apis.meta.v1beta1.PartialObjectMetadataList t=object k=meta.k8s.io/v1beta1/PartialObjectMetadataList
 items - [&~apis.meta.v1.PartialObjectMetadata] b=1
 metadata o &~apis.meta.v1.ListMeta b=2
~apis.meta.v1.ServerAddressByClientCIDR t=object
 clientCIDR - str b=1
 serverAddress - str b=2
~apis.meta.v1.Status t=object k=/v1/Status
 code o i32 b=6
 details *o &~apis.meta.v1.StatusDetails b=5
 message o str b=3
 metadata o &~apis.meta.v1.ListMeta b=1
 reason o str b=4
 status o str b=2
~apis.meta.v1.StatusCause t=object
 field o str b=3
 message o str b=2
 reason o str b=1
~apis.meta.v1.StatusDetails t=object
 causes o [&~apis.meta.v1.StatusCause] b=4
 group o str b=2
 kind o str b=3
 name o str b=1
 retryAfterSeconds o i32 b=5
 uid o str b=6
";

static INDEX: LazyLock<HashMap<&'static str, ShapeEntry>> = LazyLock::new(|| index(definitions(TEXT)));
static INDEX_OF_SENT: LazyLock<HashMap<&'static str, ShapeEntry>> = LazyLock::new(|| index(SENT));
/// The names of the definitions of kinds, by group, version and kind: `apps/v1/Deployment`.
static KINDS: LazyLock<HashMap<&'static str, &'static str>> = LazyLock::new(kinds);

struct ShapeEntry {
    text: &'static str,
    shape: OnceLock<Shape>,
}

/// One definition.
pub(crate) struct Shape {
    /// Its name in Go: `DeploymentSpec`.
    pub go: &'static str,
    /// For example `t=` and `k=`.
    pub attributes: Vec<(&'static str, &'static str)>,
    /// Sorted by name.
    pub fields: Vec<ShapeField>,
    /// The fields that protobuf has, sorted by their numbers.
    pub numbered: Vec<Numbered>,
}

/// A field in protobuf.
pub(crate) struct Numbered {
    /// The number of the field, after the numbers of the embedded structs around it.
    pub path: Vec<u64>,
    /// Its index in [`Shape::fields`].
    pub index: usize,
}

/// A field of a [`Shape`].
pub(crate) struct ShapeField {
    pub name: &'static str,
    pub pointer: bool,
    pub omit_empty: bool,
    pub omit_zero: bool,
    pub kind: Type,
    pub required: bool,
    pub attributes: Vec<(&'static str, &'static str)>,
}

/// The type of a field, or of the items of a list or map.
pub(crate) enum Type {
    Str,
    Bytes,
    I32,
    I64,
    F64,
    Bool,
    List(Box<Type>),
    Map(Box<Type>),
    /// A definition, and whether the document refers to it without `allOf`.
    Ref(&'static str, bool),
}

/// The shape of a definition, by its short name.
pub(crate) fn shape(name: &str) -> Option<&'static Shape> {
    INDEX.get(name).map(ShapeEntry::shape)
}

/// The shape of a definition, also if OpenAPI lacks it.
pub(crate) fn message(name: &str) -> Option<&'static Shape> {
    shape(name).or_else(|| INDEX_OF_SENT.get(name).map(ShapeEntry::shape))
}

impl ShapeEntry {
    fn shape(&self) -> &Shape {
        self.shape.get_or_init(|| parse(self.text))
    }
}

/// The shape of a kind, for example `apps/v1` and `Deployment`. Every group has `DeleteOptions`.
pub(crate) fn of_kind(version: &str, kind: &str) -> Option<&'static Shape> {
    if kind == "DeleteOptions" {
        return shape("~apis.meta.v1.DeleteOptions");
    }
    message(name_of_kind(version, kind)?)
}

/// The short name of a kind's definition.
pub fn name_of_kind(version: &str, kind: &str) -> Option<&'static str> {
    let group = if version.contains('/') { "" } else { "/" };
    KINDS.get(format!("{group}{version}/{kind}").as_str()).copied()
}

fn kinds() -> HashMap<&'static str, &'static str> {
    let entries = INDEX.iter().chain(INDEX_OF_SENT.iter());
    let marks = entries.flat_map(|(name, entry)| {
        let head = entry.text.lines().next().unwrap_or_default();
        let marks = head.split(' ').filter_map(|part| part.strip_prefix("k="));
        marks.map(move |mark| (mark, *name))
    });
    marks.collect()
}

/// Whether documents have defaults for the items of lists and the values of maps.
pub(crate) fn items_have_defaults() -> bool {
    definitions(TEXT).len() == TEXT.len()
}

/// A recording without its first line, if that is no definition.
fn definitions(text: &'static str) -> &'static str {
    text.strip_prefix(PLAIN).unwrap_or(text)
}

/// The short names of all definitions of OpenAPI.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    INDEX.keys().copied()
}

impl Shape {
    /// The field called `name`.
    pub fn field(&self, name: &str) -> Option<&ShapeField> {
        let at = self.fields.binary_search_by(|field| field.name.cmp(name)).ok()?;
        self.fields.get(at)
    }
}

impl ShapeField {
    /// The value of the attribute `key`.
    pub fn attribute(&self, key: &str) -> Option<&'static str> {
        self.attributes
            .iter()
            .find(|(name, _)| *name == key)
            .map(|(_, value)| *value)
    }

    /// Whether it is an atomic list: one field manager owns the whole of it.
    pub fn is_atomic_list(&self) -> bool {
        matches!(self.kind, Type::List(_)) && !matches!(self.attribute("l"), Some("map" | "set"))
    }

    /// The name of the field's type in the errors of Go's decoder.
    pub fn go_type(&self) -> String {
        self.attribute("g").map_or_else(|| self.kind.go(), str::to_owned)
    }
}

impl Type {
    /// The Go type, as far as it can be derived.
    pub fn go(&self) -> String {
        match self {
            Self::Str => "string".to_owned(),
            Self::Bytes => "[]uint8".to_owned(),
            Self::I32 => "int32".to_owned(),
            Self::I64 => "int64".to_owned(),
            Self::F64 => "float64".to_owned(),
            Self::Bool => "bool".to_owned(),
            Self::List(item) => format!("[]{}", item.go()),
            Self::Map(item) => format!("map[string]{}", item.go()),
            Self::Ref(name, _) => {
                let mut parts = name.rsplit('.');
                let last = parts.next().unwrap_or_default();
                format!("{}.{last}", parts.next().unwrap_or_default())
            }
        }
    }

    fn parse(text: &'static str) -> Self {
        let inner = || {
            Box::new(Self::parse(
                text.get(1..text.len().saturating_sub(1)).unwrap_or_default(),
            ))
        };
        match (text, text.as_bytes().first()) {
            ("str:byte", _) => Self::Bytes,
            ("i32", _) => Self::I32,
            ("i64", _) => Self::I64,
            ("f64", _) => Self::F64,
            ("bool", _) => Self::Bool,
            (_, Some(b'[')) => Self::List(inner()),
            (_, Some(b'{')) => Self::Map(inner()),
            (_, Some(b'&')) => Self::Ref(&text[1..], false),
            (_, Some(b'$')) => Self::Ref(&text[1..], true),
            _ => Self::Str,
        }
    }
}

fn index(mut rest: &'static str) -> HashMap<&'static str, ShapeEntry> {
    let mut entries = HashMap::with_capacity(512);
    while !rest.is_empty() {
        let end = next_definition(rest);
        let (text, after) = rest.split_at(end);
        let name = text.split([' ', '\n']).next().unwrap_or_default();
        let shape = OnceLock::new();
        entries.insert(name, ShapeEntry { text, shape });
        rest = after;
    }
    entries
}

/// The position of the next line without indentation.
fn next_definition(text: &str) -> usize {
    let bytes = text.as_bytes();
    let breaks = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    breaks
        .map(|(at, _)| at + 1)
        .find(|at| bytes.get(*at) != Some(&b' '))
        .unwrap_or(text.len())
}

fn parse(text: &'static str) -> Shape {
    let mut lines = text.lines();
    let mut head = lines.next().unwrap_or_default().split(' ');
    let name = head.next().unwrap_or_default();
    let fields: Vec<ShapeField> = lines.map(parse_field).collect();
    Shape {
        go: name.rsplit('.').next().unwrap_or_default(),
        attributes: head.filter_map(|part| part.split_once('=')).collect(),
        numbered: numbered(&fields),
        fields,
    }
}

fn numbered(fields: &[ShapeField]) -> Vec<Numbered> {
    let number = |(index, field): (usize, &ShapeField)| {
        let path: Result<_, _> = field.attribute("b")?.split('.').map(str::parse).collect();
        Some(Numbered {
            path: path.ok()?,
            index,
        })
    };
    let mut numbered: Vec<_> = fields.iter().enumerate().filter_map(number).collect();
    numbered.sort_by(|a, b| a.path.cmp(&b.path));
    numbered
}

fn parse_field(line: &'static str) -> ShapeField {
    let mut parts = line.trim_start().split(' ');
    let name = parts.next().unwrap_or_default();
    let flags = parts.next().unwrap_or_default();
    let kind = Type::parse(parts.next().unwrap_or_default());
    let attributes: Vec<_> = parts.map(|part| part.split_once('=').unwrap_or((part, ""))).collect();
    ShapeField {
        name,
        pointer: flags.contains('*'),
        omit_empty: flags.contains('o'),
        omit_zero: flags.contains('z'),
        kind,
        required: attributes.iter().any(|(key, _)| *key == "!"),
        attributes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_about_items_is_no_definition() {
        let recorded = "# items have no defaults\na.v1.A t=object\n b - [str]\n";
        let names: Vec<_> = index(definitions(recorded)).into_keys().collect();
        assert_eq!(names, ["a.v1.A"]);
    }
}
