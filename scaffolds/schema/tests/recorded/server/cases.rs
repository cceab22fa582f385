//! Handwritten CustomResourceDefinitions: for each rule some that violate it, and some that almost do.

use serde_json::{Value, json};

/// All cases by name.
pub fn all() -> Vec<(&'static str, Value)> {
    let mut all = Vec::new();
    all.extend(top());
    all.extend(columns());
    all.extend(selectable_versions());
    all.extend(conversion());
    all.extend(nodes());
    all.extend(lists());
    all.extend(structure());
    all.extend(patterns());
    all.extend(defaults());
    all.extend(rules());
    all
}

/// An acceptable CRD.
pub fn base() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "foobars.test.example.com"},
        "spec": {
            "group": "test.example.com",
            "scope": "Namespaced",
            "names": {"kind": "FooBar", "listKind": "FooBarList", "plural": "foobars", "singular": "foobar"},
            "versions": [version("v1")],
        },
    })
}

fn version(name: &str) -> Value {
    json!({
        "name": name, "served": true, "storage": true,
        "schema": {"openAPIV3Schema": {
            "type": "object",
            "properties": {
                "spec": {"type": "object", "properties": {"target": {"type": "string"}}},
                "status": {"type": "object", "properties": {"ready": {"type": "boolean"}, "replicas": {"type": "integer"}}},
            },
        }},
    })
}

/// The base with a change.
fn with(change: impl FnOnce(&mut Value)) -> Value {
    let mut crd = base();
    change(&mut crd);
    crd
}

fn set(pointer: &str, value: Value) -> Value {
    with(|crd| put(crd, pointer, value))
}

fn put(crd: &mut Value, pointer: &str, value: Value) {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    crd.pointer_mut(parent).unwrap_or_else(|| panic!("{parent}"))[key] = value;
}

const ROOT: &str = "/spec/versions/0/schema/openAPIV3Schema";

/// The base whose `spec.target` is `schema`.
fn node(schema: Value) -> Value {
    set(&format!("{ROOT}/properties/spec/properties/target"), schema)
}

fn root(key: &str, value: Value) -> Value {
    set(&format!("{ROOT}/{key}"), value)
}

/// The base with a second version, which `change` may change.
fn second(change: impl FnOnce(&mut Value)) -> Value {
    with(|crd| {
        let mut other = version("v1beta1");
        other["storage"] = json!(false);
        change(&mut other);
        crd["spec"]["versions"].as_array_mut().unwrap().push(other);
    })
}

fn named(key: &str, value: Value) -> Value {
    set(&format!("/spec/names/{key}"), value)
}

fn meta(key: &str, value: Value) -> Value {
    set(&format!("/metadata/{key}"), value)
}

fn group(group: &str) -> Value {
    with(|crd| {
        crd["metadata"]["name"] = format!("foobars.{group}").into();
        crd["spec"]["group"] = group.into();
    })
}

fn annotated(group_name: &str, approval: &str) -> Value {
    let mut crd = group(group_name);
    crd["metadata"]["annotations"] = json!({"api-approved.kubernetes.io": approval});
    crd
}

