//! `create webhook --conversion`: the functions that it writes from the fields of the types, and what it refuses.

use super::super::state;
use super::{read, replace, webhook, with_foobar};
use crate::cli::{Run, assert_same, kubewright, tree};
use std::fs;
use std::path::Path;
use std::process::Command;

const FUNCTIONS: &str = "src/conversions/foobar/v2.rs";
const TYPE: &str = "api/src/test/v2/foobar.rs";

fn api(dir: &Path, verb: &str, version: &str) -> Run {
    let of = ["--group", "test", "--kind", "FooBar", "--version", version];
    kubewright(dir, &[&[verb, "api"], &of[..]].concat())
}

/// A project with FooBar in these versions, the first of which is stored.
fn with_versions(versions: &[&str]) -> tempfile::TempDir {
    let dir = with_foobar();
    for version in versions {
        api(dir.path(), "create", version).succeeds();
    }
    dir
}

#[test]
fn a_conversion_is_written_registered_and_recorded() {
    let dir = with_versions(&["v2"]);
    let dir = dir.path();
    let before = tree(dir);
    let dry = webhook(dir, "create", &["--conversion", "--dry-run"]).succeeds();
    assert!(dry.stdout.contains(&format!("+++ b/{FUNCTIONS}")), "{}", dry.stdout);
    assert_same(&before, &tree(dir));

    let run = webhook(dir, "create", &["--conversion", "--spoke", "v2", "--version", "v1"]).succeeds();
    assert!(!run.stderr.contains("does not compile"), "{}", run.stderr);
    let recorded = "conversion: {name: foobar, hub: v1, spokes: [v2]}}";
    assert!(read(dir, "PROJECT").contains(recorded), "{}", read(dir, "PROJECT"));
    assert!(read(dir, "src/main.rs").contains("conversions::register(manager)?;"));
    assert!(read(dir, "src/conversions/mod.rs").contains(".spoke(foobar::v2::to_hub, foobar::v2::from_hub)"));
    assert!(read(dir, TYPE).contains("annotation(\"kubewright.dev/conversion\", \"Webhook\"),"));
    assert!(!read(dir, "api/src/test/v1/foobar.rs").contains("kubewright.dev/conversion"));
    assert!(read(dir, "config/default/kustomization.yaml").contains("components:\n  - ../webhook\n"));
    assert!(read(dir, FUNCTIONS).contains("v1::FooBarSpec { target, r#type }"));
    for file in [
        FUNCTIONS,
        TYPE,
        "src/main.rs",
        "tests/test_foobar_v2.rs",
        "config/network-policy/allow_webhooks.yaml",
    ] {
        assert_eq!(state(dir, file), "clean", "{file}");
    }
    let after = tree(dir);
    for more in [&["--conversion"][..], &["--conversion", "--spoke=v2"]] {
        assert!(webhook(dir, "create", more).succeeds().stderr.contains("nothing to do"));
    }
    assert_same(&after, &tree(dir));

    let run = webhook(dir, "delete", &[]).succeeds();
    let patch = "kubectl patch customresourcedefinition foobars.test.example.com --type=merge";
    assert!(run.stderr.contains(patch), "{}", run.stderr);
    assert_same(&before, &tree(dir));
}

#[test]
fn admission_and_conversion_are_added_and_deleted_one_at_a_time() {
    let (at_once, dir) = (with_versions(&["v2"]), with_versions(&["v2"]));
    let all = ["--defaulting", "--validation", "--conversion"];
    webhook(at_once.path(), "create", &all).succeeds();
    let untouched = tree(dir.path());
    for types in [all, ["--conversion", "--validation", "--defaulting"]] {
        types
            .iter()
            .for_each(|one| drop(webhook(dir.path(), "create", &[one]).succeeds()));
        assert_same(&tree(at_once.path()), &tree(dir.path()));
        types
            .iter()
            .for_each(|one| drop(webhook(dir.path(), "delete", &[one]).succeeds()));
        assert_same(&untouched, &tree(dir.path()));
    }
}

