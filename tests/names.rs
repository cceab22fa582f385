//! Kinds, groups and controllers with names of Rust, of a crate or of the generated code: each is refused with a reason
//! or works, which means that it is formatted, compiled and linted as any other.

mod cli;

use cli::{init, kubewright, project};
use kubewright::plan::{Entry, FileKind, RelPath, plan};
use kubewright::project::{LONGEST_PROJECT, rust};
use kubewright::render::{File, Templates, render};
use kubewright_machinery::names::{Unit, label, label_1035, subdomain};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Keywords, names of the prelude, and imports of generated code.
const KINDS: [&str; 82] = [
    "Action",
    "Admission",
    "Api",
    "App",
    "Arc",
    "As",
    "Async",
    "Await",
    "BTreeMap",
    "Box",
    "Break",
    "Change",
    "Cleanup",
    "Client",
    "Clone",
    "Condition",
    "Conditions",
    "ConfigMap",
    "Const",
    "Container",
    "Context",
    "Controller",
    "Crate",
    "CustomResource",
    "Debug",
    "Default",
    "Defaulter",
    "Deployment",
    "Deserialize",
    "Dyn",
    "Err",
    "Error",
    "Event",
    "EventType",
    "Fn",
    "From",
    "Gen",
    "Into",
    "Iterator",
    "Job",
    "JsonSchema",
    "Lib",
    "Main",
    "Manager",
    "Match",
    "Mod",
    "Move",
    "None",
    "ObjectMeta",
    "Ok",
    "Operation",
    "Operator",
    "Option",
    "Options",
    "Patch",
    "Pod",
    "Reconciler",
    "Program",
    "Quantity",
    "Resource",
    "ResourceExt",
    "Result",
    "Schedule",
    "Schema",
    "Self",
    "Send",
    "Serialize",
    "Some",
    "Spec",
    "StatefulSet",
    "Static",
    "Status",
    "Step",
    "String",
    "Super",
    "Test",
    "Type",
    "Validator",
    "Value",
    "Vec",
    "Verdict",
    "Webhook",
];
/// Those that webhooks import, and others.
const WITH_WEBHOOKS: [&str; 11] = [
    "Admission",
    "Change",
    "Default",
    "Defaulter",
    "Operation",
    "Program",
    "Self",
    "String",
    "Validator",
    "Verdict",
    "Webhook",
];
const GROUPS: [&str; 17] = [
    "type",
    "self",
    "lib",
    "crate",
    "super",
    "mod",
    "std",
    "alloc",
    "kube",
    "serde",
    "schemars",
    "k8s-openapi",
    "api",
    "a-b.c",
    "3scale",
    "async",
    "main",
];
const CONTROLLERS: [&str; 9] = [
    "std",
    "core",
    "type",
    "main",
    "mod",
    "app",
    "kube",
    "serde-json",
    "kubewright",
];

/// Each pattern with its required flags.
const PATTERNS: [&[&str]; 17] = [
    &["--pattern", "child"],
    &["--pattern", "minimal"],
    &["--pattern", "deployment", "--image", "a"],
    &["--pattern", "replicas", "--image", "a"],
    &["--pattern", "job", "--image", "a"],
    &["--pattern", "schedule", "--image", "a"],
    &["--pattern", "stateful", "--image", "a"],
    &["--pattern", "stateful", "--image", "a", "--backups"],
    &["--pattern", "internal", "--internal-kind", "Run"],
    &["--pattern", "child", "--finalizer"],
    &["--pattern", "minimal", "--finalizer"],
    &["--pattern", "deployment", "--image", "a", "--finalizer"],
    &["--pattern", "replicas", "--image", "a", "--finalizer"],
    &["--pattern", "job", "--image", "a", "--finalizer"],
    &["--pattern", "schedule", "--image", "a", "--finalizer"],
    &["--pattern", "stateful", "--image", "a", "--finalizer"],
    &["--pattern", "internal", "--internal-kind", "Run", "--finalizer"],
];

fn create(dir: &Path, group: &str, kind: &str, more: &[&str]) {
    kubewright(
        dir,
        &[
            &["create", "api", "--group", group, "--version", "v1", "--kind", kind],
            more,
        ]
        .concat(),
    )
    .succeeds();
}

