//! Rust names for Kubernetes names: files, modules, types and variables that avoid keywords and names of generated code.

use super::{Kind, Origin, Pattern};
use heck::{ToKebabCase, ToSnakeCase};
use std::cmp::Ordering;

/// Strict and reserved keywords of edition 2024.
const KEYWORDS: [&str; 52] = [
    "Self", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro",
    "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static", "struct", "super",
    "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Keywords that cannot be raw identifiers, and file names with a special meaning in Rust.
const UNUSABLE_MODULES: [&str; 6] = ["crate", "lib", "main", "mod", "self", "super"];

/// Types that generated code, or what its derives expand to, names without a path. A kind with such a name gets the
/// suffix `Resource` in Rust; in Kubernetes it keeps its name.
pub const RESERVED: [&str; 99] = [
    "Action",
    "Api",
    "App",
    "Applied",
    "Arc",
    "AsMut",
    "AsRef",
    "BTreeMap",
    "Box",
    "Capabilities",
    "Cleanup",
    "Client",
    "Clone",
    "Condition",
    "Conditions",
    "ConfigMap",
    "Container",
    "Context",
    "Controller",
    "Copy",
    "CustomResource",
    "CustomResourceDefinition",
    "CustomResourceExt",
    "Debug",
    "Default",
    "DeleteParams",
    "Deployment",
    "DeploymentSpec",
    "Deserialize",
    "DoubleEndedIterator",
    "Drop",
    "Duration",
    "EnvVar",
    "Eq",
    "Err",
    "Error",
    "Event",
    "EventType",
    "ExactSizeIterator",
    "ExitCode",
    "Extend",
    "Flags",
    "Fn",
    "FnMut",
    "FnOnce",
    "From",
    "FromIterator",
    "Future",
    "Hash",
    "Into",
    "IntoFuture",
    "IntoIterator",
    "Iterator",
    "JsonSchema",
    "LabelSelector",
    "Manager",
    "None",
    "Object",
    "ObjectKey",
    "ObjectMeta",
    "Ok",
    "Operator",
    "Option",
    "Options",
    "Ord",
    "PartialEq",
    "PartialOrd",
    "Patch",
    "PatchParams",
    "Pod",
    "PodSecurityContext",
    "PodSpec",
    "PodTemplateSpec",
    "PostParams",
    "Reconciler",
    "Resource",
    "ResourceExt",
    "Result",
    "Rollout",
    "Schema",
    "SeccompProfile",
    "SecurityContext",
    "Self",
    "Send",
    "Serialize",
    "Sized",
    "Some",
    "Status",
    "String",
    "Sync",
    "TestCluster",
    "Time",
    "ToOwned",
    "ToString",
    "TryFrom",
    "TryInto",
    "Unpin",
    "Value",
    "Vec",
];

/// Whether Rust reserves this word.
pub fn is_keyword(word: &str) -> bool {
    KEYWORDS.contains(&word)
}

/// The file or folder name of a module: `a-b.c` becomes `a_b_c`, and names with a special meaning in Rust get a `_`.
pub fn module_file(name: &str) -> String {
    let mut file = name.to_ascii_lowercase().replace(['-', '.'], "_");
    if file.starts_with(|c: char| c.is_ascii_digit()) {
        file.insert(0, '_');
    }
    if UNUSABLE_MODULES.contains(&file.as_str()) {
        file.push('_');
    }
    file
}

/// The module of that file in Rust code: a raw identifier if it is a keyword.
pub fn module(file: &str) -> String {
    match is_keyword(file) {
        true => format!("r#{file}"),
        false => file.to_owned(),
    }
}

/// Types that the types of kinds with members, Jobs or a schedule name, in addition to [`RESERVED`].
const RESERVED_BY_PATTERNS: [&str; 3] = ["ConcurrencyPolicy", "KubeSchema", "Quantity"];

/// The Rust type of a kind.
pub fn type_name(kind: &Kind) -> String {
    if kind.origin == Origin::Kubernetes {
        return kind.name.to_string();
    }
    let is_named = kind.any_pattern(Pattern::has_types_of_its_own);
    let kind = kind.name.as_str();
    match RESERVED.contains(&kind) || is_named && RESERVED_BY_PATTERNS.contains(&kind) {
        true => format!("{kind}Resource"),
        false => kind.to_owned(),
    }
}

/// `FooBar` as `foo_bar`.
pub fn snake(kind: &str) -> String {
    kind.to_snake_case()
}

/// `FooBar` as `foo-bar`.
pub fn kebab(kind: &str) -> String {
    kind.to_kebab_case()
}

/// `foobar-audit` as `FoobarAudit`.
pub fn capitalised(name: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        letters.next().map_or(String::new(), |first| {
            format!("{}{}", first.to_ascii_uppercase(), letters.as_str())
        })
    };
    name.split('-').map(word).collect()
}

/// Local variables of generated code, in addition to the object's own.
const USED_VARIABLES: [&str; 12] = [
    "app",
    "args",
    "child",
    "cx",
    "error",
    "manager",
    "name",
    "namespace",
    "object",
    "ready",
    "status",
    "api",
];

/// A local variable for an object of this kind.
pub fn variable(kind: &str) -> String {
    let snake = snake(kind);
    match is_keyword(&snake) || USED_VARIABLES.contains(&snake.as_str()) {
        true => format!("{snake}_"),
        false => snake,
    }
}

/// The order in which rustfmt lists modules: by their bytes, raw or not.
pub fn module_order(a: &str, b: &str) -> Ordering {
    a.trim_start_matches("r#").cmp(b.trim_start_matches("r#"))
}

/// The order in which rustfmt (style edition 2024) lists imports: `_` first, runs of digits by value, then by letter.
pub fn import_order(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (
        a.trim_start_matches("r#").as_bytes(),
        b.trim_start_matches("r#").as_bytes(),
    );
    loop {
        match (left.first(), right.first()) {
            (None, None) => return a.cmp(b),
            (None, _) => return Ordering::Less,
            (_, None) => return Ordering::Greater,
            (Some(x), Some(y)) if x.is_ascii_digit() && y.is_ascii_digit() => {
                let (x, y) = (digits(&mut left), digits(&mut right));
                let ordering = x.len().cmp(&y.len()).then_with(|| x.cmp(y));
                if ordering.is_ne() {
                    return ordering;
                }
            }
            (Some(x), Some(y)) if x == y => {
                left = &left[1..];
                right = &right[1..];
            }
            (Some(b'_'), _) => return Ordering::Less,
            (_, Some(b'_')) => return Ordering::Greater,
            (Some(x), Some(y)) => return x.cmp(y),
        }
    }
}

/// Removes a run of digits from the front, and returns it without leading zeros.
fn digits<'a>(text: &mut &'a [u8]) -> &'a [u8] {
    let end = text.iter().position(|c| !c.is_ascii_digit()).unwrap_or(text.len());
    let (run, rest) = text.split_at(end);
    *text = rest;
    let zeros = run.iter().take_while(|c| **c == b'0').count();
    &run[zeros.min(run.len() - 1)..]
}
