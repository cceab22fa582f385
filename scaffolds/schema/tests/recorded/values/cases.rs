//! Handwritten schemas: for each keyword, values that it accepts and values that it refuses.

use super::{Case, Place, Try};
use serde_json::{Value, json};

/// All cases.
pub fn all() -> Vec<Case> {
    let mut all = Vec::new();
    all.extend(types());
    all.extend(numbers());
    all.extend(texts());
    all.extend(formats());
    all.extend(composites());
    all.extend(junctors());
    all.extend(pruning());
    all.extend(defaults());
    all.extend(lists());
    all.extend(resources());
    all.extend(updates());
    all.extend(wholes());
    all.extend(rules());
    all.extend(broken_before());
    all.extend(super::equality::all());
    all
}

fn case(name: &str, schema: Value, values: Value) -> Case {
    let tries = values.as_array().unwrap().iter();
    Case {
        name: name.to_owned(),
        schema,
        place: Place::Spec,
        tries: tries
            .map(|value| Try {
                value: value.clone(),
                old: None,
            })
            .collect(),
    }
}

/// A case of updates: each pair is an old and a new value.
pub fn update(name: &str, schema: Value, pairs: Value) -> Case {
    let tries = pairs.as_array().unwrap().iter();
    Case {
        name: name.to_owned(),
        schema,
        place: Place::Spec,
        tries: tries
            .map(|pair| Try {
                value: pair[1].clone(),
                old: Some(pair[0].clone()),
            })
            .collect(),
    }
}

fn in_status(case: Case) -> Case {
    Case {
        place: Place::Status,
        ..case
    }
}

fn as_whole(case: Case) -> Case {
    Case {
        place: Place::Whole,
        ..case
    }
}

