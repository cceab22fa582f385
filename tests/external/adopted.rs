//! Kinds that a project takes over: the types in `tests/external/own` are generated from `kubebuilder.yaml` and `cronjob.yaml`, those of a golden
//! project from `pump.yaml`, and the CRDs that `make manifests` makes of them are compared with those.

#[path = "own/admiral.rs"]
#[rustfmt::skip]
mod admiral;
#[path = "own/cronjob.rs"]
#[rustfmt::skip]
mod cronjob;
#[path = "own/first_mate_v1.rs"]
#[rustfmt::skip]
mod first_mate_v1;
#[path = "own/first_mate_v2.rs"]
#[rustfmt::skip]
mod first_mate_v2;
#[path = "own/memcached.rs"]
#[rustfmt::skip]
mod memcached;
#[path = "../golden/wide/api/src/water/v1/pump.rs"]
#[allow(clippy::duplicated_attributes, reason = "columns of one type")]
#[rustfmt::skip]
mod pump_v1;
#[path = "../golden/wide/api/src/water/v1alpha1/pump.rs"]
#[rustfmt::skip]
mod pump_v1alpha1;

use super::{fixture, formatted};
use crate::cli::kubewright;
use kube::CustomResourceExt;
use kubewright_schema::compat::breaking;
use kubewright_schema::{CustomType, Options, finish, lint};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Each version with the file of its types.
type Versions = &'static [(&'static str, &'static str)];

/// The file of a CRD, its kind, the domain of the project, and its versions.
const KINDS: [(&str, &str, &str, Versions); 4] = [
    ("kubebuilder", "Admiral", "testproject.org", &[("v1", "admiral")]),
    (
        "kubebuilder",
        "FirstMate",
        "testproject.org",
        &[("v1", "first_mate_v1"), ("v2", "first_mate_v2")],
    ),
    ("cronjob", "CronJob", "tutorial.kubebuilder.io", &[("v1", "cronjob")]),
    (
        "kubebuilder",
        "Memcached",
        "testproject.org",
        &[("v1alpha1", "memcached")],
    ),
];

/// A project of that domain which takes a kind over.
fn with_own(file: &str, kind: &str, domain: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let init = ["init", "--domain", domain, "--project-name", "op", "--owner", "o"];
    kubewright(dir.path(), &init).succeeds();
    let next = own(dir.path(), file, kind, &[]).succeeds().stderr;
    let left_out = "`v1alpha0` is not served, and is left out";
    assert!(
        next.contains("make manifests   writes the CRD") && (file != "pump" || next.contains(left_out)),
        "{next}"
    );
    dir
}

pub fn own(dir: &Path, file: &str, kind: &str, more: &[&str]) -> crate::cli::Run {
    let yaml = fixture(&format!("{file}.yaml")).display().to_string();
    let args = ["create", "api", "--from-crd", &yaml, "--kind", kind, "--own"];
    kubewright(dir, &[&args[..], more].concat())
}

#[test]
fn a_kind_of_the_domain_itself_is_taken_over() {
    let domain = "pumps.io";
    let text = fs::read_to_string(fixture("pump.yaml")).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let (project, crd) = (dir.path().join("op"), dir.path().join("pump.yaml"));
    fs::write(&crd, text.replace("water.example.com", domain)).unwrap();
    let init = |domain: &str| {
        let init = ["init", "--domain", domain, "--project-name", "op", "--yes"];
        kubewright(&project, &init).succeeds();
    };
    let take = ["create", "api", "--from-crd", crd.to_str().unwrap(), "--own"];
    init("example.com");
    kubewright(&project, &take).refuses(1, &["`kubewright init --domain pumps.io`"]);
    fs::remove_dir_all(&project).unwrap();
    init(domain);
    kubewright(&project, &take).succeeds();
    let types = fs::read_to_string(project.join("api/src/pumps_io/v1/pump.rs")).unwrap();
    assert!(types.contains("group = \"pumps.io\""), "{types}");
}

