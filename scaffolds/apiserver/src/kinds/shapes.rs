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
//! `p=` and `pk=` patch strategy and merge key, `!` required.

use std::{
    collections::HashMap,
    sync::{LazyLock, OnceLock},
};

const TEXT: &str = include_str!("shapes.txt");

static INDEX: LazyLock<HashMap<&'static str, Entry>> = LazyLock::new(index);

struct Entry {
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
    pub fields: Vec<Field>,
}

/// A field of a [`Shape`].
pub(crate) struct Field {
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
    let entry = INDEX.get(name)?;
    Some(entry.shape.get_or_init(|| parse(entry.text)))
}

/// The shape of a kind, for example `apps/v1` and `Deployment`. Every group has `DeleteOptions`.
pub(crate) fn of_kind(version: &str, kind: &str) -> Option<&'static Shape> {
    if kind == "DeleteOptions" {
        return shape("~apis.meta.v1.DeleteOptions");
    }
    shape(name_of_kind(version, kind)?)
}

/// The short name of a kind's definition.
pub fn name_of_kind(version: &str, kind: &str) -> Option<&'static str> {
    let (group, version) = version.rsplit_once('/').unwrap_or(("", version));
    let mark = format!("k={group}/{version}/{kind}");
    let is_it = |entry: &Entry| {
        let head = entry.text.lines().next().unwrap_or_default();
        head.split(' ').any(|part| part == mark)
    };
    INDEX.iter().find(|(_, entry)| is_it(entry)).map(|(name, _)| *name)
}

/// The short names of all definitions.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    INDEX.keys().copied()
}

impl Shape {
    /// The field called `name`.
    pub fn field(&self, name: &str) -> Option<&Field> {
        let at = self.fields.binary_search_by(|field| field.name.cmp(name)).ok()?;
        self.fields.get(at)
    }
}

impl Field {
    /// The value of the attribute `key`.
    pub fn attribute(&self, key: &str) -> Option<&'static str> {
        self.attributes
            .iter()
            .find(|(name, _)| *name == key)
            .map(|(_, value)| *value)
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

fn index() -> HashMap<&'static str, Entry> {
    let mut entries = HashMap::with_capacity(512);
    let mut rest = TEXT;
    while !rest.is_empty() {
        let end = next_definition(rest);
        let (text, after) = rest.split_at(end);
        let name = text.split([' ', '\n']).next().unwrap_or_default();
        let shape = OnceLock::new();
        entries.insert(name, Entry { text, shape });
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
    Shape {
        go: name.rsplit('.').next().unwrap_or_default(),
        attributes: head.filter_map(|part| part.split_once('=')).collect(),
        fields: lines.map(parse_field).collect(),
    }
}

fn parse_field(line: &'static str) -> Field {
    let mut parts = line.trim_start().split(' ');
    let name = parts.next().unwrap_or_default();
    let flags = parts.next().unwrap_or_default();
    let kind = Type::parse(parts.next().unwrap_or_default());
    let attributes: Vec<_> = parts.map(|part| part.split_once('=').unwrap_or((part, ""))).collect();
    Field {
        name,
        pointer: flags.contains('*'),
        omit_empty: flags.contains('o'),
        omit_zero: flags.contains('z'),
        kind,
        required: attributes.iter().any(|(key, _)| *key == "!"),
        attributes,
    }
}