fn types() -> Vec<Case> {
    let all = json!([
        null,
        true,
        1,
        -9223372036854775808i64,
        1.0,
        1.5,
        1.0000000001,
        -1.0000000001,
        9007199254740992.0,
        1e19,
        18446744073709551615u64,
        "a",
        [],
        {}
    ]);
    let mut cases: Vec<Case> = ["string", "integer", "number", "boolean", "object"]
        .iter()
        .flat_map(|kind| {
            [
                case(&format!("type {kind}"), json!({"type": kind}), all.clone()),
                case(
                    &format!("type {kind} nullable"),
                    json!({"type": kind, "nullable": true}),
                    json!([null, "a"]),
                ),
            ]
        })
        .collect();
    cases.push(case(
        "type array",
        json!({"type": "array", "items": {"type": "string"}}),
        all.clone(),
    ));
    cases.push(case(
        "int or string",
        json!({"x-kubernetes-int-or-string": true}),
        all.clone(),
    ));
    cases.push(case(
        "int or string, limited",
        json!({"x-kubernetes-int-or-string": true, "maximum": 5, "maxLength": 2, "pattern": "^a"}),
        json!([1, 6, "a", "b", "aaa", 1.5]),
    ));
    cases.push(case(
        "int or string, said in anyOf",
        json!({"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]}),
        all.clone(),
    ));
    cases.push(case(
        "int or string, said in allOf",
        json!({"x-kubernetes-int-or-string": true, "allOf": [{"anyOf": [{"type": "integer"}, {"type": "string"}]}, {"pattern": "a"}]}),
        all.clone(),
    ));
    cases.push(case(
        "any",
        json!({"x-kubernetes-preserve-unknown-fields": true}),
        all.clone(),
    ));
    cases.push(case(
        "any nullable",
        json!({"x-kubernetes-preserve-unknown-fields": true, "nullable": true}),
        json!([null, 1]),
    ));
    for (kind, format) in [
        ("integer", "int32"),
        ("integer", "int64"),
        ("integer", "uint8"),
        ("number", "float"),
        ("number", "double"),
        ("boolean", "date"),
        ("object", "date"),
        ("string", "int32"),
    ] {
        cases.push(case(
            &format!("type {kind} format {format}"),
            json!({"type": kind, "format": format}),
            all.clone(),
        ));
    }
    cases.push(case(
        "any with a format",
        json!({"x-kubernetes-preserve-unknown-fields": true, "format": "date"}),
        all.clone(),
    ));
    cases.push(case(
        "int or string with a format",
        json!({"x-kubernetes-int-or-string": true, "format": "date"}),
        all,
    ));
    cases
}

fn numbers() -> Vec<Case> {
    vec![
        case(
            "minimum",
            json!({"type": "integer", "minimum": 2}),
            json!([1, 2, 1.0, 3]),
        ),
        case(
            "minimum exclusive",
            json!({"type": "integer", "minimum": 2, "exclusiveMinimum": true}),
            json!([1, 2, 3]),
        ),
        case("maximum", json!({"type": "integer", "maximum": 2}), json!([3, 2, 3.0])),
        case(
            "maximum exclusive",
            json!({"type": "number", "maximum": 2.5, "exclusiveMaximum": true}),
            json!([2, 2.5, 3, 1e300]),
        ),
        case(
            "fraction bounds on integers",
            json!({"type": "integer", "minimum": 1.5, "maximum": 2.5, "multipleOf": 0.5}),
            json!([1, 2, 3]),
        ),
        case(
            "fraction bounds on numbers",
            json!({"type": "number", "minimum": 1.5, "maximum": 2.5}),
            json!([1, 2, 3, 1.4, 2.6]),
        ),
        case(
            "bounds beyond integers",
            json!({"type": "integer", "minimum": -1e19, "maximum": 1e19}),
            json!([1]),
        ),
        case(
            "bounds beyond integers on numbers",
            json!({"type": "number", "minimum": -1e19, "maximum": 1e19}),
            json!([1, 1.5]),
        ),
        case(
            "bounds beyond int32",
            json!({"type": "integer", "format": "int32", "maximum": 3000000000u32}),
            json!([1, 3000000001u32]),
        ),
        case(
            "multiple of",
            json!({"type": "integer", "multipleOf": 3}),
            json!([3, 4, 0, -3, 3.0, 4.0]),
        ),
        case(
            "multiple of a fraction",
            json!({"type": "number", "multipleOf": 0.1}),
            json!([0.3, 0.35, 1, 1.05, -0.3, -0.35]),
        ),
        case(
            "multiple of a float",
            json!({"type": "number", "multipleOf": 2.5}),
            json!([5, 5.0, 2.5, 3.5, 4]),
        ),
        case(
            "multiple of something negative",
            json!({"type": "integer", "multipleOf": -2}),
            json!([4]),
        ),
        case(
            "multiple of zero",
            json!({"type": "number", "multipleOf": 0}),
            json!([4, 4.5]),
        ),
        case(
            "large numbers shown",
            json!({"type": "number", "maximum": 1e-7}),
            json!([1e21, 1e20, 123456789.5, 0.00001, 0.0001]),
        ),
        case(
            "small numbers shown",
            json!({"type": "number", "minimum": 1e21}),
            json!([1e-7, 1.5e-10, -0.0]),
        ),
    ]
}

fn texts() -> Vec<Case> {
    vec![
        case(
            "length",
            json!({"type": "string", "minLength": 2, "maxLength": 3}),
            json!(["a", "ab", "abcd", "é", "日本語", "日本語字"]),
        ),
        case("length one", json!({"type": "string", "maxLength": 1}), json!(["ab"])),
        case(
            "length negative",
            json!({"type": "string", "maxLength": -1}),
            json!(["", "a"]),
        ),
        case(
            "length before pattern",
            json!({"type": "string", "maxLength": 1, "minLength": 1, "pattern": "^x$"}),
            json!(["ab", "", "a", "x"]),
        ),
        case(
            "pattern",
            json!({"type": "string", "pattern": "^[a-z]+$"}),
            json!(["a", "A", "a\n", ""]),
        ),
        case(
            "pattern with ASCII classes",
            json!({"type": "string", "pattern": r"^\w+\d\b"}),
            json!(["a1", "é1", "a١"]),
        ),
        case(
            "pattern with a literal brace",
            json!({"type": "string", "pattern": "^x{,3}$"}),
            json!(["x{,3}", "xx"]),
        ),
        case(
            "pattern case insensitive",
            json!({"type": "string", "pattern": "(?i)^straße$"}),
            json!(["STRAßE", "strasse", "STRAẞE", "ſtraße"]),
        ),
        case(
            "pattern with flags between two repetitions",
            json!({"type": "string", "pattern": r"^\d{2}(?s)?-$"}),
            json!(["-", "12-", "1-"]),
        ),
        case(
            "pattern in quotes",
            json!({"type": "string", "pattern": "'%d' <&>"}),
            json!(["x", "a'%d' <&>b"]),
        ),
        case(
            "text shown",
            json!({"type": "string", "maxLength": 0, "enum": ["a\"b", "<c>"]}),
            json!(["\u{1}\u{7f}\u{e9}\u{200b}\u{1f980}\u{e000}\t'\"\\<&>\u{2028}"]),
        ),
        case(
            "enum",
            json!({"type": "string", "enum": ["a", "b"]}),
            json!(["a", "c", "", null, 1]),
        ),
        case(
            "enum nullable",
            json!({"type": "string", "enum": ["a", null], "nullable": true}),
            json!(["a", null]),
        ),
        case(
            "enum of numbers",
            json!({"type": "integer", "enum": [1, 2.0, 97]}),
            json!([1, 2, 1.0, 3, "a"]),
        ),
        case(
            "enum of floats",
            json!({"type": "number", "enum": [1, 2.5]}),
            json!([1, 1.9, 2.5, 2, 0.5]),
        ),
        case(
            "enum of anything",
            json!({"x-kubernetes-preserve-unknown-fields": true, "enum": ["a", {"b": [1]}, [true], 1]}),
            json!(["a", 97, {"b": [1]}, {"b": [1.0]}, {"b": [2]}, [true], [], 1.7, true, "<"]),
        ),
        case(
            "enum of booleans",
            json!({"type": "boolean", "enum": [true]}),
            json!([true, false]),
        ),
        case(
            "enum of texts and a number",
            json!({"x-kubernetes-int-or-string": true, "enum": ["a", "\u{fffd}", 5]}),
            json!([97, 5, "5", -1, 1114112, 98]),
        ),
    ]
}

fn formats() -> Vec<Case> {
    let all: [(&str, Value); 26] = [
        (
            "bsonobjectid",
            json!([
                "507f1f77bcf86cd799439011",
                "507F1F77BCF86CD799439011",
                "507f1f77bcf86cd79943901",
                "zzzf1f77bcf86cd799439011"
            ]),
        ),
        (
            "uri",
            json!([
                "http://a.b/c?d#e",
                "/a",
                "a",
                "",
                "*",
                "http://[::1]:80/",
                "http://a b/",
                "mailto:x",
                "http://a:b:c/",
                "http://%zz/",
                "a\u{7f}:",
                "http://a/%zz",
                "http://a:80x/",
                "://a",
                "http://[::1/",
                "http://u:p@h/",
                "http://u p@h/",
                "x:"
            ]),
        ),
        (
            "email",
            json!([
                "a@b",
                "a",
                "A <a@b>",
                "a@b, c@d",
                "\"a b\"@c",
                "a..b@c",
                "a@[1.2.3.4]",
                "a@[x]",
                "(c) a@b",
                "a@b (c)",
                "g:a@b;",
                "é@b",
                "a @b",
                "a@ b",
                "<a@b",
                "",
                "=?utf-8?q?x?= <a@b>",
                "=?x?q?y?= <a@b>"
            ]),
        ),
        (
            "hostname",
            json!([
                "a",
                "a.b",
                "a.com",
                "-a",
                "a-",
                "a_b",
                "a..b",
                "1.2.3.4",
                "日本.jp",
                "a.c",
                "a--b",
                "a--b.com",
                "☃.net",
                "",
                "a.com."
            ]),
        ),
        (
            "ipv4",
            json!([
                "1.2.3.4",
                "01.2.3.4",
                "1.2.3",
                "1.2.3.256",
                "::ffff:1.2.3.4",
                "::1",
                "1.2.3.4/8",
                " 1.2.3.4",
                ""
            ]),
        ),
        (
            "ipv6",
            json!([
                "::1",
                "1.2.3.4",
                "::ffff:1.2.3.4",
                "fe80::1%eth0",
                "1:2:3:4:5:6:7:8",
                "1:2:3:4:5:6:7::",
                "1:2:3:4:5:6:7:8::",
                ":::",
                "00001::",
                "::01.2.3.4"
            ]),
        ),
        (
            "cidr",
            json!([
                "10.0.0.0/8",
                "10.0.0.0/33",
                "10.0.0.0",
                "::/0",
                "::/129",
                "010.0.0.0/08",
                "10.0.0.0/",
                "00001::/1",
                "a/8"
            ]),
        ),
        (
            "mac",
            json!([
                "00:11:22:33:44:55",
                "00-11-22-33-44-55",
                "0011.2233.4455",
                "001122334455",
                "00:11:22:33:44",
                "00:11-22:33:44:55",
                "00:11:22:33:44:55:66:77",
                "0g:11:22:33:44:55",
                ""
            ]),
        ),
        (
            "uuid",
            json!([
                "123e4567-e89b-12d3-a456-426614174000",
                "123E4567E89B12D3A456426614174000",
                "123e4567-e89b-12d3-a456-42661417400",
                "x",
                "123e4567e89b-12d3a456-426614174000"
            ]),
        ),
        (
            "uuid3",
            json!([
                "123e4567-e89b-32d3-0456-426614174000",
                "123e4567-e89b-12d3-a456-426614174000"
            ]),
        ),
        (
            "uuid4",
            json!([
                "123e4567-e89b-42d3-a456-426614174000",
                "123e4567-e89b-42d3-0456-426614174000"
            ]),
        ),
        (
            "uuid5",
            json!([
                "123e4567-e89b-52d3-B456-426614174000",
                "123e4567-e89b-12d3-a456-426614174000"
            ]),
        ),
        ("isbn", json!(["0321751043", "978-0321751041", "0321751044", ""])),
        (
            "isbn10",
            json!(["0321751043", "3 401 01319 X", "340101319x", "978-0321751041"]),
        ),
        ("isbn13", json!(["978-0321751041", "978 0321751041", "978-0321751042"])),
        (
            "creditcard",
            json!(["4220-8554-2622-2389", "4220855426213389", "x4220855426222389", ""]),
        ),
        ("ssn", json!(["000-00-0000", "000 00 0000", "000000000", "000-00-000"])),
        ("hexcolor", json!(["#fff", "fff", "#FFFFFF", "#ffff", "#ggg", ""])),
        (
            "rgbcolor",
            json!([
                "rgb(0,0,0)",
                "rgb( 255 , 255 , 255 )",
                "rgb(256,0,0)",
                "rgb(00,0,0)",
                "rgb (0,0,0)"
            ]),
        ),
        (
            "byte",
            json!(["YQ==", "YWI=", "YWJj", "", "YQ=", "YQ", "Y-_=", "Y===", "=YQ="]),
        ),
        ("password", json!(["", "x"])),
        (
            "date",
            json!([
                "2024-02-29",
                "2023-02-29",
                "2024-1-1",
                "0000-01-01",
                "2024-01-01T00:00:00Z",
                "",
                "2024-00-10",
                "12024-01-01"
            ]),
        ),
        (
            "duration",
            json!([
                "1h",
                "1h30m",
                "-1.5s",
                "0",
                "1",
                "",
                "3 days",
                "1d",
                "2 weeks ago",
                "1 fortnight",
                "99999999999999999999 s",
                "1x",
                ".5s",
                "1.s",
                "5 Minutes",
                "1µs",
                "2540400h",
                "2562047h48m",
                "-",
                "1 µs",
                "3 hourly"
            ]),
        ),
        (
            "date-time",
            json!([
                "2024-01-01T00:00:00Z",
                "2024-01-01t00:00:00z",
                "2024-01-01T00:00:00",
                "2024-01-01T00:00:00.123+01:00",
                "2024-01-01T00:00:00,1Z",
                "2024-01-01T24:00:00Z",
                "2024-01-01T00:00:60Z",
                "2024-01-01T00:00:00+0100",
                "2024-02-30T00:00:00Z",
                "x",
                "",
                "2024-01-01T00:00:00ztz",
                "2024-01-01Té:00:00Z"
            ]),
        ),
        ("k8s-short-name", json!(["a", "A", "a-b", "-a", "a.b", ""])),
        ("k8s-long-name", json!(["a.b", "a..b", "A", "a-.b", ""])),
    ];
    let mut cases: Vec<Case> = all
        .into_iter()
        .map(|(format, values)| {
            case(
                &format!("format {format}"),
                json!({"type": "string", "format": format}),
                values,
            )
        })
        .collect();
    cases.push(case(
        "format spelled otherwise",
        json!({"type": "string", "format": "datetime"}),
        json!(["x"]),
    ));
    cases.push(case(
        "format unknown",
        json!({"type": "string", "format": "semver"}),
        json!(["x", 1, [1]]),
    ));
    cases.push(case(
        "format and other types",
        json!({"type": "string", "format": "date"}),
        json!([1, [1], {"a": 1}, true, null, 1.5]),
    ));
    cases.push(case(
        "format and pattern",
        json!({"type": "string", "format": "date", "pattern": "^x"}),
        json!(["y"]),
    ));
    cases
}

fn composites() -> Vec<Case> {
    let strings = json!({"type": "string"});
    vec![
        case(
            "items",
            json!({"type": "array", "items": strings}),
            json!([["a"], [1, "a", true], [null], [["a"]]]),
        ),
        case(
            "items of items",
            json!({"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}),
            json!([[[1], ["a"]], [[1, 2], []]]),
        ),
        case(
            "item counts",
            json!({"type": "array", "items": strings, "minItems": 1, "maxItems": 2}),
            json!([[], ["a"], ["a", "b", "c"]]),
        ),
        case(
            "one item at most",
            json!({"type": "array", "items": strings, "maxItems": 1}),
            json!([["a", "b"]]),
        ),
        case(
            "no items at most",
            json!({"type": "array", "items": strings, "maxItems": 0}),
            json!([["a", "b"]]),
        ),
        case(
            "fewer items than none",
            json!({"type": "array", "items": strings, "maxItems": -1}),
            json!([[]]),
        ),
        case(
            "required",
            json!({"type": "object", "required": ["a", "b"], "properties": {"a": strings, "b": strings}}),
            json!([{}, {"a": "x"}, {"a": "x", "b": "y"}, {"a": null}]),
        ),
        case(
            "required and unknown",
            json!({"type": "object", "required": ["z"], "properties": {"a": strings}}),
            json!([{"z": 1}]),
        ),
        case(
            "property counts",
            json!({"type": "object", "minProperties": 1, "maxProperties": 2, "additionalProperties": strings}),
            json!([{}, {"a": "x"}, {"a": "x", "b": "x", "c": "x"}]),
        ),
        case(
            "map",
            json!({"type": "object", "additionalProperties": {"type": "integer", "minimum": 1}}),
            json!([{"a": 1, "b": 0, "c d": "x"}, {"a.b": 0}, {"": 0}]),
        ),
        case(
            "map of maps",
            json!({"type": "object", "additionalProperties": {"type": "object", "additionalProperties": strings}}),
            json!([{"a": {"b": 1}}, {"a": 1}]),
        ),
        case(
            "additional true",
            json!({"type": "object", "additionalProperties": true}),
            json!([{"a": 1, "b": {"c": 1}, "d": [{"e": 1}]}]),
        ),
        case(
            "additional false",
            json!({"type": "object", "additionalProperties": false}),
            json!([{}, {"a": 1, "b": {"c": 1}}]),
        ),
        case(
            "additional false in a list",
            json!({"type": "array", "items": {"type": "object", "additionalProperties": false}}),
            json!([[{"a": 1}]]),
        ),
        case(
            "properties with additional true",
            json!({"type": "object", "properties": {"a": strings}, "additionalProperties": true}),
            json!([{"a": 1, "b": {"c": 1}}]),
        ),
        case(
            "nested",
            json!({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "object", "required": ["x"], "properties": {"x": {"type": "integer"}}}}}}),
            json!([{"a": [{}, {"x": "y"}, {"x": 1}, 5]}]),
        ),
        case(
            "several at once",
            json!({"type": "object", "properties": {"a": strings, "b": strings, "c": {"type": "integer", "minimum": 5, "maximum": 3, "multipleOf": 2}}}),
            json!([{"a": 1, "b": 2, "c": 4}, {"c": 3}]),
        ),
        case(
            "odd names",
            json!({"type": "object", "properties": {"a.b": strings, "": strings, "c[0]": strings, "d e": strings}}),
            json!([{"a.b": 1, "": 2, "c[0]": 3, "d e": 4}]),
        ),
    ]
}

fn junctors() -> Vec<Case> {
    let object = |junctor: &str, branches: Value| json!({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}, "c": {"type": "object", "properties": {"d": {"type": "integer"}}}}, junctor: branches});
    let tries = json!([{}, {"a": 1}, {"b": "x"}, {"a": 1, "b": "x"}, {"a": 5, "b": "xyz"}, {"c": {"d": 5}}, {"a": "x"}, {"a": 5, "b": "xyz", "c": {"d": 1}}]);
    let required = json!([{"required": ["a"]}, {"required": ["b"]}]);
    let nested = json!([
        {"properties": {"a": {"minimum": 3}}, "required": ["a"]},
        {"properties": {"b": {"minLength": 2, "pattern": "^y"}}, "required": ["b"]},
        {"properties": {"c": {"properties": {"d": {"maximum": 3}}, "required": ["d"]}}},
    ]);
    let mut cases = Vec::new();
    for junctor in ["anyOf", "oneOf", "allOf"] {
        cases.push(case(
            &format!("{junctor} required"),
            object(junctor, required.clone()),
            tries.clone(),
        ));
        cases.push(case(
            &format!("{junctor} nested"),
            object(junctor, nested.clone()),
            tries.clone(),
        ));
        cases.push(case(
            &format!("{junctor} of texts"),
            json!({"type": "string", junctor: [{"minLength": 3}, {"pattern": "^a", "maxLength": 4}, {"enum": ["b"]}, {"format": "date"}]}),
            json!(["a", "b", "abcd", "abcde", "xyz", "2024-01-01"]),
        ));
        cases.push(case(
            &format!("{junctor} of numbers"),
            json!({"type": "number", junctor: [{"minimum": 3}, {"maximum": 5, "multipleOf": 2}, {"not": {"minimum": 1}}]}),
            json!([1, 2, 4, 7, 0, 1.5, -2]),
        ));
        cases.push(case(
            &format!("{junctor} of lists"),
            json!({"type": "array", "items": {"type": "integer"}, junctor: [{"minItems": 2}, {"items": {"minimum": 3}, "maxItems": 1}, {"items": {"enum": [1]}}]}),
            json!([[], [1], [5], [1, 2], [1, 1], [7, 8, 9]]),
        ));
        cases.push(case(
            &format!("{junctor} of nulls"),
            json!({"type": "string", "nullable": true, junctor: [{"minLength": 3}, {"nullable": false, "enum": ["b"]}]}),
            json!([null, "b"]),
        ));
        cases.push(case(
            &format!("{junctor} in {junctor}"),
            json!({"type": "integer", junctor: [{junctor: [{"minimum": 3}, {"maximum": 1}]}, {junctor: [{"multipleOf": 2}, {"multipleOf": 3}]}]}),
            json!([0, 1, 2, 3, 5, 6]),
        ));
    }
    cases.push(case("not", object("not", json!({"required": ["a"]})), tries.clone()));
    cases.push(case(
        "not and the rest",
        json!({"type": "string", "not": {"pattern": "^a"}, "maxLength": 2, "anyOf": [{"minLength": 5}]}),
        json!(["abc", "b", "bcd"]),
    ));
    cases.push(case(
        "not in a list",
        json!({"type": "array", "items": {"type": "string", "not": {"enum": ["a"]}}}),
        json!([["a", "b", "a"]]),
    ));
    cases
}