fn top() -> Vec<(&'static str, Value)> {
    let long = "a".repeat(64);
    vec![
        ("base", base()),
        (
            "name of another resource",
            set("/metadata/name", json!("bars.test.example.com")),
        ),
        (
            "name not a subdomain",
            set("/metadata/name", json!("Foobars.test.example.com")),
        ),
        ("name missing", set("/metadata", json!({}))),
        ("labels", meta("labels", json!({"a": "", "a.b/C_d": "1-2_3.x"}))),
        ("label with two slashes", meta("labels", json!({"a/b/c": "d"}))),
        ("label without a prefix", meta("labels", json!({"/b": "d"}))),
        ("label without a name", meta("labels", json!({"a/": "d"}))),
        ("label with a prefix in capitals", meta("labels", json!({"A.b/c": "d"}))),
        (
            "label too long",
            meta("labels", json!({long.clone(): format!("{long}-")})),
        ),
        ("label with a blank", meta("labels", json!({"a b": "c d"}))),
        ("annotations", meta("annotations", json!({"A.b/C": "any text\n"}))),
        ("annotation with a blank", meta("annotations", json!({"a b": "c"}))),
        ("group empty", set("/spec/group", json!(""))),
        ("group without a dot", group("test")),
        ("group in capitals", group("Test.example.com")),
        ("group with an underscore", group("te_st.example.com")),
        ("group of the community", group("test.k8s.io")),
        (
            "group of the community, approved",
            annotated("test.k8s.io", "https://github.com/kubernetes/kubernetes/pull/1"),
        ),
        (
            "group of the community, unapproved",
            annotated("test.kubernetes.io", "unapproved, a test"),
        ),
        ("group of the community, nonsense", annotated("test.k8s.io", "nonsense")),
        (
            "group of the community, a path",
            annotated("test.k8s.io", "https:/kubernetes.io"),
        ),
        (
            "group of the community, no web page",
            annotated("test.k8s.io", "a+b://x"),
        ),
        (
            "group of the community, a fragment",
            annotated("test.k8s.io", "https://kubernetes.io#a b"),
        ),
        (
            "group of the community, no port",
            annotated("test.k8s.io", "https://a:b"),
        ),
        ("group like the community's", group("testk8s.io")),
        ("scope empty", set("/spec/scope", json!(""))),
        ("scope unknown", set("/spec/scope", json!("Galaxy"))),
        ("scope cluster", set("/spec/scope", json!("Cluster"))),
        ("preserveUnknownFields", set("/spec/preserveUnknownFields", json!(true))),
        (
            "preserveUnknownFields with a default",
            with(|crd| {
                crd["spec"]["preserveUnknownFields"] = json!(true);
                put(
                    crd,
                    &format!("{ROOT}/properties/spec/properties/target/default"),
                    json!("a"),
                );
            }),
        ),
        ("plural empty", named("plural", json!(""))),
        (
            "plural too long",
            with(|crd| {
                crd["metadata"]["name"] = format!("{long}.test.example.com").into();
                crd["spec"]["names"]["plural"] = long.clone().into();
            }),
        ),
        (
            "plural with a digit first",
            with(|crd| {
                crd["metadata"]["name"] = "1foobars.test.example.com".into();
                crd["spec"]["names"]["plural"] = "1foobars".into();
            }),
        ),
        ("singular in capitals", named("singular", json!("fooBar"))),
        ("singular absent", named("singular", json!(""))),
        ("kind empty", named("kind", json!(""))),
        ("kind with a dash last", named("kind", json!("FooBar-"))),
        ("list kind absent", named("listKind", json!(""))),
        ("list kind equal to kind", named("listKind", json!("FooBar"))),
        ("list kind with an underscore", named("listKind", json!("Foo_BarList"))),
        (
            "short names and categories",
            set("/spec/names/shortNames", json!(["fb", "f1"])),
        ),
        ("short name empty", named("shortNames", json!(["fb", ""]))),
        ("short name in capitals", named("shortNames", json!(["FB"]))),
        ("category with a slash", named("categories", json!(["all", "a/b"]))),
        ("no versions", set("/spec/versions", json!([]))),
        ("no storage version", set("/spec/versions/0/storage", json!(false))),
        ("version name in capitals", set("/spec/versions/0/name", json!("V1"))),
        ("version name empty", set("/spec/versions/0/name", json!(""))),
        ("version not served", set("/spec/versions/0/served", json!(false))),
        ("schema absent", set("/spec/versions/0/schema", json!(null))),
        ("schema empty", set("/spec/versions/0/schema", json!({}))),
        ("two versions alike", second(|_| {})),
        (
            "two versions with two schemas",
            second(|it| put(it, "/schema/openAPIV3Schema/properties/more", json!({"type": "string"}))),
        ),
        (
            "two versions, the second broken",
            second(|it| put(it, "/schema/openAPIV3Schema/properties/more", json!({}))),
        ),
        (
            "two versions alike and broken",
            with(|crd| {
                put(crd, &format!("{ROOT}/properties/more"), json!({}));
                let mut other = crd["spec"]["versions"][0].clone();
                other["name"] = "v2".into();
                other["storage"] = json!(false);
                crd["spec"]["versions"].as_array_mut().unwrap().push(other);
            }),
        ),
        ("two versions of one name", second(|it| it["name"] = "v1".into())),
        ("two storage versions", second(|it| it["storage"] = json!(true))),
        (
            "two versions, one without schema",
            second(|it| it["schema"] = json!(null)),
        ),
        (
            "deprecation warning",
            with(|crd| {
                crd["spec"]["versions"][0]["deprecated"] = json!(true);
                crd["spec"]["versions"][0]["deprecationWarning"] = "old".into();
            }),
        ),
        (
            "deprecation warning, not deprecated",
            set("/spec/versions/0/deprecationWarning", json!("old")),
        ),
        (
            "deprecation warning, empty",
            with(|crd| {
                crd["spec"]["versions"][0]["deprecated"] = json!(true);
                crd["spec"]["versions"][0]["deprecationWarning"] = "".into();
            }),
        ),
        (
            "deprecation warning, too long",
            with(|crd| {
                crd["spec"]["versions"][0]["deprecated"] = json!(true);
                crd["spec"]["versions"][0]["deprecationWarning"] = "x".repeat(257).into();
            }),
        ),
        (
            "deprecation warning, as long as can be",
            with(|crd| {
                crd["spec"]["versions"][0]["deprecated"] = json!(true);
                crd["spec"]["versions"][0]["deprecationWarning"] = "x".repeat(256).into();
            }),
        ),
        (
            "deprecation warning, two lines",
            with(|crd| {
                crd["spec"]["versions"][0]["deprecated"] = json!(true);
                crd["spec"]["versions"][0]["deprecationWarning"] = "one\ntwo".into();
            }),
        ),
        (
            "deprecation warning, an invisible character",
            with(|crd| {
                crd["spec"]["versions"][0]["deprecated"] = json!(true);
                crd["spec"]["versions"][0]["deprecationWarning"] = "\u{e9}\u{200b}b".into();
            }),
        ),
    ]
}

fn column(column: Value) -> Value {
    set("/spec/versions/0/additionalPrinterColumns", json!([column]))
}

fn scale(scale: Value) -> Value {
    set("/spec/versions/0/subresources", json!({"status": {}, "scale": scale}))
}

fn selectable(paths: &[&str]) -> Value {
    with(|crd| {
        let fields: Vec<Value> = paths.iter().map(|path| json!({"jsonPath": path})).collect();
        crd["spec"]["versions"][0]["selectableFields"] = fields.into();
        let more = json!({
            "type": "object",
            "properties": {
                "a": {"type": "string"}, "b": {"type": "boolean"}, "c": {"type": "integer"}, "d": {"type": "number"},
                "list": {"type": "array", "items": {"type": "string"}},
                "map": {"type": "object", "additionalProperties": {"type": "string"}},
                "any": {"x-kubernetes-preserve-unknown-fields": true},
                "e1": {"type": "string"}, "e2": {"type": "string"}, "e3": {"type": "string"}, "e4": {"type": "string"},
                "e5": {"type": "string"}, "e6": {"type": "string"}, "e7": {"type": "string"}, "e8": {"type": "string"},
                "e9": {"type": "string"},
            },
        });
        put(crd, &format!("{ROOT}/properties/spec"), more);
    })
}

/// A CRD with a version for each item: the fields `target`, and `extra` if given, and the paths of selectable fields.
fn selectable_in(versions: &[(Option<&str>, &[&str])]) -> Value {
    with(|crd| {
        let all = versions.iter().enumerate().map(|(index, (extra, paths))| {
            let mut it = version(&format!("v{}", index + 1));
            it["storage"] = json!(index == 0);
            if let Some(extra) = extra {
                let fields = "/schema/openAPIV3Schema/properties/spec/properties";
                put(&mut it, &format!("{fields}/{extra}"), json!({"type": "string"}));
            }
            let paths: Vec<Value> = paths.iter().map(|path| json!({"jsonPath": path})).collect();
            it["selectableFields"] = paths.into();
            it
        });
        crd["spec"]["versions"] = all.collect();
    })
}