#[test]
fn types_of_own_kinds_are_generated_as_recorded_and_formatted() {
    for (file, kind, domain, types) in KINDS {
        let dir = with_own(file, kind, domain);
        for (version, recorded) in types {
            let recorded = fixture("own").join(format!("{recorded}.rs"));
            let name = kind.to_ascii_lowercase();
            let made = find(&dir.path().join("api/src"), &format!("{version}/{name}.rs"));
            let made = fs::read_to_string(formatted(dir.path(), &made)).unwrap();
            if std::env::var_os("KUBEWRIGHT_BLESS").is_some() {
                fs::create_dir_all(fixture("own")).unwrap();
                fs::write(&recorded, &made).unwrap();
            }
            assert!(
                fs::read_to_string(&recorded).unwrap() == made,
                "{recorded:?} is stale; bless it"
            );
        }
    }
}

/// The only file below a folder whose path ends so.
fn find(folder: &Path, end: &str) -> std::path::PathBuf {
    let groups = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    groups.map(|group| group.join(end)).find(|path| path.exists()).unwrap()
}

fn crd(file: &str, kind: &str) -> Value {
    let text = fs::read_to_string(fixture(&format!("{file}.yaml"))).unwrap();
    let documents: Vec<Value> = serde_saphyr::from_multiple(&text).unwrap();
    let mut crds = documents.into_iter();
    crds.find(|it| it["spec"]["names"]["kind"] == kind).unwrap()
}

/// Removes what the types may say otherwise, to the same effect: descriptions, whose lines are joined; the branches that
/// `x-kubernetes-int-or-string` implies; that an object has no fields; the list type that lists have anyway. And what Kubernetes' types never
/// decode: numbers of an `IntOrString` beyond 32 bits, times beyond RFC 3339.
fn plain(value: &mut Value) {
    let both = json!([{"type": "integer"}, {"type": "string"}]);
    if let Value::Object(map) = value {
        if map.get("x-kubernetes-int-or-string") == Some(&json!(true)) && map.get("anyOf") == Some(&both) {
            map.remove("anyOf");
        }
        if map.get("x-kubernetes-int-or-string") == Some(&json!(true)) {
            map.retain(|_, value| *value != json!(i32::MIN) && *value != json!(i32::MAX));
        }
        if map.get("format") == Some(&json!("date-time")) {
            map.remove("pattern");
        }
        if map.get("properties") == Some(&json!({})) {
            map.remove("properties");
        }
        map.retain(|key, value| key != "description" || !value.is_string());
        if let Some(Value::Array(required)) = map.get_mut("required") {
            required.sort_by_key(ToString::to_string);
        }
    }
    match value {
        Value::Object(map) => map.values_mut().for_each(plain),
        Value::Array(list) => list.iter_mut().for_each(plain),
        _ => {}
    }
}

/// The differences below a path.
fn differences(path: &str, ours: &Value, theirs: &Value, found: &mut Vec<String>) {
    match (ours, theirs) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: std::collections::BTreeSet<_> = a.keys().chain(b.keys()).collect();
            for key in keys {
                differences(
                    &format!("{path}.{key}"),
                    &ours[key.as_str()],
                    &theirs[key.as_str()],
                    found,
                );
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (at, (a, b)) in a.iter().zip(b).enumerate() {
                differences(&format!("{path}[{at}]"), a, b, found);
            }
        }
        _ if ours == theirs => {}
        _ => found.push(format!("{path}: {ours} instead of {theirs}")),
    }
}