fn pruning() -> Vec<Case> {
    let strings = json!({"type": "string"});
    let known =
        json!({"type": "object", "properties": {"a": strings, "o": {"type": "object", "properties": {"b": strings}}}});
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {"o": {"type": "object", "properties": {"b": strings}}}});
    let messy = json!({"a": "x", "z": 1, "o": {"b": "y", "y": {"deep": [1]}}, "l": [{"x": 1}], "n": null});
    vec![
        case("unknown fields", known.clone(), json!([messy])),
        case("unknown fields kept", open.clone(), json!([messy])),
        case(
            "unknown fields in a list",
            json!({"type": "array", "items": known}),
            json!([[messy, {"q": 1}], [[{"q": 1}]]]),
        ),
        case(
            "unknown fields in a map",
            json!({"type": "object", "additionalProperties": known}),
            json!([{"m": messy, "n.o": {"p": 1}}]),
        ),
        case(
            "unknown fields kept in a map",
            json!({"type": "object", "additionalProperties": open}),
            json!([{"m": messy}]),
        ),
        case(
            "kept with values of a map",
            json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true, "additionalProperties": known}),
            json!([{"m": messy}]),
        ),
        case(
            "kept with anything in a map",
            json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true, "additionalProperties": true}),
            json!([{"m": messy, "l": [[{"x": 1}]]}]),
        ),
        case(
            "kept in a list",
            json!({"type": "array", "x-kubernetes-preserve-unknown-fields": true, "items": known}),
            json!([[messy]]),
        ),
        case(
            "kept in lists of lists",
            json!({"type": "array", "x-kubernetes-preserve-unknown-fields": true, "items": {"type": "array", "items": known}}),
            json!([[[messy]]]),
        ),
        case(
            "objects where the schema has none",
            strings,
            json!([{"a": {"b": 1}}, [{"a": 1}]]),
        ),
        case(
            "nulls",
            json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string", "nullable": true}, "c": {"type": "string", "default": "d"}, "e": {"type": "string", "default": "d", "nullable": true}}}),
            json!([{"a": null, "b": null, "c": null, "e": null}]),
        ),
        case(
            "nulls in lists",
            json!({"type": "array", "items": {"type": "string"}}),
            json!([[null, "a"]]),
        ),
        case(
            "nulls in lists with a default",
            json!({"type": "array", "items": {"type": "string", "default": "d"}}),
            json!([[null, "a"]]),
        ),
        case(
            "nulls in maps",
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
            json!([{"a": null}]),
        ),
        case(
            "nulls in nullable maps",
            json!({"type": "object", "additionalProperties": {"type": "string", "nullable": true}}),
            json!([{"a": null}]),
        ),
        case(
            "nulls in nested lists",
            json!({"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string"}}}}),
            json!([[{"a": null}]]),
        ),
        case(
            "nulls kept where unknown",
            json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}),
            json!([{"a": null, "b": [null]}]),
        ),
        case(
            "nulls in a list of maps",
            json!({"type": "array", "items": {"type": "object", "nullable": true, "properties": {"a": {"type": "string"}}}}),
            json!([[null, {"a": null}]]),
        ),
    ]
}

