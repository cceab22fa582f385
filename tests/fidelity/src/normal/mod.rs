//! The comparable form of answers and recordings: values that differ from run to run on one server are replaced by
//! placeholders. The tree has no other normaliser.

mod texts;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

use crate::{Answer, Program, hook::Hook};

pub use texts::without_made_up_types;
use texts::{
    RANDOM, drawn_port, generated, head, is_age, is_micro_time, is_time, is_uid, listed, prefix, said_version,
    with_sorted_fields, without_node_ports, without_quoted_objects,
};

/// The answers of one program in the form in which two servers must agree.
///
/// - `$ns` for the namespace; `<time>`, `<microtime>`; `<uid N>` in the order of appearance;
/// - a resourceVersion becomes its rank among those of objects (`<rv 3>`), so that order and equality are compared; that of a
///   list or bookmark becomes the rank of the last object version that it includes, because other clients write as well;
/// - continue tokens are decoded, and their versions become ranks too;
/// - causes and managers of an object are sorted;
/// - random suffixes, allocated addresses and ports, ages, descriptions of built-in columns, and objects quoted in messages
///   become placeholders.
pub fn form(program: &Program, answers: &[Answer], namespace: &str) -> Vec<Answer> {
    let mut names = Names {
        namespace: Some(namespace.to_owned()),
        has_hook: program.has_hook(),
        prefixes: program.steps.iter().filter_map(prefix).collect(),
        ..Names::default()
    };
    let compared = answers
        .iter()
        .zip(&program.steps)
        .filter(|(_, step)| step.unlike.is_none());
    compared.for_each(|(answer, _)| names.collect(&answer.body));
    let mut formed = answers.to_vec();
    for (answer, step) in formed.iter_mut().zip(&program.steps) {
        names.custom = step.r#do.contains("/apis/$ns.");
        names.value(&mut answer.body, "");
        for value in answer.headers.values_mut().flatten() {
            *value = names.text(value);
        }
        // Validating webhooks are called at the same time.
        if let (true, Some(warnings)) = (names.has_hook, answer.headers.get_mut("warning")) {
            warnings.sort_unstable();
        }
    }
    formed
}

/// Sorts the fields of quoted objects in the messages of random programs. Recordings keep their order, which is the same where a probe
/// shows it.
pub fn sort_quoted_fields(answers: &mut [Answer]) {
    fn sort(value: &mut Value) {
        match value {
            Value::String(text) => *text = with_sorted_fields(text),
            Value::Array(items) => items.iter_mut().for_each(sort),
            Value::Object(fields) => fields.values_mut().for_each(sort),
            _ => {}
        }
    }
    let failed = answers.iter_mut().filter(|answer| answer.code >= 400);
    failed.for_each(|answer| sort(&mut answer.body));
}

/// A line of a recording, JSON or text, in the form in which two recordings must agree. The function is idempotent.
pub fn line(text: &str) -> String {
    let mut names = Names {
        custom: true,
        ..Names::default()
    };
    match serde_json::from_str::<Value>(text) {
        Ok(mut value) => {
            names.collect(&value);
            names.value(&mut value, "");
            value.to_string()
        }
        Err(_) => names.text(text),
    }
}

/// The audiences of the two servers' tokens.
const AUDIENCES: [&str; 2] = [
    "\"https://127.0.0.1\"",
    "\"https://kubernetes.default.svc.cluster.local\"",
];

