//! Writes one string or number: plain if no parser could read it as another type, otherwise in single
//! quotes, in double quotes if it needs escapes, or as a literal block if it has several lines.

use serde_json::Number;
use std::fmt::Write;

/// Words that some parser resolves to a boolean, null, a number, a merge key or a default value
/// (yaml.org/type of YAML 1.1, and the core schema of YAML 1.2).
const RESERVED: [&str; 13] = [
    "y", "n", "yes", "no", "true", "false", "on", "off", "null", "nan", "inf", ".nan", ".inf",
];

/// A string on one line.
pub(super) fn flow(text: &str) -> String {
    if plain(text) {
        text.to_owned()
    } else if text.is_empty() {
        "\"\"".to_owned()
    } else if all_printable(text) {
        format!("'{}'", text.replace('\'', "''"))
    } else {
        escaped(text)
    }
}

/// A string of several lines as a literal block, with its header and without the last line break; `None` if a literal block cannot
/// represent the text.
pub(super) fn literal(text: &str, indent: usize) -> Option<String> {
    let body = text.trim_end_matches('\n');
    let fits = body.contains('\n')
        && body.chars().all(|c| c == '\n' || c == '\t' || printable(c))
        // The first line sets the indentation, and parsers differ in how they read a line with only spaces.
        && !body.starts_with(['\n', ' ', '\t'])
        && body.split('\n').all(|line| line.is_empty() || !line.trim_matches([' ', '\t']).is_empty());
    if !fits {
        return None;
    }
    let chomp = match text.len() - body.len() {
        0 => "-",
        1 => "",
        _ => "+",
    };
    let mut out = format!("|{chomp}");
    let shown = text.strip_suffix('\n').unwrap_or(text);
    for line in shown.split('\n') {
        out.push('\n');
        if !line.is_empty() {
            super::pad(indent, &mut out);
            out.push_str(line);
        }
    }
    Some(out)
}

/// A number in a form that every parser reads as a number: integral ones without a fraction, exponents with a point and a sign, which
/// YAML 1.1 requires of a float.
pub(super) fn number(number: &Number) -> String {
    if number.is_i64() || number.is_u64() {
        return number.to_string();
    }
    let Some(float) = number.as_f64() else {
        return number.to_string();
    };
    // Up to 2^53 every integral float is an exact integer, and Go prints it as one.
    if float.fract() == 0.0 && float.abs() <= 9_007_199_254_740_992.0 {
        return format!("{float:.0}");
    }
    let text = float.to_string();
    if text.len() <= 24 {
        return text;
    }
    let text = format!("{float:e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let point = if mantissa.contains('.') { "" } else { ".0" };
    let sign = if exponent.starts_with('-') { "" } else { "+" };
    format!("{mantissa}{point}e{sign}{exponent}")
}

/// Whether `text` needs no quotes. Deliberately strict: text that starts like a number (some parsers read `.e+3` as one), a date or an
/// indicator is quoted.
fn plain(text: &str) -> bool {
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return false };
    let starts_well = first.is_ascii_alphabetic()
        || matches!(first, '_' | '/' | '$' | '^' | '(')
        || (first == '.'
            && chars
                .next()
                .is_some_and(|c| c.is_ascii_alphabetic() && !matches!(c, 'e' | 'E')));
    starts_well
        && all_printable(text)
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains(" #")
        && !RESERVED.iter().any(|word| word.eq_ignore_ascii_case(text))
}

/// Whether all characters are [`printable`]. For ASCII text, which is nearly all text, checking bytes is much faster.
fn all_printable(text: &str) -> bool {
    if text.is_ascii() {
        text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
    } else {
        text.chars().all(printable)
    }
}

/// Whether every parser accepts the character unescaped inside quotes: printable ASCII and the letters of the basic plane.
fn printable(c: char) -> bool {
    matches!(c, ' '..='~' | '\u{a0}'..='\u{2027}' | '\u{202a}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}')
}

fn escaped(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if printable(c) => out.push(c),
            // Writing to a string cannot fail.
            c if (c as u32) <= 0xff => _ = write!(out, "\\x{:02x}", c as u32),
            c if (c as u32) <= 0xffff => _ = write!(out, "\\u{:04x}", c as u32),
            c => _ = write!(out, "\\U{:08x}", c as u32),
        }
    }
    out.push('"');
    out
}
