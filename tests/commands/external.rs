//! Types from CRDs of other owners: `tests/external/*.rs`, and one file of a golden project, are generated from
//! `tests/external/*.yaml`, and represent all values that those schemas allow. `KUBEWRIGHT_BLESS=1 cargo test --test
//! commands external` writes them again.

#[path = "../external/adopted.rs"]
mod adopted;
#[path = "../external/bag.rs"]
#[rustfmt::skip]
mod bag;
#[path = "../external/in_cluster.rs"]
mod in_cluster;
#[path = "../external/refused.rs"]
mod refused;
#[path = "../external/chart.rs"]
#[rustfmt::skip]
mod chart;
#[path = "../external/edge.rs"]
#[rustfmt::skip]
mod edge;
#[path = "../external/option.rs"]
#[rustfmt::skip]
mod option;
#[path = "../golden/wide/api/src/water_example_org/v1/well.rs"]
#[rustfmt::skip]
mod well;

use crate::cli::{self, kubewright, project_without_crates};
use kubewright_schema::value::Structural;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// The file of a CRD, its kind, the stored version, and the generated file.
const KINDS: [(&str, &str, &str, &str); 5] = [
    ("edges", "Edge", "v1", "external/edge.rs"),
    ("odd", "Bag", "v1", "external/bag.rs"),
    ("odd", "Chart", "v1", "external/chart.rs"),
    ("odd", "Option", "v1beta1", "external/option.rs"),
    ("well", "Well", "v1", "golden/wide/api/src/water_example_org/v1/well.rs"),
];

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/external").join(name)
}

/// A project with the kind, and no controller.
fn with_kind(file: &str, kind: &str) -> tempfile::TempDir {
    let dir = project_without_crates();
    let yaml = fixture(&format!("{file}.yaml")).display().to_string();
    let args = [
        "create",
        "api",
        "--from-crd",
        &yaml,
        "--kind",
        kind,
        "--controller=false",
    ];
    kubewright(dir.path(), &args).succeeds();
    dir
}

#[test]
fn types_are_generated_as_recorded_and_formatted() {
    for (file, kind, version, recorded) in KINDS {
        let dir = with_kind(file, kind);
        let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(recorded);
        let types = dir.path().join("api/src/water_example_org").join(version);
        let path = types.join(recorded.file_name().unwrap());
        let made = fs::read_to_string(&path).unwrap();
        formatted(dir.path(), &path);
        if std::env::var_os("KUBEWRIGHT_BLESS").is_some() {
            fs::write(&recorded, &made).unwrap();
        }
        assert!(
            fs::read_to_string(&recorded).unwrap() == made,
            "{recorded:?} is stale; bless it"
        );
    }
}

/// Checks that `cargo fmt` changes nothing, with the settings of a generated project: none.
fn formatted<'a>(dir: &Path, file: &'a Path) -> &'a Path {
    let settings = dir.join("rustfmt.toml");
    fs::write(&settings, "").unwrap();
    let formatted = std::process::Command::new("rustfmt")
        .args(["--edition=2024", "--check", "--config-path"])
        .args([&settings, file])
        .output()
        .unwrap();
    let difference = String::from_utf8_lossy(&formatted.stdout);
    let complaint = String::from_utf8_lossy(&formatted.stderr);
    assert!(formatted.status.success(), "{difference}{complaint}");
    file
}

/// The schema of the stored version.
fn schema(file: &str, kind: &str) -> Value {
    let text = fs::read_to_string(fixture(&format!("{file}.yaml"))).unwrap();
    let documents: Vec<Value> = serde_saphyr::from_multiple(&text).unwrap();
    let crd = documents.iter().find(|it| it["spec"]["names"]["kind"] == kind).unwrap();
    let versions = crd["spec"]["versions"].as_array().unwrap();
    let stored = versions.iter().find(|version| version["storage"] == true).unwrap();
    stored["schema"]["openAPIV3Schema"].clone()
}

fn json_of_any_shape() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        any::<i32>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        "[ -~]{0,4}".prop_map(Value::from)
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            vec(prop_oneof![inner.clone(), Just(Value::Null)], 0..3).prop_map(Value::from),
            btree_map("[a-z]{1,3}", inner, 0..3).prop_map(|map| json!(map)),
        ]
    })
    .boxed()
}

