//! From types to the text of a module.

use super::comment::doc;
use super::names::camel_case;
use super::{Field, Item, ModuleSubject, Owner, Root, Struct, Type, attributes, own};
use serde_json::Value;

/// rustfmt's default `max_width`.
const WIDTH: usize = 100;
/// rustfmt's default `attr_fn_like_width`.
const ATTRIBUTE_WIDTH: usize = 70;

/// The type for values that have more than one type.
const NUMBER_OR_TEXT: &str = "
/// A number or a text. The `IntOrString` of Kubernetes decodes only numbers of 32 bits.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(untagged)]
pub enum NumberOrText {
    Number(i64),
    Text(String),
}

impl Default for NumberOrText {
    fn default() -> Self {
        Self::Number(0)
    }
}
";

/// The whole module.
pub fn module(subject: &ModuleSubject, root: &Root, items: &[Item]) -> String {
    let own = subject.owner != Owner::Other;
    let beyond = own.then(|| own::beyond_derive(subject, root)).flatten();
    let schema = if own { "JsonSchema, " } else { "" };
    let mut text = head(subject, items);
    for item in items {
        text.push('\n');
        match item {
            Item::Struct(it) if it.name == root.spec => {
                let otherwise = "What the kind holds beside its metadata.";
                let about = if it.doc.trim().is_empty() { otherwise } else { &it.doc };
                text.push_str(&doc(about, "", own));
                text.push_str(&format!(
                    "#[derive(Clone, CustomResource, Debug, Default, Deserialize, {schema}PartialEq, Serialize)]\n"
                ));
                text.push_str(&resource(subject, root, beyond.is_some()));
                text.push_str(&body(it, own));
            }
            Item::Struct(it) => {
                text.push_str(&doc(&it.doc, "", own));
                text.push_str(&format!(
                    "#[derive(Clone, Debug, Default, Deserialize, {schema}PartialEq, Serialize)]\n"
                ));
                text.push_str(&body(it, own));
            }
            Item::Enum {
                name,
                doc: about,
                variants,
                default,
                attributes,
            } => {
                text.push_str(&doc(about, "", own));
                text.push_str(&format!(
                    "#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, {schema}PartialEq, Serialize)]\n"
                ));
                attributes.iter().for_each(|line| text.push_str(&format!("{line}\n")));
                text.push_str(&enumeration(name, variants, *default));
            }
            Item::Alias { name, doc: about, of } => {
                text.push_str(&doc(about, "", own));
                text.push_str(&format!("pub type {name} = {};\n", of.rust()));
            }
        }
    }
    if items
        .iter()
        .any(|item| types(item).any(|it| it.names(&Type::NumberOrText)))
    {
        text.push_str(NUMBER_OR_TEXT);
    }
    if let Some(rest) = beyond {
        text.push_str(&own::schema(subject, root, &rest));
    }
    if text.contains(attributes::WITHOUT_FORMAT) {
        text.push_str(attributes::DROP_FORMAT);
    }
    text
}