/// Compares the CRD of these types with the one that they were made from.
fn is_the_same(types: &[CustomType<impl serde::Serialize>], file: &str, kind: &str) {
    let options = Options {
        keep_nullable: false,
        ..Options::default()
    };
    let ours = finish(types, &options)
        .unwrap_or_else(|findings| panic!("{findings:#?}"))
        .remove(0);
    assert_eq!(lint::causes(&ours), [], "the API server accepts it");
    let theirs = crd(file, kind);
    let breaks = |old: &Value, new: &Value| breaking(std::slice::from_ref(old), std::slice::from_ref(new));
    assert_eq!(breaks(&theirs, &ours), [], "clients and objects of theirs");
    assert_eq!(breaks(&ours, &theirs), [], "and back");
    let (mut ours, mut theirs) = (ours["spec"].clone(), theirs["spec"].clone());
    for spec in [&mut ours, &mut theirs] {
        plain(spec);
        let by_name = |version: &Value| version["name"].to_string();
        let versions = spec["versions"].as_array_mut().unwrap();
        versions.retain(|version| version["served"] == true);
        versions.sort_by_key(by_name);
    }
    let mut found = Vec::new();
    differences("spec", &ours, &theirs, &mut found);
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn crds_of_own_types_are_compatible_both_ways_and_equal_node_by_node() {
    is_the_same(
        &[CustomType::of::<admiral::Admiral>(admiral::Admiral::crd)],
        "kubebuilder",
        "Admiral",
    );
    is_the_same(
        &[
            CustomType::of::<first_mate_v1::FirstMate>(first_mate_v1::FirstMate::crd),
            CustomType::of::<first_mate_v2::FirstMate>(first_mate_v2::FirstMate::crd),
        ],
        "kubebuilder",
        "FirstMate",
    );
    is_the_same(
        &[CustomType::of::<memcached::Memcached>(memcached::Memcached::crd)],
        "kubebuilder",
        "Memcached",
    );
    is_the_same(
        &[
            CustomType::of::<pump_v1::Pump>(pump_v1::Pump::crd),
            CustomType::of::<pump_v1alpha1::Pump>(pump_v1alpha1::Pump::crd),
        ],
        "pump",
        "Pump",
    );
}

#[test]
fn a_crd_with_a_whole_pod_template_is_equal_too() {
    let cronjob = CustomType::of::<cronjob::CronJob>(cronjob::CronJob::crd);
    is_the_same(&[cronjob], "cronjob", "CronJob");
}

/// Descriptions keep their words, with white space as `kubectl explain` shows it.
#[test]
fn descriptions_keep_their_words() {
    let words = |crd: &Value| {
        let root = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
        let text = root["properties"]["spec"]["description"].as_str().unwrap().to_owned();
        (
            root["description"].clone(),
            text.split_whitespace().map(str::to_owned).collect::<Vec<_>>(),
        )
    };
    let ours = finish(
        &[CustomType::of::<pump_v1::Pump>(pump_v1::Pump::crd)],
        &Options::default(),
    )
    .unwrap();
    assert_eq!(words(&ours[0]), words(&crd("pump", "Pump")));
}

#[test]
fn a_kind_that_is_taken_over_is_one_of_the_project() {
    let dir = with_own("pump", "Pump", "example.com");
    let read = |path: &str| fs::read_to_string(dir.path().join(path)).unwrap();
    let line = "{group: water, kind: Pump, plural: pumps, shortNames: [pu, pm], adopted: true, \
                versions: [{version: v1}, {version: v1alpha1, storage: false}], \
                controllers: [{name: pump, version: v1, pattern: minimal}]}";
    assert!(read("PROJECT").contains(line), "{}", read("PROJECT"));
    assert_eq!(
        read("config/crd/adopted/water.example.com_pumps.yaml"),
        fs::read_to_string(fixture("pump.yaml")).unwrap()
    );
    assert!(read("config/crd/bases/kustomization.yaml").contains("water.example.com_pumps.yaml"));
    assert!(read("manifests/src/lib.rs").contains("Pump"));
    assert!(read("src/controllers/pump.rs").contains("status.observed_generation"));
    assert!(read("config/samples/water_v1_pump.yaml").contains("speed: fast"));
    assert!(
        own(dir.path(), "pump", "Pump", &[])
            .succeeds()
            .stderr
            .contains("nothing to do")
    );

    // Its types are edited as any others; other commands leave them alone.
    let types = "api/src/water/v1/pump.rs";
    fs::write(
        dir.path().join(types),
        read(types).replace("How fast.", "How very fast."),
    )
    .unwrap();
    let webhook = [
        "create",
        "webhook",
        "--kind",
        "Pump",
        "--group",
        "water",
        "--validation",
        "--defaulting",
    ];
    kubewright(dir.path(), &webhook).succeeds();
    assert!(
        !read("src/webhooks/pump.rs").contains("foreign"),
        "the operator owns it"
    );
    assert!(read(types).contains("How very fast."));
    kubewright(dir.path(), &["sync"]).succeeds();
    assert!(read(types).contains("How very fast."));
}

#[test]
fn a_kind_without_conditions_gets_an_empty_reconciler() {
    let dir = tempfile::tempdir().unwrap();
    kubewright(dir.path(), &["init", "--domain", "example.com", "--project-name", "op"]).succeeds();
    let without = fs::read_to_string(fixture("pump.yaml"))
        .unwrap()
        .replace("conditions: &", "others: &");
    let file = dir.path().join("in.yaml");
    fs::write(&file, without).unwrap();
    let file = file.display().to_string();
    kubewright(dir.path(), &["create", "api", "--from-crd", &file, "--own"]).succeeds();
    let reconciler = fs::read_to_string(dir.path().join("src/controllers/pump.rs")).unwrap();
    assert!(reconciler.contains("_object: Arc<Pump>") && !reconciler.contains("patch_status"));
}

#[test]
fn delete_removes_all_files_of_a_kind_that_was_taken_over() {
    let dir = with_own("pump", "Pump", "example.com");
    let of = ["delete", "api", "--group", "water", "--kind", "Pump", "--all-versions"];
    kubewright(dir.path(), &of).succeeds();
    let left = crate::cli::tree(dir.path());
    let left: Vec<_> = left
        .keys()
        .filter(|path| path.contains("pump") || path.contains("water"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Projects of the Kubernetes community: an API server refuses their CRDs without the approval.
#[test]
fn a_kind_of_the_community_has_its_approval_and_the_annotations_of_its_owner() {
    let dir = tempfile::tempdir().unwrap();
    let init = [
        "init",
        "--domain",
        "networking.k8s.io",
        "--project-name",
        "op",
        "--owner",
        "o",
    ];
    kubewright(dir.path(), &init).succeeds();
    let name = "  name: pumps.water.example.com\n";
    let annotations = "  annotations:\n    gateway.networking.k8s.io/channel: standard\n    api-approved.kubernetes.io: https://example.com/1\n    \
                       controller-gen.kubebuilder.io/version: v0.21.0\n    k8s.io/x: why\n";
    let text = fs::read_to_string(fixture("pump.yaml")).unwrap();
    let text = text
        .replace(name, &format!("{name}{annotations}"))
        .replace("water.example.com", "gateway.networking.k8s.io");
    let file = dir.path().join("pump.yaml");
    fs::write(&file, text).unwrap();
    let file = file.display().to_string();
    kubewright(dir.path(), &["create", "api", "--from-crd", &file, "--own"]).succeeds();
    let types = |kind: &str| fs::read_to_string(dir.path().join(format!("api/src/gateway/v1/{kind}.rs"))).unwrap();
    let pump = types("pump");
    for kept in [
        r#"annotation("gateway.networking.k8s.io/channel", "standard")"#,
        r#"annotation("api-approved.kubernetes.io", "https://example.com/1")"#,
        r#"annotation("k8s.io/x", "why")"#,
    ] {
        assert!(pump.contains(kept), "{kept}: {pump}");
    }
    assert!(!pump.contains("controller-gen"), "{pump}");

    let api = |group: &str, kind: &str, more: &[&str]| {
        let named = [
            "create",
            "api",
            "--group",
            group,
            "--version",
            "v1",
            "--kind",
            kind,
            "--yes",
        ];
        kubewright(dir.path(), &[&named[..], more].concat())
    };
    api("gateway", "FooBar", &[]).succeeds();
    let made = dir.path().join("api/src/gateway/v1/foobar.rs");
    let own = types("foobar");
    assert!(
        own.contains(r#"annotation("api-approved.kubernetes.io", "unapproved, experimental-only"),"#),
        "{own}"
    );
    assert_eq!(own, fs::read_to_string(formatted(dir.path(), &made)).unwrap());
}

#[test]
fn a_group_that_kubernetes_serves_itself_has_no_other_kinds() {
    let dir = tempfile::tempdir().unwrap();
    kubewright(dir.path(), &["init", "--domain", "k8s.io", "--project-name", "op"]).succeeds();
    let named = [
        "create",
        "api",
        "--group",
        "networking",
        "--version",
        "v1",
        "--kind",
        "FooBar",
        "--yes",
    ];
    for more in [&[][..], &["--resource"]] {
        let run = kubewright(dir.path(), &[&named[..], more].concat());
        run.refuses(
            2,
            &[
                "`networking.k8s.io` is a group of Kubernetes itself",
                "`--group x-networking`",
            ],
        );
    }
}
