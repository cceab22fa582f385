//! Objects that a project cannot take over: refused with the reason and the remedy.

use super::adopted::own;
use super::fixture;
use crate::cli::kubewright;
use std::fs;

#[test]
fn what_cannot_be_taken_over_is_refused_and_nothing_is_written() {
    let dir = tempfile::tempdir().unwrap();
    kubewright(dir.path(), &["init", "--domain", "example.com", "--project-name", "op"]).succeeds();
    let before = crate::cli::tree(dir.path());
    let refuses = |kind: &str, file: &str, more: &[&str], words: &[&str]| {
        own(dir.path(), file, kind, more).refuses(1, words);
    };
    refuses(
        "Admiral",
        "kubebuilder",
        &[],
        &[
            "its groups are `example.com` and those that end with `.example.com`",
            "hint: take it over in a project of that domain: `kubewright init --domain testproject.org`",
        ],
    );
    refuses(
        "Pump",
        "pump",
        &["--pattern", "child"],
        &[
            "pattern `child` uses fields that the spec of `Pump` may not have",
            "the pattern for such kinds is `minimal`",
        ],
    );
    own(dir.path(), "pump", "Pump", &["--version", "v1"]).refuses(2, &["--own", "--version"]);

    let text = fs::read_to_string(fixture("pump.yaml")).unwrap();
    let edited = |from: &str, to: &str, words: &[&str]| {
        assert!(text.contains(from), "{from}");
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), text.replace(from, to)).unwrap();
        let path = file.path().display().to_string();
        kubewright(dir.path(), &["create", "api", "--from-crd", &path, "--own"]).refuses(1, words);
    };
    edited(
        "listKind: PumpList",
        "listKind: Pumps",
        &["`spec.names.listKind` is `Pumps`"],
    );
    edited(
        "        status: {}\n",
        "",
        &["version `v1` has the field `status` without a status subresource"],
    );
    edited(
        "anyOf: [{required: [name]}",
        "oneOf: [{properties: {name: {pattern: a}}}",
        &[
            "`v1.spec` has `oneOf` with `properties` in a branch",
            "x-kubernetes-validations",
        ],
    );
    edited(
        "storage: true",
        "storage: false",
        &["the CRD serves none of its versions in which objects are stored"],
    );
    edited(
        "storage: false",
        "storage: true",
        &["the CRD stores objects in several versions: `v1`, `v1alpha1`"],
    );
    edited("name: v1alpha1", "name: v1", &["the CRD has version `v1` twice"]);
    edited(
        "name: pumps.water",
        "name: pump.water",
        &["has to be `pumps.water.example.com`"],
    );
    assert!(before == crate::cli::tree(dir.path()), "nothing is written");

    // In a project that has the kind, or took it over.
    own(dir.path(), "pump", "Pump", &[]).succeeds();
    let another = [
        "create",
        "api",
        "--group",
        "water",
        "--version",
        "v2",
        "--kind",
        "Pump",
        "--controller=false",
    ];
    kubewright(dir.path(), &another).refuses(1, &["`Pump` was taken over from a CRD", "--own --force"]);
    edited(
        "How fast.",
        "How fast it is.",
        &[
            "`Pump` was taken over from another CRD, which is in `config/crd/adopted/",
            "--force",
        ],
    );
    let policy = ["create", "webhook", "--group", "water", "--kind", "Pump", "--policy"];
    kubewright(dir.path(), &policy).refuses(1, &["needs a field `target`"]);
    fs::remove_file(dir.path().join("config/crd/adopted/water.example.com_pumps.yaml")).unwrap();
    kubewright(dir.path(), &["sync"]).refuses(
        1,
        &[
            "does not exist, and the types of `Pump` were generated from it",
            "checkout -- ",
        ],
    );
}

/// The text of `pump.yaml`, which stores `v1alpha1`.
fn moved() -> String {
    let text = fs::read_to_string(fixture("pump.yaml")).unwrap();
    let (head, rest) = text.split_once("storage: true").unwrap();
    format!(
        "{head}storage: false{}",
        rest.replacen("storage: false", "storage: true", 1)
    )
}

#[test]
fn the_stored_version_of_a_kind_that_was_taken_over_moves_with_its_crd() {
    let dir = tempfile::tempdir().unwrap();
    kubewright(dir.path(), &["init", "--domain", "example.com", "--project-name", "op"]).succeeds();
    own(dir.path(), "pump", "Pump", &[]).succeeds();
    let of = ["--group", "water", "--kind", "Pump", "--version"];
    let run = |first: [&str; 2], version: &str, more: &[&str]| {
        kubewright(dir.path(), &[&first[..], &of[..], &[version], more].concat())
    };
    let create = ["create", "api"];
    let delete = ["delete", "api"];
    let hint = "`kubewright create api --from-crd FILE --own --force`";
    run(create, "v1alpha1", &["--storage"])
        .refuses(1, &["move `storage: true` to `v1alpha1` in a copy of the CRD", hint]);
    run(delete, "v1", &[]).refuses(1, &["controller `pump` uses version `v1`"]);

    let file = dir.path().join("moved.yaml");
    let path = file.display().to_string();
    let again = |text: &str, more: &[&str]| {
        fs::write(&file, text).unwrap();
        let args = ["create", "api", "--from-crd", &path, "--own", "--force", "--yes"];
        kubewright(dir.path(), &[&args[..], more].concat())
    };
    let next = again(&moved(), &[]).succeeds().stderr;
    assert!(
        next.contains("`v1alpha1` is stored from now on; run `make migrate-storage`") && !next.contains("`v1` stays"),
        "{next}"
    );
    let project = fs::read_to_string(dir.path().join("PROJECT")).unwrap();
    let versions = "versions: [{version: v1, storage: false, formerStorage: true}, {version: v1alpha1}]";
    assert!(project.contains(versions), "{project}");
    run(delete, "v1alpha1", &[]).refuses(1, &["`v1alpha1` is the storage version of `Pump`", hint]);

    let unserved = moved().replacen("served: true", "served: false", 1);
    again(&unserved, &[]).refuses(
        1,
        &[
            "`Pump` has version `v1`, which this CRD does not serve",
            "hint: serve it in the CRD",
        ],
    );
    let cluster = moved().replace("scope: Namespaced", "scope: Cluster");
    again(&cluster, &[]).refuses(1, &["with namespaced objects, and this CRD differs", "--all-versions`"]);
}

#[test]
fn a_kind_is_either_the_projects_own_or_of_another_owner() {
    let path = fixture("pump.yaml").display().to_string();
    let foreign = ["create", "api", "--from-crd", &path];
    let words = [
        "`Pump` of `water.example.com` cannot be a kind of the project and one of another owner",
        "delete api",
    ];
    for own_first in [true, false] {
        let dir = tempfile::tempdir().unwrap();
        kubewright(dir.path(), &["init", "--domain", "example.com", "--project-name", "op"]).succeeds();
        if own_first {
            own(dir.path(), "pump", "Pump", &[]).succeeds();
            kubewright(dir.path(), &foreign).refuses(1, &words);
        } else {
            kubewright(dir.path(), &foreign).succeeds();
            own(dir.path(), "pump", "Pump", &[]).refuses(1, &words);
        }
    }
}
