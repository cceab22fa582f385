//! Reads JSON as kube-apiserver reads it: with Go's messages for malformed text, a list of duplicate fields (the last
//! one wins), U+FFFD for invalid UTF-8, and a limit on nesting.

mod text;

use std::collections::BTreeSet;

use serde_json::{Map, Number, Value};

/// The depth to which arrays and objects may nest.
pub const DEPTH: usize = kubewright_schema::json_patch::DEEPEST;

/// A document, and a warning for each duplicate field: `duplicate field "spec.a"`.
pub type Document = (Value, Vec<String>);

/// Go's error for a value that does not fit `target`, for example `value of type []string`.
pub fn mismatch(value: &Value, target: &str) -> String {
    format!(
        "json: cannot unmarshal {} into Go {target}",
        kubewright_machinery::go::kind(value)
    )
}

/// Reads one document.
///
/// # Errors
/// Go's message about malformed text, for example `unexpected end of JSON input`.
pub fn read(text: &[u8]) -> Result<Document, String> {
    let mut reader = JsonReader::new(text, BTreeSet::new());
    let value = reader.value()?;
    match reader.token() {
        None => Ok((value, reader.errors)),
        Some(byte) => Err(invalid(byte, "after top-level value")),
    }
}

/// The sentences about unknown and duplicate fields of a text that was read, as Go's strict decoder of structs says them: in the order of
/// the text, each once, and none about what is in an unknown field. `unknown` has those about unknown fields.
pub fn strict_errors(text: &[u8], unknown: &[String]) -> Vec<String> {
    /// The number of errors that Go's decoder keeps.
    const MOST: usize = 100;
    let mut reader = JsonReader::new(text, unknown.iter().map(String::as_str).collect());
    // It was read before.
    let _ = reader.value();
    let mut seen = BTreeSet::new();
    let found = reader
        .errors
        .into_iter()
        .filter(|sentence| seen.insert(sentence.clone()));
    found.take(MOST).collect()
}

struct JsonReader<'a> {
    text: &'a [u8],
    at: usize,
    path: Vec<JsonStep>,
    /// The errors about duplicate fields, and about the fields of `unknown`.
    errors: Vec<String>,
    unknown: BTreeSet<&'a str>,
    is_in_unknown: bool,
}

/// A step of the path to the value that is being read; the number of steps is its depth.
enum JsonStep {
    Field(String),
    Item(usize),
}

type Read<T> = Result<T, String>;

