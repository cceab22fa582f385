//! Fuzz tests: random expressions cause no panic.

use kubewright_cel::{Rules, check as check_rules};
use proptest::prelude::*;
use serde_json::{Value, json};

fn schema(rule: &str) -> Value {
    json!({
        "type": "object",
        "properties": {
            "i": {"type": "integer"}, "s": {"type": "string", "maxLength": 20}, "u": {"x-kubernetes-int-or-string": true},
            "l": {"type": "array", "maxItems": 5, "items": {"type": "integer"}},
            "m": {"type": "object", "maxProperties": 5, "additionalProperties": {"type": "string"}},
            "t": {"type": "string", "format": "date-time"}, "d": {"type": "string", "format": "duration"},
            "o": {"type": "object", "properties": {"a": {"type": "string"}}},
        },
        "x-kubernetes-validations": [{"rule": rule, "messageExpression": "string(self.u)"}],
    })
}

fn object() -> Value {
    json!({
        "i": 9223372036854775807i64, "s": "hé", "u": 1, "l": [1, -9223372036854775808i64], "m": {"k": "v"},
        "t": "9999-12-31T23:59:59Z", "d": "2562047h", "o": {},
    })
}

fn survives(rule: &str) {
    let schema = schema(rule);
    check_rules(&schema, "spec", &[]);
    if let Some(rules) = Rules::compile(&schema) {
        rules.evaluate(&object(), None);
        rules.evaluate(&object(), Some(&object()));
        rules.evaluate(&json!({"l": 1, "s": null, "u": [], "o": "x"}), None);
    }
}

/// Mostly well-formed expressions.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("self.i"),
        Just("self.s"),
        Just("self.u"),
        Just("self.l"),
        Just("self.m"),
        Just("self.t"),
        Just("self.d"),
        Just("self.o"),
        Just("1"),
        Just("-9223372036854775808"),
        Just("0"),
        Just("1u"),
        Just("1.5"),
        Just("'a'"),
        Just("''"),
        Just("b'a'"),
        Just("true"),
        Just("null"),
        Just("[]"),
        Just("{}"),
        Just("[1,2]"),
        Just("{'a':1}"),
        Just("oldSelf"),
        Just("optional.none()"),
        Just("duration('1h')"),
        Just("quantity('1Ei')"),
        Just("ip('::1')"),
        Just("semver('1.2.3')"),
        Just("url('http://a/%41?b=c')"),
        Just("cidr('::/0')"),
        Just("'%s %d %.3f'"),
        Just("x"),
        Just("int"),
    ]
    .prop_map(str::to_owned);
    let binary = prop_oneof![
        Just("+"),
        Just("-"),
        Just("*"),
        Just("/"),
        Just("%"),
        Just("=="),
        Just("!="),
        Just("<"),
        Just(">="),
        Just("in"),
        Just("&&"),
        Just("||"),
    ];
    let method = prop_oneof![
        Just("size"),
        Just("sum"),
        Just("min"),
        Just("isSorted"),
        Just("indexOf"),
        Just("lastIndexOf"),
        Just("join"),
        Just("split"),
        Just("substring"),
        Just("charAt"),
        Just("replace"),
        Just("matches"),
        Just("find"),
        Just("findAll"),
        Just("format"),
        Just("flatten"),
        Just("slice"),
        Just("distinct"),
        Just("sort"),
        Just("first"),
        Just("value"),
        Just("orValue"),
        Just("or"),
        Just("add"),
        Just("sub"),
        Just("compareTo"),
        Just("asInteger"),
        Just("getQuery"),
        Just("getDayOfYear"),
        Just("getMilliseconds"),
        Just("masked"),
        Just("containsIP"),
        Just("isLessThan"),
        Just("trim"),
    ];
    let function = prop_oneof![
        Just("int"),
        Just("uint"),
        Just("double"),
        Just("string"),
        Just("bytes"),
        Just("timestamp"),
        Just("duration"),
        Just("type"),
        Just("dyn"),
        Just("size"),
        Just("optional.of"),
        Just("lists.range"),
        Just("quantity"),
        Just("url"),
        Just("ip"),
        Just("cidr"),
        Just("isSemver"),
        Just("strings.quote"),
        Just("has"),
        Just("format.named"),
        Just("bool"),
    ];
    let loops = prop_oneof![
        Just("all"),
        Just("exists"),
        Just("exists_one"),
        Just("map"),
        Just("filter"),
        Just("sortBy"),
        Just("optMap"),
        Just("optFlatMap"),
    ];
    let two = prop_oneof![
        Just("all"),
        Just("exists"),
        Just("existsOne"),
        Just("transformList"),
        Just("transformMap"),
        Just("transformMapEntry"),
    ];
    leaf.prop_recursive(6, 48, 4, move |inner| {
        prop_oneof![
            (inner.clone(), binary.clone(), inner.clone()).prop_map(|(a, op, b)| format!("({a} {op} {b})")),
            (
                inner.clone(),
                method.clone(),
                proptest::collection::vec(inner.clone(), 0..3)
            )
                .prop_map(|(a, f, args)| format!("{a}.{f}({})", args.join(", "))),
            (function.clone(), inner.clone()).prop_map(|(f, a)| format!("{f}({a})")),
            (inner.clone(), loops.clone(), inner.clone()).prop_map(|(a, f, b)| format!("{a}.{f}(x, {b})")),
            (inner.clone(), two.clone(), inner.clone()).prop_map(|(a, f, b)| format!("{a}.{f}(k, x, {b})")),
            (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, b, c)| format!("({a} ? {b} : {c})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("dyn({a})[{b}]")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a}[?{b}]")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("[{a}, ?{b}]")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{{{a}: {b}}}")),
            inner.clone().prop_map(|a| format!("-{a}")),
            inner.clone().prop_map(|a| format!("!{a}")),
            inner.prop_map(|a| format!("dyn({a}).?a")),
        ]
    })
}

