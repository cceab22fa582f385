//! Reads YAML into JSON values, and writes JSON values as YAML in one fixed style: block collections, sorted keys, an indentation of two spaces,
//! lists at the indentation of their key, literal blocks for text of several lines. The output is the same value in YAML 1.1 and 1.2.
//! Not a serializer of a crate: the files are committed, so their style must not change with a dependency.

mod read;
mod scalar;

use serde_json::Value;

pub use read::{YamlError, documents};

/// Longer keys are written in the explicit form. The longest implicit key that every parser accepts is 1024 characters (YAML 1.2.2,
/// section 8.2.2).
const LONGEST_IMPLICIT_KEY: usize = 1000;

/// Writes `value` as one YAML document, without the leading `---`, ending in a line break.
///
/// # Guarantees
/// - The same value gives the same bytes, whatever order its keys were inserted in.
/// - Parsers of YAML 1.1 (Go's, Python's) and of YAML 1.2 read the same value: strings that either of them would read as
///   another type (`on`, `no`, `~`, `1e3`, `0o7`, `12:30`, `2001-01-01`, …) are quoted.
/// - Lines are never folded.
///
/// ```
/// let yaml = kubewright_schema::yaml::to_string(&serde_json::json!({"b": ["on", 1.0], "a": "one\ntwo\n"}));
/// assert_eq!(yaml, "a: |\n  one\n  two\nb:\n- 'on'\n- 1\n");
/// ```
pub fn to_string(value: &Value) -> String {
    let mut out = String::new();
    match value {
        Value::Object(map) if !map.is_empty() => block(value, 0, &mut out),
        Value::Array(list) if !list.is_empty() => block(value, 0, &mut out),
        flat => {
            out.push_str(&inline(flat));
            out.push('\n');
        }
    }
    out
}

/// Writes a collection that is not empty. The cursor is at the start of its first line, after the indentation.
fn block(value: &Value, indent: usize, out: &mut String) {
    match value {
        Value::Object(map) => {
            // If any crate of the build enables serde_json's `preserve_order`, the map is not sorted.
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by(|a, b| a.0.cmp(b.0));
            for (position, (key, value)) in entries.into_iter().enumerate() {
                if position > 0 {
                    pad(indent, out);
                }
                if key.len() > LONGEST_IMPLICIT_KEY {
                    out.push_str("? ");
                    out.push_str(&scalar::flow(key));
                    out.push('\n');
                    pad(indent, out);
                } else {
                    out.push_str(&scalar::flow(key));
                }
                out.push(':');
                member(value, indent, out);
            }
        }
        Value::Array(list) => {
            for (position, item) in list.iter().enumerate() {
                if position > 0 {
                    pad(indent, out);
                }
                out.push_str("- ");
                element(item, indent, out);
            }
        }
        _ => out.push_str(&inline(value)),
    }
}

/// Writes the value of a key. The cursor is right after the colon.
fn member(value: &Value, indent: usize, out: &mut String) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            out.push('\n');
            pad(indent + 2, out);
            block(value, indent + 2, out);
        }
        Value::Array(list) if !list.is_empty() => {
            out.push('\n');
            pad(indent, out);
            block(value, indent, out);
        }
        flat => {
            out.push(' ');
            leaf(flat, indent + 2, out);
        }
    }
}

/// Writes an item of a list. The cursor is right after the dash.
fn element(value: &Value, indent: usize, out: &mut String) {
    match value {
        Value::Object(map) if !map.is_empty() => block(value, indent + 2, out),
        Value::Array(list) if !list.is_empty() => block(value, indent + 2, out),
        flat => leaf(flat, indent + 2, out),
    }
}

fn leaf(value: &Value, indent: usize, out: &mut String) {
    if let Value::String(text) = value
        && let Some(literal) = scalar::literal(text, indent)
    {
        out.push_str(&literal);
    } else {
        out.push_str(&inline(value));
    }
    out.push('\n');
}

fn inline(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => scalar::number(number),
        Value::String(text) => scalar::flow(text),
        Value::Array(_) => "[]".to_owned(),
        Value::Object(_) => "{}".to_owned(),
    }
}

/// Adds the indentation in whole strings: every line needs it, and most builds of this crate are not optimised.
fn pad(indent: usize, out: &mut String) {
    const BLANKS: &str = "                                                                ";
    let mut left = indent;
    while left > 0 {
        let some = left.min(BLANKS.len());
        out.push_str(&BLANKS[..some]);
        left -= some;
    }
}
