//! The cases: one expression per line of `rules.txt`, and schemas for everything else.

use super::{Case, Try};
use serde_json::{Value, json};

/// A line that starts with `=` is a `messageExpression`, whose result is the cause's message.
const RULES: &str = include_str!("rules.txt");

pub fn all() -> Vec<Case> {
    let mut cases: Vec<Case> = RULES.lines().map(expression).collect();
    cases.extend(schemas());
    cases.extend(reports());
    cases.extend(transitions());
    cases.extend(places());
    cases.extend(expensive());
    cases
}

/// A complete object with these fields.
fn object(fields: Value) -> Value {
    let mut object = json!({"apiVersion": "cel.example.com/v1", "kind": "Rule", "metadata": {"name": "one"}});
    for (key, value) in fields.as_object().into_iter().flatten() {
        object[key] = value.clone();
    }
    object
}

fn created(fields: Value) -> Try {
    Try {
        old: None,
        new: object(fields),
    }
}

fn updated(old: Value, new: Value) -> Try {
    Try {
        old: Some(object(old)),
        new: object(new),
    }
}

fn case(name: &str, schema: Value, tries: Vec<Try>) -> Case {
    Case {
        name: name.to_owned(),
        schema,
        tries,
    }
}

fn expression(line: &str) -> Case {
    let rule = match line.strip_prefix('=') {
        Some(message) => json!({"rule": "false", "messageExpression": message}),
        None => json!({"rule": line}),
    };
    let schema = json!({
        "type": "object",
        "properties": {
            "i": {"type": "integer"},
            "s": {"type": "string", "maxLength": 10},
            "ios": {"x-kubernetes-int-or-string": true},
            "l": {"type": "array", "maxItems": 5, "items": {"type": "integer"}},
            "m": {"type": "object", "maxProperties": 4, "additionalProperties": {"type": "string", "maxLength": 5}},
            "dt": {"type": "string", "format": "date-time"},
            "du": {"type": "string", "format": "duration"},
            "o": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}},
        },
        "x-kubernetes-validations": [rule],
    });
    let fields = json!({
        "i": 3, "s": "héy", "ios": "5%", "l": [3, 1, 2], "m": {"k": "v"}, "dt": "2024-02-29T12:00:00Z", "du": "90s",
        "o": {"a": "x"},
    });
    case(line, schema, vec![created(fields)])
}

/// A schema with rules at `spec`, and the given other keywords.
fn spec(mut spec: Value, rules: Value) -> Value {
    spec["type"] = json!("object");
    spec["x-kubernetes-validations"] = rules;
    json!({"type": "object", "properties": {"spec": spec}})
}

