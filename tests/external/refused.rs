//! What a project cannot take over: refused with the reason and the remedy.

use crate::adopted::own;
use crate::cli::kubewright;
use crate::fixture;
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
            "its groups end with `.example.com`",
            "hint: take it over in a project of that domain: `kubewright init --domain testproject.org`",
        ],
    );
    refuses(
        "Pump",
        "pump",
        &["--pattern", "child"],
        &[
            "pattern `child` uses fields that the spec of `Pump` may not have",
            "there is `minimal`",
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
            "git checkout",
        ],
    );
}