/// Values that are valid under a schema.
fn values(schema: &Value) -> BoxedStrategy<Value> {
    if schema["nullable"] == true {
        let mut other = schema.clone();
        other["nullable"].take();
        return prop_oneof![1 => Just(Value::Null), 3 => values(&other)].boxed();
    }
    if let Some(allowed) = schema["enum"].as_array() {
        return select(allowed.clone()).boxed();
    }
    if schema["x-kubernetes-int-or-string"] == true {
        let texts = match schema["pattern"].as_str() {
            Some("^[0-9]+%$") => "[0-9]{1,3}%".boxed(),
            Some(_) => "[+-]?[0-9]{1,20}(\\.[0-9]{0,3})?(Ki|Gi|m|n|k|E|e[+-]?[0-9]{1,2})?".boxed(),
            None => "[a-z%]{0,4}".boxed(),
        };
        return prop_oneof![integers(schema), texts.prop_map(Value::from)].boxed();
    }
    match schema["type"].as_str().unwrap_or_default() {
        "boolean" => any::<bool>().prop_map(Value::from).boxed(),
        "integer" => integers(schema),
        "number" if schema["format"].is_string() || schema["minimum"].is_null() => {
            let whole = schema["format"] == "int32";
            prop_oneof![
                any::<f64>().prop_map(move |float| json!(if whole { 0.5 } else { float })),
                any::<f32>().prop_map(move |float| json!(if whole { 7.0 } else { float })),
                integers(schema)
            ]
            .prop_filter("of the format", fits(schema))
            .boxed()
        }
        "number" => (-80_000_i32..80_000)
            .prop_map(|eighths| json!(f64::from(eighths) / 8.0))
            .boxed(),
        "string" => text(schema),
        "array" => {
            // Keys of a map list would have to differ.
            let most = if schema["x-kubernetes-list-type"] == "map" {
                1
            } else {
                3
            };
            vec(values(&schema["items"]), 0..=most).prop_map(Value::from).boxed()
        }
        "object" if schema["x-kubernetes-embedded-resource"] == true => {
            Just(json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "x": null})).boxed()
        }
        "object" => objects(schema),
        _ => json_of_any_shape(),
    }
}

/// Integers that are valid under a schema, often at the edges of types.
fn integers(schema: &Value) -> BoxedStrategy<Value> {
    let edges = [7, 8, 15, 16, 31, 32, 62].map(|bits| 1_i64 << bits);
    let edges = edges
        .into_iter()
        .flat_map(|edge| [edge - 1, edge, edge + 1, -edge - 1, -edge]);
    let edges = edges
        .chain([i64::MIN, i64::MAX, 0, 1])
        .chain(["minimum", "maximum"].map(|key| schema[key].as_i64().unwrap_or(1)));
    let edges: Vec<_> = edges.map(Value::from).filter(|edge| fits(schema)(edge)).collect();
    let all = any::<i64>().prop_map(Value::from);
    match fits(schema)(&json!(i64::MAX)) && fits(schema)(&json!(i64::MIN)) {
        true => prop_oneof![select(edges), all].boxed(),
        false => select(edges).boxed(),
    }
}

/// Whether API servers accept the value under the schema.
fn fits(schema: &Value) -> impl Fn(&Value) -> bool + use<> {
    let compiled = Structural::compile(&json!({"type": "object", "properties": {"value": schema}}));
    move |value| compiled.validate(&json!({"value": value})).is_empty()
}

/// Texts at the edges of formats, some of which are valid under each.
const FORMATTED: [&str; 34] = [
    "2026-01-02T03:04:05Z",
    "1999-12-31T23:59:59.123456789012Z",
    "9999-12-31T23:59:59Z",
    "0000-01-01t00:00:00z",
    "2026-01-02T03:04:05+99:99",
    "2026-01-02",
    "0000-01-01",
    "1h30m",
    "3 days",
    "1d",
    "-1.5h",
    "aGk=",
    "aGkh",
    "10.0.0.1",
    "::ffff:1.2.3.4",
    "::1",
    "fe80::1",
    "10.0.0.0/8",
    "10.0.0.1/32",
    "::/0",
    "https://example.com/a?b=c",
    "/relative",
    "mailto:a@example.com",
    "9a2f1c64-0d7e-4f3b-8a51-2b9d6c7e8f10",
    "9A2F1C640D7E-4F3B8A512B9D6C7E8F10",
    "a@example.com",
    "A <a@example.com>",
    "example.com",
    "a",
    "00:00:5e:00:53:01",
    "00-00-5e-00-53-01",
    "02:00:5e:10:00:00:00:01",
    "é",
    "x y",
];