impl<'a> JsonReader<'a> {
    fn new(text: &'a [u8], unknown: BTreeSet<&'a str>) -> Self {
        Self {
            text,
            at: 0,
            path: Vec::new(),
            errors: Vec::new(),
            unknown,
            is_in_unknown: false,
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// The next byte that is not white space, without consuming it.
    fn token(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.peek() {
            self.at += 1;
        }
        self.peek()
    }

    fn value(&mut self) -> Read<Value> {
        match self.token().ok_or_else(end)? {
            byte @ (b'{' | b'[') if self.path.len() >= DEPTH => Err(invalid(byte, "exceeded max depth")),
            b'{' => self.object(),
            b'[' => self.array(),
            b'"' => self.string().map(Value::String),
            b't' => self.literal("true", Value::Bool(true)),
            b'f' => self.literal("false", Value::Bool(false)),
            b'n' => self.literal("null", Value::Null),
            b'-' | b'0'..=b'9' => self.number(),
            byte => Err(invalid(byte, "looking for beginning of value")),
        }
    }

    fn object(&mut self) -> Read<Value> {
        const KEY: &str = "looking for beginning of object key string";
        self.at += 1;
        let mut object = Map::new();
        if self.token() == Some(b'}') {
            self.at += 1;
            return Ok(Value::Object(object));
        }
        loop {
            match self.token().ok_or_else(end)? {
                b'"' => {}
                byte => return Err(invalid(byte, KEY)),
            }
            let key = self.string()?;
            self.expect(b':', "after object key")?;
            self.path.push(JsonStep::Field(key.clone()));
            let was_in_unknown = self.is_in_unknown;
            self.judge(object.contains_key(&key));
            let value = self.value()?;
            object.insert(key, value);
            self.is_in_unknown = was_in_unknown;
            self.path.pop();
            if self.ends(b'}', "after object key:value pair")? {
                return Ok(Value::Object(object));
            }
        }
    }

    /// Notes that the field is unknown, or a duplicate.
    fn judge(&mut self, is_duplicate: bool) {
        if self.is_in_unknown || (self.unknown.is_empty() && !is_duplicate) {
            return;
        }
        let field = kubewright_machinery::go::quote(&self.shown_path());
        let unknown = format!("unknown field {field}");
        if self.unknown.contains(unknown.as_str()) {
            self.errors.push(unknown);
            self.is_in_unknown = true;
        } else if is_duplicate {
            self.errors.push(format!("duplicate field {field}"));
        }
    }

    fn array(&mut self) -> Read<Value> {
        self.at += 1;
        let mut items = Vec::new();
        if self.token() == Some(b']') {
            self.at += 1;
            return Ok(Value::Array(items));
        }
        loop {
            self.path.push(JsonStep::Item(items.len()));
            items.push(self.value()?);
            self.path.pop();
            if self.ends(b']', "after array element")? {
                return Ok(Value::Array(items));
            }
        }
    }

    fn expect(&mut self, wanted: u8, whereabouts: &str) -> Read<()> {
        match self.token().ok_or_else(end)? {
            byte if byte == wanted => self.at += 1,
            byte => return Err(invalid(byte, whereabouts)),
        }
        Ok(())
    }

    /// Consumes a comma or the closing bracket.
    fn ends(&mut self, close: u8, whereabouts: &str) -> Read<bool> {
        match self.token().ok_or_else(end)? {
            byte if byte == close || byte == b',' => {
                self.at += 1;
                Ok(byte == close)
            }
            byte => Err(invalid(byte, whereabouts)),
        }
    }

    fn literal(&mut self, literal: &str, value: Value) -> Read<Value> {
        for wanted in literal.bytes() {
            let found = self.here();
            if found != wanted {
                let whereabouts = format!("in literal {literal} (expecting '{}')", char::from(wanted));
                return Err(invalid(found, &whereabouts));
            }
            self.at += 1;
        }
        Ok(value)
    }

    fn number(&mut self) -> Read<Value> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.here() {
            b'0' => self.at += 1,
            b'1'..=b'9' => self.digits(),
            byte => return Err(invalid(byte, "in numeric literal")),
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.some_digits("after decimal point in numeric literal")?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.some_digits("in exponent of numeric literal")?;
        }
        let text = self
            .text
            .get(start..self.at)
            .and_then(|it| str::from_utf8(it).ok())
            .unwrap_or_default();
        number(text).map(Value::Number)
    }

    fn some_digits(&mut self, whereabouts: &str) -> Read<()> {
        match self.here() {
            b'0'..=b'9' => self.digits(),
            byte => return Err(invalid(byte, whereabouts)),
        }
        Ok(())
    }

    fn digits(&mut self) {
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
    }

    /// The byte that Go's scanner reports: at the end of the text it reads a blank.
    fn here(&self) -> u8 {
        self.peek().unwrap_or(b' ')
    }

    fn shown_path(&self) -> String {
        self.path.iter().fold(String::new(), |path, step| match step {
            JsonStep::Field(name) if path.is_empty() => name.clone(),
            JsonStep::Field(name) => format!("{path}.{name}"),
            JsonStep::Item(index) => format!("{path}[{index}]"),
        })
    }
}

/// An int64 if the text is an integer that fits, otherwise a float64, even of a whole number such as `1.0` and `1e3`.
pub fn number(text: &str) -> Result<Number, String> {
    if let Ok(integer) = text.parse::<i64>() {
        return Ok(integer.into());
    }
    let float = text.parse::<f64>().unwrap_or(f64::INFINITY);
    Number::from_f64(float).ok_or_else(|| format!("json: cannot unmarshal number {text} into Go value of type float64"))
}

fn end() -> String {
    "unexpected end of JSON input".to_owned()
}

fn invalid(byte: u8, whereabouts: &str) -> String {
    let shown = match byte {
        b'\'' => "'\\''".to_owned(),
        b'"' => "'\"'".to_owned(),
        byte => {
            let quoted = kubewright_machinery::go::quote(&char::from(byte).to_string());
            format!("'{}'", quoted.trim_matches('"'))
        }
    };
    format!("invalid character {shown} {whereabouts}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Malformed texts, with the answers of kube-apiserver 1.37.2.
    const MALFORMED: &[(&str, &str)] = &[
        ("", "unexpected end of JSON input"),
        ("{", "unexpected end of JSON input"),
        ("{\"a\"", "unexpected end of JSON input"),
        ("{\"a\":", "unexpected end of JSON input"),
        ("{\"a\":1", "unexpected end of JSON input"),
        ("\"abc", "unexpected end of JSON input"),
        (
            "{bad",
            "invalid character 'b' looking for beginning of object key string",
        ),
        (
            "{\"a\":1,}",
            "invalid character '}' looking for beginning of object key string",
        ),
        ("[1,]", "invalid character ']' looking for beginning of value"),
        ("\"a\\q\"", "invalid character 'q' in string escape code"),
        ("\"\\u12", "invalid character ' ' in \\u hexadecimal character escape"),
        ("01", "invalid character '1' after top-level value"),
        ("-", "invalid character ' ' in numeric literal"),
        ("1.", "invalid character ' ' after decimal point in numeric literal"),
        ("1e", "invalid character ' ' in exponent of numeric literal"),
        ("tru", "invalid character ' ' in literal true (expecting 'e')"),
        ("{\"a\" 1}", "invalid character '1' after object key"),
        ("{\"a\":1}}", "invalid character '}' after top-level value"),
        ("\"a\tb\"", "invalid character '\\t' in string literal"),
        ("{\"a\":-x}", "invalid character 'x' in numeric literal"),
    ];

    #[test]
    fn malformed_json_has_the_errors_of_go() {
        for (text, said) in MALFORMED {
            assert_eq!(read(text.as_bytes()).unwrap_err(), *said, "{text}");
        }
    }

    #[test]
    fn well_formed_json_is_decoded_as_by_serde() {
        let text = r#" {"a": [1, -2.5, 1e3, true, null, "x\n\u00e9\ud83d\ude00"], "b": {}, "c": []} "#;
        let (value, duplicates) = read(text.as_bytes()).unwrap();
        assert_eq!(
            value,
            json!({"a": [1, -2.5, 1000.0, true, null, "x\né😀"], "b": {}, "c": []})
        );
        assert!(duplicates.is_empty());
    }

    #[test]
    fn the_last_of_duplicate_fields_wins_and_is_reported() {
        let (value, duplicates) = read(br#"{"spec":{"a":1,"a":2,"l":[{"b":1,"b":1}]}}"#).unwrap();
        assert_eq!(value, json!({"spec": {"a": 2, "l": [{"b": 1}]}}));
        assert_eq!(
            duplicates,
            ["duplicate field \"spec.a\"", "duplicate field \"spec.l[0].b\""]
        );
    }

    #[test]
    fn strict_errors_are_in_the_order_of_the_text() {
        let text = br#"{"b":1,"spec":{"l":[{"x":1,"a":2}],"d":1,"u":{"k":1,"k":2},"d":2,"u":3,"d":3},"a":1}"#;
        let unknown = ["a", "b", "spec.l[0].x", "spec.u"].map(|path| format!("unknown field \"{path}\""));
        assert_eq!(
            strict_errors(text, &unknown),
            [
                "unknown field \"b\"",
                "unknown field \"spec.l[0].x\"",
                "unknown field \"spec.u\"",
                "duplicate field \"spec.d\"",
                "unknown field \"a\"",
            ]
        );
    }

    #[test]
    fn deep_nesting_is_refused() {
        let deep = "[".repeat(100_000);
        assert_eq!(
            read(deep.as_bytes()).unwrap_err(),
            "invalid character '[' exceeded max depth"
        );
        let fits = format!("{}{}", "[".repeat(DEPTH), "]".repeat(DEPTH));
        assert!(read(fits.as_bytes()).is_ok());
    }

    #[test]
    fn invalid_utf8_is_replaced() {
        assert_eq!(read(b"\"a\xffb\"").unwrap().0, json!("a\u{fffd}b"));
        assert_eq!(read(br#""\ud800x""#).unwrap().0, json!("\u{fffd}x"));
        assert_eq!(read(br#""\ud800\u0041""#).unwrap().0, json!("\u{fffd}A"));
    }

    #[test]
    fn numbers_are_parsed_as_in_go() {
        assert_eq!(
            read(b"9223372036854775808").unwrap().0,
            json!(9_223_372_036_854_775_808.0_f64)
        );
        assert_eq!(read(b"[1, 1.0, 1e3]").unwrap().0, json!([1, 1.0, 1000.0]));
        assert!(
            read(b"1e999")
                .unwrap_err()
                .starts_with("json: cannot unmarshal number 1e999")
        );
    }
}
