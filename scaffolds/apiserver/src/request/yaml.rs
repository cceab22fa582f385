//! Reads YAML as kube-apiserver does, by the rules of YAML 1.1: `yes` is a boolean and `010` is eight. Only the first
//! document is read. Anchors and merge keys are resolved, within a limit.

use granit_parser::{Event, Parser, ScalarStyle, ScanError, Span, Tag};
use serde_json::{Map, Value};

use super::scalar;
use crate::json::{DEPTH, Document};

/// The maximum number of values in a document, including those repeated by aliases.
const MOST: usize = 1_000_000;

/// Reads the first document; duplicate keys are reported as `line 3: key "data" already set in map`.
///
/// # Errors
/// Our parser's message about malformed text, after upstream's `yaml: `.
pub fn read(text: &[u8]) -> Result<Document, String> {
    let text = str::from_utf8(text).map_err(|_| "yaml: invalid leading UTF-8 octet".to_owned())?;
    // Another crate in the same build may have enabled comments.
    let options = granit_parser::options! { emit_comments: false };
    let mut reader = YamlReader {
        parser: Parser::new_from_str_with_options(text, options),
        anchors: Vec::new(),
        left: MOST,
        depth: 0,
        duplicates: Vec::new(),
    };
    loop {
        match reader.next()? {
            (Event::StreamStart | Event::DocumentStart(..), _) => {}
            (Event::StreamEnd | Event::DocumentEnd, _) => return Ok((Value::Null, Vec::new())),
            (event, span) => {
                let value = reader.node(event, span)?;
                return Ok((value, reader.duplicates));
            }
        }
    }
}

struct YamlReader<'a> {
    parser: Parser<'a, granit_parser::StrInput<'a>>,
    /// The parser's number of each anchor, its value, and how many values that contains.
    anchors: Vec<(usize, Value, usize)>,
    left: usize,
    depth: usize,
    duplicates: Vec<String>,
}

impl<'a> YamlReader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Span), String> {
        match self.parser.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => Err(malformed(&error)),
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    fn node(&mut self, event: Event<'a>, span: Span) -> Result<Value, String> {
        let before = self.left;
        self.spend(1)?;
        let (value, anchor) = match event {
            Event::Scalar(text, style, anchor, tag) => (plain(&text, style, tag.as_deref())?, anchor),
            Event::SequenceStart(_, anchor, _) => (self.nested(Self::sequence)?, anchor),
            Event::MappingStart(_, anchor, _) => (self.nested(Self::mapping)?, anchor),
            Event::Alias(id) => return self.alias(id),
            _ => {
                return Err(format!(
                    "yaml: line {}: did not find expected node content",
                    span.start.line()
                ));
            }
        };
        if anchor > 0 {
            self.anchors.push((anchor, value.clone(), before - self.left));
        }
        Ok(value)
    }

    fn alias(&mut self, id: usize) -> Result<Value, String> {
        let found = self.anchors.iter().rev().find(|(anchor, ..)| *anchor == id);
        let (value, size) = found
            .map(|(_, value, size)| (value.clone(), *size))
            .ok_or("yaml: anchor value contains itself")?;
        self.spend(size)?;
        Ok(value)
    }

    fn spend(&mut self, values: usize) -> Result<(), String> {
        self.left = self
            .left
            .checked_sub(values)
            .ok_or("yaml: document contains excessive aliasing")?;
        Ok(())
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Value, String>) -> Result<Value, String> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err("yaml: exceeded max depth".to_owned());
        }
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn sequence(&mut self) -> Result<Value, String> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(items.into()),
                (event, span) => items.push(self.node(event, span)?),
            }
        }
    }

    fn mapping(&mut self) -> Result<Value, String> {
        let mut map = Map::new();
        let mut merged = Map::new();
        loop {
            let (key, span) = match self.next()? {
                (Event::MappingEnd, _) => break,
                other => other,
            };
            let line = span.start.line();
            let merges = matches!(&key, Event::Scalar(text, ScalarStyle::Plain, _, None) if text == "<<");
            let key = self.node(key, span)?;
            let (value, span) = self.next()?;
            let value = self.node(value, span)?;
            if merges {
                merge(&mut merged, value)?;
                continue;
            }
            let key = name(&key)?;
            if map.contains_key(&key) {
                let quoted = kubewright_machinery::go::quote(&key);
                self.duplicates
                    .push(format!("line {line}: key {quoted} already set in map"));
            }
            map.insert(key, value);
        }
        for (key, value) in merged {
            map.entry(key).or_insert(value);
        }
        Ok(map.into())
    }
}