fn defaults() -> Vec<Case> {
    vec![
        case(
            "default",
            json!({"type": "object", "properties": {"a": {"type": "integer", "default": 1}, "b": {"type": "boolean", "default": false}, "c": {"type": "string", "default": ""}}}),
            json!([{}, {"a": 5}, {"a": null}]),
        ),
        case(
            "default inside of default",
            json!({"type": "object", "properties": {"o": {"type": "object", "default": {}, "properties": {"a": {"type": "integer", "default": 1}, "p": {"type": "object", "default": {"q": 2}, "properties": {"q": {"type": "integer"}, "r": {"type": "string", "default": "s"}}}}}}}),
            json!([{}, {"o": {}}, {"o": {"p": {}}}, {"o": null}]),
        ),
        case(
            "default without its parent",
            json!({"type": "object", "properties": {"o": {"type": "object", "properties": {"a": {"type": "integer", "default": 1}}}}}),
            json!([{}, {"o": {}}]),
        ),
        case(
            "default in a list",
            json!({"type": "array", "items": {"type": "object", "properties": {"a": {"type": "integer", "default": 1}}}}),
            json!([[{}, {"a": 2}], []]),
        ),
        case(
            "default in a map",
            json!({"type": "object", "additionalProperties": {"type": "object", "properties": {"a": {"type": "integer", "default": 1}}}}),
            json!([{"x": {}, "y": {"a": 2}}]),
        ),
        case(
            "default of a list",
            json!({"type": "object", "properties": {"l": {"type": "array", "default": [{}], "items": {"type": "object", "properties": {"a": {"type": "integer", "default": 1}}}}}}),
            json!([{}, {"l": []}]),
        ),
        case(
            "default where required",
            json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "integer", "default": 1}}}),
            json!([{}]),
        ),
        case(
            "default of anything",
            json!({"type": "object", "properties": {"a": {"x-kubernetes-preserve-unknown-fields": true, "default": {"x": [1, {"y": null}]}}}}),
            json!([{}]),
        ),
        case(
            "default int or string",
            json!({"type": "object", "properties": {"a": {"x-kubernetes-int-or-string": true, "default": "50%"}}}),
            json!([{}, {"a": 1}]),
        ),
        case(
            "nulls in defaults",
            json!({"type": "object", "properties": {
                "o": {"type": "object", "default": {"a": null, "b": null, "c": null, "i": null}, "properties": {
                    "a": {"x-kubernetes-preserve-unknown-fields": true},
                    "b": {"x-kubernetes-preserve-unknown-fields": true, "nullable": true},
                    "c": {"x-kubernetes-preserve-unknown-fields": true, "default": 1},
                    "i": {"x-kubernetes-int-or-string": true}}},
                "l": {"type": "array", "default": [{"a": null}], "items": {"type": "object", "properties": {
                    "a": {"x-kubernetes-preserve-unknown-fields": true}}}},
                "m": {"type": "object", "default": {"x": null}, "additionalProperties": {"x-kubernetes-preserve-unknown-fields": true}},
                "r": {"type": "object", "default": {"a": null}, "required": ["a"], "properties": {
                    "a": {"x-kubernetes-preserve-unknown-fields": true}}},
                "k": {"x-kubernetes-preserve-unknown-fields": true, "default": {"a": null}}}}),
            json!([{}, {"o": {}}, {"o": {"a": null}}, {"m": {"y": null}}, {"r": {"a": null}}]),
        ),
        update(
            "nulls in defaults",
            json!({"type": "object", "properties": {"r": {"type": "object", "default": {"a": null}, "required": ["a"], "properties": {
                "a": {"x-kubernetes-preserve-unknown-fields": true}, "b": {"type": "integer"}}}}}),
            json!([[{}, {}], [{}, {"r": {"b": 1}}]]),
        ),
        case(
            "default of the wrong kind of value",
            json!({"type": "object", "properties": {"a": {"type": "integer", "default": 1}}}),
            json!([[], "a", 1]),
        ),
    ]
}

