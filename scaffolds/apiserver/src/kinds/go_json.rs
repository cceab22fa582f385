//! Errors of Go's JSON decoder, exact for the common cases.

use serde_json::{Value, error::Category};

/// Ends of serde's messages about a byte, and of Go's.
const PLACES: [(&str, &str); 7] = [
    ("expected value", "looking for beginning of value"),
    ("trailing comma", "looking for beginning of value"),
    ("key must be a string", "looking for beginning of object key string"),
    ("expected `:`", "after object key"),
    ("expected `,` or `]`", "after array element"),
    ("expected `,` or `}`", "after object key:value pair"),
    ("trailing characters", "after top-level value"),
];

/// The value in a text.
///
/// # Errors
/// Go's error if the text is not JSON.
pub(in crate::kinds) fn read(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| {
        let said = error.to_string();
        let place = PLACES.iter().find(|(start, _)| said.starts_with(start));
        let line = text.lines().nth(error.line().saturating_sub(1)).unwrap_or_default();
        let byte = line.as_bytes().get(error.column().saturating_sub(1));
        match (error.classify(), place, byte) {
            (Category::Syntax, Some((_, place)), Some(byte)) => {
                format!("invalid character '{}' {place}", char::from(*byte))
            }
            (Category::Syntax, ..) => said,
            _ => "unexpected end of JSON input".to_owned(),
        }
    })
}

/// The error about a value that does not fit `target`, such as `value of type []string`.
pub(in crate::kinds) fn mismatch(value: &Value, target: &str) -> String {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    format!("json: cannot unmarshal {kind} into Go {target}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_texts_have_the_errors_of_go() {
        for (text, error) in [
            ("x", "invalid character 'x' looking for beginning of value"),
            ("", "unexpected end of JSON input"),
            ("[", "unexpected end of JSON input"),
            ("[] x", "invalid character 'x' after top-level value"),
            ("[1 2]", "invalid character '2' after array element"),
            ("[1,]", "invalid character ']' looking for beginning of value"),
            (
                "{1}",
                "invalid character '1' looking for beginning of object key string",
            ),
            ("{\"a\" 1}", "invalid character '1' after object key"),
            ("{\"a\":1 2}", "invalid character '2' after object key:value pair"),
        ] {
            assert_eq!(read(text), Err(error.to_owned()), "{text}");
        }
    }
}