#[track_caller]
fn cargo(dir: &Path, args: &[&str]) {
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("target");
    let mut command = Command::new("cargo");
    // As in `tests/golden/check`: one folder of intermediate files, and no RUSTFLAGS, which would compile everything
    // again.
    command
        .current_dir(dir)
        .args(args)
        .env("CARGO_TARGET_DIR", target.join("golden/target"))
        .env("CARGO_BUILD_BUILD_DIR", target.join("projects"));
    // The variables of `cargo test` for this crate must not reach another cargo: build scripts that read them (ring's)
    // would run again, and their dependents would be compiled again.
    for (variable, _) in std::env::vars_os() {
        let name = variable.to_string_lossy();
        if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&variable);
        }
    }
    let run = command.output().unwrap();
    let said = [run.stdout, run.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    let warns = said.lines().any(|line| line.starts_with("warning"));
    assert!(run.status.success() && !warns, "{said}");
}

/// For tests/golden/check, which compiles the project.
#[test]
#[ignore = "writes a project of ninety kinds to the folder NAMED_PROJECT"]
fn write_a_project_of_kinds_with_names_of_rust_and_of_generated_code() {
    let dir = std::env::var_os("NAMED_PROJECT").expect("the folder to write to");
    let dir = Path::new(&dir);
    fs::create_dir_all(dir).unwrap();
    init(dir);
    for (nth, name) in CONTROLLERS.iter().enumerate() {
        let named = ["--controller-name", name];
        let pattern = PATTERNS[nth % PATTERNS.len()];
        create(dir, "controllers", &format!("Kind{nth}"), &[&named, pattern].concat());
    }
    // Some of them are plurals of others.
    for (nth, kind) in KINDS.iter().enumerate() {
        let plural = format!("all-{}", kind.to_lowercase());
        let pattern = PATTERNS[nth % PATTERNS.len()];
        create(dir, "names", kind, &[&["--plural", &plural], pattern].concat());
    }
    for kind in WITH_WEBHOOKS {
        let of = ["create", "webhook", "--group", "names", "--kind", kind];
        kubewright(dir, &[&of[..], &["--validation", "--defaulting"]].concat()).succeeds();
    }
    GROUPS.iter().for_each(|group| create(dir, group, "Thing", &[]));
    create(dir, "core", "Pod", &["--resource=false", "--finalizer"]);
}

#[test]
fn generated_code_is_formatted_for_kinds_of_any_length() {
    let dir = project();
    // rustfmt sorts modules and imports of these names differently.
    ["C9", "C10", "C1a", "Option2"]
        .iter()
        .for_each(|kind| create(dir.path(), "test", kind, &[]));
    let letters = "Qwertyuiopadfghjklzxcvbn";
    for length in 1..=24 {
        let pattern = if length % 2 == 0 { "child" } else { "minimal" };
        create(dir.path(), "test", &letters[..length], &["--pattern", pattern]);
        let other = if length % 2 == 0 { "minimal" } else { "child" };
        create(
            dir.path(),
            "a-group-of-some-length",
            &letters[..length],
            &["--pattern", other, "--cluster"],
        );
    }
    cargo(dir.path(), &["fmt", "--all", "--check"]);
}

#[test]
fn every_pattern_is_formatted_for_kinds_of_any_length() {
    let long = format!("registry.example.com:5000/a-team/app@sha256:{}", "0a".repeat(32));
    let patterns = [
        "pattern: deployment, image: a",
        &format!("pattern: replicas, image: '{long}'"),
        &format!("pattern: deployment, image: '{long}'"),
        "pattern: internal, internalKind: Run",
        "pattern: internal, internalKind: AnInternalKindOfSomeLength",
        "pattern: job, image: a",
        "pattern: schedule, image: a",
    ];
    let with_finalizer = patterns.map(|pattern| format!("{pattern}, finalizer: true"));
    let mut patterns = patterns.to_vec();
    patterns.extend(with_finalizer.iter().map(String::as_str));
    patterns.extend(["pattern: child, finalizer: true", "pattern: minimal, finalizer: true"]);
    let mut text = head();
    let mut kind = |group: &str, kind: &str, name: &str, pattern: &str| {
        let plural = kind.to_lowercase();
        text.push_str(&format!(
            "- {{group: {group}, kind: {kind}, plural: {plural}s, versions: [{{version: v1}}], controllers: [{{name: {name}, version: v1, {pattern}}}]}}\n"
        ));
    };
    for (group, internal) in [("test", "child"), ("a-group-of-some-length", "replicas, image: a")] {
        kind(
            group,
            "Run",
            &format!("run-{}", group.len()),
            &format!("pattern: {internal}"),
        );
        kind(
            group,
            "AnInternalKindOfSomeLength",
            &format!("length-{}", group.len()),
            "pattern: minimal",
        );
        for (length, (nth, pattern)) in
            (1..=24).flat_map(|length| patterns.iter().enumerate().map(move |one| (length, one)))
        {
            let name = format!("{}{nth}", &"Qwertyuiopadfghjklzxcvbn"[..length]);
            let controller = match group {
                "test" => name.to_lowercase(),
                _ => format!("{}-audit", name.to_lowercase()),
            };
            let suffix = match group {
                "test" => String::new(),
                _ => format!(", childSuffix: {group}-{}", name.to_lowercase()),
            };
            kind(group, &name, &controller, &format!("{pattern}{suffix}"));
        }
    }
    each_file_is_formatted(&text);
}