#[derive(Default)]
struct Names {
    /// The namespace of the program.
    namespace: Option<String>,
    /// Whether the program has a webhook, whose address differs from run to run.
    has_hook: bool,
    /// Whether the answer is about a custom kind, whose column descriptions are equal on both servers.
    custom: bool,
    /// The prefixes of the names that the server generates for the program.
    prefixes: BTreeSet<String>,
    versions: BTreeSet<u64>,
    uids: BTreeMap<String, usize>,
    /// The addresses that Services got, in quotes, as errors have them.
    addresses: BTreeSet<String>,
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
            Value::String(text) if field == "continue" => {
                if let Some(token) = self.token(text) {
                    *value = token;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|inner| self.value(inner, field)),
            Value::String(text) => *text = self.string(text, field),
            Value::Number(_) if ["nodePort", "healthCheckNodePort"].contains(&field) => *value = "<port>".into(),
            _ => {}
        }
    }

    fn object(&mut self, map: &mut Map<String, Value>) {
        unordered(map);
        timeless(map);
        // In the random order of a Go map.
        for list in ["resourceRules", "nonResourceRules"] {
            if let Some(rules) = map.get_mut(list).and_then(Value::as_array_mut) {
                rules.sort_by_key(ToString::to_string);
            }
        }
        // Each server has its own descriptions of columns.
        let columns = map.get_mut("columnDefinitions").and_then(Value::as_array_mut);
        for column in columns.filter(|_| !self.custom).into_iter().flatten() {
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
            ("serverAddress", _) => return "<address>".to_owned(),
            ("clusterIP" | "clusterIPs", _) if text.starts_with("10.") => {
                self.addresses.insert(format!("\"{text}\""));
                return "<ip>".to_owned();
            }
            ("cells", _) if is_age(text) => return "<age>".to_owned(),
            ("cells", _) if text.starts_with("10.0.0.") => return "<ip>".to_owned(),
            ("cells", _) if text.ends_with("/TCP") || text.ends_with("/UDP") => return without_node_ports(text),
            _ => {}
        }
        self.text(text)
    }

    /// The contents of a continue token.
    fn token(&mut self, text: &str) -> Option<Value> {
        let mut token: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
        if let Some(version) = token["rv"].as_u64().filter(|version| *version > 0) {
            token["rv"] = json!(format!("<rv {}>", self.versions.range(..=version).count()));
        }
        self.value(&mut token, "");
        Some(token)
    }

    /// Replaces the namespace, times, UIDs and versions inside a text.
    fn text(&mut self, text: &str) -> String {
        let text = AUDIENCES.iter().fold(self.without_namespace(text), |text, audience| {
            text.replace(audience, "<audience>")
        });
        let text = without_made_up_types(&listed(without_quoted_objects(text)));
        let text = self
            .addresses
            .iter()
            .fold(text, |text, address| text.replace(address, "\"<ip>\""));
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
            } else if let Some(prefix) = self.prefixes.iter().find(|prefix| generated(rest, prefix).is_some()) {
                out.push_str(prefix);
                out.push_str("<random>");
                rest = &rest[prefix.len() + RANDOM..];
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

    fn without_namespace(&self, text: &str) -> String {
        let text = match (self.has_hook, Hook::get()) {
            (true, Ok(hook)) => hook.unfilled(text),
            _ => text.to_owned(),
        };
        match &self.namespace {
            Some(namespace) => text.replace(namespace, "$ns"),
            None => text,
        }
    }
}

/// Go visits the properties of a schema in random order: causes are sorted, and the message that lists them again is cut
/// before its list.
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn program(steps: usize) -> Program {
        Program {
            name: String::new(),
            steps: vec![crate::Step::default(); steps],
            after: Vec::new(),
        }
    }

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
        let form = |answers: &[Answer]| form(&program(answers.len()), answers, "test-1");
        let first = form(&[answer(7, one), answer(9, one)]);
        assert_eq!(first, form(&[answer(20, two), answer(21, two)]));
        assert_ne!(first, form(&[answer(20, two), answer(20, two)]));
        assert_eq!(first[0].body["message"], "in $ns: <uid 1>");
    }

    #[test]
    fn quoted_objects_have_their_fields_in_one_order() {
        let both = [
            r#"selector: Invalid value: {"matchLabels":{"a":"b"},"matchExpressions":[{}]}: wrong, x: Invalid value: [1]: no"#,
            r#"selector: Invalid value: {"matchExpressions":[{}],"matchLabels":{"a":"b"}}: wrong, x: Invalid value: [1]: no"#,
        ];
        assert_eq!(with_sorted_fields(both[0]), both[1]);
        assert_eq!(with_sorted_fields(both[1]), both[1]);
        // Only the template of a Job and its spec are left out, in their two forms.
        let template = "Invalid value: <a template>: field is immutable";
        let struct_in_go =
            r#"Invalid value: {"labels":{},"Spec":{"Volumes":null,"EphemeralContainers":null}}: field is immutable"#;
        assert_eq!(with_sorted_fields(struct_in_go), template);
        for value in [
            r#"{"metadata":{},"spec":{"terminationGracePeriodSeconds":30}}"#,
            r#"{"terminationGracePeriodSeconds":30}"#,
            r#"{"Volumes":null,"EphemeralContainers":[{"Name":"b"}]}"#,
        ] {
            let text = format!("Invalid value: {value}: field is immutable");
            assert_eq!(with_sorted_fields(&text), template);
        }
        let other = r#"Invalid value: {"spec":{"replicas":1}}: field is immutable"#;
        assert_eq!(with_sorted_fields(other), other);
    }

    #[test]
    fn a_line_in_its_form_stays_as_it_is() {
        let token = URL_SAFE_NO_PAD.encode(json!({"v": "meta.k8s.io/v1", "rv": 9, "start": "a\u{0}"}).to_string());
        let line_of =
            |answer: Answer| json!({"answer": answer, "cells": ["5m3s", "100m"], "continue": token}).to_string();
        let once = line(&line_of(answer(7, "11111111-2222-3333-4444-555555555555")));
        assert_eq!(once, line(&line_of(answer(8, "61111111-2222-3333-4444-555555555555"))));
        assert_eq!(once, line(&once));
        for part in ["<rv 1>", "<uid 1>", "<time>", "<age>", "100m", "meta.k8s.io/v1"] {
            assert!(once.contains(part), "{part} in {once}");
        }
        assert_eq!(line("a text of 2026-01-02T03:04:05Z"), "a text of <time>");
    }
}