/// Versions that share their schema or their selectable fields, both, or neither.
fn selectable_versions() -> Vec<(&'static str, Value)> {
    const TARGET: &[&str] = &[".spec.target"];
    const READY: &[&str] = &[".status.ready"];
    const BOTH: &[&str] = &[".spec.target", ".status.ready"];
    const TURNED: &[&str] = &[".status.ready", ".spec.target"];
    let more = Some("more");
    let without_schema = |mut crd: Value, version: usize| {
        crd["spec"]["versions"][version]["schema"] = json!(null);
        crd
    };
    vec![
        ("one schema, one list", selectable_in(&[(None, TARGET), (None, TARGET)])),
        ("one schema, two lists", selectable_in(&[(None, TARGET), (None, READY)])),
        ("one schema, two orders", selectable_in(&[(None, BOTH), (None, TURNED)])),
        (
            "one schema, a list in the first",
            selectable_in(&[(None, TARGET), (None, &[])]),
        ),
        (
            "one schema, a list in the second",
            selectable_in(&[(None, &[]), (None, TARGET)]),
        ),
        (
            "one schema, an unknown field in the first",
            selectable_in(&[(None, &[".spec.nothing"]), (None, &[])]),
        ),
        (
            "one schema, three lists",
            selectable_in(&[(None, TARGET), (None, &[]), (None, READY)]),
        ),
        (
            "two schemas, one list",
            selectable_in(&[(None, TARGET), (more, TARGET)]),
        ),
        (
            "two schemas, one list of an unknown field",
            selectable_in(&[(None, &[".spec.nothing"]), (more, &[".spec.nothing"])]),
        ),
        (
            "two schemas, two lists",
            selectable_in(&[(None, TARGET), (more, READY)]),
        ),
        (
            "two schemas, two orders",
            selectable_in(&[(None, BOTH), (more, TURNED)]),
        ),
        (
            "two schemas, a list in the first",
            selectable_in(&[(None, TARGET), (more, &[])]),
        ),
        (
            "two schemas, an unknown field in the second",
            selectable_in(&[(None, TARGET), (more, &[".spec.nothing"])]),
        ),
        (
            "two schemas in three versions, one list",
            selectable_in(&[(None, TARGET), (None, TARGET), (more, TARGET)]),
        ),
        (
            "two schemas in three versions, three lists",
            selectable_in(&[(None, TARGET), (None, &[]), (more, READY)]),
        ),
        (
            "selectable without a schema",
            without_schema(selectable_in(&[(None, TARGET)]), 0),
        ),
        (
            "selectable, one without schema",
            without_schema(selectable_in(&[(None, TARGET), (None, TARGET)]), 1),
        ),
        (
            "selectable otherwise, one without schema",
            without_schema(selectable_in(&[(None, TARGET), (None, READY)]), 1),
        ),
    ]
}

fn columns() -> Vec<(&'static str, Value)> {
    let good = json!({"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"});
    let other = |key: &str, value: Value| {
        let mut changed = good.clone();
        changed[key] = value;
        scale(changed)
    };
    vec![
        (
            "column",
            column(
                json!({"name": "Ready", "type": "string", "jsonPath": ".status.conditions[?(@.type==\"Ready\")].status"}),
            ),
        ),
        (
            "column with everything",
            column(
                json!({"name": "N", "type": "integer", "format": "int32", "priority": 1, "description": "d", "jsonPath": ".a"}),
            ),
        ),
        (
            "column with an unknown type",
            column(json!({"name": "A", "type": "text", "jsonPath": ".a"})),
        ),
        (
            "column without a type",
            column(json!({"name": "A", "type": "", "jsonPath": ".a"})),
        ),
        (
            "column without a name",
            column(json!({"name": "", "type": "string", "jsonPath": ".a"})),
        ),
        (
            "column with an unknown format",
            column(json!({"name": "A", "type": "string", "format": "uuid", "jsonPath": ".a"})),
        ),
        (
            "column without a path",
            column(json!({"name": "A", "type": "string", "jsonPath": ""})),
        ),
        (
            "column with a path without a dot",
            column(json!({"name": "A", "type": "string", "jsonPath": "spec.a"})),
        ),
        (
            "columns in one of two versions",
            second(|it| it["additionalPrinterColumns"] = json!([{"name": "A", "type": "x", "jsonPath": ".a"}])),
        ),
        ("scale", scale(good.clone())),
        (
            "scale without the path of the spec",
            other("specReplicasPath", json!("")),
        ),
        (
            "scale with a path without a dot",
            other("specReplicasPath", json!("spec.replicas")),
        ),
        (
            "scale with the spec in the status",
            other("specReplicasPath", json!(".status.replicas")),
        ),
        (
            "scale with the status in the spec",
            other("statusReplicasPath", json!(".spec.replicas")),
        ),
        (
            "scale without the path of the status",
            other("statusReplicasPath", json!("")),
        ),
        (
            "scale with a selector",
            other("labelSelectorPath", json!(".status.selector")),
        ),
        (
            "scale with a selector elsewhere",
            other("labelSelectorPath", json!(".metadata.selector")),
        ),
        (
            "scale with a selector without a dot",
            other("labelSelectorPath", json!("status.selector")),
        ),
        (
            "scale in one of two versions",
            second(|it| {
                it["subresources"] = json!({"scale": {"specReplicasPath": "x", "statusReplicasPath": ".status.a"}})
            }),
        ),
        ("selectable fields", selectable(&[".spec.a", ".spec.b", ".spec.c"])),
        ("selectable number", selectable(&[".spec.d"])),
        ("selectable object", selectable(&[".spec"])),
        ("selectable list", selectable(&[".spec.list"])),
        ("selectable map entry", selectable(&[".spec.map.a"])),
        ("selectable anything", selectable(&[".spec.any"])),
        ("selectable below anything", selectable(&[".spec.any.a"])),
        ("selectable unknown", selectable(&[".spec.nothing"])),
        ("selectable twice", selectable(&[".spec.a", ".spec.a"])),
        ("selectable metadata", selectable(&[".metadata.name"])),
        ("selectable without a dot", selectable(&["spec.a"])),
        ("selectable with brackets", selectable(&[".spec['a']"])),
        ("selectable with a dot last", selectable(&[".spec."])),
        ("selectable empty", selectable(&[""])),
        (
            "selectable eight times",
            selectable(&[
                ".spec.e1", ".spec.e2", ".spec.e3", ".spec.e4", ".spec.e5", ".spec.e6", ".spec.e7", ".spec.e8",
            ]),
        ),
        (
            "selectable nine times",
            selectable(&[
                ".spec.e1", ".spec.e2", ".spec.e3", ".spec.e4", ".spec.e5", ".spec.e6", ".spec.e7", ".spec.e8",
                ".spec.e9",
            ]),
        ),
    ]
}

fn webhook(webhook: Value) -> Value {
    set("/spec/conversion", json!({"strategy": "Webhook", "webhook": webhook}))
}

fn service(service: Value) -> Value {
    webhook(json!({"clientConfig": {"service": service}, "conversionReviewVersions": ["v1"]}))
}

