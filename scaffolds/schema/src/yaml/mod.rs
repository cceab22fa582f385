//! YAML into JSON values, and out of them in one fixed style: block collections, sorted keys, two spaces, lists flush with their
//! key, literal blocks for text of several lines. Reads back as the same value under YAML 1.1 and 1.2 alike.

mod read;
mod scalar;

use serde_json::Value;

pub use read::{YamlError, documents};

/// The longest implicit key that every reader accepts is 1024 characters (YAML 1.2.2, section 8.2.2); longer ones are
/// written in the explicit form.
const LONGEST_IMPLICIT_KEY: usize = 1000;

/// Writes `value` as one YAML document, without the leading `---`, ending in a line break.
///
/// # Guarantees
/// - The same value gives the same bytes, whatever order its keys were inserted in.
/// - A reader of YAML 1.1 (Go's, Python's) and one of YAML 1.2 see the value as given: what either would take for
///   another type (`on`, `no`, `~`, `1e3`, `0o7`, `12:30`, `2001-01-01`, …) is quoted.
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

/// Writes a collection that is not empty; the cursor stands where its first line begins, already indented.
fn block(value: &Value, indent: usize, out: &mut String) {
    match value {
        Value::Object(map) => {
            // With serde_json's `preserve_order` switched on anywhere in the build, the map itself is not sorted.
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

/// The value of a key, the cursor being right after its colon.
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

/// An item of a list, the cursor being right after its dash.
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

/// Whole strings at once: every line is padded, and most of the time in a build that is not optimised.
fn pad(indent: usize, out: &mut String) {
    const BLANKS: &str = "                                                                ";
    let mut left = indent;
    while left > 0 {
        let some = left.min(BLANKS.len());
        out.push_str(&BLANKS[..some]);
        left -= some;
    }
}
