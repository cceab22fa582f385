//! Finds attributes that the derives accept and then ignore: `length(…)` on a map, `range(…)` on a string, `scale(…)` without a
//! status, `alias` on a field, whose name API servers prune. The schema of the type does not contain them, so they are searched in the source
//! code.
//!
//! Finds types that contain themselves, too: those that derive `KubeSchema` are described without end.
//!
//! This is not a Rust parser. If the name of a field's type does not show its JSON type (an alias, the author's own type), there is no finding.

mod endless;
mod lex;

use kubewright_schema::Finding;
use lex::Piece;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What is found in the source of types.
#[derive(Debug)]
pub struct Found {
    /// The attributes without effect.
    pub ignored: Vec<Finding>,
    /// The types that contain themselves. To describe one of them ends the process.
    pub endless: Vec<Finding>,
}

/// What is found in the `.rs` files of a folder and its subfolders.
///
/// # Errors
/// A file or folder cannot be read; the error names it.
pub fn findings(folder: &Path) -> io::Result<Found> {
    let mut sources = Vec::new();
    for path in files(folder)? {
        let source = fs::read_to_string(&path).map_err(|error| named(error, &path))?;
        sources.push((path.strip_prefix(folder).unwrap_or(&path).display().to_string(), source));
    }
    Ok(Found {
        ignored: sources
            .iter()
            .flat_map(|(file, source)| in_source(source, file))
            .collect(),
        endless: endless::findings(&sources),
    })
}

fn named(error: io::Error, path: &Path) -> io::Error {
    io::Error::new(error.kind(), format!("cannot read `{}`: {error}", path.display()))
}

fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(|error| named(error, &folder))? {
            let entry = entry.map_err(|error| named(error, &folder))?;
            // Editors and desktops leave such files beside sources: Emacs a dangling link, macOS binary data.
            if entry.file_name().as_encoded_bytes().starts_with(b".") {
                continue;
            }
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

type Pieces<'s> = [(usize, Piece<'s>)];

/// The findings of one file.
fn in_source(source: &str, file: &str) -> Vec<Finding> {
    let pieces = lex::pieces(source);
    let mut findings = Vec::new();
    let (mut at, mut container, mut attributes) = (0, "", Vec::new());
    let mut has_schema = false;
    while let Some((line, piece)) = pieces.get(at) {
        let mut report = |type_name: &str, field: &str, message: String, remedy: String| {
            findings.push(Finding {
                type_name: type_name.to_owned(),
                field: field.trim_start_matches("r#").to_owned(),
                message: format!("{message} ({file}:{line})"),
                remedy: Some(remedy),
            });
        };
        match piece {
            Piece::Mark('#') if is(&pieces, at + 1, '[') => {
                let end = closing(&pieces, at + 1);
                attributes.push(pieces.get(at + 2..end).unwrap_or_default());
                at = end;
            }
            Piece::Word("pub") if is(&pieces, at + 1, '(') => at = closing(&pieces, at + 1),
            Piece::Word("pub") => {}
            Piece::Word("struct" | "enum") => {
                container = word(&pieces, at + 1).unwrap_or_default();
                if let Some(remedy) = scale_without_status(&attributes) {
                    let message = "`scale(…)` without `status = …` generates no subresource".to_owned();
                    report(container, "", message, remedy);
                }
                has_schema = attributes.iter().any(|attribute| derives_schema(attribute));
                attributes.clear();
                at += 1;
            }
            _ => {
                let is_field = matches!(piece, Piece::Word(_)) && is(&pieces, at + 1, ':') && !is(&pieces, at + 2, ':');
                if has_schema && is_field && attributes.iter().any(|attribute| has_alias(attribute)) {
                    let message = "an object that has the field by its `alias` loses it: the schema has no such field, so API servers prune it \
                                   before the type can read it"
                        .to_owned();
                    report(
                        container,
                        word(&pieces, at).unwrap_or_default(),
                        message,
                        WITHOUT_ALIAS.to_owned(),
                    );
                }
                let declared = attributes.iter().find_map(|attribute| declared(attribute));
                let validators: Vec<_> = attributes.drain(..).flat_map(validators).collect();
                if !validators.is_empty() {
                    let start = if is_field { at + 2 } else { at };
                    let name = if is_field {
                        word(&pieces, at).unwrap_or_default()
                    } else {
                        "0"
                    };
                    let shape = match declared.unwrap_or_else(|| Shape::of(&pieces[start..])) {
                        // A type of the file with such a name is another one.
                        Shape::NumberOrText if defines(&pieces, "IntOrString") => Shape::Unknown,
                        Shape::Quantity if defines(&pieces, "Quantity") => Shape::Unknown,
                        shape => shape,
                    };
                    for (inner, validator) in validators {
                        let shape = if inner { shape.items() } else { Some(&shape) };
                        if let Some(remedy) = shape.and_then(|shape| shape.ignores(validator)) {
                            let attribute = if inner {
                                format!("inner({validator}(…))")
                            } else {
                                format!("{validator}(…)")
                            };
                            let message = format!("`{attribute}` does not apply to this type and is ignored");
                            report(container, name, message, remedy.to_owned());
                        }
                    }
                }
            }
        }
        at += 1;
    }
    findings
}