fn conversion() -> Vec<(&'static str, Value)> {
    let url = |url: &str| webhook(json!({"clientConfig": {"url": url}, "conversionReviewVersions": ["v1"]}));
    let reviews = |versions: Value| {
        webhook(json!({"clientConfig": {"url": "https://localhost/convert"}, "conversionReviewVersions": versions}))
    };
    vec![
        ("conversion none", set("/spec/conversion", json!({"strategy": "None"}))),
        (
            "conversion unknown",
            set("/spec/conversion", json!({"strategy": "Magic"})),
        ),
        (
            "conversion none with a webhook",
            set(
                "/spec/conversion",
                json!({"strategy": "None", "webhook": {"clientConfig": {"url": "https://a/b"}, "conversionReviewVersions": ["v1"]}}),
            ),
        ),
        (
            "conversion by service",
            service(json!({"name": "a", "namespace": "b", "path": "/convert"})),
        ),
        (
            "conversion by service without a name",
            service(json!({"name": "", "namespace": "b"})),
        ),
        (
            "conversion by service with a port",
            service(json!({"name": "a", "namespace": "b", "port": 70000})),
        ),
        (
            "conversion by service with a path",
            service(json!({"name": "a", "namespace": "b", "path": "convert//A"})),
        ),
        ("conversion by url", url("https://localhost/convert")),
        ("conversion by http", url("http://localhost/convert")),
        (
            "conversion by url with everything wrong",
            url("https://me@localhost/convert?a=b#c"),
        ),
        ("conversion by url without a host", url("https:///convert")),
        (
            "conversion without a client",
            webhook(json!({"conversionReviewVersions": ["v1"]})),
        ),
        (
            "conversion by url and service",
            webhook(
                json!({"clientConfig": {"url": "https://a/b", "service": {"name": "a", "namespace": "b"}}, "conversionReviewVersions": ["v1"]}),
            ),
        ),
        ("conversion without review versions", reviews(json!([]))),
        ("conversion with unknown review versions", reviews(json!(["v2"]))),
        ("conversion with a review version twice", reviews(json!(["v1", "v1"]))),
        ("conversion with a wrong review version", reviews(json!(["v1", "V2"]))),
    ]
}

fn nodes() -> Vec<(&'static str, Value)> {
    let rule = |rule: Value| {
        node(json!({"type": "object", "properties": {"a": {"type": "string"}}, "x-kubernetes-validations": [rule]}))
    };
    vec![
        ("type unknown", node(json!({"type": "text"}))),
        ("type null", node(json!({"type": "null"}))),
        ("type missing", node(json!({"description": "anything"}))),
        (
            "type missing but anything",
            node(json!({"x-kubernetes-preserve-unknown-fields": true})),
        ),
        (
            "preserve unknown fields false",
            node(json!({"type": "object", "x-kubernetes-preserve-unknown-fields": false})),
        ),
        ("ref", node(json!({"$ref": "#/components/schemas/Tree"}))),
        ("ref with a type", node(json!({"type": "object", "$ref": "#/a"}))),
        ("id", node(json!({"type": "string", "id": "a"}))),
        (
            "schema keyword",
            node(json!({"type": "string", "$schema": "http://json-schema.org/schema#"})),
        ),
        (
            "additional items",
            node(json!({"type": "array", "items": {"type": "string"}, "additionalItems": {"type": "string"}})),
        ),
        (
            "additional items false",
            node(json!({"type": "array", "items": {"type": "string"}, "additionalItems": false})),
        ),
        (
            "pattern properties",
            node(json!({"type": "object", "patternProperties": {"a": {"type": "string"}}})),
        ),
        (
            "definitions",
            node(json!({"type": "string", "definitions": {"a": {"type": "nothing"}}})),
        ),
        (
            "dependencies",
            node(json!({"type": "object", "dependencies": {"a": ["b"]}})),
        ),
        (
            "items as a list",
            node(json!({"type": "array", "items": [{"type": "string"}, {"type": "integer"}]})),
        ),
        ("items missing", node(json!({"type": "array"}))),
        ("items without a type", node(json!({"type": "array", "items": {}}))),
        (
            "unique items",
            node(json!({"type": "array", "items": {"type": "string"}, "uniqueItems": true})),
        ),
        (
            "properties and additional properties",
            node(
                json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "string"}}),
            ),
        ),
        (
            "properties and additional properties true",
            node(json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": true})),
        ),
        (
            "properties and additional properties false",
            node(json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false})),
        ),
        (
            "additional properties false",
            node(json!({"type": "object", "additionalProperties": false})),
        ),
        (
            "additional properties without a type",
            node(json!({"type": "object", "additionalProperties": {}})),
        ),
        ("properties empty", node(json!({"type": "object", "properties": {}}))),
        (
            "default in metadata",
            root("properties", json!({"metadata": {"type": "object", "default": {}}})),
        ),
        (
            "default in the kind",
            root("properties", json!({"kind": {"type": "string", "default": "FooBar"}})),
        ),
        ("default null", node(json!({"type": "string", "default": null}))),
        ("default", node(json!({"type": "string", "default": "a"}))),
        ("format unknown", node(json!({"type": "integer", "format": "uint32"}))),
        (
            "format unknown of a string",
            node(json!({"type": "string", "format": "ip"})),
        ),
        ("format known", node(json!({"type": "string", "format": "date-time"}))),
        ("format of a number", node(json!({"type": "number", "format": "int32"}))),
        (
            "format of an object",
            node(json!({"type": "object", "format": "int32"})),
        ),
        (
            "format of the names",
            node(json!({"type": "string", "format": "k8s-short-name"})),
        ),
        ("rule", rule(json!({"rule": "self.a == 'b'"}))),
        ("rule empty", rule(json!({"rule": " "}))),
        (
            "rule with an empty message",
            rule(json!({"rule": "true", "message": " "})),
        ),
        (
            "rule with a message of two lines",
            rule(json!({"rule": "true", "message": "a\nb"})),
        ),
        ("rule of two lines", rule(json!({"rule": "true &&\ntrue"}))),
        (
            "rule of two lines with a message",
            rule(json!({"rule": "true &&\ntrue", "message": "a"})),
        ),
        (
            "rule with an empty message expression",
            rule(json!({"rule": "true", "messageExpression": " "})),
        ),
        (
            "rule with an unknown reason",
            rule(json!({"rule": "true", "reason": "Because"})),
        ),
        (
            "rule with a reason",
            rule(json!({"rule": "true", "reason": "FieldValueForbidden"})),
        ),
        (
            "rule with an empty field path",
            rule(json!({"rule": "true", "fieldPath": " "})),
        ),
        (
            "rule with a field path",
            rule(json!({"rule": "true", "fieldPath": ".a"})),
        ),
        (
            "rule with a field path in brackets",
            rule(json!({"rule": "true", "fieldPath": "['a']"})),
        ),
        (
            "rule with a field path to nothing",
            rule(json!({"rule": "true", "fieldPath": ".b"})),
        ),
        (
            "rule with a field path of two lines",
            rule(json!({"rule": "true", "fieldPath": ".a\n"})),
        ),
    ]
}