fn lists() -> Vec<Case> {
    let keyed = |keys: Value, properties: Value| json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys, "items": {"type": "object", "required": keys, "properties": properties}});
    let k = json!({"k": {"type": "string"}, "v": {"type": "integer"}});
    let kl = json!({"k": {"type": "string"}, "l": {"type": "integer"}, "v": {"type": "integer"}});
    vec![
        case(
            "set",
            json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}),
            json!([["a", "b"], ["a", "a"], ["a", "a", "a", "b", "b"]]),
        ),
        case(
            "set of numbers",
            json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "number"}}),
            json!([[1, 1.0], [1.5, 1.5], [1, 1]]),
        ),
        case(
            "set of objects",
            json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "object", "x-kubernetes-map-type": "atomic", "properties": {"a": {"type": "number"}, "b": {"type": "integer"}}}}),
            json!([[{"a": 1, "b": 2}, {"b": 2, "a": 1}], [{"a": 1}, {"a": 1.0}], [{"a": 1}, {"b": 1}]]),
        ),
        case(
            "set of lists",
            json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "array", "x-kubernetes-list-type": "atomic", "items": {"type": "string"}}}),
            json!([[["a"], ["a"]], [["a"], ["b"]]]),
        ),
        case(
            "set in a map",
            json!({"type": "object", "additionalProperties": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}}),
            json!([{"x": ["a", "a"], "y.z": ["b", "b"]}]),
        ),
        case(
            "map list",
            keyed(json!(["k"]), k.clone()),
            json!([[{"k": "a"}, {"k": "b"}], [{"k": "a", "v": 1}, {"k": "a", "v": 2}], [{"k": "a"}, {"v": 1}, {"v": 2}], [null, null], [1, {"k": "a"}], ["a", "a"]]),
        ),
        case(
            "map list of two keys",
            keyed(json!(["k", "l"]), kl.clone()),
            json!([[{"k": "a", "l": 1}, {"k": "a", "l": 2}], [{"k": "a", "l": 1}, {"k": "a", "l": 1, "v": 3}], [{"k": "a"}, {"k": "a"}], [{}, {}]]),
        ),
        case(
            "map list with a defaulted key",
            json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": {"type": "object", "properties": {"k": {"type": "string", "default": "d"}}}}),
            json!([[{}, {"k": "d"}], [{}, {"k": "e"}]]),
        ),
        case(
            "map list inside of a map list",
            json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": {"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}, "s": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "integer"}}}}}),
            json!([[{"k": "a", "s": [1, 1]}, {"k": "a", "s": [2, 2]}]]),
        ),
        case(
            "set of wrong types",
            json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}),
            json!([[1, 1], [{"a": 1}, {"a": 2}], [null, null], "a"]),
        ),
    ]
}