fn is(pieces: &Pieces, at: usize, mark: char) -> bool {
    pieces.get(at).is_some_and(|(_, piece)| *piece == Piece::Mark(mark))
}

fn word<'s>(pieces: &Pieces<'s>, at: usize) -> Option<&'s str> {
    match pieces.get(at)?.1 {
        Piece::Word(word) => Some(word),
        _ => None,
    }
}

/// The index of the bracket that closes the bracket at `open`; the last piece if it is not closed.
fn closing(pieces: &Pieces, open: usize) -> usize {
    let mut depth = 0usize;
    for (at, (_, piece)) in pieces.iter().enumerate().skip(open) {
        match piece {
            Piece::Mark('(' | '[' | '{') => depth += 1,
            Piece::Mark(')' | ']' | '}') => depth = depth.saturating_sub(1),
            _ => continue,
        }
        if depth == 0 {
            return at;
        }
    }
    pieces.len().saturating_sub(1)
}

/// The words of an attribute with their depth: in `schemars(length(min = 1))`, `length` has depth 1.
fn words<'p, 's>(attribute: &'p Pieces<'s>) -> impl Iterator<Item = (usize, usize, &'s str)> + 'p {
    let mut depth = 0;
    attribute.iter().enumerate().filter_map(move |(at, (_, piece))| {
        match piece {
            Piece::Mark('(' | '[' | '{') => depth += 1,
            Piece::Mark(')' | ']' | '}') => depth -= 1,
            Piece::Word(word) => return Some((at, depth, *word)),
            _ => {}
        }
        None
    })
}

/// The validators of a schemars attribute, and whether each applies to the items.
fn validators<'s>(attribute: &Pieces<'s>) -> Vec<(bool, &'s str)> {
    const NAMES: [&str; 5] = ["length", "range", "regex", "pattern", "contains"];
    if !matches!(word(attribute, 0), Some("schemars" | "validate" | "garde")) {
        return Vec::new();
    }
    let (mut found, mut inner_until) = (Vec::new(), 0);
    for (at, depth, word) in words(attribute) {
        if depth == 1 && word == "inner" {
            inner_until = closing(attribute, at + 1);
        }
        let inner = at < inner_until;
        if depth == 1 + usize::from(inner) && NAMES.contains(&word) {
            found.push((inner, word));
        }
    }
    found
}

/// The shape that a schemars attribute gives a field in the place of its type's: `with = "Type"`, or `schema_with = "function"`, which does
/// not show it.
fn declared(attribute: &Pieces) -> Option<Shape> {
    if word(attribute, 0) != Some("schemars") {
        return None;
    }
    words(attribute).find_map(|(at, depth, word)| match (word, attribute.get(at + 2)) {
        ("with", Some((_, Piece::Literal(text)))) if depth == 1 => {
            let (_, inside) = text.split_once('"')?;
            let (inside, _) = inside.rsplit_once('"')?;
            Some(Shape::of(&lex::pieces(inside)))
        }
        ("schema_with", _) if depth == 1 => Some(Shape::Unknown),
        _ => None,
    })
}

const WITHOUT_ALIAS: &str = "remove the `alias`, and keep the old name (`#[serde(rename = \"…\")]`); or keep the old field beside the new one, \
                             optional, and read both; or rename the field in a new version with a conversion";

fn derives_schema(attribute: &Pieces) -> bool {
    words(attribute).any(|(_, _, word)| matches!(word, "JsonSchema" | "KubeSchema" | "CustomResource"))
}

fn has_alias(attribute: &Pieces) -> bool {
    word(attribute, 0) == Some("serde") && words(attribute).any(|(_, depth, word)| depth == 1 && word == "alias")
}