fn text(schema: &Value) -> BoxedStrategy<Value> {
    if schema["format"].is_string() {
        let texts: Vec<_> = FORMATTED
            .map(Value::from)
            .into_iter()
            .filter(|text| fits(schema)(text))
            .collect();
        return select(texts).boxed();
    }
    match schema["pattern"].is_string() || schema["minLength"].is_number() {
        true => "[A-Za-z][A-Za-z0-9]{0,5}".prop_map(Value::from).boxed(),
        false => "\\PC{0,5}".prop_map(Value::from).boxed(),
    }
}

fn objects(schema: &Value) -> BoxedStrategy<Value> {
    let mut all = Just(Map::new()).boxed();
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    for (key, property) in schema["properties"].as_object().into_iter().flatten() {
        let (key, always) = (key.clone(), required.iter().any(|name| name == key));
        // Kubernetes' type of a condition holds the times that Kubernetes writes, not each that a schema allows.
        let value = match key == "lastTransitionTime" {
            true => select(vec!["2026-01-02T03:04:05Z", "0001-01-01T00:00:00Z"])
                .prop_map(Value::from)
                .boxed(),
            false => values(property),
        };
        let value = value.prop_map(Some);
        let value = match always {
            true => value.boxed(),
            false => prop_oneof![Just(None), value].boxed(),
        };
        all = (all, value)
            .prop_map(move |(mut map, value)| {
                map.extend(value.map(|value| (key.clone(), value)));
                map
            })
            .boxed();
    }
    let others = match &schema["additionalProperties"] {
        others @ Value::Object(_) => Some(values(others)),
        _ if schema["x-kubernetes-preserve-unknown-fields"] == true => {
            Some(prop_oneof![json_of_any_shape(), Just(Value::Null)].boxed())
        }
        _ => None,
    };
    match others {
        None => all.prop_map(Value::Object).boxed(),
        Some(others) => (all, btree_map("z[a-z]{1,3}", others, 0..3))
            .prop_map(|(mut map, others)| {
                map.extend(others);
                Value::Object(map)
            })
            .boxed(),
    }
}

/// Removes the differences that the types may cause: nulls that mean the same as absent fields, and the format of
/// numbers.
fn plain(schema: &Value, value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut plainer = Map::new();
            for (key, value) in map {
                let property = schema["properties"].get(key).unwrap_or(&schema["additionalProperties"]);
                let required = schema["required"]
                    .as_array()
                    .is_some_and(|names| names.iter().any(|name| name == key));
                if !(value.is_null() && property["nullable"] == true && !required)
                    || schema["properties"].get(key).is_none()
                {
                    plainer.insert(key.clone(), plain(property, value));
                }
            }
            Value::Object(plainer)
        }
        Value::Array(list) => list.iter().map(|item| plain(&schema["items"], item)).collect(),
        Value::Number(number) if schema["type"] == "number" => json!(number.as_f64()),
        // Kubernetes' type encodes a quantity as text, also where it was a number.
        Value::Number(number) if schema["pattern"].as_str().is_some_and(|it| it.contains("KMGTPE")) => {
            json!(number.to_string())
        }
        other => other.clone(),
    }
}

fn holds<K: DeserializeOwned + Serialize>(
    schema: &Value,
    kind: &str,
    version: &str,
    mut object: Value,
) -> Result<(), TestCaseError> {
    object["apiVersion"] = json!(format!("water.example.org/{version}"));
    object["kind"] = json!(kind);
    object["metadata"] = json!({"name": "a"});
    let causes = Structural::compile(schema).validate(&object);
    prop_assert!(causes.is_empty(), "the generator is wrong: {causes:?}");
    let decoded: K =
        serde_json::from_value(object.clone()).map_err(|error| TestCaseError::fail(format!("{error}: {object}")))?;
    prop_assert_eq!(
        plain(schema, &serde_json::to_value(decoded).unwrap()),
        plain(schema, &object)
    );
    Ok(())
}

