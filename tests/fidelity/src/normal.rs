//! A comparable form of answers: values that differ between runs on the same server are replaced by names.

use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

use crate::Answer;

/// The answers of one program in the form in which two servers must agree.
///
/// - `$ns` for the namespace; `<time>`, `<microtime>`; `<uid N>` in the order of appearance;
/// - a resourceVersion becomes its rank among those of objects (`<rv 3>`), which preserves order and equality; that of
///   a list or bookmark becomes the rank of the last object version that it includes, because other writers on the same
///   server increase revisions too;
/// - causes and the managers of an object are sets, in any order;
/// - random suffixes, allocated addresses and ports, continue tokens and ages become a word, and so do descriptions of
///   columns and objects quoted in messages.
pub fn form(answers: &[Answer], namespace: &str) -> Vec<Answer> {
    let mut names = Names {
        namespace: namespace.to_owned(),
        versions: BTreeSet::new(),
        uids: BTreeMap::new(),
    };
    answers.iter().for_each(|answer| names.collect(&answer.body));
    let mut formed = answers.to_vec();
    for answer in &mut formed {
        names.value(&mut answer.body, "");
        for value in answer.headers.values_mut().flatten() {
            *value = names.text(value);
        }
    }
    formed
}

/// The audiences of the two servers' tokens.
const AUDIENCES: [&str; 2] = [
    "\"https://127.0.0.1\"",
    "\"https://kubernetes.default.svc.cluster.local\"",
];

struct Names {
    namespace: String,
    versions: BTreeSet<u64>,
    uids: BTreeMap<String, usize>,
}

impl Names {
    fn collect(&mut self, value: &Value) {
        match value {
            Value::Object(map) => {
                let version = map.get("resourceVersion").and_then(Value::as_str);
                if let (Some(version), true) = (version.and_then(|it| it.parse().ok()), map.contains_key("name")) {
                    self.versions.insert(version);
                }
                map.values().for_each(|inner| self.collect(inner));
            }
            Value::Array(items) => items.iter().for_each(|inner| self.collect(inner)),
            _ => {}
        }
    }

    fn value(&mut self, value: &mut Value, field: &str) {
        match value {
            Value::Object(map) => self.object(map),
            Value::Array(items) => items.iter_mut().for_each(|inner| self.value(inner, field)),
            Value::String(text) => *text = self.string(text, field),
            Value::Number(_) if ["nodePort", "healthCheckNodePort"].contains(&field) => *value = "<port>".into(),
            _ => {}
        }
    }

    fn object(&mut self, map: &mut Map<String, Value>) {
        unordered(map);
        timeless(map);
        let generated = map.get("generateName").and_then(Value::as_str).map(str::to_owned);
        if let (Some(prefix), Some(Value::String(name))) = (generated, map.get_mut("name"))
            && name.len() == prefix.len() + 5
            && name.starts_with(&prefix)
        {
            *name = format!("{prefix}<random>");
        }
        // In the order of a Go map.
        for list in ["resourceRules", "nonResourceRules"] {
            if let Some(rules) = map.get_mut(list).and_then(Value::as_array_mut) {
                rules.sort_by_key(ToString::to_string);
            }
        }
        // Servers may describe a column differently.
        for column in map
            .get_mut("columnDefinitions")
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
        {
            column["description"] = "<words>".into();
        }
        let old = std::mem::take(map);
        for (key, mut inner) in old {
            self.value(&mut inner, &key);
            map.insert(self.text(&key), inner);
        }
    }

    fn string(&mut self, text: &str, field: &str) -> String {
        match (field, text.parse::<u64>()) {
            ("resourceVersion", Ok(version)) if version > 0 => {
                return format!("<rv {}>", self.versions.range(..=version).count());
            }
            // Depends on the group, which is named after the namespace.
            ("storageVersionHash", _) => return "<hash>".to_owned(),
            ("token", _) if text.matches('.').count() == 2 => return "<token>".to_owned(),
            ("audiences", _) if text.starts_with("https://") => return "<audience>".to_owned(),
            ("continue", _) if !text.is_empty() => return "<continue>".to_owned(),
            ("clusterIP" | "clusterIPs", _) if text.starts_with("10.") => return "<ip>".to_owned(),
            ("cells", _) if is_age(text) => return "<age>".to_owned(),
            ("cells", _) if text.starts_with("10.0.0.") => return "<ip>".to_owned(),
            _ => {}
        }
        self.text(text)
    }