#[test]
fn the_stored_version_is_the_hub_whatever_project_says() {
    let dir = with_versions(&["v2"]);
    let dir = dir.path();
    replace(dir, TYPE, "    storage = false,\n", "");
    let unclear = webhook(dir, "create", &["--conversion"]);
    unclear.refuses(1, &["do not select a storage version", "--version"]);
    replace(
        dir,
        "api/src/test/v1/foobar.rs",
        "    namespaced,\n",
        "    namespaced,\n    storage = false,\n",
    );
    webhook(dir, "create", &["--conversion"]).succeeds();
    assert!(read(dir, "PROJECT").contains("hub: v2, spokes: [v1]"));
    let other = webhook(dir, "create", &["--conversion", "--version", "v1"]);
    other.refuses(
        1,
        &[
            "is converted through `v2` already",
            "delete webhook --group test --kind FooBar --conversion",
        ],
    );
}

#[test]
fn versions_are_added_and_deleted_one_at_a_time_and_edited_functions_stay() {
    let dir = with_versions(&["v2"]);
    let dir = dir.path();
    webhook(dir, "create", &["--conversion"]).succeeds();
    replace(dir, FUNCTIONS, "// Without `..`", "// Mine");
    let two = tree(dir);
    let run = api(dir, "create", "v3").succeeds();
    assert!(
        run.stderr
            .contains("kubewright create webhook --group test --kind FooBar --conversion"),
        "{}",
        run.stderr
    );
    webhook(dir, "create", &["--conversion"]).succeeds();
    assert!(read(dir, FUNCTIONS).contains("// Mine"));
    assert!(read(dir, "src/conversions/mod.rs").contains("pub mod v2;\n    pub mod v3;"));

    api(dir, "delete", "v3").refuses(1, &["to and from `v3`", "--conversion --spoke v3`"]);
    webhook(dir, "delete", &["--conversion", "--spoke", "v4"]).refuses(1, &["`v4` is no version"]);
    webhook(dir, "delete", &["--conversion", "--spoke", "v3"]).succeeds();
    api(dir, "delete", "v3").succeeds();
    assert_same(&two, &tree(dir));
    let run = kubewright(dir, &["edit", "controller", "foobar", "--version", "v2"]).succeeds();
    let note = "Make `v2` the storage version in the same release: kubewright create api --group test --version v2 --kind FooBar --storage";
    assert!(run.stderr.contains(note), "{}", run.stderr);
    api(dir, "delete", "v1").refuses(1, &["to and from `v1`", "--kind FooBar --conversion`"]);
    let run = webhook(dir, "delete", &["--conversion"]).succeeds();
    assert!(run.stderr.contains(&format!("kept `{FUNCTIONS}`")), "{}", run.stderr);
}