#[test]
fn every_kind_of_kubernetes_and_every_other_version_is_formatted() {
    let mut text = head();
    let mut kinds: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for known in kubewright::project::kubernetes::all() {
        kinds
            .entry((known.project_group(), known.kind))
            .or_default()
            .push(known);
    }
    for ((group, kind), known) in kinds {
        let (cluster, plural) = (known[0].cluster, known[0].plural);
        let list = |entry: &dyn Fn(&str) -> String| {
            let entries: Vec<_> = known.iter().map(|known| entry(known.version)).collect();
            entries.join(", ")
        };
        let versions = list(&|version| format!("{{version: {version}}}"));
        let name = kind.to_lowercase();
        let controllers = list(&|version| {
            format!("{{name: {name}{version}, version: {version}, pattern: beside, finalizer: {cluster}}}")
        });
        text.push_str(&format!(
            "- {{group: {group}, kind: {kind}, plural: {plural}, cluster: {cluster}, from: kubernetes, \
             versions: [{versions}], controllers: [{controllers}]}}\n"
        ));
    }
    for length in 1..=24 {
        let kind = &"Qwertyuiopadfghjklzxcvbn"[..length];
        let name = kind.to_lowercase();
        let types = match length % 4 {
            0 => "defaulting: true",
            1 => "validation: true",
            _ => "defaulting: true, validation: true",
        };
        for (group, pattern) in [("test", "child"), ("a-group-of-some-length", "replicas, image: a")] {
            text.push_str(&format!(
                "- {{group: {group}, kind: {kind}, plural: {name}s, versions: [{{version: v1}}, {{version: v1beta1, storage: false}}], \
                 controllers: [{{name: {name}-{0}, version: v1, pattern: {pattern}}}], \
                 webhooks: {{name: {name}-{0}, version: v1, {types}}}, \
                 conversion: {{name: {name}-{0}, hub: v1, spokes: [v1beta1]}}}}\n",
                group.len()
            ));
        }
    }
    each_file_is_formatted(&text);
}

/// PROJECT without its kinds.
fn head() -> String {
    format!(
        "version: {}\nname: op\ndomain: example.com\nlicense: none\nowner: o\nyear: 2026\nkinds:\n",
        env!("CARGO_PKG_VERSION")
    )
}

/// The seeded Rust files of that PROJECT, rendered, by path.
fn seeded_files(text: &str) -> Vec<(String, String)> {
    let project = kubewright::project::file::parse(text).unwrap();
    let templates = Templates::load(&[]).unwrap();
    // rustfmt would look for the files that others declare.
    let alone = |path: &RelPath, entry: &Entry| {
        let parts = [
            "src/controllers/",
            "src/conversions/",
            "src/webhooks/",
            "tests/",
            "api/src/",
        ];
        let named = parts.iter().any(|part| path.as_str().starts_with(part)) && entry.kind == FileKind::Seeded;
        named && path.extension() == Some("rs")
    };
    let plan = plan(&project, templates.catalogue()).unwrap().only(alone);
    let files = render(&project, &plan, &templates).unwrap().into_iter();
    let text = |(path, file): (RelPath, File)| (path.as_str().to_owned(), file.text);
    files.map(text).collect()
}

/// Renders the seeded Rust files of that PROJECT, and checks each with rustfmt.
#[track_caller]
fn each_file_is_formatted(text: &str) {
    let dir = tempfile::tempdir().unwrap();
    let mut rustfmt = Command::new("rustfmt");
    rustfmt.args(["--edition", "2024", "--check"]);
    for (path, text) in seeded_files(text) {
        let path = dir.path().join(path.replace('/', "_"));
        std::fs::write(&path, text).unwrap();
        rustfmt.arg(path);
    }
    let run = rustfmt.output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stdout));
}