/// Fields of a schema that rules can access, and their types.
fn schemas() -> Vec<Case> {
    let text = json!({"type": "string"});
    let names = json!({"a-b": text, "a.b": text, "a/b": text, "a__b": text, "a_b": text, "namespace": text, "_x": text, "$x": text, "1x": text});
    let some = json!({"spec": {"a-b": "v", "a.b": "v", "a/b": "v", "a__b": "v", "a_b": "v", "namespace": "v", "_x": "v", "$x": "v", "1x": "v"}});
    let mut cases = Vec::new();
    for rule in [
        "self.a__dash__b == 'v'",
        "self.a__dot__b == 'v'",
        "self.a__slash__b == 'v'",
        "self.a__underscores__b == 'v'",
        "self.a_b == 'v'",
        "self.__namespace__ == 'v'",
        "self._x == 'v'",
        "self.a__b == 'v'",
        "self.namespace == 'v'",
        "self.$x == 'v'",
        "self == self",
        "has(self.a__dash__b) && !has(self.a_b)",
    ] {
        let schema = spec(json!({"properties": names}), json!([{"rule": rule}]));
        cases.push(case(
            &format!("names: {rule}"),
            schema,
            vec![created(some.clone()), created(json!({"spec": {}}))],
        ));
    }
    let kinds = json!({
        "any": {"x-kubernetes-preserve-unknown-fields": true},
        "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {"a": {"type": "integer"}}},
        "embedded": {"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true},
        "lists": {"type": "array", "items": {"x-kubernetes-preserve-unknown-fields": true}},
        "set": {"type": "array", "maxItems": 5, "x-kubernetes-list-type": "set", "items": {"type": "string", "maxLength": 5}},
        "keyed": {"type": "array", "maxItems": 5, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
            "items": {"type": "object", "required": ["k"], "properties": {"k": {"type": "string", "maxLength": 5}, "v": {"type": "integer"}}}},
        "number": {"type": "number"}, "null": {"type": "string", "nullable": true},
        "bytes": {"type": "string", "format": "byte"}, "date": {"type": "string", "format": "date"},
        "choice": {"type": "string", "enum": ["one", "two"]},
        "both": {"x-kubernetes-int-or-string": true, "maxLength": 5},
    });
    let full = json!({"spec": {
        "any": {"a": 1}, "open": {"a": 1, "b": 2}, "lists": [1, "a"], "set": ["b", "a"],
        "embedded": {"apiVersion": "v1", "kind": "Foo", "metadata": {"name": "n"}, "x": 1},
        "keyed": [{"k": "a", "v": 1}, {"k": "b"}], "number": 1, "null": null, "bytes": "aGlp", "date": "2024-01-02",
        "choice": "one", "both": 5,
    }});
    for rule in [
        "self.any == 1",
        "has(self.any)",
        "self.open.a == 1",
        "self.open.b == 2",
        "self.open == self.open",
        "self.embedded.kind == 'Foo' && self.embedded.metadata.name == 'n'",
        "self.embedded.x == 1",
        "self.embedded.metadata.labels.size() == 0",
        "self.lists.size() == 2",
        "self.set == ['a', 'b']",
        "['a', 'b'] == self.set",
        "self.set + ['a', 'c'] == ['c', 'b', 'a']",
        "(self.set + ['a', 'c']).size() == 3",
        "'a' in self.set",
        "self.keyed == [self.keyed[1], self.keyed[0]]",
        "self.keyed.exists(e, e.k == 'b' && !has(e.v))",
        "(self.keyed + self.keyed).size() == 2",
        "self.keyed.map(e, e.k) == ['a', 'b']",
        "self.number == 1.0",
        "self.number / 2.0 == 0.5",
        "self.null == null",
        "has(self.null)",
        "!has(self.null)",
        "self.null == 'a'",
        "self.bytes == b'hii'",
        "self.bytes.size() == 3",
        "self.date == timestamp('2024-01-02T00:00:00Z')",
        "self.choice.size() == 3",
        "type(self.both) == int ? self.both < 10 : self.both == '5%'",
        "self.both + 1 == 6",
        "self.both > 'a'",
        "self.both == 5 || self.both == '5'",
        "self.both in [5]",
        "string(self.both) == '5'",
        "self.both ? true : false",
        "!self.both",
        "self.both && true",
        "self.both || true",
        "-self.both == -5",
        "self.both[0] == 'a'",
        "self.both.a == 1",
        "has(self.both.a)",
        "self.both.matches('5')",
        "self.both.size() == 1",
        "[1].exists(x, x == self.both)",
        "self.both.startsWith('5')",
        "duration(self.both) == duration('5s')",
        "self.both == 5.0",
        "self.both <= 5u",
        "self.both % 2 == 1",
        "int(self.both) == 5",
        "timestamp(self.both).getFullYear() == 1970",
        "dyn(self.keyed).all(e, e.k != '')",
        "dyn(self.set)[0] == 'b'",
        "dyn(self.open).b == 2",
        "dyn(self.open).exists(k, k == 'b')",
        "self.open.size() == 2",
        "dyn(self.open).size() == 2",
        "dyn(self.open) == {'a': 1}",
        "{'a': 1} == dyn(self.open)",
    ] {
        cases.push(case(
            &format!("kinds: {rule}"),
            spec(json!({"properties": kinds}), json!([{"rule": rule}])),
            vec![created(full.clone())],
        ));
    }
    cases
}

/// Reports of violated rules.
fn reports() -> Vec<Case> {
    let i = json!({"properties": {"i": {"type": "integer"}, "m": {"type": "object", "additionalProperties": {"type": "object", "properties": {"x.y": {"type": "string"}}}}}});
    let one = || vec![created(json!({"spec": {"i": 1}}))];
    let mut cases = Vec::new();
    for (name, rule) in [
        ("message", json!({"rule": "false", "message": " is not so "})),
        ("no message", json!({"rule": " self.i > 1 "})),
        ("forbidden", json!({"rule": "false", "reason": "FieldValueForbidden"})),
        (
            "required",
            json!({"rule": "false", "reason": "FieldValueRequired", "fieldPath": ".i"}),
        ),
        ("duplicate", json!({"rule": "false", "reason": "FieldValueDuplicate"})),
        (
            "invalid",
            json!({"rule": "false", "reason": "FieldValueInvalid", "fieldPath": ".m['a'].x"}),
        ),
        ("no such reason", json!({"rule": "false", "reason": "Whatever"})),
        (
            "field path into a map",
            json!({"rule": "false", "fieldPath": ".m.a['x.y']"}),
        ),
        ("field path to nowhere", json!({"rule": "false", "fieldPath": ".x"})),
        (
            "field path with a newline",
            json!({"rule": "false", "fieldPath": ".i\n"}),
        ),
        (
            "message expression",
            json!({"rule": "false", "messageExpression": "'i is ' + string(self.i)"}),
        ),
        (
            "message expression and message",
            json!({"rule": "false", "message": "m", "messageExpression": "'e'"}),
        ),
        (
            "blank result",
            json!({"rule": "false", "message": "m", "messageExpression": "' '"}),
        ),
        (
            "result with a line break",
            json!({"rule": "false", "messageExpression": "'a\\nb'"}),
        ),
        (
            "result in blanks",
            json!({"rule": "false", "messageExpression": "' a\\n'"}),
        ),
        (
            "message expression fails",
            json!({"rule": "false", "message": "m", "messageExpression": "string(1 / (self.i - 1))"}),
        ),
        (
            "message expression is no text",
            json!({"rule": "false", "messageExpression": "self.i"}),
        ),
        (
            "message expression does not compile",
            json!({"rule": "self.i > 0", "messageExpression": "self.x"}),
        ),
        (
            "message expression does not parse",
            json!({"rule": "self.i > 0", "messageExpression": "'a"}),
        ),
        (
            "message expression after a bad rule",
            json!({"rule": "self.x > 0", "messageExpression": "self.x"}),
        ),
        ("rule fails", json!({"rule": "1 / (self.i - 1) > 0", "message": "m"})),
        ("two lines without a message", json!({"rule": "self.i > 1\n&& true"})),
        (
            "two lines with a message",
            json!({"rule": "self.i > 1\n&& self.i < 'a'", "message": "m"}),
        ),
        (
            "tabs and wide characters",
            json!({"rule": "'\u{e4}\u{1f980}' ==\tself.i"}),
        ),
        (
            "markup",
            json!({"rule": "self.i < 'a' && '<>&\"' == \"\\\"\"", "message": "<&>", "reason": "FieldValueInvalid"}),
        ),
        ("blank rule", json!({"rule": " "})),
    ] {
        cases.push(case(&format!("report: {name}"), spec(i.clone(), json!([rule])), one()));
    }
    let two =
        json!([{"rule": "self.i > 1", "message": "a"}, {"rule": "self.i > 2", "message": "b"}, {"rule": "self.i > 0"}]);
    cases.push(case("report: several rules", spec(i.clone(), two), one()));
    for (name, schema, value) in [
        (
            "a string",
            json!({"type": "string", "x-kubernetes-validations": [{"rule": "self == 'b'"}]}),
            json!("a\""),
        ),
        (
            "an integer",
            json!({"type": "integer", "x-kubernetes-validations": [{"rule": "self > 1", "reason": "FieldValueDuplicate"}]}),
            json!(1),
        ),
        (
            "a number",
            json!({"type": "number", "x-kubernetes-validations": [{"rule": "self > 2000000.0"}]}),
            json!(1500000.5),
        ),
        (
            "a list",
            json!({"type": "array", "maxItems": 3, "items": {"type": "integer"}, "x-kubernetes-validations": [{"rule": "self.size() > 2"}]}),
            json!([1]),
        ),
        (
            "int-or-string",
            json!({"x-kubernetes-int-or-string": true, "x-kubernetes-validations": [{"rule": "self == 2"}]}),
            json!("1"),
        ),
        (
            "a date",
            json!({"type": "string", "format": "date", "x-kubernetes-validations": [{"rule": "self > timestamp('2025-01-01T00:00:00Z')"}]}),
            json!("2024-01-01"),
        ),
    ] {
        let schema = json!({"type": "object", "properties": {"v": schema}});
        cases.push(case(
            &format!("report: {name}"),
            schema,
            vec![created(json!({"v": value}))],
        ));
    }
    cases
}

/// `oldSelf` and ratcheting.
fn transitions() -> Vec<Case> {
    let text = |rules: Value| json!({"type": "string", "maxLength": 10, "x-kubernetes-validations": rules});
    let within = |schema: Value| json!({"type": "object", "properties": {"v": schema, "w": {"type": "integer"}}});
    let pairs = |old: Value, new: Value| {
        vec![
            created(json!({"v": new})),
            updated(json!({"v": old}), json!({"v": new})),
            updated(json!({}), json!({"v": new})),
        ]
    };
    let immutable = json!([{"rule": "self == oldSelf", "message": "is immutable"}]);
    let optional =
        json!([{"rule": "oldSelf.hasValue() ? self == oldSelf.value() : self == 'first'", "optionalOldSelf": true}]);
    let keyed = |rules: Value| {
        json!({
            "type": "array", "maxItems": 5, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
            "items": {"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}, "v": {"type": "integer"}}, "x-kubernetes-validations": rules},
        })
    };
    let atomic = |rules: Value| json!({"type": "array", "maxItems": 5, "items": {"type": "integer", "x-kubernetes-validations": rules}});
    let map = |rules: Value, kind: &str| json!({"type": "object", "maxProperties": 5, "x-kubernetes-map-type": kind, "additionalProperties": {"type": "integer", "x-kubernetes-validations": rules}});
    let grows = json!([{"rule": "self.v >= oldSelf.v"}]);
    let rises = json!([{"rule": "self >= oldSelf"}]);
    let positive = json!([{"rule": "self > 0"}]);
    vec![
        case(
            "transition: immutable",
            within(text(immutable.clone())),
            pairs(json!("a"), json!("b")),
        ),
        case(
            "transition: the same",
            within(text(immutable)),
            pairs(json!("a"), json!("a")),
        ),
        case(
            "transition: optional",
            within(text(optional.clone())),
            pairs(json!("a"), json!("b")),
        ),
        case(
            "transition: optional, first",
            within(text(optional)),
            pairs(json!("first"), json!("first")),
        ),
        case(
            "transition: optional without need",
            within(text(json!([{"rule": "self != ''", "optionalOldSelf": true}]))),
            Vec::new(),
        ),
        case(
            "transition: not optional",
            within(text(json!([{"rule": "oldSelf.hasValue()"}]))),
            Vec::new(),
        ),
        case(
            "transition: optional false",
            within(text(json!([{"rule": "self == oldSelf", "optionalOldSelf": false}]))),
            pairs(json!("a"), json!("b")),
        ),
        case(
            "transition: keyed items",
            within(keyed(grows.clone())),
            vec![updated(
                json!({"v": [{"k": "a", "v": 2}, {"k": "b", "v": 2}]}),
                json!({"v": [{"k": "b", "v": 1}, {"k": "a", "v": 3}, {"k": "c", "v": 0}]}),
            )],
        ),
        case(
            "transition: items of an atomic list",
            within(atomic(rises.clone())),
            Vec::new(),
        ),
        case(
            "transition: entries of a map",
            within(map(rises.clone(), "granular")),
            vec![updated(
                json!({"v": {"a": 2, "b": 1}}),
                json!({"v": {"a": 1, "b": 1, "c": 0}}),
            )],
        ),
        case(
            "transition: entries of an atomic map",
            within(map(rises, "atomic")),
            vec![updated(json!({"v": {"a": 2}}), json!({"v": {"a": 1}}))],
        ),
        case(
            "transition: object through an optional",
            json!({"type": "object", "properties": {"v": {
            "type": "object", "properties": {"a-b": {"type": "string"}, "t": {"type": "string", "format": "date-time"}},
            "x-kubernetes-validations": [
                {"rule": "oldSelf.?a__dash__b.orValue('none') == 'x'", "optionalOldSelf": true},
                {"rule": "!oldSelf.hasValue() || oldSelf.value().a__dash__b == 'x'", "optionalOldSelf": true},
                {"rule": "type(oldSelf.?t.orValue(timestamp('2024-01-01T00:00:00Z'))) == google.protobuf.Timestamp", "optionalOldSelf": true},
            ]}}}),
            vec![
                updated(
                    json!({"v": {"a-b": "x", "t": "2024-01-01T00:00:00Z"}}),
                    json!({"v": {"a-b": "y"}}),
                ),
                created(json!({"v": {}})),
            ],
        ),
        case(
            "ratchet: unchanged value",
            within(text(json!([{"rule": "self == 'good'"}]))),
            vec![
                updated(json!({"v": "bad"}), json!({"v": "bad", "w": 1})),
                updated(json!({"v": "bad"}), json!({"v": "worse"})),
            ],
        ),
        case(
            "ratchet: unchanged item of an atomic list",
            within(atomic(positive.clone())),
            vec![
                updated(json!({"v": [0, 1]}), json!({"v": [0, 1]})),
                updated(json!({"v": [0, 1]}), json!({"v": [0, 2]})),
            ],
        ),
        case(
            "ratchet: unchanged item of a keyed list",
            within(keyed(json!([{"rule": "self.v > 0"}]))),
            vec![updated(
                json!({"v": [{"k": "a", "v": 0}, {"k": "b", "v": 0}]}),
                json!({"v": [{"k": "b", "v": -1}, {"k": "a", "v": 0}]}),
            )],
        ),
        case(
            "ratchet: unchanged entry of a map",
            within(map(positive, "granular")),
            vec![updated(json!({"v": {"a": 0}}), json!({"v": {"a": 0, "b": 0}}))],
        ),
        case(
            "ratchet: failing rule",
            within(json!({"type": "integer", "x-kubernetes-validations": [{"rule": "1 / self > 0"}]})),
            vec![updated(json!({"v": 0}), json!({"v": 0}))],
        ),
    ]
}

/// The places of a schema that can have rules.
fn places() -> Vec<Case> {
    let root = |rule: &str| json!({"type": "object", "properties": {"a": {"type": "string"}}, "x-kubernetes-validations": [{"rule": rule}]});
    let mut cases: Vec<Case> = [
        "self.metadata.name == 'one'",
        "self.metadata.generateName == ''",
        "has(self.metadata.generateName)",
        "self.kind == 'Rule'",
        "self.apiVersion.startsWith('cel')",
        "self.metadata.labels.size() == 0",
        "self.metadata.namespace == 'default'",
        "self.status == 1",
        "self.metadata.name.size() < 3",
        "has(self.a)",
        "self == self",
    ]
    .into_iter()
    .map(|rule| case(&format!("root: {rule}"), root(rule), vec![created(json!({"a": "x"}))]))
    .collect();
    let fails = json!([{"rule": "false"}]);
    let declared = json!({"type": "object", "properties": {"metadata": {"type": "object", "properties": {"name": {"type": "string", "maxLength": 20}}}}, "x-kubernetes-validations": [{"rule": "self.metadata.name != 'one'"}]});
    cases.push(case("root: metadata in the schema", declared, vec![created(json!({}))]));
    for (name, schema, value) in [
        (
            "items of items",
            json!({"type": "array", "maxItems": 2, "items": {"type": "array", "maxItems": 2, "items": {"type": "integer", "x-kubernetes-validations": [{"rule": "self > 0"}]}}}),
            json!([[0, 1], [0]]),
        ),
        (
            "values of maps",
            json!({"type": "object", "maxProperties": 2, "additionalProperties": {"type": "object", "properties": {"a": {"type": "string", "x-kubernetes-validations": fails}}}}),
            json!({"k.x": {"a": "v"}}),
        ),
        (
            "a null",
            json!({"type": "string", "nullable": true, "x-kubernetes-validations": fails}),
            Value::Null,
        ),
        (
            "an embedded resource",
            json!({"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-validations": [{"rule": "self.metadata.name == 'm' && self.kind == 'Foo'"}]}),
            json!({"apiVersion": "v1", "kind": "Foo", "metadata": {"name": "n"}}),
        ),
        (
            "a preserved value",
            json!({"x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-validations": fails}),
            json!(1),
        ),
        (
            "a preserved object",
            json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-validations": [{"rule": "self.size() == 1"}]}),
            json!({"a": 1}),
        ),
        (
            "an unescapable name",
            json!({"type": "object", "properties": {"a b": {"type": "string", "x-kubernetes-validations": fails}}}),
            json!({"a b": "x"}),
        ),
        (
            "a branch of allOf",
            json!({"type": "object", "properties": {"a": {"type": "integer"}}, "allOf": [{"x-kubernetes-validations": [{"rule": "self.a > 1"}]}], "x-kubernetes-validations": [{"rule": "self.a > 2"}]}),
            json!({"a": 1}),
        ),
        (
            "a field within allOf",
            json!({"type": "object", "properties": {"a": {"type": "integer"}}, "allOf": [{"properties": {"a": {"x-kubernetes-validations": [{"rule": "self > 1"}]}}}], "x-kubernetes-validations": [{"rule": "self.a > 2"}]}),
            json!({"a": 1}),
        ),
        (
            "a branch of anyOf",
            json!({"type": "object", "properties": {"a": {"type": "integer"}}, "anyOf": [{"x-kubernetes-validations": [{"rule": "self.a > 1"}]}]}),
            json!({"a": 1}),
        ),
        (
            "beside a structural mistake",
            json!({"type": "object", "properties": {"a": {"type": "integer", "pattern": "("}}, "x-kubernetes-validations": [{"rule": "self.x"}]}),
            json!({}),
        ),
        (
            "beside a mistake elsewhere",
            json!({"type": "object", "properties": {"a": {"type": "object", "x-kubernetes-validations": [{"rule": "self.x"}]}, "b": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "map"}}}),
            json!({}),
        ),
        (
            "a default",
            json!({"type": "object", "default": {}, "properties": {"a": {"type": "integer", "default": 5}}, "x-kubernetes-validations": [{"rule": "self.a > 5"}]}),
            json!({"a": 5}),
        ),
    ] {
        let schema = json!({"type": "object", "properties": {"v": schema}});
        cases.push(case(
            &format!("place: {name}"),
            schema,
            vec![created(json!({"v": value}))],
        ));
    }
    cases
}

/// The cost limits of rules.
fn expensive() -> Vec<Case> {
    let list = |limit: Option<u64>, item: Value| {
        let mut list = json!({"type": "array", "items": item});
        if let Some(limit) = limit {
            list["maxItems"] = json!(limit);
        }
        list
    };
    let text = |limit: Option<u64>| {
        limit.map_or(
            json!({"type": "string"}),
            |limit| json!({"type": "string", "maxLength": limit}),
        )
    };
    let with = |mut schema: Value, rules: &[&str]| {
        schema["x-kubernetes-validations"] = rules.iter().map(|rule| json!({"rule": rule})).collect();
        schema
    };
    let mut cases = Vec::new();
    for (name, schema) in [
        (
            "a scan",
            with(list(None, json!({"type": "integer"})), &["self.all(x, x > 0)"]),
        ),
        (
            "two scans",
            with(
                list(None, json!({"type": "integer"})),
                &["self.all(x, self.all(y, x != y))"],
            ),
        ),
        (
            "two scans of a few",
            with(
                list(Some(20), json!({"type": "integer"})),
                &["self.all(x, self.all(y, x != y))"],
            ),
        ),
        (
            "two scans of many",
            with(
                list(Some(2000), json!({"type": "integer"})),
                &["self.all(x, self.all(y, x != y))"],
            ),
        ),
        (
            "unbounded texts",
            with(list(Some(100), text(None)), &["self.all(x, x.contains('a'))"]),
        ),
        (
            "texts",
            with(list(Some(100), text(Some(100))), &["self.all(x, x.contains('a'))"]),
        ),
        ("a regex", with(text(None), &["self.matches('^[a-z]*$')"])),
        (
            "a regex as a function on items",
            list(None, with(text(None), &["matches(self, '^[a-z]*$')"])),
        ),
        (
            "names of resources",
            list(
                Some(1000),
                with(
                    json!({"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true}),
                    &["self.metadata.name.contains('abcdefghij') || self.metadata.generateName.contains('abcdefghij')"],
                ),
            ),
        ),
        (
            "names of resources with limits",
            list(
                Some(1000),
                with(
                    json!({"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true,
                    "properties": {"metadata": {"type": "object", "properties": {"name": {"type": "string", "maxLength": 10}}}}}),
                    &["self.metadata.name.contains(self.metadata.generateName)"],
                ),
            ),
        ),
        (
            "a regex on items",
            list(None, with(text(None), &["self.matches('^[a-z]*$')"])),
        ),
        (
            "a regex on short items",
            list(None, with(text(Some(10)), &["self.matches('^[a-z]*$')"])),
        ),
        (
            "a regex on a few short items",
            list(Some(10), with(text(Some(10)), &["self.matches('^[a-z]*$')"])),
        ),
        (
            "a required field",
            list(
                None,
                json!({"type": "object", "required": ["name", "other"], "properties": {"name": with(text(Some(10)), &["self != 'a'"]), "other": text(None)}}),
            ),
        ),
        (
            "uniqueness by map",
            with(
                list(
                    Some(64),
                    json!({"type": "object", "properties": {"name": text(Some(63))}}),
                ),
                &["self.map(e, e.name).all(n, self.exists_one(e, e.name == n))"],
            ),
        ),
        (
            "entries",
            with(
                json!({"type": "object", "additionalProperties": text(None)}),
                &[
                    "self.all(k, k.size() < 10)",
                    "self.all(k, self[k].size() < 10)",
                    "self.all(k, v, v.startsWith(k))",
                ],
            ),
        ),
        (
            "enums",
            with(
                list(Some(10), json!({"type": "string", "enum": ["a", "bcd"]})),
                &["self.all(x, x.matches('a'))", "self.exists(x, x == 'bcd')"],
            ),
        ),
        (
            "dates",
            with(
                list(None, json!({"type": "string", "format": "date-time"})),
                &["self.all(x, x > timestamp('2020-01-01T00:00:00Z'))"],
            ),
        ),
        (
            "join",
            with(
                list(Some(100), text(Some(10))),
                &["self.join(',').size() < 100", "self.join(',').contains('a,b')"],
            ),
        ),
        (
            "replace",
            with(
                text(Some(1000)),
                &[
                    "self.replace('a', 'bb').replace('', 'cc').contains('d')",
                    "self.split(',').all(x, x.size() < 3)",
                ],
            ),
        ),
        (
            "sort",
            with(
                list(Some(1000), text(Some(10))),
                &[
                    "self.sort() == self",
                    "self.distinct().size() == self.size()",
                    "sets.contains(self, ['a'])",
                ],
            ),
        ),
        (
            "libraries",
            with(
                text(Some(5000)),
                &[
                    "isURL(self)",
                    "isIP(self)",
                    "isQuantity(self)",
                    "isSemver(self)",
                    "!format.dns1123Label().validate(self).hasValue()",
                    "self.find('a+') == ''",
                    "self.findAll('a+').size() == 0",
                ],
            ),
        ),
        (
            "unlimited",
            with(
                text(None),
                &[
                    "isURL(self)",
                    "self.lowerAscii() == self",
                    "self + self == 'a'",
                    "self.indexOf('a') < 3",
                    "strings.quote(self).size() > 3",
                    "bytes(self).size() > 0",
                ],
            ),
        ),
        (
            "deep",
            list(None, list(None, list(None, with(text(None), &["self != 'a'"])))),
        ),
        (
            "many rules together",
            with(
                list(None, text(Some(30))),
                &[
                    "self.all(x, x != 'a')",
                    "self.all(x, x != 'b')",
                    "self.all(x, x != 'c')",
                    "self.all(x, x != 'd')",
                    "self.all(x, x != 'e')",
                    "self.all(x, x != 'f')",
                    "self.all(x, x != 'g')",
                    "self.all(x, x != 'h')",
                    "self.all(x, x != 'i')",
                    "self.all(x, x != 'j')",
                ],
            ),
        ),
        (
            "just too many",
            with(
                list(Some(6000), text(Some(100))),
                &["self.all(x, x.startsWith('aaaaaaaaaaaaaaaaaaaaa') || x.contains('bbbbbbbbbbbbbbbbbbbb'))"],
            ),
        ),
        (
            "an expensive message",
            json!({"type": "string", "x-kubernetes-validations": [{"rule": "true", "messageExpression": "self.matches('^[a-z]*$') && self.matches('[a-zA-Z0-9]*[a-zA-Z0-9]*[a-zA-Z0-9]*[a-zA-Z0-9]*') ? 'a' : self"}]}),
        ),
        (
            "int-or-string",
            list(
                None,
                json!({"x-kubernetes-int-or-string": true, "x-kubernetes-validations": [{"rule": "self == 5 || self == '5%'"}]}),
            ),
        ),
    ] {
        cases.push(case(
            &format!("cost: {name}"),
            json!({"type": "object", "properties": {"v": schema}}),
            Vec::new(),
        ));
    }
    let squares = with(
        list(Some(700), json!({"type": "integer"})),
        &["self.all(x, self.all(y, x >= y || x < y))", "true"],
    );
    let many: Vec<u64> = (0..700).collect();
    let schema = json!({"type": "object", "properties": {"v": squares}});
    cases.push(case(
        "cost: one evaluation",
        schema,
        vec![created(json!({"v": many})), created(json!({"v": [1, 2]}))],
    ));
    cases
}