    /// Replaces the namespace, times, UIDs and current versions in a text.
    fn text(&mut self, text: &str) -> String {
        let text = AUDIENCES
            .iter()
            .fold(text.replace(&self.namespace, "$ns"), |text, audience| {
                text.replace(audience, "<audience>")
            });
        let text = listed(without_quoted_objects(text));
        let mut out = String::new();
        let mut rest = text.as_str();
        while let Some(first) = rest.chars().next() {
            let boundary = !out.ends_with(|c: char| c.is_ascii_alphanumeric());
            if boundary && let Some(uid) = head(rest, 36, is_uid) {
                let next = self.uids.len() + 1;
                let number = *self.uids.entry(uid.to_owned()).or_insert(next);
                out.push_str(&format!("<uid {number}>"));
                rest = &rest[36..];
            } else if boundary && head(rest, 27, is_micro_time).is_some() {
                out.push_str("<microtime>");
                rest = &rest[27..];
            } else if boundary && head(rest, 20, is_time).is_some() {
                out.push_str("<time>");
                rest = &rest[20..];
            } else if let Some(after) = drawn_port(rest) {
                out.push_str("Duplicate value: <port>");
                rest = after;
            } else if let Some(after) = said_version(rest) {
                let said = rest.len() - after.len();
                let words = rest[..said].trim_end_matches(|c: char| c.is_ascii_digit());
                out.push_str(words);
                out.push_str("<rv>");
                rest = after;
            } else {
                out.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
        out
    }
}

/// Replaces objects that Go quotes with their fields in struct order, which the API does not reveal.
fn without_quoted_objects(text: String) -> String {
    const BEFORE: &str = "Invalid value: \"{\\\"";
    match (text.find(BEFORE), text.rfind("}\": ")) {
        (Some(at), Some(end)) if at < end => {
            format!("{}Invalid value: <an object>{}", &text[..at], &text[end + 2..])
        }
        _ => text,
    }
}

/// Normalises errors of map entries, which are in random order, and differences in a spec, which are printed as Go
/// structs.
fn listed(mut text: String) -> String {
    // An unknown field ends the iteration over its map.
    let patch = "failed to create typed patch object (";
    if let (true, true, Some(at)) = (
        text.starts_with(patch),
        text.contains("field not declared in schema"),
        text.find("): "),
    ) {
        text.truncate(at);
    }
    if let Some(at) = text.find("errors:\n  ") {
        let mut lines: Vec<&str> = text[at..].split('\n').skip(1).collect();
        lines.sort_unstable();
        text = format!("{}errors:\n{}", &text[..at], lines.join("\n"));
    }
    if let Some(at) = text.find("\n@@") {
        text.truncate(at);
    }
    // If several values in a map are not base64, the random order determines which one is reported.
    let illegal = "illegal base64 data at input byte ";
    if let (true, Some(at)) = (text.starts_with("failed to convert new object ("), text.find(illegal)) {
        text.truncate(at + illegal.len());
    }
    text
}

/// The text after a duplicate node port, which is usually random.
fn drawn_port(text: &str) -> Option<&str> {
    let said = text.strip_prefix("Duplicate value: ")?;
    let number: u32 = said.get(..5)?.parse().ok()?;
    (30_000..=32_767).contains(&number).then_some(&said[5..])
}

/// The text after a version in a message, if `text` begins with the words before it.
fn said_version(text: &str) -> Option<&str> {
    let said = ["current: ", "in record (", "ResourceVersion in object meta: "]
        .iter()
        .find_map(|words| text.strip_prefix(words))?;
    let after = said.trim_start_matches(|c: char| c.is_ascii_digit());
    (after.len() < said.len() && (after.is_empty() || after.starts_with(')'))).then_some(after)
}

/// Normalises errors of the properties of a schema, over which Go iterates in random order: causes are compared as a
/// set, and the message, which repeats them, is cut before its list.
fn unordered(status: &mut Map<String, Value>) {
    let is_stateful_set = status
        .get("details")
        .is_some_and(|details| details["kind"] == "StatefulSet");
    let causes = status.get_mut("details").and_then(|details| details.get_mut("causes"));
    let Some(Value::Array(causes)) = causes else { return };
    // The volumes for claim templates are in the order of a Go map.
    if is_stateful_set {
        for field in causes.iter_mut().filter_map(|cause| cause.get_mut("field")) {
            *field = without_position(field.as_str().unwrap_or_default(), "spec.template.spec.volumes[").into();
        }
    }
    if causes.len() < 2 {
        return;
    }
    causes.sort_by_key(ToString::to_string);
    if let Some(Value::String(message)) = status.get_mut("message")
        && let Some(list) = message.find(": [")
    {
        message.truncate(list);
    }
}

/// A path that begins with `list`, which ends in a bracket, without the position after it.
fn without_position(path: &str, list: &str) -> String {
    match path.strip_prefix(list).and_then(|rest| rest.split_once(']')) {
        Some((_, rest)) => format!("{list}]{rest}"),
        None => path.to_owned(),
    }
}

/// Sorts managedFields entries by everything but their times: a second may begin between different steps on two
/// servers.
fn timeless(metadata: &mut Map<String, Value>) {
    if let Some(Value::Array(entries)) = metadata.get_mut("managedFields") {
        let key = |entry: &Value| {
            let text = |name: &str| entry[name].as_str().unwrap_or_default().to_owned();
            ["operation", "manager", "subresource", "apiVersion"].map(text)
        };
        entries.sort_by_key(key);
    }
}

fn head(text: &str, length: usize, is: fn(&str) -> bool) -> Option<&str> {
    text.get(..length).filter(|head| is(head))
}

/// Whether `text` matches `pattern`, in which `0` is a digit and `x` a hexadecimal digit.
fn alike(text: &str, pattern: &str) -> bool {
    text.len() == pattern.len()
        && text.bytes().zip(pattern.bytes()).all(|(byte, pattern)| match pattern {
            b'0' => byte.is_ascii_digit(),
            b'x' => byte.is_ascii_hexdigit(),
            exactly => byte == exactly,
        })
}

fn is_uid(text: &str) -> bool {
    alike(text, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx")
}

fn is_time(text: &str) -> bool {
    alike(text, "0000-00-00T00:00:00Z")
}

fn is_micro_time(text: &str) -> bool {
    alike(text, "0000-00-00T00:00:00.000000Z")
}

fn is_age(text: &str) -> bool {
    let digits = text.trim_end_matches('s');
    digits.len() + 1 == text.len() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn answer(version: u32, uid: &str) -> Answer {
        Answer {
            code: 200,
            body: json!({"metadata": {"name": "a", "uid": uid, "resourceVersion": version.to_string(),
                "creationTimestamp": "2026-01-02T03:04:05Z"}, "message": format!("in test-1: {uid}")}),
            ..Answer::default()
        }
    }

    #[test]
    fn two_runs_on_one_server_have_the_same_form_and_keep_their_order() {
        let (one, two) = (
            "11111111-2222-3333-4444-555555555555",
            "61111111-2222-3333-4444-555555555555",
        );
        let first = form(&[answer(7, one), answer(9, one)], "test-1");
        assert_eq!(first, form(&[answer(20, two), answer(21, two)], "test-1"));
        assert_ne!(first, form(&[answer(20, two), answer(20, two)], "test-1"));
        assert_eq!(first[0].body["message"], "in $ns: <uid 1>");
    }
}