fn resources() -> Vec<Case> {
    let embedded =
        json!({"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true});
    let pruned = json!({"type": "object", "x-kubernetes-embedded-resource": true, "properties": {"spec": {"type": "object", "properties": {"a": {"type": "string"}}}}});
    let named = json!({"type": "object", "x-kubernetes-embedded-resource": true, "properties": {"metadata": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string", "maxLength": 3}}}, "kind": {"type": "string", "enum": ["Pod"]}}});
    let pod = |metadata: Value| json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"a": "x", "b": 1}, "other": 1});
    let owner = json!({"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": "u", "controller": true});
    vec![
        case(
            "resource",
            embedded.clone(),
            json!([
                {}, {"apiVersion": "v1"}, {"kind": "Pod"}, {"apiVersion": "v1", "kind": "Pod"}, {"apiVersion": "", "kind": ""},
                {"apiVersion": "a/b/c", "kind": "a.b"}, {"apiVersion": "a/b", "kind": "Pod_"}, {"apiVersion": 1, "kind": "Pod"},
                {"apiVersion": "v1", "kind": true}, {"apiVersion": null, "kind": "Pod"}, [], null,
            ]),
        ),
        case("resource pruned", pruned.clone(), json!([pod(json!({"name": "a"}))])),
        case(
            "resources in a list",
            json!({"type": "array", "items": pruned}),
            json!([[pod(json!({"name": "a", "foo": 1})), {}]]),
        ),
        case(
            "resources in a map",
            json!({"type": "object", "additionalProperties": embedded}),
            json!([{"x": pod(json!({"name": "a", "foo": 1})), "y": {}}]),
        ),
        case(
            "resource in a resource",
            json!({"type": "object", "x-kubernetes-embedded-resource": true, "properties": {"inner": embedded}}),
            json!([{"apiVersion": "v1", "kind": "A", "inner": {"kind": "B", "metadata": {"labels": {"a": "-"}}}}]),
        ),
        case(
            "resource with a narrowed metadata",
            named,
            json!([pod(json!({"name": "a"})), pod(json!({"name": "abcd"})), pod(json!({})), {"apiVersion": "v1", "kind": "Pod"}, {"apiVersion": "v1", "kind": "Foo"}]),
        ),
        case(
            "metadata coerced",
            embedded.clone(),
            json!([
                pod(
                    json!({"name": "", "labels": {}, "creationTimestamp": null, "finalizers": [], "ownerReferences": []})
                ),
                pod(
                    json!({"foo": 1, "labels": {"a": "b"}, "ownerReferences": [{"bar": 1, "uid": "u", "name": "n", "kind": "k", "apiVersion": "v1"}]})
                ),
                pod(
                    json!({"creationTimestamp": "2024-01-01T01:00:00+01:00", "generation": 0, "deletionGracePeriodSeconds": 0})
                ),
                pod(
                    json!({"managedFields": [{"manager": "m", "operation": "Apply", "time": "2024-01-01T00:00:00Z", "fieldsV1": {"f:a": {}}, "x": 1}]})
                ),
                pod(json!({"labels": {"a": null}, "finalizers": [null]})),
                pod(json!(null)),
            ]),
        ),
        case(
            "metadata of the wrong types",
            embedded.clone(),
            json!([
                pod(json!("a")),
                pod(json!({"name": 1})),
                pod(json!({"labels": {"a": 1}})),
                pod(json!({"labels": []})),
                pod(json!({"generation": "1"})),
                pod(json!({"generation": 1.5})),
                pod(json!({"creationTimestamp": "yesterday"})),
                pod(json!({"creationTimestamp": 1})),
                pod(json!({"finalizers": "a"})),
                pod(json!({"ownerReferences": [1]})),
                pod(json!({"ownerReferences": [{"controller": "x"}]})),
                pod(json!({"annotations": {"a": {}}})),
                pod(json!([])),
                pod(json!({"managedFields": [{"fieldsV1": 1}]})),
            ]),
        ),
        case(
            "metadata refused",
            embedded,
            json!([
                pod(json!({"name": "a/b", "namespace": "A_"})),
                pod(json!({"name": "..", "generateName": "%"})),
                pod(json!({"name": "."})),
                pod(
                    json!({"labels": {"#": "#", "a/b/c": "x", "ok": "ok", "/x": "", "A.b/c": "y"}, "annotations": {"#": "#", "A/b": ""}})
                ),
                pod(json!({"finalizers": ["#", "a/b", "orphan", "foregroundDeletion"]})),
                pod(json!({"ownerReferences": [{"name": "x"}, owner, owner]})),
                pod(json!({"ownerReferences": [{"apiVersion": "v1", "kind": "Event", "name": "e", "uid": "u"}]})),
                pod(json!({"generation": -1})),
                pod(json!({"managedFields": [{"operation": "X", "fieldsType": "Y", "manager": "a\u{1}b"}]})),
                pod(json!({"labels": {"a": "x".repeat(64)}, "name": "x".repeat(300)})),
            ]),
        ),
    ]
}

fn updates() -> Vec<Case> {
    let short = json!({"type": "string", "maxLength": 2});
    let object = json!({"type": "object", "properties": {"a": short, "b": {"type": "integer", "minimum": 5}, "c": {"type": "string"}}, "required": ["r"], "anyOf": [{"required": ["b"]}]});
    let keyed = json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": {"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}, "v": short}}});
    let twice = json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k", "l"], "items": {"type": "object", "properties": {"k": {"type": "string", "default": "d"}, "l": {"type": "number", "default": 1}, "v": short}}});
    vec![
        update(
            "unchanged text",
            short.clone(),
            json!([["abc", "abc"], ["abc", "abcd"], ["ab", "abc"]]),
        ),
        update(
            "unchanged and changed fields",
            object.clone(),
            json!([[{"a": "abc", "b": 1}, {"a": "abc", "b": 1}], [{"a": "abc", "b": 1}, {"a": "abc", "b": 2}], [{"a": "abc"}, {"a": "abc", "c": "x"}]]),
        ),
        update(
            "unchanged inside of a changed list",
            json!({"type": "array", "items": short}),
            json!([[["abc", "x"], ["abc", "x"]], [["abc", "x"], ["abc", "y"]]]),
        ),
        update(
            "unchanged items of a map list",
            keyed.clone(),
            json!([
                [[{"k": "a", "v": "abc"}, {"k": "b"}], [{"k": "b", "v": "x"}, {"k": "a", "v": "abc"}]],
                [[{"k": "a", "v": "abc"}], [{"k": "a", "v": "abcd"}]],
                [[{"k": "a", "v": "abc"}], [{"k": "b", "v": "abc"}]],
                [[{"k": "a", "v": "abc"}], [{"k": "a", "v": "abc"}, {"k": "c"}]],
            ]),
        ),
        update(
            "unchanged items of two keys",
            twice,
            json!([
                [[{"k": "a", "l": 1, "v": "abc"}], [{"k": "a", "l": 1, "v": "abc"}, {"k": "a", "l": 2}]],
                [[{"k": "a", "l": 1.5, "v": "abc"}], [{"k": "a", "l": 1.5, "v": "abc"}, {"k": "a", "l": 2.5}]],
                [[{"k": "a", "l": 1, "v": "abc"}], [{"k": "a", "l": 1.0000001, "v": "abc"}]],
            ]),
        ),
        update(
            "reordered map list with a count",
            json!({"type": "object", "maxProperties": 0, "properties": {"l": keyed}}),
            json!([[{"l": [{"k": "a"}, {"k": "b"}]}, {"l": [{"k": "b"}, {"k": "a"}]}]]),
        ),
        update(
            "unchanged entries of a map",
            json!({"type": "object", "additionalProperties": short}),
            json!([[{"a": "abc"}, {"a": "abc", "b": "x"}], [{"a": "abc"}, {"b": "abc"}]]),
        ),
        update(
            "unchanged but not in the schema",
            json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true, "maxProperties": 0}),
            json!([[{"a": 1}, {"a": 1}]]),
        ),
        update(
            "unchanged allowed values",
            json!({"type": "object", "maxProperties": 0, "additionalProperties": true}),
            json!([[{"a": 1}, {"a": 1}]]),
        ),
        update(
            "unchanged inside of a junctor",
            json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "allOf": [{"properties": {"a": {"maxLength": 2}}}]}),
            json!([[{"a": "abc"}, {"a": "abc"}], [{"a": "abc"}, {"a": "abc", "b": "x"}]]),
        ),
        update(
            "unchanged null",
            json!({"type": "object", "properties": {"a": {"type": "string", "nullable": true, "enum": ["x"]}, "b": {"type": "string"}}}),
            json!([[{"a": null}, {"a": null, "b": "y"}], [{}, {"a": null}]]),
        ),
        update(
            "twice before and after",
            json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}),
            json!([[["a", "a"], ["a", "a"]], [["a", "a"], ["b", "b"]], [["a"], ["b", "b"]]]),
        ),
        update(
            "integer to float",
            json!({"type": "number", "maximum": 0}),
            json!([[1, 1.0], [1, 1], [1.5, 1.5]]),
        ),
        update(
            "unchanged resource",
            json!({"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true}),
            json!([[{"kind": "A"}, {"kind": "A"}]]),
        ),
        in_status(update(
            "status",
            json!({"type": "object", "properties": {"a": short, "s": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}}}),
            json!([
                [{}, {"a": "abc"}], [{"a": "abc"}, {"a": "abc"}], [{"a": "abc"}, {"a": "abcd"}], [{}, []], [{}, {"a": 1, "z": 1}], [{}, {"s": ["a", "a"]}],
            ]),
        )),
        in_status(update(
            "status as a map",
            json!({"type": "object", "additionalProperties": short, "maxProperties": 2, "required": ["r"], "not": {"required": ["n"]}}),
            json!([
                [{}, {"a": "abc"}], [{"r": "abc"}, {"r": "abc"}], [{}, {"r": "x", "b": 1}], [{}, {"n": "x"}], [{"kind": "abc"}, {"kind": "abc", "r": "x"}],
            ]),
        )),
    ]
}