/// The types that a file imports or defines, with the paths to which each name leads.
fn named_types(text: &str) -> BTreeMap<String, BTreeSet<String>> {
    let code: Vec<&str> = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect();
    let code = code.join("\n");
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for statement in code.split(';') {
        let lines = statement.lines();
        let mut lines = lines.skip_while(|line| !line.trim_start().trim_start_matches("pub ").starts_with("use "));
        if let Some(first) = lines.next() {
            let (_, first) = first.split_once("use ").unwrap();
            let rest: String = lines.collect();
            imports(&format!("{first}{rest}"), "", &mut found);
        }
    }
    let words: Vec<&str> = code.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    for pair in words.windows(2) {
        if ["struct", "enum", "trait", "type"].contains(&pair[0]) {
            found
                .entry(pair[1].to_owned())
                .or_default()
                .insert("this file".to_owned());
        }
    }
    found.retain(|name, _| name.starts_with(|c: char| c.is_ascii_uppercase()) && *name != name.to_uppercase());
    found
}

/// Collects what a tree of imports below a path names.
fn imports(tree: &str, path: &str, found: &mut BTreeMap<String, BTreeSet<String>>) {
    let mut depth = 0;
    let parts = tree.split(|c: char| {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    });
    for part in parts.map(str::trim).filter(|part| !part.is_empty()) {
        if let Some((base, list)) = part.split_once('{') {
            imports(list.trim_end().trim_end_matches('}'), &format!("{path}{base}"), found);
            continue;
        }
        let (source, name) = part.split_once(" as ").unwrap_or((part, part));
        let name = name.rsplit("::").next().unwrap();
        let source = format!("{path}{source}");
        found.entry(name.to_owned()).or_default().insert(source);
    }
}

#[test]
fn no_file_has_two_types_of_one_name_whatever_its_kind_is_called() {
    let listed = |kind: &str, pattern_of_kind: &str| {
        let lower = kind.to_lowercase();
        let mut text = format!(
            "- {{group: test, kind: {kind}, plural: all-{lower}, versions: [{{version: v1}}], \
             controllers: [{{name: of-{lower}, version: v1, {pattern_of_kind}}}]}}\n"
        );
        for (further, pattern) in [("Backup", "backup"), ("Restore", "restore")] {
            if pattern_of_kind.contains("backups") {
                text.push_str(&format!(
                    "- {{group: test, kind: {kind}{further}, plural: {pattern}s-of-{lower}, versions: [{{version: v1}}], \
                     controllers: [{{name: {pattern}-of-{lower}, version: v1, pattern: {pattern}, of: {kind}}}]}}\n"
                ));
            }
        }
        text
    };
    for pattern in [
        "pattern: child, finalizer: true",
        "pattern: minimal, finalizer: true",
        "pattern: deployment, image: a, finalizer: true",
        "pattern: replicas, image: a, finalizer: true",
        "pattern: job, image: a, finalizer: true",
        "pattern: schedule, image: a, finalizer: true",
        "pattern: stateful, image: a, finalizer: true",
        "pattern: stateful, image: a, backups: true",
        "pattern: internal, internalKind: Zebu",
    ] {
        let zebu = listed("Zebu", "pattern: minimal");
        let usual = seeded_files(&[head(), listed("Zebra", pattern), zebu.clone()].concat());
        let names = usual.iter().flat_map(|(_, text)| named_types(text).into_keys());
        let mut kinds: BTreeSet<String> = names
            .filter(|it| !it.contains("Zebra") && !it.contains("Zebu"))
            .collect();
        assert!(kinds.len() > 10, "{pattern}: {kinds:?}");
        // Their specs are named like types of Kubernetes.
        kinds.extend(["Pod", "PodTemplate", "Job"].map(str::to_owned));
        let all: String = kinds.iter().map(|kind| listed(kind, pattern)).collect();
        for (path, text) in seeded_files(&[head(), all, zebu].concat()) {
            for (name, paths) in named_types(&text) {
                assert!(paths.len() == 1, "{pattern}: `{name}` in {path} is {paths:?}");
            }
        }
    }
}