/// Random objects of a kind, without metadata.
fn of(file: &str, kind: &str) -> BoxedStrategy<Value> {
    let mut schema = schema(file, kind);
    for standard in ["apiVersion", "kind", "metadata"] {
        schema["properties"].as_object_mut().unwrap().remove(standard);
    }
    // Types always have a spec, unless the fields are at the level of the metadata.
    let other = |key: &&String| !["spec", "status"].contains(&key.as_str());
    if schema["properties"].as_object().unwrap().keys().find(other).is_none() {
        schema["required"] = json!(["spec"]);
    }
    values(&schema)
}

macro_rules! round_trips {
    ($($test:ident: $type:ty, $file:literal, $kind:literal, $version:literal;)*) => { $(
        #[test]
        fn $test() {
            let schema = schema($file, $kind);
            proptest!(|(object in of($file, $kind))| holds::<$type>(&schema, $kind, $version, object)?);
        }
    )* };
}

round_trips! {
    an_edge_holds_what_its_schema_allows: edge::Edge, "edges", "Edge", "v1";
    a_bag_holds_what_its_schema_allows: bag::Bag, "odd", "Bag", "v1";
    a_chart_holds_what_its_schema_allows: chart::Chart, "odd", "Chart", "v1";
    an_option_holds_what_its_schema_allows: option::OptionResource, "odd", "Option", "v1beta1";
    a_well_holds_what_its_schema_allows: well::Well, "well", "Well", "v1";
}

#[test]
fn foreign_crds_are_neither_installed_nor_changed() {
    let dir = with_kind("well", "Well");
    let read = |path: &str| fs::read_to_string(dir.path().join(path)).unwrap();
    assert!(
        read("PROJECT")
            .contains("group: water.example.org, kind: Well, plural: wells, from: crd, versions: [{version: v1}]}")
    );
    assert!(!dir.path().join("src/controllers/well.rs").exists());
    let crd = "config/crd/external/water.example.org_wells.yaml";
    assert_eq!(read(crd), fs::read_to_string(fixture("well.yaml")).unwrap());
    assert!(!read("config/crd/bases/kustomization.yaml").contains("wells"));
    assert!(!read("config/samples/kustomization.yaml").contains("well"));
    assert!(!read("config/rbac/user_roles.yaml").contains("wells"));
    assert!(!read("api/src/lib.rs").contains("Well"));

    // A controller is added later, as for any kind of the project.
    let of = [
        "create",
        "api",
        "--group",
        "water.example.org",
        "--version",
        "v1",
        "--kind",
        "Well",
    ];
    kubewright(dir.path(), &[&of[..], &["--resource=false"]].concat()).succeeds();
    assert!(read("src/controllers/well.rs").contains(".foreign()"));
    let hint = format!("create api --group water.example.org --version v3 --kind Well --from-crd {crd}`");
    kubewright(dir.path(), &["edit", "controller", "well", "--version", "v3"]).refuses(1, &[&hint]);

    // A newer CRD: its text, then `sync`.
    let newer = read(crd).replace("depth:", "depthInMetres:").replace("[depth, ", "[");
    fs::write(dir.path().join(crd), newer).unwrap();
    let again = fixture("well.yaml").display().to_string();
    let args = ["create", "api", "--from-crd", &again, "--controller=false"];
    kubewright(dir.path(), &args).refuses(
        1,
        &[
            "the CRD of `Well` exists already, with other contents",
            "kubewright sync",
        ],
    );
    kubewright(dir.path(), &["sync"]).succeeds();
    assert!(read("api/src/water_example_org/v1/well.rs").contains("pub depth_in_metres: Option<i32>"));

    fs::remove_file(dir.path().join(crd)).unwrap();
    kubewright(dir.path(), &["sync"]).refuses(
        1,
        &[
            "`config/crd/external/water.example.org_wells.yaml` does not exist",
            "checkout -- ",
        ],
    );
}