fn list(list_type: &str, keys: Value, items: Value) -> Value {
    node(
        json!({"type": "array", "items": items, "x-kubernetes-list-type": list_type, "x-kubernetes-list-map-keys": keys}),
    )
}

fn lists() -> Vec<(&'static str, Value)> {
    let object = || json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}, "b": {"type": "object"}, "c": {"type": "string"}, "d": {"type": "string", "default": "x"}, "e": {"type": "string", "nullable": true}}});
    let plain = |list_type: &str, items: Value| {
        node(json!({"type": "array", "items": items, "x-kubernetes-list-type": list_type}))
    };
    vec![
        ("list atomic", plain("atomic", object())),
        ("list set", plain("set", json!({"type": "string"}))),
        ("list unknown", plain("heap", json!({"type": "string"}))),
        ("list set of objects", plain("set", json!({"type": "object"}))),
        (
            "list set of atomic objects",
            plain("set", json!({"type": "object", "x-kubernetes-map-type": "atomic"})),
        ),
        (
            "list set of granular objects",
            plain("set", json!({"type": "object", "x-kubernetes-map-type": "granular"})),
        ),
        (
            "list set of lists",
            plain("set", json!({"type": "array", "items": {"type": "string"}})),
        ),
        (
            "list set of sets",
            plain(
                "set",
                json!({"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"}),
            ),
        ),
        (
            "list set of nulls",
            plain("set", json!({"type": "string", "nullable": true})),
        ),
        (
            "list type on a string",
            node(json!({"type": "string", "x-kubernetes-list-type": "set"})),
        ),
        (
            "list type without a type",
            node(json!({"x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-list-type": "set"})),
        ),
        ("list map", list("map", json!(["a"]), object())),
        ("list map by a default", list("map", json!(["a", "d"]), object())),
        ("list map without keys", plain("map", object())),
        (
            "list map without items",
            node(json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"]})),
        ),
        (
            "list map of strings",
            list("map", json!(["a"]), json!({"type": "string"})),
        ),
        (
            "list map of tuples",
            list("map", json!(["a"]), json!([{"type": "string"}])),
        ),
        ("list map by an object", list("map", json!(["b"]), object())),
        ("list map by nothing", list("map", json!(["z"]), object())),
        ("list map by the same twice", list("map", json!(["a", "a"]), object())),
        ("list map by an optional", list("map", json!(["c"]), object())),
        ("list map by a null", list("map", json!(["e"]), object())),
        (
            "list map of nulls",
            list(
                "map",
                json!(["a"]),
                json!({"type": "object", "nullable": true, "required": ["a"], "properties": {"a": {"type": "string"}}}),
            ),
        ),
        (
            "list keys on a set",
            list("set", json!(["a"]), json!({"type": "string"})),
        ),
        (
            "list keys without a list type",
            node(json!({"type": "array", "items": object(), "x-kubernetes-list-map-keys": ["a"]})),
        ),
        (
            "map atomic",
            node(json!({"type": "object", "x-kubernetes-map-type": "atomic"})),
        ),
        (
            "map unknown",
            node(json!({"type": "object", "x-kubernetes-map-type": "separable"})),
        ),
        (
            "map type on a string",
            node(json!({"type": "string", "x-kubernetes-map-type": "atomic"})),
        ),
        (
            "map type without a type",
            node(json!({"x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-map-type": "atomic"})),
        ),
    ]
}

fn status_root(key: &str, value: Value) -> Value {
    with(|crd| {
        crd["spec"]["versions"][0]["subresources"] = json!({"status": {}});
        put(crd, &format!("{ROOT}/{key}"), value);
    })
}

