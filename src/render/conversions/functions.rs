//! Writes the functions of a conversion in one direction, formatted as by rustfmt. Where the author has to decide, they do
//! not compile.

use super::ways::Way;
use crate::project::declared::{Declared, Field, Item};
use crate::project::{RustType, rust};
use std::collections::{BTreeMap, VecDeque};

/// One of the two versions.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    /// The version, which is also the module of its types in the file.
    pub version: &'a str,
    /// Its types.
    pub types: &'a Declared,
}

/// The longest list of fields that rustfmt leaves on one line, by default.
const FIELDS_MAX: usize = 18;
/// The longest line, by default.
const LINE_MAX: usize = 100;

/// The functions: the first one is `name`, and converts a whole object; the others end with the same word.
pub fn write(name: &str, from: Side<'_>, to: Side<'_>) -> String {
    let mut writer = Writer {
        direction: name,
        from,
        to,
        names: BTreeMap::new(),
        pending: VecDeque::new(),
    };
    let mut functions = vec![writer.object()];
    while let Some((source, target)) = writer.pending.pop_front() {
        functions.push(writer.item(&source, &target));
    }
    functions.join("\n")
}

/// The names of two types, one of each version.
type Pair = (String, String);

struct Writer<'a> {
    /// `to_hub` or `from_hub`.
    direction: &'a str,
    from: Side<'a>,
    to: Side<'a>,
    /// The functions between types, by those.
    names: BTreeMap<Pair, String>,
    /// The functions that are not written yet.
    pending: VecDeque<Pair>,
}

/// A struct or an enum as one of the functions takes it apart.
struct Shape<'a> {
    /// Its path in the file.
    path: &'a str,
    fields: &'a [Field],
}