/// No other cluster accepts the uid, and none has the converter.
#[test]
fn a_crd_is_written_without_what_belongs_to_its_cluster() {
    let mut crd: Value = serde_yaml::from_str(&fs::read_to_string(fixture("edges.yaml")).unwrap()).unwrap();
    crd["metadata"]["uid"] = json!("8c2a1b1e-0000-4000-8000-000000000000");
    crd["metadata"]["resourceVersion"] = json!("7");
    crd["status"] = json!({"storedVersions": ["v1"]});
    let list = json!({"apiVersion": "v1", "kind": "List", "items": [{"kind": "Pod"}, crd]});
    // Without a uid, as its owner writes it, with the address of a converter.
    let mut converts = crd.clone();
    converts["metadata"] = json!({"name": crd["metadata"]["name"]});
    let service = json!({"name": "a", "namespace": "b"});
    converts["spec"]["conversion"] = json!({
        "strategy": "Webhook",
        "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": {"service": service}},
    });
    let [yaml, json, list, converts] = [
        serde_yaml::to_string(&crd).unwrap(),
        serde_json::to_string_pretty(&crd).unwrap(),
        serde_yaml::to_string(&list).unwrap(),
        serde_yaml::to_string(&converts).unwrap(),
    ];
    for (from, printed) in [
        ("printed.yaml", &yaml),
        ("printed.json", &json),
        ("-", &yaml),
        ("-", &json),
        ("-", &list),
        ("-", &converts),
    ] {
        let dir = project_without_crates();
        let input = dir.path().join("printed.yaml");
        fs::write(&input, printed).unwrap();
        fs::write(dir.path().join("printed.json"), printed).unwrap();
        let path = dir.path().join(from).display().to_string();
        let from = if from == "-" { "-" } else { &path };
        let args = [
            "create",
            "api",
            "--from-crd",
            from,
            "--kind",
            "Edge",
            "--controller=false",
        ];
        let mut command = cli::command(dir.path(), &args);
        let output = command.stdin(fs::File::open(input).unwrap()).output();
        cli::Run::of(output.unwrap()).succeeds();
        let folder = fs::read_dir(dir.path().join("config/crd/external")).unwrap();
        let written: Vec<_> = folder
            .map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap())
            .filter(|text| text.contains("kind: CustomResourceDefinition"))
            .collect();
        assert_eq!(written.len(), 1);
        let written: Value = serde_yaml::from_str(&written[0]).unwrap();
        assert_eq!(written["metadata"], json!({"name": crd["metadata"]["name"]}));
        let ours = json!([written["status"], written["spec"]]);
        assert_eq!(ours, json!([null, crd["spec"]]));
    }
}

#[test]
fn a_foreign_version_may_have_any_name_of_a_module() {
    let dir = project_without_crates();
    let input = dir.path().join("azure.yaml");
    let crd = fs::read_to_string(fixture("well.yaml")).unwrap();
    fs::write(&input, crd.replace("name: v1\n", "name: v1api20200601\n")).unwrap();
    kubewright(dir.path(), &["create", "api", "--from-crd", input.to_str().unwrap()]).succeeds();
    let types = dir.path().join("api/src/water_example_org/v1api20200601/well.rs");
    formatted(dir.path(), &types);
    formatted(dir.path(), &dir.path().join("src/controllers/well.rs"));
}

#[test]
fn delete_removes_all_files_of_a_foreign_kind() {
    let dir = with_kind("well", "Well");
    let before = cli::tree(project_without_crates().path());
    let args = [
        "delete",
        "api",
        "--group",
        "water.example.org",
        "--version",
        "v1",
        "--kind",
        "Well",
    ];
    kubewright(dir.path(), &args).succeeds();
    let after = cli::tree(dir.path());
    assert_eq!(before.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>());
}

