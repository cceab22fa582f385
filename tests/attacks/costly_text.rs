//! A PROJECT or a CRD that is too expensive to parse.

use crate::{everything, guarded, project};
use std::fmt::Write as _;
use std::fs;

/// Nine levels of nine references each.
fn laughs() -> String {
    let mut text = String::from("a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n");
    for level in 1..9 {
        let repeated = vec![format!("*a{}", level - 1); 9].join(", ");
        writeln!(text, "a{level}: &a{level} [{repeated}]").unwrap();
    }
    text
}

#[test]
fn an_expensive_project_file_is_refused_at_once() {
    let head = concat!(
        "version: ",
        env!("CARGO_PKG_VERSION"),
        "\nname: op\ndomain: example.com\nlicense: none\nowner: o\nyear: 2026\n"
    );
    let cases = [
        ("references", format!("{head}{}", laughs()), "has an anchor"),
        ("one anchor", head.replace("name: op", "name: &a op"), "has an anchor"),
        ("flow", format!("{head}kinds: {}", "[".repeat(500_000)), "`PROJECT`"),
        ("maps", format!("{head}kinds: {}", "{a: ".repeat(200_000)), "`PROJECT`"),
        ("blocks", format!("{head}kinds:\n{}", "- ".repeat(400_000)), "`PROJECT`"),
        ("earlier", format!("{head}apis: {}", "[".repeat(500_000)), "`PROJECT`"),
        ("questions", "? ".repeat(400_000), "`PROJECT`"),
        ("documents", "---\n".repeat(200_000), "`PROJECT`"),
        (
            "large",
            format!("{head}# {}", "x".repeat(1 << 20)),
            "`PROJECT` is larger than 1 MiB",
        ),
        (
            "quotes",
            format!("{head}kinds: \"{}", "\\".repeat(500_001)),
            "`PROJECT`",
        ),
        ("tags", format!("{head}kinds: {}", "!!a ".repeat(200_000)), "`PROJECT`"),
    ];
    for (name, text, words) in cases {
        let dir = project();
        fs::write(dir.path().join("PROJECT"), text).unwrap();
        let before = everything(dir.path());
        for args in [&["plan"][..], &["sync"]] {
            let run = guarded(dir.path(), args);
            assert_eq!(run.code, Some(1), "{name}: {}", run.stderr);
            assert!(
                run.stderr.contains(words) && run.stderr.len() < 2_000,
                "{name}: {}",
                &run.stderr[..2_000.min(run.stderr.len())]
            );
        }
        assert!(before == everything(dir.path()), "{name}");
    }
}

#[test]
fn a_project_file_of_a_gibibyte_is_refused_unread() {
    let dir = project();
    fs::File::create(dir.path().join("PROJECT"))
        .unwrap()
        .set_len(1 << 30)
        .unwrap();
    // With less address space than the file has bytes.
    guarded(dir.path(), &["plan"]).refuses(1, &["`PROJECT` is larger than 16 MiB"]);
}

#[test]
fn an_expensive_crd_is_refused_at_once() {
    let dir = project();
    let file = dir.path().join("crd.yaml");
    let args = [
        "create",
        "api",
        "--from-crd",
        file.to_str().unwrap(),
        "--controller=false",
    ];
    for text in [
        laughs(),
        "[".repeat(500_000),
        "- ".repeat(400_000),
        "{a: ".repeat(200_000),
    ] {
        fs::write(
            &file,
            format!("kind: CustomResourceDefinition\nspec: {{}}\nmore:\n  {text}"),
        )
        .unwrap();
        guarded(dir.path(), &args).refuses(1, &["cannot use `"]);
    }
    fs::File::create(&file).unwrap().set_len(1 << 30).unwrap();
    guarded(dir.path(), &args).refuses(1, &["it is larger than 16 MiB"]);
    symlink_to_zero(&file);
    guarded(dir.path(), &args).refuses(1, &["it is larger than 16 MiB"]);
}

fn symlink_to_zero(file: &std::path::Path) {
    fs::remove_file(file).unwrap();
    std::os::unix::fs::symlink("/dev/zero", file).unwrap();
}