impl Writer<'_> {
    /// The function that converts objects.
    fn object(&mut self) -> String {
        let [source, target] = [self.from, self.to].map(|side| format!("{}::{}", side.version, side.types.object));
        let (from, to) = (self.from.types.fields(), self.to.types.fields());
        let signature = signature(
            &format!("pub fn {}", self.direction),
            &source,
            &format!("Result<{target}>"),
        );
        let comment = "    // Without `..`: a field that is added later does not compile until it is converted.\n";
        let (source, target) = (
            Shape {
                path: &source,
                fields: &from,
            },
            Shape {
                path: &target,
                fields: &to,
            },
        );
        let (opened, closed) = ("    Ok(", ")");
        let body = self.structs(source, target, [opened, closed]);
        format!("{signature}{comment}{body}}}\n")
    }

    /// The function from a struct or enum to another one.
    fn item(&mut self, source: &str, target: &str) -> String {
        let pair = (source.to_owned(), target.to_owned());
        let name = self.names.get(&pair).cloned().unwrap_or_default();
        let [from, to] =
            [(self.from, source), (self.to, target)].map(|(side, item)| format!("{}::{item}", side.version));
        let signature = signature(&format!("fn {name}"), &from, &to);
        let items = (self.from.types.item(source), self.to.types.item(target));
        let body = match items {
            (Some(Item::Struct(ours)), Some(Item::Struct(theirs))) => {
                let (source, target) = (
                    Shape {
                        path: &from,
                        fields: ours,
                    },
                    Shape {
                        path: &to,
                        fields: theirs,
                    },
                );
                self.structs(source, target, ["    ", ""])
            }
            (Some(Item::Enum(ours)), Some(Item::Enum(theirs))) => self.enums([&from, &to], ours, theirs),
            _ => String::new(),
        };
        format!("{signature}{body}}}\n")
    }

    /// The body of a function between structs. `around` is what encloses its result.
    fn structs(&mut self, source: Shape<'_>, target: Shape<'_>, around: [&str; 2]) -> String {
        let names: Vec<_> = source.fields.iter().map(|field| field.name.clone()).collect();
        let plain = |name: &String| format!("{name},");
        let lines: Vec<_> = names.iter().map(plain).collect();
        let mut text = braces(&format!("    let {}", source.path), &lines, " = from;");
        let is_new = |field: &&Field| !target.fields.iter().any(|it| it.name == field.name);
        for field in source.fields.iter().filter(is_new) {
            text.push_str(&format!(
                "    // Only {from} has it. Move it to another field, or write `{name}: _` above: an annotation then keeps it.\n    \
                 compile_error!(\"decide what becomes of `{name}`\");\n",
                from = self.from.version,
                name = field.name
            ));
        }
        let fields = target.fields.iter().flat_map(|field| self.field(field, source.fields));
        let lines: Vec<_> = fields.collect();
        let [open, close] = around;
        text + &braces(&format!("{open}{}", target.path), &lines, close)
    }

    /// The lines of a field of the result.
    fn field(&mut self, field: &Field, sources: &[Field]) -> Vec<String> {
        let (from, to) = (self.from.version, self.to.version);
        let name = &field.name;
        let Some(source) = sources.iter().find(|it| it.name == *name) else {
            return vec![
                format!(
                    "// Only {to} has it: made from other fields, or the value for an object that was written in {from}."
                ),
                format!("{name}: compile_error!(\"choose a value for `{name}`\"),"),
            ];
        };
        match self.way(&source.kind, &field.kind) {
            Some(way) => way.field(name),
            None => vec![
                format!("// `{}` in {from}, `{}` in {to}.", source.kind, field.kind),
                format!("{name}: compile_error!(\"convert `{name}`\"),"),
            ],
        }
    }

    /// The body of a function between enums.
    fn enums(&self, [source, target]: [&str; 2], ours: &[String], theirs: &[String]) -> String {
        let arm = |variant: &String| match theirs.contains(variant) {
            true => {
                let line = format!("        {source}::{variant} => {target}::{variant},\n");
                match line.len() <= LINE_MAX + 1 {
                    true => line,
                    false => {
                        format!("        {source}::{variant} => {{\n            {target}::{variant}\n        }}\n")
                    }
                }
            }
            false => format!(
                "        // Only {} has it.\n        {source}::{variant} => compile_error!(\"convert `{variant}`\"),\n",
                self.from.version
            ),
        };
        let arms: String = ours.iter().map(arm).collect();
        format!("    match from {{\n{arms}    }}\n")
    }

    /// The conversion of a value of the first type to the second; `None` if the author has to write it.
    fn way(&mut self, source: &RustType, target: &RustType) -> Option<Way> {
        if let Some(name) = self.function(source, target) {
            return Some(Way::Function(name));
        }
        let (from, to) = (self.from.types, self.to.types);
        // A type that both files declare is not the same one.
        let declared = |name: &str| from.item(name).is_some() && to.item(name).is_some();
        if source == target && !source.mentions(&declared) {
            return Some(Way::Same);
        }
        let [name, other] = [source, target].map(RustType::name);
        if name != other || source.arguments.len() != target.arguments.len() {
            return None;
        }
        let pairs = || source.arguments.iter().zip(&target.arguments);
        let mut inner = |nth: usize| {
            let (source, target) = pairs().nth(nth)?;
            Some(Box::new(self.way(source, target)?))
        };
        match (name, source.arguments.len()) {
            ("Option", 1) => inner(0).map(Way::Option),
            ("Box", 1) => inner(0).map(Way::Boxed),
            ("Vec", 1) => inner(0).map(Way::List),
            ("BTreeMap" | "HashMap", 2) => match *inner(0)? {
                Way::Same => inner(1).map(Way::Map),
                _ => None,
            },
            _ => None,
        }
    }

    /// The name of the function between two types that the files declare, which will be written.
    fn function(&mut self, source: &RustType, target: &RustType) -> Option<String> {
        let items = (self.from.types.item(&source.path)?, self.to.types.item(&target.path)?);
        if !matches!(
            items,
            (Item::Struct(_), Item::Struct(_)) | (Item::Enum(_), Item::Enum(_))
        ) {
            return None;
        }
        let pair = (source.path.clone(), target.path.clone());
        if let Some(name) = self.names.get(&pair) {
            return Some(name.clone());
        }
        let mut name = format!("{}_{}", self.subject(&source.path), self.direction);
        while self.names.values().any(|other| *other == name) {
            name.insert_str(0, "the_");
        }
        self.names.insert(pair.clone(), name.clone());
        self.pending.push_back(pair);
        Some(name)
    }

    /// The name of a type in the name of its function.
    fn subject(&self, type_: &str) -> String {
        let types = self.from.types;
        match &types.status {
            _ if types.spec == type_ => "spec".to_owned(),
            Some(status) if status.path == type_ => "status".to_owned(),
            _ => rust::snake(type_),
        }
    }
}

fn signature(name: &str, from: &str, to: &str) -> String {
    let line = format!("{name}(from: {from}) -> {to} {{\n");
    match line.len() <= LINE_MAX + 1 {
        true => line,
        false => format!("{name}(\n    from: {from},\n) -> {to} {{\n"),
    }
}

/// A struct with these fields, each of which ends with a comma, between `before` and `after`.
fn braces(before: &str, fields: &[String], after: &str) -> String {
    if fields.is_empty() {
        return format!("{before} {{}}{after}\n");
    }
    let one = fields.join(" ");
    let one = one.trim_end_matches(',');
    if one.len() <= FIELDS_MAX && !one.contains("//") {
        return format!("{before} {{ {one} }}{after}\n");
    }
    let lines: String = fields.iter().map(|line| format!("        {line}\n")).collect();
    format!("{before} {{\n{lines}    }}{after}\n")
}