fn wholes() -> Vec<Case> {
    let spec = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    vec![
        as_whole(case(
            "root required",
            json!({"type": "object", "required": ["spec"], "properties": {"spec": spec}}),
            json!([{}, {"spec": {}}, {"spec": {"a": 1}, "other": 1}]),
        )),
        as_whole(case(
            "root junctors",
            json!({"type": "object", "properties": {"spec": spec}, "oneOf": [{"required": ["spec"]}, {"required": ["data"]}], "not": {"required": ["spec"]}, "maxProperties": 3}),
            json!([{}, {"spec": {}}]),
        )),
        as_whole(case(
            "root open",
            json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {"spec": spec}}),
            json!([{"x": {"y": 1}, "spec": {"a": "b", "c": 1}}]),
        )),
        as_whole(case(
            "root metadata",
            json!({"type": "object", "properties": {"metadata": {"type": "object", "properties": {"name": {"type": "string", "maxLength": 2}}}, "kind": {"type": "string", "maxLength": 1}}}),
            json!([{}]),
        )),
        as_whole(update(
            "root update",
            json!({"type": "object", "required": ["data"], "properties": {"metadata": {"type": "object", "properties": {"name": {"type": "string", "maxLength": 2}}}, "kind": {"type": "string", "maxLength": 1}, "spec": spec}}),
            json!([[{"spec": {"a": "x"}}, {"spec": {"a": "x"}}]]),
        )),
    ]
}

fn rules() -> Vec<Case> {
    let ruled = |rules: Value| {
        json!({"type": "object", "x-kubernetes-validations": rules, "required": ["r"], "properties": {
            "a": {"type": "integer"}, "b": {"type": "string", "maxLength": 3, "enum": ["x", "y"]}, "r": {"type": "string", "default": "r"}, "m": {"type": "integer", "minimum": 1},
        }})
    };
    let greater = json!([{"rule": "!has(self.a) || self.a > 1", "message": "a is small", "fieldPath": ".a"}, {"rule": "self.r == 'r'"}]);
    let tries = json!([{}, {"a": 1}, {"a": 2, "r": "s"}, {"a": 1, "b": "z"}, {"a": "x"}, {"a": 1, "m": 0}, {"a": 1, "r": null}]);
    let keyed = json!({"type": "array", "maxItems": 5, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": {"type": "object", "required": ["k"], "properties": {"k": {"type": "string", "maxLength": 5}, "v": {"type": "integer", "x-kubernetes-validations": [{"rule": "self >= oldSelf", "reason": "FieldValueForbidden", "message": "v must not fall"}]}}}});
    vec![
        case("rules", ruled(greater.clone()), tries),
        update(
            "rules on change",
            ruled(json!([{"rule": "self.r == oldSelf.r", "message": "r stays"}])),
            json!([[{}, {}], [{"r": "a"}, {"r": "b"}], [{"r": "a", "b": "z"}, {"r": "b", "b": "z"}]]),
        ),
        update(
            "rules on items of a map list",
            keyed,
            json!([[[{"k": "a", "v": 2}], [{"k": "b", "v": 1}, {"k": "a", "v": 1}]], [[{"k": "a", "v": 2}], [{"k": "b", "v": 1}, {"k": "a", "v": 3}]]]),
        ),
        update(
            "rules that were broken before",
            ruled(greater.clone()),
            json!([[{"a": 1}, {"a": 1}], [{"a": 1}, {"a": 0}], [{"a": 1, "r": "s"}, {"a": 1, "r": "s", "m": 5}]]),
        ),
        in_status(update(
            "rules on a status",
            ruled(greater),
            json!([[{}, {"a": 1}], [{}, {"a": 1, "b": "z"}], [{"a": 1}, {"a": 1}]]),
        )),
        as_whole(case(
            "rules at the root",
            json!({"type": "object", "x-kubernetes-validations": [{"rule": "self.metadata.name == 'bar'"}, {"rule": "has(self.spec)"}], "properties": {"spec": {"type": "object"}}}),
            json!([{}, {"spec": {}}, {"spec": 1}]),
        )),
        case(
            "rules and resources",
            json!({"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-validations": [{"rule": "self.kind == 'Pod'"}]}),
            json!([{"apiVersion": "v1", "kind": "Foo"}, {"kind": "Foo"}, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "%"}}]),
        ),
    ]
}

