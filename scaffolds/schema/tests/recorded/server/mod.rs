//! Compares the linter with a real kube-apiserver, whose verdict on each case is recorded in `verdicts.jsonl`, so that
//! the comparison needs no server. After a change of cases, `KUBEWRIGHT_BLESS=1 cargo test -p kubewright-schema --test
//! recorded` adds them to the file, and `fidelity record schema-verdicts` the server's verdicts.

mod cases;
mod checklist;
mod random;

use crate::control_plane::{Answer, ControlPlane};
use crate::{dice, made_up};
use kubewright_schema::lint;
use recordings::Exchange;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

const VERDICTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/recorded/server/verdicts.jsonl");
const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// The server's verdict on a CRD.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Verdict {
    accepted: bool,
    /// Reason, field and message of each cause, sorted.
    causes: BTreeSet<(String, String, String)>,
    warnings: BTreeSet<String>,
}

/// A definition that is sent.
#[derive(Deserialize, PartialEq, Serialize)]
struct Case {
    name: String,
    crd: Value,
}

/// The recording.
fn recorded() -> Vec<Exchange<Case, Verdict>> {
    recordings::read(&std::fs::read_to_string(VERDICTS).unwrap())
}

fn linted(crd: &Value) -> Verdict {
    let causes: BTreeSet<_> = lint::causes(crd)
        .into_iter()
        .map(|cause| (cause.reason.to_owned(), cause.field, cause.message))
        .collect();
    let warnings = if causes.is_empty() {
        lint::warnings(crd).into_iter().collect()
    } else {
        BTreeSet::new()
    };
    Verdict {
        accepted: causes.is_empty(),
        causes,
        warnings,
    }
}

/// The verdict without the values that the server prints as Go types, which are not compared.
fn comparable(verdict: Verdict) -> Verdict {
    let simple = |message: String| match message.strip_prefix("Invalid value: ") {
        Some(rest) if rest.starts_with(['{', '[']) || rest.starts_with("null") => {
            let end = rest.rfind(": ").map_or(rest, |at| &rest[at..]);
            format!("Invalid value: …{end}")
        }
        _ => message,
    };
    Verdict {
        causes: verdict
            .causes
            .into_iter()
            .map(|(reason, field, message)| (reason, field, made_up::without_numbers(&simple(message))))
            .collect(),
        ..verdict
    }
}

/// One line per difference.
fn differences(name: &str, ours: Verdict, theirs: Verdict) -> String {
    let (ours, theirs) = (comparable(ours), comparable(theirs));
    let mut out = String::new();
    if ours.accepted != theirs.accepted {
        _ = writeln!(
            out,
            "{name}: accepted by the server: {}, by us: {}",
            theirs.accepted, ours.accepted
        );
    }
    for cause in theirs.causes.difference(&ours.causes) {
        _ = writeln!(out, "{name}: only the server has {cause:?}");
    }
    for cause in ours.causes.difference(&theirs.causes) {
        _ = writeln!(out, "{name}: only the linter has {cause:?}");
    }
    if ours.warnings != theirs.warnings {
        _ = writeln!(out, "{name}: warnings {:?}, ours {:?}", theirs.warnings, ours.warnings);
    }
    out
}

#[test]
fn the_linter_reports_the_same_causes_as_the_server() {
    let recorded = recorded();
    assert!(recorded.len() > 100, "the recording is incomplete");
    let mut report = String::new();
    for Exchange { asked, answered } in recorded {
        report.push_str(&differences(&asked.name, linted(&asked.crd), answered));
    }
    assert!(report.is_empty(), "\n{report}");
}

#[test]
fn each_rule_of_the_checklist_has_valid_and_invalid_cases() {
    let accepted = |it: Exchange<Case, Verdict>| (it.asked.name, it.answered.accepted);
    let recorded: BTreeMap<String, bool> = recorded().into_iter().map(accepted).collect();
    for (line, kept, broken) in checklist::CHECKLIST {
        assert!(!kept.is_empty() && !broken.is_empty(), "{line}");
        for (names, accepted) in [(kept, true), (broken, false)] {
            for name in names {
                assert_eq!(recorded.get(*name), Some(&accepted), "{line}: {name}");
            }
        }
    }
}

/// All that is recorded: the cases by hand, and some at random.
fn all() -> BTreeMap<String, Value> {
    let random = (0..40).map(|seed| (format!("random {seed:03}"), random::crd(seed)));
    let by_hand = cases::all().into_iter().map(|(name, crd)| (name.to_owned(), crd));
    let mut all = BTreeMap::new();
    for (name, crd) in by_hand.chain(random) {
        assert!(all.insert(name.clone(), crd).is_none(), "two cases are named `{name}`");
    }
    all
}

#[test]
fn every_case_is_recorded_as_it_is_now() {
    let cases = all().into_iter().map(|(name, crd)| Case { name, crd });
    recordings::assert_requests(Path::new(VERDICTS), cases.collect());
}