#[test]
fn where_versions_differ_the_functions_do_not_compile_and_say_what_to_decide() {
    let dir = with_versions(&["v2"]);
    let dir = dir.path();
    replace(dir, TYPE, "pub r#type: Option<String>", "pub r#type: Option<u16>");
    replace(dir, TYPE, "pub target: String", "pub host: String");
    let run = webhook(dir, "create", &["--conversion"]).succeeds();
    let note = format!(
        "`{FUNCTIONS}` does not compile yet, because the versions differ: replace each `compile_error!` in it (6),\n\
         and the fields that differ in `tests` and `config/samples`"
    );
    assert!(run.stderr.contains(&note), "{}", run.stderr);
    let written = read(dir, FUNCTIONS);
    let wanted = "\
fn spec_to_hub(from: v2::FooBarSpec) -> v1::FooBarSpec {
    let v2::FooBarSpec { host, r#type } = from;
    // Only v2 has it. Move it to another field, or write `host: _` above: an annotation then keeps it.
    compile_error!(\"decide what becomes of `host`\");
    v1::FooBarSpec {
        // Only v1 has it: made from other fields, or the value for an object that was written in v2.
        target: compile_error!(\"choose a value for `target`\"),
        // `Option<u16>` in v2, `Option<String>` in v1.
        r#type: compile_error!(\"convert `r#type`\"),
    }
}
";
    assert!(written.contains(wanted), "{written}");
    formatted(dir);
}

/// Types that both versions declare, of every form that is converted, and of some that are not.
const NESTED: &str = "
pub struct FooBarSpec {
    pub target: Target,
    pub r#type: Option<Box<Target>>,
    pub targets_of_all_kinds_in_their_order: Vec<Target>,
    pub by_name: BTreeMap<String, Target>,
    pub plain: BTreeMap<String, Vec<(u8, String)>>,
    pub t: Option<Vec<Mode>>,
    pub modes: Option<Vec<AModeWithARatherLongName>>,
    pub modes_by_name: Option<BTreeMap<String, AModeWithARatherLongName>>,
}

pub struct AModeWithARatherLongName {
    pub speed: u8,
}

pub enum Mode {
    Fast,
    ASlowModeWithALongNameThatNobodyWouldEverWantToReadInAProgram,
}

pub struct Target {
    #[serde(default)]
    pub host: String,
    pub next: Option<Box<Target>>,
    /// Nothing.
    pub empty: Empty,
}

pub struct Empty {}

pub struct FooBarStatus {
    pub mode: Mode,
}
";

#[test]
fn types_that_both_versions_declare_are_converted_field_by_field() {
    let dir = with_versions(&["v2"]);
    let dir = dir.path();
    let attribute = |version: &str, stored: &str| {
        format!(
            "#[kube(group = \"test.example.com\", version = \"{version}\", kind = \"FooBar\", {stored}status = \"FooBarStatus\")]"
        )
    };
    let [v1, v2] = [attribute("v1", ""), attribute("v2", "storage = false, ")].map(|attribute| attribute + NESTED);
    let deep = |text: &String| text.replace("BTreeMap<String, Target>", "BTreeMap<String, Vec<Option<Target>>>");
    for [v1, v2] in [[v1.clone(), v2.clone()], [deep(&v1), deep(&v2)]] {
        fs::write(dir.join("api/src/test/v1/foobar.rs"), &v1).unwrap();
        fs::write(dir.join(TYPE), &v2).unwrap();
        let run = webhook(dir, "create", &["--conversion"]).succeeds();
        assert!(!run.stderr.contains("does not compile"), "{}", run.stderr);
        if !v1.contains("Vec<Option<") {
            formatted(dir);
        }
        compiles(dir, &[v1, v2]);
        webhook(dir, "delete", &["--conversion", "--force"]).succeeds();
    }
}

/// The functions are as rustfmt would write them.
#[track_caller]
fn formatted(dir: &Path) {
    let rustfmt = Command::new("rustfmt")
        .args(["--edition", "2024", "--check"])
        .arg(dir.join(FUNCTIONS))
        .output();
    let rustfmt = rustfmt.unwrap();
    assert!(rustfmt.status.success(), "{}", String::from_utf8_lossy(&rustfmt.stdout));
}

/// The functions fit these types, which stand here without their attributes and derives.
#[track_caller]
fn compiles(dir: &Path, types: &[String; 2]) {
    let object = "pub struct FooBar { pub metadata: (), pub spec: FooBarSpec, pub status: Option<FooBarStatus> }";
    let module = |version: &str, text: &String| {
        let plain: String = text.lines().filter(|line| !line.trim().starts_with("#[")).collect();
        let plain = plain.replace("/// Nothing.", "");
        format!("pub mod {version} {{ pub mod foobar {{ use std::collections::BTreeMap; {object} {plain} }} }}\n")
    };
    let [v1, v2] = types;
    let stubs = format!(
        "#![deny(warnings)]\npub mod api {{ pub mod test {{ {} {} }} }}\nmod kubewright_runtime {{ pub type Result<T> = std::result::Result<T, ()>; }}\n",
        module("v1", v1),
        module("v2", v2)
    );
    let functions = read(dir, FUNCTIONS);
    let code = functions
        .lines()
        .filter(|line| !line.starts_with("//!"))
        .collect::<Vec<_>>()
        .join("\n");
    let file = dir.join("functions.rs");
    fs::write(&file, stubs + &code).unwrap();
    let out = dir.join("functions.rmeta");
    let mut rustc = Command::new("rustc");
    rustc.args(["--edition", "2024", "--crate-type", "lib", "--emit", "metadata", "-o"]);
    let run = rustc.arg(out).arg(file).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}

#[test]
fn what_cannot_be_converted_is_refused_with_a_remedy() {
    let dir = with_foobar();
    let one = dir.path();
    webhook(one, "create", &["--conversion"])
        .refuses(1, &["has only version `v1`", "create api --group test --version v2"]);
    webhook(one, "create", &["--spoke", "v2"]).refuses(2, &["--conversion"]);
    webhook(one, "delete", &["--conversion"]).refuses(1, &["`FooBar` has no conversion"]);

    let dir = with_versions(&["v2", "v3"]);
    let dir = dir.path();
    let before = tree(dir);
    let conversion = |more: &[&str]| webhook(dir, "create", &[&["--conversion"], more].concat());
    conversion(&["--spoke", "v2"]).refuses(1, &["leaves out `v3`", "add `--spoke v3`"]);
    conversion(&["--spoke", "v4"]).refuses(1, &["has no version `v4`"]);
    conversion(&["--spoke", "v1,v2,v3"]).refuses(1, &["`v1` is the hub"]);
    conversion(&["--version", "v4"]).refuses(1, &["has no version `v4`"]);
    for (from, to, words) in [
        (
            "pub target: String",
            "target: String",
            "`FooBarSpec` has a field that is not `pub`",
        ),
        (
            "pub target: String",
            "#[cfg(unix)] pub target: String",
            "depends on a `cfg`",
        ),
        (
            "kind = \"FooBar\"",
            "kind = \"Other\"",
            "no struct with `#[kube(kind = \"FooBar\")]`",
        ),
        ("pub target: String", "pub target: \"", "it is not Rust"),
        (
            "pub target: String",
            &format!("pub target: {}{}", "(".repeat(90_000), ")".repeat(90_000)),
            "nested deeper",
        ),
    ] {
        replace(dir, TYPE, from, to);
        conversion(&[]).refuses(
            1,
            &["no conversion can be generated from `api/src/test/v2/foobar.rs`", words],
        );
        replace(dir, TYPE, to, from);
    }
    fs::remove_file(dir.join(TYPE)).unwrap();
    conversion(&[]).refuses(1, &["`api/src/test/v2/foobar.rs` does not exist"]);
    fs::write(dir.join(TYPE), &before[TYPE].bytes).unwrap();
    assert_same(&before, &tree(dir));
}

#[test]
fn a_conversion_of_project_that_was_edited_by_hand_is_checked() {
    let dir = with_versions(&["v2"]);
    let dir = dir.path();
    webhook(dir, "create", &["--conversion"]).succeeds();
    let project = read(dir, "PROJECT");
    for (from, to, words) in [
        ("spokes: [v2]", "spokes: []", "are other versions than its `hub`"),
        ("hub: v1", "hub: v2", "are other versions than its `hub`"),
        ("hub: v1", "hub: v3", "is for version `v3`"),
        ("namespaced: false", "namespaced: true", "cannot have a conversion"),
    ] {
        fs::write(dir.join("PROJECT"), project.replace(from, to)).unwrap();
        kubewright(dir, &["plan"]).refuses(1, &[words]);
    }
}