/// Rules on old values that violate their schema, because they were stored before it: cases that random tests found.
fn broken_before() -> Vec<Case> {
    let rule = |rule: &str| json!([{"rule": rule}]);
    let optional = json!([{"rule": "!oldSelf.hasValue() || self == oldSelf.value()", "optionalOldSelf": true}]);
    let keyed = json!({"type": "array", "maxItems": 5, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"],
        "items": {"type": "object", "required": ["a"], "properties": {"a": {"type": "string", "maxLength": 5}}}, "x-kubernetes-validations": rule("self == oldSelf")});
    let flagged = json!({"type": "array", "maxItems": 5, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"],
        "items": {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}, "d": {"type": "boolean", "x-kubernetes-validations": rule("self == oldSelf")}}}});
    let flag = |list: &[(i32, bool)]| -> Vec<Value> { list.iter().map(|(a, d)| json!({"a": a, "d": d})).collect() };
    let pod =
        |label: &str| json!({"apiVersion": "a/b/c", "kind": "Pod", "metadata": {"name": "a", "labels": {"a": label}}});
    vec![
        update(
            "rules and fields that an optional oldSelf does not know",
            json!({"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-validations": optional}),
            json!([[pod("b"), pod("b")], [{"apiVersion": "v1", "kind": "Pod"}, {"apiVersion": "v1", "kind": "Pod"}]]),
        ),
        update(
            "rules and values without a type in an optional oldSelf",
            json!({"type": "object", "properties": {"c": {"x-kubernetes-preserve-unknown-fields": true}}, "x-kubernetes-validations": optional}),
            json!([[{"c": 2}, {"c": 2}], [{"c": 2}, {"c": 2.5}], [{"c": "a"}, {"c": "a"}], [{"c": [1, {"a": 2}]}, {"c": [1, {"a": 2}]}], [{"c": {"a": 1}}, {"c": {"a": 2}}], [{"c": true}, {"c": false}]]),
        ),
        update(
            "rules and bytes that are none",
            json!({"type": "object", "properties": {"b": {"type": "string", "format": "byte", "maxLength": 9}}, "x-kubernetes-validations": rule("self == self")}),
            json!([[{"b": "ab"}, {"b": "ab"}], [{"b": "YQ==YQ"}, {"b": "YQ==YQ"}], [{"b": "YQ="}, {"b": "YQ="}], [{"b": "YWI\n"}, {"b": "YWI\n"}]]),
        ),
        update(
            "rules and a set of what does not fit",
            json!({"type": "array", "maxItems": 5, "x-kubernetes-list-type": "set", "items": {"type": "integer"}, "x-kubernetes-validations": rule("self == self")}),
            json!([[["", 2], ["", 2]], [[null], [null]], [[1, 2], [2, 1]]]),
        ),
        update(
            "rules and fields that the schema does not know",
            json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {"k": {"type": "string"}}, "x-kubernetes-validations": rule("self.k != 'a'")}),
            json!([[{"k": "a"}, {"k": "a"}], [{"k": "a", "u": 1}, {"k": "a", "u": 1}], [{"k": "a", "u": 1}, {"k": "a", "u": 2}]]),
        ),
        update(
            "rules and an embedded object",
            json!({"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-validations": rule("self.kind != 'Pod'")}),
            json!([[pod("b"), pod("b")], [pod("b c"), pod("b c")], [pod("b"), pod("c")], [{"apiVersion": "v1", "kind": "Pod"}, {"apiVersion": "v1", "kind": "Pod"}]]),
        ),
        update(
            "rules and an embedded object that is pruned",
            json!({"type": "object", "x-kubernetes-embedded-resource": true, "properties": {"k": {"type": "string"}}, "x-kubernetes-validations": rule("self.k != 'a'")}),
            json!([[{"apiVersion": "v1", "kind": "Pod", "k": "a"}, {"apiVersion": "v1", "kind": "Pod", "k": "a"}], [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "b"}, "k": "a"}, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "b"}, "k": "a"}]]),
        ),
        update(
            "rules around an embedded object",
            json!({"type": "object", "properties": {"k": {"type": "string"}, "d": {"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true}}, "x-kubernetes-validations": rule("self.k != 'a'")}),
            json!([[{"k": "a", "d": pod("b")}, {"k": "a", "d": pod("b")}], [{"k": "a"}, {"k": "a"}]]),
        ),
        update(
            "rules and keys that do not fit",
            keyed,
            json!([[[{"a": {"c": 1}}], [{"a": "b"}]], [[{"a": "b"}, {"a": [1]}], [{"a": "b"}, {"a": "c"}]], [[1], [{"a": "b"}]], [[{"a": "c"}, {"a": "b"}], [{"a": "b"}, {"a": "c"}]]]),
        ),
        update(
            "items without their key that do not change",
            json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
                "items": {"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}, "v": {"type": "number"}}}}),
            json!([
                [[{"v": 1.5}, {"k": "1"}], [{"v": 1.5}, {"k": "1"}]],
                [[{"k": "1", "v": "a"}, {"k": "2"}], [{"k": "1", "v": "a"}, {"k": "3"}]],
            ]),
        ),
        update(
            "rules and several old items of one key",
            flagged,
            json!([
                [
                    flag(&[(0, false), (0, true), (1, false)]),
                    flag(&[(0, false), (0, true), (1, false)])
                ],
                [
                    flag(&[(0, false), (1, true), (0, true)]),
                    flag(&[(0, false), (1, true), (0, true)])
                ],
                [flag(&[(0, false), (0, true)]), flag(&[(1, false), (0, true)])],
                [flag(&[(0, false), (0, true)]), flag(&[(1, false), (0, false)])],
                [
                    flag(&[(0, false), (0, true), (1, false)]),
                    flag(&[(0, false), (1, false)])
                ],
                [
                    flag(&[(0, false), (0, true), (1, false)]),
                    flag(&[(1, false), (0, false)])
                ],
                [
                    flag(&[(0, false), (0, true), (1, false)]),
                    flag(&[(1, false), (0, true)])
                ],
                [
                    flag(&[(0, false), (0, true), (1, false), (0, false)]),
                    flag(&[(0, false), (1, false), (0, true)])
                ]
            ]),
        ),
    ]
}