fn scale_without_status(attributes: &[&Pieces]) -> Option<String> {
    let kube = || attributes.iter().filter(|attribute| word(attribute, 0) == Some("kube"));
    let has = |name: &str| kube().any(|attribute| words(attribute).any(|(_, depth, word)| depth == 1 && word == name));
    let remedy = "add `status = \"…\"` to `#[kube(…)]`: the current number of replicas is read from the status";
    (has("scale") && !has("status")).then(|| remedy.to_owned())
}

/// Whether a file has a type of this name.
fn defines(pieces: &Pieces, name: &str) -> bool {
    let is_type = |piece: &Piece| matches!(piece, Piece::Word("struct" | "enum" | "type"));
    (1..pieces.len()).any(|at| word(pieces, at) == Some(name) && is_type(&pieces[at - 1].1))
}

/// The JSON type of a Rust type, as far as its name shows it.
#[derive(Debug, PartialEq)]
enum Shape {
    Text,
    Number,
    Flag,
    NumberOrText,
    Quantity,
    Map,
    List(Box<Shape>),
    Unknown,
}

impl Shape {
    /// The shape of the type at the start of `pieces`.
    fn of(pieces: &Pieces) -> Self {
        let (mut at, mut name) = (0, "");
        loop {
            match pieces.get(at).map(|(_, piece)| *piece) {
                Some(Piece::Word(word)) => name = word,
                Some(Piece::Mark(':' | '&' | '\'')) => {}
                Some(Piece::Mark('[')) => return Shape::List(Box::new(Shape::of(&pieces[at + 1..]))),
                _ => break,
            }
            at += 1;
        }
        let argument = || Shape::of(pieces.get(at + 1..).unwrap_or_default());
        match name {
            "Option" | "Box" | "Arc" | "Rc" if is(pieces, at, '<') => argument(),
            "Vec" | "VecDeque" | "BTreeSet" | "HashSet" | "IndexSet" => Shape::List(Box::new(argument())),
            "BTreeMap" | "HashMap" | "IndexMap" => Shape::Map,
            "String" | "str" | "PathBuf" => Shape::Text,
            "IntOrString" => Shape::NumberOrText,
            "Quantity" => Shape::Quantity,
            "bool" => Shape::Flag,
            "u8" | "u16" | "u32" | "u64" | "u128" | "usize" | "i8" | "i16" | "i32" | "i64" | "i128" | "isize"
            | "f32" | "f64" => Shape::Number,
            _ => Shape::Unknown,
        }
    }

    fn items(&self) -> Option<&Shape> {
        match self {
            Shape::List(items) => Some(items),
            _ => None,
        }
    }

    /// If `validator` does not apply to this type: what to write instead.
    fn ignores(&self, validator: &str) -> Option<&'static str> {
        let text = matches!(validator, "regex" | "pattern" | "contains");
        match (self, validator) {
            (Shape::Unknown, _) | (Shape::Text | Shape::List(_), "length") | (Shape::Number, "range") => None,
            (Shape::Text, _) if text => None,
            (Shape::Quantity, _) => Some(
                "for a quantity: a rule, such as `#[x_kube(validation = \"quantity(string(self)).isGreaterThan(quantity('0'))\")]`",
            ),
            (Shape::NumberOrText, "range") => {
                Some("for a number or a text: `#[schemars(extend(\"minimum\" = …, \"maximum\" = …))]`")
            }
            (Shape::NumberOrText, "length") => {
                Some("for a number or a text: `#[schemars(extend(\"minLength\" = …, \"maxLength\" = …))]`")
            }
            (Shape::NumberOrText, _) => Some("for a number or a text: `#[schemars(extend(\"pattern\" = \"…\"))]`"),
            (Shape::Map, "length") => {
                Some("for a map: `#[schemars(extend(\"minProperties\" = …, \"maxProperties\" = …))]`")
            }
            (Shape::Map, _) => {
                Some("put this attribute on a newtype for the values, or check them with a validation rule")
            }
            (Shape::List(_), _) => Some("for the items of a list: `#[schemars(inner(…))]`"),
            (Shape::Text, _) => Some("for a string: `#[schemars(length(…))]`"),
            (Shape::Number, _) => Some("for a number: `#[schemars(range(…))]`"),
            (Shape::Flag, _) => Some("remove it: a boolean needs no validation"),
        }
    }
}

#[cfg(test)]
mod tests;
