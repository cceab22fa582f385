//! The functions that a rule can call, with the signatures that kube-apiserver 1.37 declares for CRDs.

mod authz;
mod call;
pub(super) mod format;
mod formats;
mod lists;
mod net;
mod quantity;
mod releases;
mod semver;
mod text;
mod url;

pub use authz::{Account, Asked, Authorizer, Decision};
pub(super) use authz::{Question, Step};
pub(super) use call::call;
pub(super) use formats::NamedFormat;
pub(super) use net::Prefix;
pub use releases::{ESCAPED, newest_function};
pub(super) use semver::Version;
pub(super) use text::search;
pub(super) use url::Url;

use crate::types::Type;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

/// One line per overload: function, id and signature; the receiver is before the dot.
const SIGNATURES: &str = include_str!("signatures.txt");

/// The function that only mutations may call, and its line.
pub(super) const ESCAPE_KEY: &str = "jsonpatch.escapeKey";
const OF_MUTATIONS: &str = "jsonpatch.escapeKey string_jsonpatch_escapeKey_string (string) -> string";

/// One overload of a function.
#[derive(Debug)]
pub(super) struct Overload {
    pub(super) id: &'static str,
    /// Whether the first argument is the receiver, before the dot.
    pub(super) member: bool,
    pub(super) args: Vec<Type>,
    pub(super) result: Type,
    /// The type parameters.
    pub(super) parameters: Vec<char>,
}

static FUNCTIONS: LazyLock<HashMap<&'static str, Vec<Overload>>> = LazyLock::new(|| {
    let mut functions: HashMap<&'static str, Vec<Overload>> = HashMap::new();
    for line in SIGNATURES.lines().chain([OF_MUTATIONS]) {
        if let Some((function, overload)) = overload(line) {
            functions.entry(function).or_default().push(overload);
        }
    }
    functions
});

/// All overloads of a function, if it exists.
pub(super) fn overloads(function: &str) -> Option<&'static [Overload]> {
    FUNCTIONS.get(function).map(Vec::as_slice)
}

/// The name of a function as a static string.
pub(super) fn name(function: &str) -> Option<&'static str> {
    FUNCTIONS.get_key_value(function).map(|(name, _)| *name)
}

fn overload(line: &'static str) -> Option<(&'static str, Overload)> {
    let (function, rest) = line.split_once(' ')?;
    let (id, signature) = rest.split_once(' ')?;
    let (arguments, result) = signature.rsplit_once(" -> ")?;
    let (receiver, arguments) = match arguments.find(".(") {
        Some(at) => (Some(&arguments[..at]), &arguments[at + 1..]),
        None => (None, arguments),
    };
    let arguments = arguments.strip_prefix('(')?.strip_suffix(')')?;
    let args: Vec<Type> = receiver.into_iter().chain(split(arguments)).map(parse).collect();
    let result = parse(result);
    let mut parameters = Vec::new();
    for r#type in args.iter().chain([&result]) {
        letters(r#type, &mut parameters);
    }
    Some((
        function,
        Overload {
            id,
            member: receiver.is_some(),
            args,
            result,
            parameters,
        },
    ))
}

/// Splits at the commas outside of parentheses.
fn split(list: &'static str) -> Vec<&'static str> {
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (at, c) in list.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(list[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    if !list.is_empty() {
        parts.push(list[start..].trim());
    }
    parts
}

fn parse(text: &'static str) -> Type {
    let (name, inner) = match text.strip_suffix(')').and_then(|text| text.split_once('(')) {
        Some((name, inner)) => (name, split(inner).into_iter().map(parse).collect()),
        None => (text, Vec::new()),
    };
    let mut inner = inner.into_iter();
    let mut next = || inner.next().unwrap_or(Type::Dyn);
    match name {
        "bool" => Type::Bool,
        "bytes" => Type::Bytes,
        "double" => Type::Double,
        "duration" => Type::Duration,
        "dyn" => Type::Dyn,
        "int" => Type::Int,
        "list" => Type::list(next()),
        "map" => {
            let key = next();
            Type::map(key, next())
        }
        "net.IP" | "net.CIDR" => Type::Opaque(name, Arc::from([])),
        "optional_type" => Type::optional(next()),
        "string" => Type::String,
        "timestamp" => Type::Timestamp,
        "type" => Type::Meta(Some(Arc::new(next()))),
        "uint" => Type::Uint,
        letter if letter.len() == 1 => Type::Param(letter.chars().next().unwrap_or('A')),
        message => Type::Message(message),
    }
}

fn letters(r#type: &Type, out: &mut Vec<char>) {
    if let Type::Param(letter) = r#type
        && !out.contains(letter)
    {
        out.push(*letter);
    }
    for parameter in r#type.parameters() {
        letters(parameter, out);
    }
}