#[test]
fn a_project_name_of_an_existing_package_is_refused() {
    for name in ["test", "core", "build", "manifests", "kubewright-runtime", "async"] {
        let dir = tempfile::tempdir().unwrap();
        kubewright(dir.path(), &["init", "--domain", "example.com", "--project-name", name]).refuses(2, &[name]);
    }
}

/// Whether rustfmt does not change a text.
fn formatted(text: &str) -> bool {
    use std::io::Write;
    let mut rustfmt = Command::new("rustfmt")
        .args(["--edition", "2024", "--check"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    rustfmt.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    rustfmt.wait().unwrap().success()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn modules_are_sorted_as_by_rustfmt(names in prop::collection::btree_set("(type|async)_?|a[a_19]{0,3}[a19]", 1..12)) {
        let mut modules: Vec<_> = names.iter().map(|name| rust::module(&rust::module_file(name))).collect();
        modules.sort_by(|a, b| rust::module_order(a, b));
        let text: String = modules.iter().map(|module| format!("mod {module};\n")).collect();
        prop_assert!(formatted(&text), "{text}");
    }

    #[test]
    fn imports_are_sorted_as_by_rustfmt(names in prop::collection::btree_set("[Ab][Aa19_]{0,3}[Aa19]", 2..12)) {
        let mut names: Vec<_> = names.into_iter().collect();
        names.sort_by(|a, b| rust::import_order(a, b));
        let text = format!("use a::{{{}}};\n", names.join(", "));
        prop_assert!(formatted(&text), "{text}");
    }

    #[test]
    fn a_kind_is_accepted_exactly_if_it_is_a_label_and_a_type(name in "[A-Ca-c1\\-_]{0,5}") {
        let label = !name.is_empty() && name.to_ascii_lowercase().starts_with(|c: char| c.is_ascii_lowercase());
        let is_type = name.starts_with(|c: char| c.is_ascii_uppercase()) && name.chars().all(|c| c.is_ascii_alphanumeric());
        prop_assert_eq!(name.parse::<kubewright::project::KindName>().is_ok(), label && is_type);
    }

    #[test]
    fn modules_of_any_group_are_identifiers(group in "[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?(\\.[a-z0-9]{1,5})?") {
        prop_assert!(group.parse::<kubewright::project::Group>().is_ok());
        let module = rust::module(&rust::module_file(&group));
        let text = format!("mod {module} {{}}\n");
        prop_assert!(formatted(&text), "{text}");
    }
}

/// Kustomize sets the namespace, the prefix and the suffix of names, so no other file may contain them. That names follow is a check of
/// `tests/golden/check`, which needs kubectl.
#[test]
fn only_config_default_contains_the_namespace_and_the_prefix_of_a_project() {
    for flags in [&[][..], &["--namespaced"]] {
        let dir = tempfile::tempdir().unwrap();
        let init = ["init", "--domain", "example.com", "--project-name", "foobar-operator"];
        kubewright(dir.path(), &[&init, flags].concat()).succeeds();
        create(dir.path(), "test", "FooBar", &[]);
        if flags.is_empty() {
            let webhook = ["create", "webhook", "--group", "test", "--kind", "FooBar"];
            kubewright(dir.path(), &[&webhook[..], &["--validation", "--policy"]].concat()).succeeds();
        }
        let files = cli::tree(&dir.path().join("config"));
        let names = |file: &cli::File| String::from_utf8_lossy(&file.bytes).contains("foobar-operator-");
        let naming: Vec<_> = files
            .iter()
            .filter(|(_, file)| names(file))
            .map(|(path, _)| path)
            .collect();
        assert_eq!(naming, ["default/kustomization.yaml"], "{flags:?}");
        assert!(files.len() > 20, "{}", files.len());
    }
}

/// The kinds and names of the objects in a project's `config`, as kustomize renders them for this project name.
fn objects(config: &Path, project: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (path, file) in cli::tree(config) {
        let text = String::from_utf8(file.bytes).unwrap();
        let is_object =
            !path.ends_with("kustomization.yaml") && !path.contains("kustomizeconfig") && path.ends_with(".yaml");
        for document in text
            .split("\n---\n")
            .filter(|_| is_object && !path.starts_with("samples/"))
        {
            let Ok(value) = serde_yaml::from_str::<serde_json::Value>(document) else {
                continue;
            };
            let (Some(kind), Some(name)) = (value["kind"].as_str(), value["metadata"]["name"].as_str()) else {
                continue;
            };
            let name = match kind {
                "CustomResourceDefinition" => name.to_owned(),
                "Namespace" => format!("{project}-system"),
                _ => format!("{project}-{name}"),
            };
            found.push((kind.to_owned(), name));
        }
    }
    found
}

/// Whether an API server accepts the name: the rules are those of the in-process one.
fn is_valid(kind: &str, name: &str) -> bool {
    let faults = match kind {
        "Service" => label_1035(name, Unit::Characters),
        "Namespace" => label(name, Unit::Characters),
        _ => subdomain(name, Unit::Characters),
    };
    faults.is_empty()
}

#[test]
fn a_project_name_is_accepted_exactly_if_all_names_of_objects_are_valid() {
    let dir = project();
    create(dir.path(), "test", "FooBar", &[]);
    let config = dir.path().join("config");
    for golden in ["webhook", "policy"] {
        let from = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/golden/wide/config")
            .join(golden);
        for (path, file) in cli::tree(&from) {
            let to = config.join(golden).join(path);
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            std::fs::write(to, file.bytes).unwrap();
        }
    }
    for length in 1..=45 {
        let name = "p".repeat(length);
        let objects = objects(&config, &name);
        assert!(objects.len() > 25, "{objects:?}");
        let wrong = objects.iter().find(|(kind, name)| !is_valid(kind, name));
        assert_eq!(wrong.is_none(), length <= LONGEST_PROJECT, "{length}: {wrong:?}");
        if !(LONGEST_PROJECT - 1..=LONGEST_PROJECT + 2).contains(&length) && length != 45 {
            continue;
        }
        let new = tempfile::tempdir().unwrap();
        let run = kubewright(
            new.path(),
            &["init", "--domain", "example.com", "--project-name", &name],
        );
        match wrong {
            None => _ = run.succeeds(),
            Some((kind, object)) => {
                let parts = [
                    &format!("the {kind} `{object}` would have {}", object.len()),
                    "Kubernetes allows 63",
                    &format!("at most {LONGEST_PROJECT} characters"),
                ];
                run.refuses(2, &parts.map(|part| part as &str));
                assert!(cli::tree(new.path()).is_empty());
            }
        }
    }
}

#[test]
fn a_project_of_an_earlier_release_may_have_a_longer_name() {
    let dir = tempfile::tempdir().unwrap();
    let init = ["init", "--domain", "example.com", "--project-name", "short"];
    kubewright(dir.path(), &init).succeeds();
    let (path, long) = (dir.path().join("PROJECT"), "p".repeat(40));
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("name: short", &format!("name: {long}"))).unwrap();
    create(dir.path(), "test", "FooBar", &[]);
}

/// A group of this length.
fn group_of(length: usize) -> String {
    let group: String = (1..=length).map(|at| if at % 60 == 0 { '.' } else { 'a' }).collect();
    assert!(!group.ends_with('.'), "{length}");
    group
}

#[test]
fn names_of_a_kind_and_of_its_webhooks_have_their_limits() {
    let domain = ".example.com".len();
    let create = |dir: &Path, verb: &str, group: &str, more: &[&str]| {
        let of = ["create", verb, "--group", group, "--version", "v1", "--kind", "Foo"];
        kubewright(dir, &[&of[..], more].concat())
    };
    let crd = 253 - "foos.".len() - domain;
    let dir = project();
    create(dir.path(), "api", &group_of(crd + 1), &[]).refuses(
        1,
        &[
            "the CRD of `Foo` would be `foos.a",
            "254 characters; Kubernetes takes at most 253",
            "1 characters less",
        ],
    );
    create(dir.path(), "api", &group_of(crd), &[]).refuses(1, &["has 258 bytes; file systems take at most 255"]);

    for (types, path) in [("--validation", "validate--v1-foo"), ("--defaulting", "mutate--v1-foo")] {
        let longest = 253 - path.len() - domain;
        for (length, is_valid) in [(longest, true), (longest + 1, false)] {
            let (dir, group) = (project(), group_of(length));
            create(dir.path(), "api", &group, &[]).succeeds();
            let run = create(dir.path(), "webhook", &group, &[types]);
            if is_valid {
                run.succeeds();
            } else {
                run.refuses(
                    1,
                    &[
                        "the path of the webhook of `Foo` would be",
                        "254 characters",
                        "`--group`",
                    ],
                );
            }
        }
    }
}