fn ask(server: &ControlPlane, crd: &Value) -> Verdict {
    let answer = server.post(&format!("{CRDS}?dryRun=All&fieldValidation=Strict"), crd);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let causes = answer.body["details"]["causes"].as_array().into_iter().flatten();
    assert!(
        matches!(answer.status, 201 | 422),
        "{} {}\n{crd}",
        answer.status,
        answer.body
    );
    Verdict {
        accepted: answer.status == 201,
        causes: causes
            .map(|it| (text(&it["reason"]), text(&it["field"]), text(&it["message"])))
            .collect(),
        warnings: answer.warnings,
    }
}

#[test]
#[ignore = "needs KUBEBUILDER_ASSETS; takes a minute"]
fn random_schemas_get_the_same_verdict() {
    let server = ControlPlane::start();
    let mut report = String::new();
    for seed in seeds(2000) {
        let crd = random::crd(seed);
        let found = differences(&format!("seed {seed}"), linted(&crd), ask(&server, &crd));
        if !found.is_empty() {
            _ = writeln!(report, "{found}{crd}");
        }
    }
    assert!(report.is_empty(), "\n{report}");
}

/// The seeds from SEED on; CASES is their number.
fn seeds(count: u64) -> std::ops::Range<u64> {
    let first = dice::number("SEED", 0);
    first..first + dice::number("CASES", count)
}

/// Applies the text of a manifest server-side, as `make install` does.
fn apply(server: &ControlPlane, path: &str, yaml: &str) -> Answer {
    server.request(
        "PATCH",
        &format!("{path}?fieldManager=test&force=true&fieldValidation=Strict"),
        yaml,
    )
}

/// The CRDs of the golden projects and of this crate: file and content, one for each name of a CRD.
fn golden_crds() -> BTreeMap<String, String> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden");
    let mut files = vec![PathBuf::from(FOOBAR)];
    for project in std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()) {
        let bases = std::fs::read_dir(project.join("config/crd/bases"));
        files.extend(bases.into_iter().flatten().map(|entry| entry.unwrap().path()));
    }
    files.retain(|path| path.extension().is_some_and(|it| it == "yaml") && !path.ends_with("kustomization.yaml"));
    files.sort();
    // The same file in several projects is tested once.
    let crds: BTreeMap<String, String> = files
        .iter()
        .map(|path| (std::fs::read_to_string(path).unwrap(), path.display().to_string()))
        .collect();
    crds.into_iter().map(|(text, path)| (path, text)).collect()
}

const FOOBAR: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/golden/test.example.com_foobars.yaml"
);

#[test]
fn the_linter_accepts_the_crds_of_all_golden_projects() {
    let goldens = golden_crds();
    assert!(goldens.len() > 2, "{:?}", goldens.keys());
    for (path, yaml) in goldens {
        let crd: Value = serde_saphyr::from_str(&yaml).unwrap();
        assert_eq!((lint::causes(&crd), lint::warnings(&crd)), (vec![], vec![]), "{path}");
    }
}

/// The server stores no `properties` without fields, which `make manifests` writes for a type without fields: without them, the schema would
/// be that of an object of any shape if it were normalised again.
fn drop_empty_properties(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|key, value| key != "properties" || *value != json!({}));
            map.values_mut().for_each(drop_empty_properties);
        }
        Value::Array(list) => list.iter_mut().for_each(drop_empty_properties),
        _ => {}
    }
}