/// Merges the value of a `<<`: a map, or several maps of which the first takes precedence.
fn merge(into: &mut Map<String, Value>, value: Value) -> Result<(), String> {
    let maps = match value {
        Value::Array(maps) => maps,
        one => vec![one],
    };
    for map in maps {
        let Value::Object(map) = map else {
            return Err("yaml: map merge requires map or sequence of maps as the value".to_owned());
        };
        for (key, value) in map {
            into.entry(key).or_insert(value);
        }
    }
    Ok(())
}

/// A key as a string, because JSON has no others.
fn name(key: &Value) -> Result<String, String> {
    match key {
        Value::String(text) => Ok(text.clone()),
        Value::Bool(flag) => Ok(flag.to_string()),
        Value::Number(number) => Ok(kubewright_machinery::go::plain(number)),
        other => Err(format!("unsupported map key: {other}")),
    }
}

fn plain(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Result<Value, String> {
    match tag.and_then(Tag::core_suffix) {
        Some("str") => Ok(text.into()),
        Some("binary") => scalar::binary(text).map(Value::String),
        None if style != ScalarStyle::Plain => Ok(text.into()),
        _ => scalar::resolve(text),
    }
}

fn malformed(error: &ScanError) -> String {
    // Upstream counts lines from zero, and omits line zero.
    match error.marker().line() {
        0 | 1 => format!("yaml: {}", error.info()),
        line => format!("yaml: line {line}: {}", error.info()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn value(text: &str) -> Value {
        read(text.as_bytes()).unwrap().0
    }

    #[test]
    fn only_the_first_document_is_decoded() {
        assert_eq!(value("a: {b: [1, x]}\n---\nc: d"), json!({"a": {"b": [1, "x"]}}));
        assert_eq!(value(""), Value::Null);
        assert_eq!(value("# nothing\n"), Value::Null);
        let value = value("# first\na: \"yes\" # quoted\nb: 'no'\nc: |\n  1\n");
        assert_eq!(value, json!({"a": "yes", "b": "no", "c": "1\n"}));
    }

    #[test]
    fn keys_become_texts_and_duplicates_are_reported_with_their_line() {
        let (value, duplicates) = read(b"a: 1\n1: x\ntrue: z\na: {b: 1, b: 2}\n").unwrap();
        assert_eq!(value, json!({"a": {"b": 2}, "1": "x", "true": "z"}));
        assert_eq!(
            duplicates,
            [
                "line 4: key \"b\" already set in map",
                "line 4: key \"a\" already set in map"
            ]
        );
    }

    #[test]
    fn anchors_and_merge_keys_are_resolved() {
        assert_eq!(
            value("a: &x {b: 1}\nc: *x\nd: {<<: *x, e: 2}"),
            json!({"a": {"b": 1}, "c": {"b": 1}, "d": {"b": 1, "e": 2}})
        );
        assert!(read(b"&a [*a]").is_err());
    }

    #[test]
    fn an_alias_bomb_and_deep_nesting_are_refused() {
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..12 {
            let alias = format!("*a{}", level - 1);
            bomb += &format!("a{level}: &a{level} [{}]\n", vec![alias; 10].join(", "));
        }
        assert_eq!(
            read(bomb.as_bytes()).unwrap_err(),
            "yaml: document contains excessive aliasing"
        );
        assert!(read("[".repeat(10_000).as_bytes()).is_err());
        assert!(read("- ".repeat(10_000).as_bytes()).is_err());
    }

    #[test]
    fn invalid_yaml_is_reported() {
        for text in ["a: [b\nfoo", "a: b: c", "\"", "*x", "a: &", "%", "{", "\u{0}"] {
            assert!(read(text.as_bytes()).unwrap_err().starts_with("yaml: "), "{text:?}");
        }
        assert!(read(b"\xff\xfe").is_err());
    }
}