fn head(subject: &ModuleSubject, items: &[Item]) -> String {
    let spec = &subject.crd["spec"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (kind, group) = (text(&spec["names"]["kind"]), text(&spec["group"]));
    let version = subject.version;
    let mut head = match subject.owner {
        Owner::Other => format!(
            "//! The kind `{kind}` of `{group}/{version}`, which others own: from `{}`.\n\n\
             // The words and the names are the CRD's.\n\
             #![allow(clippy::enum_variant_names, rustdoc::all)]\n\n",
            subject.path
        ),
        Owner::Project { .. } => format!(
            "//! The kind `{kind}` of `{group}/{version}`. `make manifests` writes its CRD from these types; `kubectl explain` prints the\n\
             //! `///` comments.\n\n\
             // The words and the names are those of the CRD from which the types were made.\n\
             #![allow(clippy::doc_lazy_continuation, clippy::enum_variant_names)]\n\
             #![allow(rustdoc::all)]\n\n"
        ),
    };
    if items.iter().any(|item| types(item).any(Type::has_map)) {
        head.push_str("use std::collections::BTreeMap;\n\n");
    }
    let uses = |wanted: &Type| items.iter().any(|item| types(item).any(|it| it.names(wanted)));
    if uses(&Type::Quantity) {
        head.push_str("use k8s_openapi::apimachinery::pkg::api::resource::Quantity;\n");
    }
    if uses(&Type::Condition) {
        head.push_str("use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;\n");
    }
    if uses(&Type::IntOrString) {
        head.push_str("use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;\n");
    }
    head.push_str("use kube::CustomResource;\n");
    if subject.owner != Owner::Other {
        head.push_str("use schemars::JsonSchema;\n");
    }
    head.push_str("use serde::{Deserialize, Serialize};\n");
    if uses(&Type::Any) {
        head.push_str("use serde_json::Value;\n");
    }
    head
}

/// Every type that an item's code contains.
fn types(item: &Item) -> impl Iterator<Item = &Type> {
    let (fields, of) = match item {
        Item::Struct(it) => (it.fields.as_slice(), None),
        Item::Enum { .. } => (&[][..], None),
        Item::Alias { of, .. } => (&[][..], Some(of)),
    };
    fields.iter().map(|field| &field.kind).chain(of)
}

/// `#[kube(…)]`.
fn resource(subject: &ModuleSubject, root: &Root, manual: bool) -> String {
    let spec = &subject.crd["spec"];
    let quoted = |value: &Value| format!("{:?}", value.as_str().unwrap_or_default());
    let kind = spec["names"]["kind"].as_str().unwrap_or_default();
    let mut lines = vec![
        format!("group = {}", quoted(&spec["group"])),
        format!("version = {:?}", subject.version),
        format!("kind = {kind:?}"),
    ];
    if subject.type_name != kind {
        lines.push(format!("root = {:?}", subject.type_name));
    }
    lines.push(format!("plural = {}", quoted(&spec["names"]["plural"])));
    if spec["scope"] == "Namespaced" {
        lines.push("namespaced".to_owned());
    }
    if root.flat {
        lines.push("no_spec".to_owned());
    }
    if let Some(status) = &root.status {
        lines.push(format!("status = {status:?}"));
    }
    match subject.owner {
        Owner::Project { converted } => {
            lines.extend(own::arguments(subject, converted));
            lines.extend(manual.then(|| "schema = \"manual\"".to_owned()));
        }
        // The API server has the schema already.
        Owner::Other => lines.push("schema = \"disabled\"".to_owned()),
    }
    lines.push("derive = \"Default\"".to_owned());
    lines.push("derive = \"PartialEq\"".to_owned());
    format!("#[kube(\n    {}\n)]\n", lines.join(",\n    "))
}

fn body(it: &Struct, own: bool) -> String {
    let mut text = String::new();
    it.attributes
        .iter()
        .for_each(|line| text.push_str(&format!("{line}\n")));
    if it
        .fields
        .iter()
        .any(|field| renamed(field).is_none() && field.key.is_some())
    {
        text.push_str("#[serde(rename_all = \"camelCase\")]\n");
    }
    if it.fields.is_empty() {
        return format!("{text}pub struct {} {{}}\n", it.name);
    }
    let line = format!("pub struct {} {{\n", it.name);
    match line.len() <= WIDTH + 1 {
        true => text.push_str(&line),
        false => text.push_str(&format!("pub struct {}\n{{\n", it.name)),
    }
    for field in &it.fields {
        text.push_str(&doc(&field.doc, "    ", own));
        text.push_str(&serde(field));
        for line in &field.attributes {
            text.push_str(&format!("    {line}\n"));
        }
        text.push_str(&declaration(field));
    }
    text + "}\n"
}

/// The JSON key, if it differs from the field's name in `camelCase`.
fn renamed(field: &Field) -> Option<&str> {
    let key = field.key.as_deref()?;
    (camel_case(&field.name) != key).then_some(key)
}

/// `#[serde(…)]`.
fn serde(field: &Field) -> String {
    let mut words = Vec::new();
    if field.key.is_none() {
        words.push("flatten".to_owned());
    }
    words.extend(renamed(field).map(|key| format!("rename = {key:?}")));
    if field.optional {
        words.push("skip_serializing_if = \"Option::is_none\"".to_owned());
    }
    let line = words.join(", ");
    match words.as_slice() {
        [] => String::new(),
        [_] => format!("    #[serde({line})]\n"),
        _ if line.len() <= ATTRIBUTE_WIDTH => format!("    #[serde({line})]\n"),
        _ => format!("    #[serde(\n        {}\n    )]\n", words.join(",\n        ")),
    }
}

fn declaration(field: &Field) -> String {
    // An absent value means the same as null.
    let whole = match (&field.kind, field.optional) {
        (Type::Nullable(_), true) | (_, false) => field.kind.clone(),
        (kind, true) => Type::Nullable(Box::new(kind.clone())),
    };
    let (name, text) = (&field.name, whole.rust());
    let fits = |line: &str| line.len() <= WIDTH + 1;
    let (line, next) = (format!("    pub {name}: {text},\n"), format!("        {text},\n"));
    match (fits(&line), fits(&next), whole.arguments()) {
        (true, ..) | (_, false, None) => line,
        (false, true, _) => format!("    pub {name}:\n{next}"),
        (false, false, Some(_)) => format!("    pub {name}: {},\n", broken(&whole, 4)),
    }
}

/// A type with each argument on a line of its own, and so for arguments that are too long.
fn broken(kind: &Type, indent: usize) -> String {
    let Some((outer, arguments)) = kind.arguments() else {
        return kind.rust();
    };
    let inner = " ".repeat(indent + 4);
    let arguments = arguments.into_iter().map(|argument| {
        let text = argument.map_or("String".to_owned(), Type::rust);
        match argument {
            Some(kind) if inner.len() + text.len() + 1 > WIDTH => format!("{inner}{},\n", broken(kind, inner.len())),
            _ => format!("{inner}{text},\n"),
        }
    });
    format!("{outer}<\n{}{}>", arguments.collect::<String>(), " ".repeat(indent))
}

fn enumeration(name: &str, variants: &[(String, String)], default: usize) -> String {
    let mut text = format!("pub enum {name} {{\n");
    for (nth, (variant, value)) in variants.iter().enumerate() {
        if nth == default {
            text.push_str("    #[default]\n");
        }
        if variant != value {
            text.push_str(&format!("    #[serde(rename = {value:?})]\n"));
        }
        text.push_str(&format!("    {variant},\n"));
    }
    text + "}\n"
}