proptest! {
    #[test]
    fn no_expression_panics(rule in expression()) {
        survives(&rule);
        survives(&format!("dyn({rule}) == {rule}"));
    }

    #[test]
    fn no_random_text_panics(rule in "\\PC{0,60}") {
        survives(&rule);
    }

    #[test]
    fn no_random_tokens_panic(tokens in proptest::collection::vec(
        prop_oneof![
            Just("self"), Just("."), Just("?"), Just("["), Just("]"), Just("("), Just(")"), Just("{"), Just("}"), Just(","),
            Just(":"), Just("-"), Just("!"), Just("+"), Just("=="), Just("&&"), Just("in"), Just("1"), Just("1e9"),
            Just("'a'"), Just("b\"\\x"), Just("r'"), Just("'''"), Just("has"), Just("all"), Just("x"), Just("for"),
            Just("\n"), Just("//"), Just("\u{0}"), Just("é"),
        ],
        0..40,
    )) {
        survives(&tokens.join(" "));
        survives(&tokens.concat());
    }
}

#[test]
fn deep_nesting_is_refused_and_exhausts_no_stack() {
    for count in [100, 240, 260, 5000] {
        for (open, middle, close) in [
            ("(", "true", ")"),
            ("[", "", "]"),
            ("{'a':", "1", "}"),
            ("size(", "''", ")"),
            ("!", "true", ""),
            ("-", "1", ""),
            ("self.l.all(x, ", "true", ")"),
            ("self.l.map(x, ", "x", ")"),
            ("true ? true : ", "true", ""),
            ("", "1", " + 1"),
            ("", "self", ".o"),
            ("", "self.l", "[0]"),
            ("", "true", " && true"),
            ("(", "1", "+ 1 == 1)"),
            ("", "self.?o", ".optMap(x, x)"),
        ] {
            survives(&format!("{}{middle}{}", open.repeat(count), close.repeat(count)));
        }
    }
}