#[test]
fn an_unusable_crd_file_is_refused_by_name() {
    let dir = project_without_crates();
    let create = |more: &[&str]| kubewright(dir.path(), &[&["create", "api", "--from-crd"], more].concat());
    let odd = fixture("odd.yaml").display().to_string();
    let own = [
        "create",
        "api",
        "--group",
        "test",
        "--version",
        "v1",
        "--kind",
        "FooBar",
        "--controller=false",
    ];
    create(&["no.yaml"]).refuses(
        1,
        &["cannot read `no.yaml`", "hint: `--from-crd` takes the CRD's YAML file"],
    );
    create(&["https://example.com/crd.yaml"]).refuses(
        2,
        &[
            "takes a file, not an address",
            "curl -fsSL https://example.com/crd.yaml | ",
        ],
    );
    create(&[&odd]).refuses(1, &["it has several CRDs: `Chart` of `water.example.org`", "--kind"]);
    create(&[&odd, "--kind", "Well"]).refuses(1, &["has no such CRD"]);
    create(&[&odd, "--kind", "Chart", "--version", "v2"]).refuses(1, &["does not serve version `v2`", "`v1`"]);
    create(&[&odd, "--kind", "Chart", "--cluster"]).refuses(2, &["--cluster"]);
    let like_azure = [&own[..5], &["v1api20200601"], &own[6..]].concat();
    kubewright(dir.path(), &like_azure).refuses(1, &["version `v1api20200601` of `FooBar` must look like `v1`"]);
    for pattern in ["child", "minimal", "deployment", "replicas", "internal"] {
        let refusal = format!("pattern `{pattern}` is for kinds of this project, and `Chart` is not");
        create(&[&odd, "--kind", "Chart", "--pattern", pattern])
            .refuses(1, &[&refusal, "the pattern for kinds of other owners is `beside`"]);
    }
    create(&[&odd, "--kind", "Chart", "--image", "a"]).refuses(2, &["`--image` needs a controller of pattern"]);
    assert!(
        !dir.path().join("config/crd/external").exists(),
        "nothing is written on refusal"
    );
    kubewright(dir.path(), &own).succeeds();
    let beside = ["--resource=false", "--pattern", "beside"];
    kubewright(dir.path(), &[&own[..8], &beside].concat())
        .refuses(1, &["pattern `beside` is for kinds of other owners"]);
}

#[test]
fn kinds_of_kubernetes_are_found_by_name() {
    let dir = project_without_crates();
    let create = |group: &str, version: &str, kind: &str| {
        let args = [
            "create",
            "api",
            "--group",
            group,
            "--version",
            version,
            "--kind",
            kind,
            "--resource=false",
        ];
        kubewright(dir.path(), &args)
    };
    let hint = "Kubernetes has `--group apps --version v1 --kind Deployment`";
    create("apps", "v1", "Deploiment").refuses(1, &["neither a kind of this project nor one of Kubernetes", hint]);
    create("apps", "v1beta1", "Deployment").refuses(1, &[hint]);
    create("test", "v1", "FooBar").refuses(1, &["leave out `--resource=false`", "--from-crd FILE"]);
    create("networking", "v1", "Ingress").succeeds();
    create("core", "v1", "Pod").succeeds();
    // The version may be left out of kinds that Kubernetes has.
    let hpa = [
        "create",
        "api",
        "--group",
        "autoscaling",
        "--kind",
        "HorizontalPodAutoscaler",
    ];
    let hpa_of_kubernetes = || kubewright(dir.path(), &[&hpa[..], &["--resource=false"]].concat());
    hpa_of_kubernetes().succeeds();
    assert!(hpa_of_kubernetes().succeeds().stderr.contains("nothing to do"));
    kubewright(dir.path(), &hpa).refuses(2, &["`--version` is missing"]);
    create("core", "v1", "ConfigMap").succeeds();
    let read = |path: &str| fs::read_to_string(dir.path().join(path)).unwrap();
    assert!(read("PROJECT").contains(
        "group: networking.k8s.io, kind: Ingress, plural: ingresses, from: kubernetes, versions: [{version: v1}]"
    ));
    assert!(read("PROJECT").contains("group: autoscaling, kind: HorizontalPodAutoscaler"));
    assert!(read("src/controllers/pod.rs").contains("use k8s_openapi::api::core::v1::{ConfigMap, Pod};"));
    assert!(read("src/controllers/configmap.rs").contains("use k8s_openapi::api::core::v1::ConfigMap;"));
    assert!(
        create("networking", "v1", "Ingress")
            .succeeds()
            .stderr
            .contains("nothing to do")
    );
    let of = ["delete", "api", "--group", "core", "--version", "v1", "--kind", "Pod"];
    kubewright(dir.path(), &of).succeeds();
    assert!(!dir.path().join("src/controllers/pod.rs").exists());
    // In PROJECT it would have the same name as a kind of the project.
    let own = ["create", "api", "--group", "networking.k8s.io", "--version", "v2"];
    kubewright(
        dir.path(),
        &[&own[..], &["--kind", "Ingress", "--controller=false", "--resource"]].concat(),
    )
    .refuses(1, &["already, as a kind of Kubernetes"]);
    let odd = read("PROJECT").replace("kind: Ingress", "kind: Egress");
    fs::write(dir.path().join("PROJECT"), odd).unwrap();
    kubewright(dir.path(), &["sync"]).refuses(1, &["`PROJECT` contradicts itself", "nor one of Kubernetes"]);
}