#[test]
#[ignore = "needs KUBEBUILDER_ASSETS"]
fn manifests_are_stored_unchanged_and_applying_them_again_changes_nothing() {
    let server = ControlPlane::start();
    for (file, yaml) in golden_crds() {
        let mut written: Value = serde_saphyr::from_str(&yaml).unwrap();
        drop_empty_properties(&mut written["spec"]);
        let path = format!("{CRDS}/{}", written["metadata"]["name"].as_str().unwrap());
        let first = apply(&server, &path, &yaml);
        assert!(matches!(first.status, 200 | 201), "{file}: {}", first.body);
        assert_eq!(first.warnings, BTreeSet::new(), "{file}");
        let mut stored = established(&server, &path);
        // The server adds the conversion strategy `None`.
        let spec = stored["spec"].as_object_mut().unwrap();
        assert_eq!(spec.remove("conversion"), Some(json!({"strategy": "None"})), "{file}");
        assert_eq!(stored["spec"], written["spec"], "{file}");
        let again = apply(&server, &path, &yaml);
        assert_eq!(
            again.body["metadata"]["resourceVersion"], stored["metadata"]["resourceVersion"],
            "{file}"
        );
        assert_eq!(server.request("DELETE", &path, "").status, 200, "{file}");
        // On a busy machine the API server gives a clean-up up after a minute, and repeats it with growing delays.
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(600);
        while server.request("GET", &path, "").status == 200 {
            assert!(std::time::Instant::now() < deadline, "{file} is not deleted in time");
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
    }
}

/// Waits until the CRD is served and the server has finished its own writes to it, and returns it.
fn established(server: &ControlPlane, path: &str) -> Value {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(180);
    loop {
        let crd = server.request("GET", path, "").body;
        let condition = |kind: &str| {
            let all = crd["status"]["conditions"].as_array().into_iter().flatten();
            all.filter(|it| it["type"] == kind && it["status"] == "True").count() == 1
        };
        if condition("Established") && condition("NamesAccepted") {
            assert!(!condition("NonStructuralSchema"));
            return crd;
        }
        assert!(std::time::Instant::now() < deadline, "not established: {crd}");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

#[test]
#[ignore = "needs KUBEBUILDER_ASSETS"]
fn a_foobar_is_accepted_or_refused_by_its_schema() {
    let server = ControlPlane::start();
    let path = format!("{CRDS}/foobars.test.example.com");
    let first = apply(&server, &path, &std::fs::read_to_string(FOOBAR).unwrap());
    assert_eq!(first.status, 201, "{}", first.body);
    established(&server, &path);
    objects(&server);
}

/// Checks which objects the schema accepts. A null that is not allowed is dropped, except by server-side apply.
fn objects(server: &ControlPlane) {
    let path = "/apis/test.example.com/v1/namespaces/default/foobars";
    let foobar = |name: &str, spec: Value| json!({"apiVersion": "test.example.com/v1", "kind": "FooBar", "metadata": {"name": name}, "spec": spec});
    let created = server.post(path, &foobar("created", json!({"target": "a", "type": null})));
    assert_eq!(
        (created.status, &created.body["spec"]),
        (201, &json!({"target": "a"})),
        "{}",
        created.body
    );
    let applied = foobar("applied", json!({"target": "a", "type": null})).to_string();
    assert_eq!(
        apply(server, &format!("{path}/applied"), &applied).status,
        422,
        "server-side apply refuses a null"
    );
    for spec in [
        json!({}),
        json!({"target": ""}),
        json!({"target": 1}),
        json!({"target": null}),
    ] {
        assert_eq!(server.post(path, &foobar("refused", spec)).status, 422);
    }
    let ready = |reason: &str| {
        let time = "2026-01-01T00:00:00Z";
        let condition =
            json!({"type": "Ready", "status": "True", "reason": reason, "message": "", "lastTransitionTime": time});
        let mut foobar = foobar("created", json!({"target": "a"}));
        foobar["status"] = json!({"observedGeneration": 1, "conditions": [condition]});
        apply(server, &format!("{path}/created/status"), &foobar.to_string())
    };
    assert_eq!((ready("AsTheSpecAsks").status, ready("").status), (200, 422));
}

#[test]
#[ignore = "needs KUBEBUILDER_ASSETS"]
fn random_patterns_get_the_same_verdict() {
    let server = ControlPlane::start();
    let mut report = String::new();
    for seed in seeds(200) {
        let crd = random::patterns(seed);
        report.push_str(&differences(&format!("seed {seed}"), linted(&crd), ask(&server, &crd)));
    }
    assert!(report.is_empty(), "\n{report}");
}

#[test]
#[ignore = "needs KUBEBUILDER_ASSETS"]
fn go_parses_the_strings_that_were_written() {
    let server = ControlPlane::start();
    let texts = [
        "on",
        "Off",
        "yes",
        "NO",
        "y",
        "N",
        "~",
        "null",
        "true",
        "False",
        "1e3",
        "0o7",
        "007",
        "0x1f",
        "0b1",
        "1_000",
        "12:30",
        "2001-01-01",
        "2001-01-01T00:00:00Z",
        ".inf",
        "-.INF",
        ".nan",
        "+1",
        "-0",
        "1.",
        ".5",
        "=",
        "<<",
        "",
        " ",
        "a ",
        " a",
        "a: b",
        "a #b",
        "#a",
        "- a",
        "? a",
        ": a",
        "a:",
        "---",
        "...",
        "[a]",
        "{a}",
        "a, b",
        "&a",
        "*a",
        "!a",
        "|",
        ">",
        "%a",
        "@a",
        "`a`",
        "'a'",
        "\"a\"",
        "\\",
        "a\tb",
        "a\nb",
        "a\nb\n",
        "a\n\nb\n\n",
        "\na",
        " a\nb",
        "a\n  b\n",
        "a\n \nb",
        "a\r\nb",
        "\ta\nb",
        "# a\nb",
        "é",
        "日本",
        "🦀",
        "\u{85}",
        "\u{2028}a",
        "\u{feff}",
        "\u{7f}",
        "\u{1}",
        "a\n---\nb",
        "a\n...\nb",
        "a\n\tb",
        "a\nb ",
        ".status.conditions[?(@.type==\"Ready\")].status",
        "^[a-z]([-a-z0-9]*[a-z0-9])?$",
    ];
    let data: Value = texts
        .iter()
        .enumerate()
        .map(|(at, text)| (format!("k{at}"), json!(text)))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let yaml = kubewright_schema::yaml::to_string(&json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "texts", "namespace": "default"}, "data": data,
    }));
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    let answer = loop {
        let answer = apply(&server, "/api/v1/namespaces/default/configmaps/texts", &yaml);
        // The namespace exists only a moment after the server is ready.
        if answer.status != 404 || std::time::Instant::now() > deadline {
            break answer;
        }
    };
    assert_eq!(answer.status, 201, "{}\n{yaml}", answer.body);
    assert_eq!(answer.body["data"], data);
}