fn structure() -> Vec<(&'static str, Value)> {
    let inside =
        |branch: Value| node(json!({"type": "object", "properties": {"a": {"type": "string"}}, "anyOf": [branch]}));
    let int_or_string = json!([{"type": "integer"}, {"type": "string"}]);
    vec![
        ("root without a type", root("type", json!(""))),
        (
            "root a list",
            with(|crd| put(crd, ROOT, json!({"type": "array", "items": {"type": "string"}}))),
        ),
        ("root nullable", root("nullable", json!(true))),
        (
            "root with additional properties",
            with(|crd| {
                put(
                    crd,
                    ROOT,
                    json!({"type": "object", "additionalProperties": {"type": "string"}}),
                )
            }),
        ),
        (
            "root preserving",
            root("x-kubernetes-preserve-unknown-fields", json!(true)),
        ),
        (
            "root with a branch",
            root("oneOf", json!([{"required": ["spec"]}, {"required": ["status"]}])),
        ),
        ("root with status", status_root("description", json!("d"))),
        (
            "root with status and a branch",
            status_root("oneOf", json!([{"required": ["spec"]}])),
        ),
        (
            "root with status and additional properties",
            status_root("additionalProperties", json!(true)),
        ),
        ("root with status and nullable", status_root("nullable", json!(true))),
        (
            "root with status and properties",
            status_root("maxProperties", json!(3)),
        ),
        (
            "root with status and rules",
            status_root("x-kubernetes-validations", json!([{"rule": "has(self.spec)"}])),
        ),
        ("root with status and no object", status_root("type", json!("string"))),
        (
            "metadata named",
            root(
                "properties/metadata",
                json!({"type": "object", "properties": {"name": {"type": "string", "maxLength": 5}}}),
            ),
        ),
        ("metadata plain", root("properties/metadata", json!({"type": "object"}))),
        (
            "metadata described",
            root("properties/metadata", json!({"type": "object", "description": "d"})),
        ),
        (
            "metadata labelled",
            root(
                "properties/metadata",
                json!({"type": "object", "properties": {"labels": {"type": "object"}}}),
            ),
        ),
        (
            "metadata required",
            root("properties/metadata", json!({"type": "object", "required": ["name"]})),
        ),
        (
            "metadata a string",
            root("properties/metadata", json!({"type": "string"})),
        ),
        ("kind a number", root("properties/kind", json!({"type": "integer"}))),
        ("api version without a type", root("properties/apiVersion", json!({}))),
        (
            "embedded",
            node(
                json!({"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true}),
            ),
        ),
        (
            "embedded without a type",
            node(json!({"x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true})),
        ),
        (
            "embedded string",
            node(
                json!({"type": "string", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true}),
            ),
        ),
        (
            "embedded without anything",
            node(json!({"type": "object", "x-kubernetes-embedded-resource": true})),
        ),
        (
            "embedded with values",
            node(
                json!({"type": "object", "x-kubernetes-embedded-resource": true, "additionalProperties": {"type": "string"}}),
            ),
        ),
        (
            "embedded in its metadata",
            node(
                json!({"type": "object", "x-kubernetes-embedded-resource": true, "properties": {"metadata": {"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true}}}),
            ),
        ),
        (
            "embedded with a kind",
            node(
                json!({"type": "object", "x-kubernetes-embedded-resource": true, "properties": {"kind": {"type": "integer"}, "metadata": {"type": "string"}}}),
            ),
        ),
        ("int or string", node(json!({"x-kubernetes-int-or-string": true}))),
        (
            "int or string with its types",
            node(json!({"x-kubernetes-int-or-string": true, "anyOf": int_or_string})),
        ),
        (
            "int or string with its types in all",
            node(json!({"x-kubernetes-int-or-string": true, "allOf": [{"anyOf": int_or_string}, {"minimum": 1}]})),
        ),
        (
            "int or string with other types",
            node(json!({"x-kubernetes-int-or-string": true, "anyOf": [{"type": "string"}, {"type": "integer"}]})),
        ),
        (
            "int or string preserving",
            node(json!({"x-kubernetes-int-or-string": true, "x-kubernetes-preserve-unknown-fields": true})),
        ),
        (
            "int or string with pattern",
            node(json!({"x-kubernetes-int-or-string": true, "pattern": "^[0-9]+$"})),
        ),
        ("branch with a type", inside(json!({"type": "object"}))),
        ("branch with a title", inside(json!({"title": "t"}))),
        ("branch with a description", inside(json!({"description": "d"}))),
        ("branch with a default", inside(json!({"default": {}}))),
        ("branch nullable", inside(json!({"nullable": true}))),
        (
            "branch with additional properties",
            inside(json!({"additionalProperties": {"minLength": 1}})),
        ),
        (
            "branch with additional properties true",
            inside(json!({"additionalProperties": true})),
        ),
        (
            "branch with additional properties false",
            inside(json!({"additionalProperties": false})),
        ),
        (
            "branch preserving",
            inside(json!({"x-kubernetes-preserve-unknown-fields": true})),
        ),
        (
            "branch embedded",
            inside(json!({"x-kubernetes-embedded-resource": true})),
        ),
        (
            "branch int or string",
            inside(json!({"x-kubernetes-int-or-string": true})),
        ),
        (
            "branch with list keys",
            inside(json!({"x-kubernetes-list-map-keys": ["a"]})),
        ),
        (
            "branch with a list type",
            inside(json!({"x-kubernetes-list-type": "set"})),
        ),
        (
            "branch with a map type",
            inside(json!({"x-kubernetes-map-type": "atomic"})),
        ),
        (
            "branch with rules",
            inside(json!({"x-kubernetes-validations": [{"rule": "true"}]})),
        ),
        ("branch with metadata", inside(json!({"properties": {"metadata": {}}}))),
        (
            "branch with known properties",
            inside(json!({"required": ["a"], "properties": {"a": {"minLength": 2}}})),
        ),
        (
            "branch with unknown properties",
            inside(json!({"properties": {"b": {"minLength": 2}}})),
        ),
        (
            "branch with a typed property",
            inside(json!({"properties": {"a": {"type": "string"}}})),
        ),
        ("branch not", node(json!({"type": "string", "not": {"enum": ["a"]}}))),
        (
            "branch not with a type",
            node(json!({"type": "string", "not": {"type": "string"}})),
        ),
        (
            "branch in a branch",
            inside(json!({"oneOf": [{"not": {"title": "t"}}, {"items": {"type": "string"}}]})),
        ),
        (
            "root branch with unknown properties",
            root("allOf", json!([{"properties": {"other": {"required": ["a"]}}}])),
        ),
        (
            "root branch with unknown items",
            root(
                "anyOf",
                json!([{"properties": {"spec": {"properties": {"target": {"items": {"minLength": 1}}}}}}]),
            ),
        ),
        (
            "root branch with known properties",
            root("not", json!({"properties": {"spec": {"required": ["x"]}}})),
        ),
    ]
}

fn patterns() -> Vec<(&'static str, Value)> {
    let all = [
        "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
        "(?i)^on|off$",
        "^(?P<year>\\d{4})-(?<month>\\d\\d)$",
        "a{2,3}?",
        "a{,3}",
        "{",
        "a{1001}",
        "(a{100}){11}",
        "(a{10}){100}",
        "a{3,2}",
        "a**",
        "a*?",
        "a*??",
        "a+*",
        "*a",
        "a|*",
        "(*)",
        "^*",
        "(?=a)",
        "(?!a)",
        "(?<=a)b",
        "(?<!a)b",
        "(?>a)",
        "(a)\\1",
        "\\k<a>",
        "\\d\\D\\s\\S\\w\\W",
        "\\A\\b\\B\\z",
        "\\Z",
        "\\C",
        "\\Q*(\\E+",
        "\\Q\\E*",
        "\\Qa",
        "\\pL\\p{Greek}\\P{^Lu}",
        "\\p{Klingon!}",
        "\\pX",
        "\\p{Lu",
        "\\x41\\x{10FFFF}\\x{}",
        "\\x4",
        "\\x{110000}",
        "\\07\\123",
        "\\8",
        "\\_\\-\\/",
        "\\e",
        "\\",
        "a\\",
        "[",
        "[a",
        "[]a]",
        "[^]a]",
        "[]",
        "[a-]",
        "[-a]",
        "[z-a]",
        "[\\d-z]",
        "[a-\\d]",
        "[[:alpha:][:^digit:]]",
        "[[:nothing:]]",
        "[[:alpha]",
        "[\\]]",
        "[\\q]",
        "[\\x41-\\x5a]",
        "(",
        ")",
        "(a",
        "a)",
        "(?i",
        "(?i-s:a)",
        "(?i-:a)",
        "(?--i:a)",
        "(?-)",
        "(?z)",
        "(?P<>a)",
        "(?P<a b>c)",
        "(?P<a",
        "(?P=a)",
        "(?:a|b)+",
        "(?:)",
        "()*",
        "a(?i)*",
        "(?i)*",
        "a||b",
        "é{2}",
        "[é-à]",
        "\\é",
        "a{2}{3}",
        "a{2}?{3}",
        "x{0}",
        "\\p{b}(?i|",
        "\\p{Old_Italic}",
        "\\p{lower-case letter}\\P{^greek}",
        "\\p{^^Lu}",
        "\\pl\\p{_cS}",
        "\\p{}",
        "(?U)a",
        "\\pN\\p{N}",
        "a{1,}",
        "a{01}",
        "[a-b-c]",
        "(?i:[a-z]{2})",
        "((((a{5}){5}){5}){8})",
        "((((a{5}){5}){5}){9})",
        "\\p",
        "a++",
        "a{100}{2}",
        "[[:word:]]",
        "[[.a.]]",
        "\\u0041",
        "\\cA",
        "(?#comment)a",
        "[\\",
        "[a-\\",
        "\\x",
        "\\x{41",
        "\\xZZ",
    ];
    all.into_iter()
        .map(|pattern| (name(pattern), node(json!({"type": "string", "pattern": pattern}))))
        .collect()
}

/// The name of a pattern's case: the pattern.
fn name(pattern: &'static str) -> &'static str {
    Box::leak(format!("pattern {pattern}").into_boxed_str())
}

/// Defaults that are valid or invalid by their own schema.
fn defaults() -> Vec<(&'static str, Value)> {
    let embedded = |metadata: Value| {
        node(json!({
            "type": "object", "x-kubernetes-embedded-resource": true,
            "properties": {"metadata": metadata, "spec": {"type": "object", "properties": {"a": {"type": "string"}}}},
        }))
    };
    let resource = |default: Value| {
        node(json!({
            "type": "object", "x-kubernetes-embedded-resource": true, "default": default,
            "properties": {"spec": {"type": "object", "properties": {"a": {"type": "string"}}}},
        }))
    };
    let names =
        |default: Value| json!({"type": "object", "properties": {"name": {"type": "string", "default": default}}});
    vec![
        (
            "default of the wrong type",
            node(json!({"type": "string", "default": 1})),
        ),
        (
            "default too long",
            node(json!({"type": "string", "maxLength": 2, "default": "abc"})),
        ),
        (
            "default against its pattern",
            node(json!({"type": "string", "pattern": "^a$", "default": "b"})),
        ),
        (
            "default not in its enum",
            node(json!({"type": "string", "enum": ["a"], "default": "b"})),
        ),
        (
            "default against its format",
            node(json!({"type": "string", "format": "date", "default": "b"})),
        ),
        (
            "default with an unknown format",
            node(json!({"type": "string", "format": "semver", "default": "b"})),
        ),
        (
            "default integer with a fraction",
            node(json!({"type": "integer", "default": 1.5})),
        ),
        (
            "default integer out of bounds",
            node(json!({"type": "integer", "format": "int32", "maximum": 5, "default": 3000000000u32})),
        ),
        (
            "default of an integer or string",
            node(json!({"x-kubernetes-int-or-string": true, "default": "50%"})),
        ),
        (
            "default of an integer or string, neither",
            node(json!({"x-kubernetes-int-or-string": true, "default": true})),
        ),
        (
            "default of anything",
            node(json!({"x-kubernetes-preserve-unknown-fields": true, "default": {"a": [null]}})),
        ),
        (
            "default under a rule on anything",
            node(
                json!({"x-kubernetes-preserve-unknown-fields": true, "default": {"a": 1}, "x-kubernetes-validations": [{"rule": "self == self"}]}),
            ),
        ),
        (
            "default of a list under a rule on anything in it",
            node(
                json!({"type": "array", "default": [false, 1], "items": {"x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-validations": [{"rule": "dyn(self) != 2"}]}}),
            ),
        ),
        (
            "default of a list of anything under a rule",
            node(
                json!({"type": "array", "maxItems": 2, "default": [false], "items": {"x-kubernetes-preserve-unknown-fields": true}, "x-kubernetes-validations": [{"rule": "self.size() == 1"}]}),
            ),
        ),
        (
            "default of a map under a rule on anything in it",
            node(
                json!({"type": "object", "default": {"a": 1}, "additionalProperties": {"x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-validations": [{"rule": "self == self"}]}}),
            ),
        ),
        (
            "default of an object under a rule on anything in it",
            node(
                json!({"type": "object", "default": {"a": 1}, "properties": {"a": {"x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-validations": [{"rule": "self == self"}]}}}),
            ),
        ),
        (
            "default against a rule, with a value in it that no rule can read",
            node(
                json!({"type": "object", "default": {"d": true}, "maxProperties": 3, "x-kubernetes-validations": [{"rule": "'a' in self"}, {"rule": "'d' in self"}], "additionalProperties": {"x-kubernetes-int-or-string": true, "x-kubernetes-validations": [{"rule": "self != 'a'"}]}}),
            ),
        ),
        (
            "default object with unknown fields",
            node(json!({"type": "object", "properties": {"a": {"type": "string"}}, "default": {"a": "b", "c": 1}})),
        ),
        (
            "default object without what is required",
            node(json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}, "default": {}})),
        ),
        (
            "default object filled in by defaults",
            node(
                json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "string", "default": "b"}}, "default": {}}),
            ),
        ),
        (
            "default object with a null",
            node(json!({"type": "object", "properties": {"a": {"type": "string"}}, "default": {"a": null}})),
        ),
        (
            "default object against a junctor",
            node(
                json!({"type": "object", "properties": {"a": {"type": "string"}}, "oneOf": [{"required": ["a"]}], "default": {}}),
            ),
        ),
        (
            "default of an item",
            node(json!({"type": "array", "items": {"type": "string", "default": 1}})),
        ),
        (
            "default of a list",
            node(json!({"type": "array", "default": ["a", 1], "items": {"type": "string"}})),
        ),
        (
            "default of a set",
            node(
                json!({"type": "array", "x-kubernetes-list-type": "set", "default": ["a", "a"], "items": {"type": "string"}}),
            ),
        ),
        (
            "default in a map",
            node(json!({"type": "object", "additionalProperties": {"type": "string", "default": 1}})),
        ),
        (
            "default in a map of objects",
            node(
                json!({"type": "object", "additionalProperties": {"type": "object", "properties": {"a": {"type": "string", "default": 1}}}}),
            ),
        ),
        ("default at the root", root("default", json!({"spec": {"target": "a"}}))),
        (
            "default at the root, wrong",
            root("default", json!({"spec": {"target": 1}, "x": 1})),
        ),
        (
            "default resource",
            resource(json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"a": "b"}})),
        ),
        (
            "default resource without a kind",
            resource(json!({"apiVersion": "v1", "spec": {}})),
        ),
        (
            "default resource with unknown fields",
            resource(json!({"apiVersion": "v1", "kind": "Pod", "spec": {"b": 1}})),
        ),
        (
            "default resource with an unreadable name",
            resource(json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": 1}})),
        ),
        (
            "default resource with a wrong label",
            resource(json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": {"a": "-"}}})),
        ),
        ("default name of a resource", embedded(names(json!("a")))),
        ("default name of a resource, wrong", embedded(names(json!("a/b%")))),
        ("default name of a resource, unreadable", embedded(names(json!(1)))),
        (
            "default metadata of a resource",
            embedded(
                json!({"type": "object", "default": {"name": "..", "labels": {"a": "-"}}, "properties": {"name": {"type": "string"}}}),
            ),
        ),
        (
            "several defaults of the wrong type",
            node(
                json!({"type": "object", "default": {"a": 1, "b": [1]}, "properties": {"a": {"type": "string", "default": true}, "b": {"type": "array", "default": {}, "items": {"type": "string", "default": []}}}}),
            ),
        ),
    ]
}

/// Validation rules; their expressions are tested in `cel`.
fn rules() -> Vec<(&'static str, Value)> {
    let rule = |rule: &str| json!([{"rule": rule}]);
    let with_rules = |mut schema: Value, rules: Value| {
        schema["x-kubernetes-validations"] = rules;
        node(schema)
    };
    let string = json!({"type": "string", "maxLength": 10});
    let endless = json!({"type": "array", "items": {"type": "string"}});
    vec![
        ("rule on a text", with_rules(string.clone(), rule("self != 'a'"))),
        ("rule that does not compile", with_rules(string.clone(), rule("self +"))),
        ("rule of the wrong type", with_rules(string.clone(), rule("self"))),
        (
            "rule on a field that is not there",
            with_rules(
                json!({"type": "object", "properties": {"a": string}}),
                rule("self.b == ''"),
            ),
        ),
        (
            "rule beside a wrong schema",
            with_rules(json!({"type": "string", "pattern": "("}), rule("self.b == ''")),
        ),
        (
            "rule on an item of a list in a list",
            node(
                json!({"type": "array", "maxItems": 2, "items": {"type": "array", "maxItems": 2, "items": {"type": "string", "maxLength": 3, "x-kubernetes-validations": rule("self == oldSelf")}}}),
            ),
        ),
        (
            "rule on an item of a set of objects",
            node(
                json!({"type": "array", "maxItems": 2, "x-kubernetes-list-type": "set", "items": {"type": "object", "properties": {"a": {"type": "string", "maxLength": 3}}, "x-kubernetes-validations": rule("self.a == oldSelf.a")}}),
            ),
        ),
        (
            "rules on an item of a keyed list, and on its key, that may be null",
            node(
                json!({"type": "array", "maxItems": 2, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"], "items": {"type": "object", "nullable": true, "required": ["a"], "properties": {"a": {"type": "string", "nullable": true, "x-kubernetes-validations": rule("self +")}}, "x-kubernetes-validations": rule("self.b == ''")}, "x-kubernetes-validations": rule("self +")}),
            ),
        ),
        (
            "rule beside a wrong default",
            with_rules(json!({"type": "string", "default": 1}), rule("self.b == ''")),
        ),
        (
            "rule beside a rule without text",
            with_rules(string.clone(), json!([{"rule": ""}, {"rule": "self.b == ''"}])),
        ),
        (
            "rule too expensive",
            with_rules(endless.clone(), rule("self.all(a, self.all(b, a.contains(b)))")),
        ),
        (
            "rule over a list without an end",
            with_rules(endless.clone(), rule("self.all(a, a.startsWith('b'))")),
        ),
        (
            "rule over a list with an end",
            with_rules(
                json!({"type": "array", "maxItems": 20, "items": {"type": "string", "maxLength": 20}}),
                rule("self.all(a, a.startsWith('b'))"),
            ),
        ),
        (
            "rules too expensive together",
            with_rules(
                json!({"type": "array", "maxItems": 10000, "items": {"type": "string", "maxLength": 1000}}),
                (0..60)
                    .map(|at| json!({"rule": format!("self.all(a, a.contains('{at}') || a.contains('b'))")}))
                    .collect(),
            ),
        ),
        (
            "rule with a message expression",
            with_rules(
                string.clone(),
                json!([{"rule": "self != 'a'", "messageExpression": "'no ' + self"}]),
            ),
        ),
        (
            "rule with a message expression of a number",
            with_rules(
                string.clone(),
                json!([{"rule": "self != 'a'", "messageExpression": "self.size()"}]),
            ),
        ),
        (
            "rule with a message expression too expensive",
            with_rules(
                json!({"type": "integer"}),
                json!([{"rule": "self != 1", "messageExpression": "'not ' + string(self)"}]),
            ),
        ),
        (
            "rule that its default breaks",
            with_rules(
                json!({"type": "string", "maxLength": 10, "default": "a"}),
                json!([{"rule": "self != 'a'", "message": "no a"}]),
            ),
        ),
        (
            "rule that its default breaks below",
            with_rules(
                json!({"type": "object", "properties": {"a": {"type": "integer"}}, "default": {"a": 1}}),
                json!([{"rule": "self.a > 1", "fieldPath": ".a"}]),
            ),
        ),
        (
            "rule with a field path to any value",
            with_rules(
                json!({"type": "object", "additionalProperties": true}),
                json!([{"rule": "true", "fieldPath": ".a"}]),
            ),
        ),
        (
            "rule that its default breaks in a list",
            node(
                json!({"type": "array", "maxItems": 5, "default": [1], "items": {"type": "integer", "x-kubernetes-validations": rule("self > 1")}}),
            ),
        ),
        (
            "rule that its default breaks where nothing was",
            with_rules(
                json!({"type": "string", "maxLength": 10, "default": "a"}),
                json!([{"rule": "oldSelf.hasValue()", "optionalOldSelf": true}]),
            ),
        ),
        (
            "rule that its default keeps",
            with_rules(
                json!({"type": "string", "maxLength": 10, "default": "a"}),
                rule("self == 'a' && self == oldSelf"),
            ),
        ),
    ]
}
