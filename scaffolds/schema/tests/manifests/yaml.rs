//! Tests of the YAML writer: parsers of YAML 1.1 and of YAML 1.2 read the same value from its output.

use kubewright_schema::yaml;
use proptest::prelude::*;
use serde_json::{Map, Number, Value, json};

/// Strings that often cause errors: words, numbers, dates, indicators, line breaks, unusual characters.
fn text() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "y",
        "Y",
        "n",
        "yes",
        "No",
        "on",
        "OFF",
        "true",
        "False",
        "null",
        "NULL",
        "~",
        "",
        " ",
        "1",
        "-1",
        "+1",
        "1.",
        ".5",
        "1e3",
        "1E-3",
        "0x1f",
        "0o7",
        "07",
        "0b1",
        "1_000",
        "12:30",
        "-12:30:45",
        "2001-01-01",
        "2001-01-01 00:00:00",
        ".inf",
        "-.Inf",
        ".NaN",
        "=",
        "<<",
        "---",
        "...",
        "- a",
        "? a",
        "a: b",
        "a:",
        ":a",
        "a #b",
        "#a",
        "[a",
        "{a",
        "&a",
        "*a",
        "!a",
        "|",
        ">",
        "%a",
        "@a",
        "`a",
        "'",
        "\"",
        "\\",
        "a\n",
        "\na",
        "a\n\nb\n\n",
        " a\nb",
        "a\n b",
        "a\n \nb",
        "\ta\nb",
        "a\r\nb",
        "\u{85}",
        "\u{2028}",
        "\u{feff}",
        "\u{7f}",
        "é",
        "🦀",
        "a\n---\nb",
        "null\nnull",
        "a\n# b",
    ]);
    prop_oneof![
        words.prop_map(str::to_owned),
        "[a-zA-Z0-9._:/#' \"\\\\-]{0,12}",
        "[-+.0-9eExo_:]{1,8}",
        "[ab \n\t]{0,10}",
        any::<String>(),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_filter_map("finite", |float| Number::from_f64(float).map(Value::Number)),
        text().prop_map(Value::String),
    ];
    leaf.prop_recursive(4, 48, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            prop::collection::vec((text(), inner), 0..5)
                .prop_map(|entries| entries.into_iter().collect::<Map<_, _>>().into()),
        ]
    })
}

/// Whether two values are equal; numbers are compared by their value.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(key, value)| b.get(key).is_some_and(|other| same(value, other)))
        }
        _ => a == b,
    }
}

/// Whether a YAML 1.1 parser reads a plain scalar as a string, by the expressions of yaml.org/type.
fn string_in_yaml_1_1(plain: &str) -> bool {
    let digits = |text: &str, extra: &str| {
        !text.is_empty()
            && text
                .chars()
                .all(|c| c.is_ascii_digit() || c == '_' || extra.contains(c))
    };
    let word = [
        "y", "n", "yes", "no", "true", "false", "on", "off", "null", "~", ".inf", "+.inf", "-.inf", ".nan", "=", "<<",
        "",
    ];
    let unsigned = plain.trim_start_matches(['-', '+']);
    // Integers of other bases, sexagesimals and timestamps start with a digit; floats may start with their point.
    let alphabet = if unsigned.starts_with('.') {
        ".eE+-"
    } else {
        ".eE+-:xXoObBabcdefABCDEF TtZ"
    };
    let number = unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && unsigned.contains(|c: char| c.is_ascii_digit())
        && digits(unsigned, alphabet);
    !(number || word.contains(&plain.to_ascii_lowercase().as_str()))
}

/// Every plain scalar in the text, keys and values; block and quoted scalars are skipped.
fn bare_scalars(yaml: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut literal: Option<usize> = None;
    for line in yaml.lines() {
        let indent = line.len() - line.trim_start_matches(' ').len();
        if literal.is_some_and(|depth| line.trim().is_empty() || indent > depth) {
            continue;
        }
        literal = None;
        let mut rest = line.trim_start_matches(' ');
        let mut depth = indent;
        while let Some(inner) = rest.strip_prefix("- ") {
            rest = inner;
            depth += 2;
        }
        rest = rest.strip_prefix("? ").unwrap_or(rest);
        if rest.starts_with(['\'', '"']) || rest.starts_with(':') {
            continue;
        }
        if rest.starts_with('|') {
            literal = Some(depth.saturating_sub(2));
            continue;
        }
        let (key, value) = match rest.split_once(": ") {
            Some((key, value)) => (key, value),
            None => (rest.strip_suffix(':').unwrap_or(rest), ""),
        };
        found.push(key.to_owned());
        if value.starts_with('|') {
            literal = Some(depth);
        } else if !value.is_empty() && !value.starts_with(['\'', '"']) {
            found.push(value.to_owned());
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(2000), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_output_is_parsed_as_the_same_value(value in value()) {
        let written = yaml::to_string(&value);
        let read: Value = serde_saphyr::from_str(&written).map_err(|error| TestCaseError::fail(format!("{error}\n{written}")))?;
        prop_assert!(same(&value, &read), "{written}\n{read}");
    }

    #[test]
    fn strings_that_yaml_1_1_parsers_read_as_other_types_are_quoted(text in text()) {
        let written = yaml::to_string(&json!({"key": text, "list": [text.as_str()]}));
        for bare in bare_scalars(&written) {
            prop_assert!(bare == "key" || bare == "list" || string_in_yaml_1_1(&bare), "{written}");
        }
        let written = yaml::to_string(&json!({text.as_str(): 1}));
        if let Some(bare) = written.strip_suffix(": 1\n").filter(|it| !it.starts_with(['\'', '"'])) {
            prop_assert!(string_in_yaml_1_1(bare), "{written}");
        }
    }

    #[test]
    fn lines_are_never_folded_and_never_end_with_a_space(text in "[a-z ]{0,300}") {
        let written = yaml::to_string(&json!({"key": text}));
        prop_assert_eq!(written.lines().count(), 1);
        prop_assert!(!written.ends_with(" \n"));
    }
}

#[test]
fn the_style_is_that_of_kubernetes_manifests() {
    let value = json!({
        "spec": {"versions": [{"name": "v1", "served": true}, {"name": "v2", "list": [["a"], [], {}]}], "empty": {}, "none": null},
        "description": "One line.\n\nAnother,\n  indented.",
        "apiVersion": "apiextensions.k8s.io/v1",
    });
    let written = "\
apiVersion: apiextensions.k8s.io/v1
description: |-
  One line.

  Another,
    indented.
spec:
  empty: {}
  none: null
  versions:
  - name: v1
    served: true
  - list:
    - - a
    - []
    - {}
    name: v2
";
    assert_eq!(yaml::to_string(&value), written);
}

#[test]
fn every_parser_reads_numbers_as_numbers() {
    for (number, written) in [
        (json!(1.0), "1"),
        (json!(-0.5), "-0.5"),
        (json!(1e300), "1.0e+300"),
        (json!(1.5e-9), "0.0000000015"),
        (json!(u64::MAX), "18446744073709551615"),
        (json!(1e16), "10000000000000000"),
        (json!(2.5e-30), "2.5e-30"),
    ] {
        assert_eq!(yaml::to_string(&number).trim_end(), written);
    }
}
