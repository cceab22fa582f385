//! A ratchet: what users carry, compile and read is not heavier than the page says. Raising a figure is a line of a diff that somebody defends;
//! `KUBEWRIGHT_BLESS=1 cargo test --test weights` writes the figures that have fallen. tests/golden/check counts the crates behind `api`.

#[path = "../build/strip.rs"]
#[expect(dead_code, reason = "the build script uses the rest")]
mod strip;

use kubewright::plan::plan;
use kubewright::project::{Crates, PolicyForm, Project, file};
use kubewright::render::{Rendered, Templates, render};
use proc_macro2::{TokenStream, TokenTree};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const PAGE: &str = "docs/src/contributing/weights.md";

fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The project after `init` and `create api --kind FooBar`, as the form has it.
fn project(crates: Crates) -> Rendered {
    rendered(Project { crates, ..one() })
}

/// The same project after `create webhook --policy`, with vendored crates.
fn with_a_policy() -> Rendered {
    let project = Project {
        crates: Crates::Vendored,
        ..one()
    };
    let kind = &project.kinds[0];
    let (group, name, version) = (&kind.group, &kind.name, &kind.versions[0].name);
    let extended = project.with_policy(group, name, version, PolicyForm::Validating);
    rendered(extended.unwrap())
}

fn one() -> Project {
    let text = fs::read_to_string(repository().join("tests/golden/one/PROJECT")).unwrap();
    file::parse(&text).unwrap()
}

fn rendered(project: Project) -> Rendered {
    let templates = Templates::load(&[]).unwrap();
    render(&project, &plan(&project, templates.catalogue()).unwrap(), &templates).unwrap()
}

fn lines(rendered: &Rendered, is_counted: impl Fn(&str) -> bool) -> usize {
    let counted = rendered.iter().filter(|(path, _)| is_counted(path.as_str()));
    // An archive has no lines, as for git.
    let texts = counted.filter(|(_, file)| !file.text.contains('\0'));
    texts.map(|(_, file)| file.text.lines().count()).sum()
}

/// The number of packages in the project's `Cargo.lock`, with packages for other platforms and for features that are off.
fn packages(rendered: &Rendered) -> usize {
    let lock = rendered.iter().find(|(path, _)| path.as_str() == "Cargo.lock");
    lock.map_or(0, |(_, file)| file.text.matches("[[package]]").count())
}

/// The lines of these crates that an operator compiles with these features, in its own build.
fn compiled(rendered: &Rendered, crates: &[&str], features: &[&str]) -> usize {
    let prefixes: Vec<_> = crates.iter().map(|name| format!("crates/{name}/src/")).collect();
    let is_source =
        |path: &str| path.ends_with(".rs") && prefixes.iter().any(|prefix| path.starts_with(prefix.as_str()));
    let files = rendered.iter().filter(|(path, _)| is_source(path.as_str()));
    let mut files = files
        .map(|(path, file)| (path.as_str().to_owned(), file.text.clone()))
        .collect();
    strip::without(&mut files, |attribute| {
        let condition = attribute.strip_prefix("cfg").and_then(|rest| rest.parse().ok());
        condition.is_some_and(|condition| !holds(condition, features))
    });
    files.values().map(|text| text.lines().count()).sum()
}

/// Whether a condition of `cfg` holds with these features, outside of tests. A condition about the platform holds.
fn holds(condition: TokenStream, features: &[&str]) -> bool {
    let trees: Vec<_> = condition.into_iter().collect();
    let parts = |group: &TokenStream| -> Vec<bool> {
        let trees: Vec<_> = group.clone().into_iter().collect();
        let parts = trees.split(|tree| matches!(tree, TokenTree::Punct(comma) if comma.as_char() == ','));
        let parts = parts.filter(|part| !part.is_empty());
        parts
            .map(|part| holds(part.iter().cloned().collect(), features))
            .collect()
    };
    match &trees[..] {
        [TokenTree::Group(group)] => holds(group.stream(), features),
        [TokenTree::Ident(word)] => word != "test",
        [TokenTree::Ident(word), TokenTree::Punct(_), TokenTree::Literal(value)] => {
            word != "feature" || features.contains(&value.to_string().trim_matches('"'))
        }
        [TokenTree::Ident(word), TokenTree::Group(group)] if word == "not" => !holds(group.stream(), features),
        [TokenTree::Ident(word), TokenTree::Group(group)] if word == "any" => parts(&group.stream()).contains(&true),
        [TokenTree::Ident(_), TokenTree::Group(group)] => !parts(&group.stream()).contains(&false),
        _ => true,
    }
}

#[test]
fn a_condition_about_features_is_read_as_cargo_reads_it() {
    let holds = |condition: &str| holds(condition.parse().unwrap(), &["a"]);
    assert!(
        [
            "feature = \"a\"",
            "not(feature = \"b\")",
            "any(test, feature = \"a\")",
            "unix"
        ]
        .map(holds)
        .iter()
        .all(|it| *it)
    );
    assert!(
        ![
            "feature = \"b\"",
            "not(feature = \"a\")",
            "all(feature = \"a\", test)",
            "test"
        ]
        .map(holds)
        .contains(&true)
    );
}

/// The text of each file below a folder that ends so.
fn texts(folder: &Path, end: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().ends_with(end) {
                found.push(fs::read_to_string(path).unwrap());
            }
        }
    }
    found
}

/// The number of names that a crate gives to three types or more.
fn repeated_types(src: &Path) -> usize {
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    for text in texts(src, ".rs") {
        for line in text.lines() {
            let line = line.trim_start();
            let line = line.strip_prefix("pub").map_or(line, |rest| {
                rest.trim_start_matches("(crate)").trim_start_matches("(super)")
            });
            let name = ["struct ", "enum ", "trait "]
                .iter()
                .find_map(|keyword| line.trim_start().strip_prefix(keyword));
            if let Some(name) = name {
                let name = name.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
                *count.entry(name.to_owned()).or_default() += 1;
            }
        }
    }
    count.values().filter(|count| **count >= 3).count()
}

fn weights() -> Vec<(&'static str, usize)> {
    let (vendored, registry) = (project(Crates::Vendored), project(Crates::Registry));
    let (archives, extended) = (project(Crates::Archives), with_a_policy());
    let part = |name: &str| lines(&vendored, |path| path.starts_with(&format!("crates/{name}/")));
    let words = |text: String| text.split_whitespace().count();
    let crates = [
        "src",
        "scaffolds/machinery/src",
        "scaffolds/cel/src",
        "scaffolds/schema/src",
        "scaffolds/manifests/src",
        "scaffolds/runtime/src",
        "scaffolds/apiserver/src",
        "scaffolds/webhooks/src",
    ];
    vec![
        ("files of a new project", archives.len() + 1),
        ("lines of a new project", lines(&archives, |_| true)),
        ("files of a new project with crates as folders", vendored.len() + 1),
        (
            "lines of a new project with crates as folders",
            lines(&vendored, |_| true),
        ),
        ("files of a new project with crates from crates.io", registry.len() + 1),
        (
            "lines of a new project with crates from crates.io",
            lines(&registry, |_| true),
        ),
        ("lines of its Makefile", lines(&vendored, |path| path == "Makefile")),
        ("packages in its `Cargo.lock`", packages(&vendored)),
        (
            "lines of our source that an operator compiles",
            compiled(&vendored, &["machinery", "schema", "runtime"], &[]),
        ),
        (
            "lines of our source that an operator with webhooks compiles",
            compiled(
                &extended,
                &["machinery", "cel", "schema", "runtime", "webhooks"],
                &["cel"],
            ),
        ),
        ("lines of `crates/machinery`", part("machinery")),
        ("lines of `crates/cel`", part("cel")),
        ("lines of `crates/schema`", part("schema")),
        ("lines of `crates/manifests`", part("manifests")),
        ("lines of `crates/runtime`", part("runtime")),
        ("lines of `crates/apiserver`", part("apiserver")),
        (
            "lines of `crates/webhooks`",
            lines(&extended, |path| path.starts_with("crates/webhooks/")),
        ),
        (
            "words of the book",
            texts(&repository().join("docs/src"), ".md")
                .into_iter()
                .map(words)
                .sum(),
        ),
        (
            "names that a crate gives to three types or more",
            crates.iter().map(|src| repeated_types(&repository().join(src))).sum(),
        ),
    ]
}

/// The figure at the end of a row of the page.
fn limit(row: &str) -> Option<usize> {
    let figure = row.trim_end().trim_end_matches('|').rsplit('|').next()?;
    figure.trim().replace(',', "").parse().ok()
}

fn with_commas(figure: usize) -> String {
    let digits = figure.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[test]
fn nothing_is_heavier_than_the_page_says() {
    let page = repository().join(PAGE);
    let mut text = fs::read_to_string(&page).unwrap();
    let bless = std::env::var_os("KUBEWRIGHT_BLESS").is_some();
    let mut heavier = Vec::new();
    for (what, found) in weights() {
        let row = text.lines().find(|row| row.starts_with(&format!("| {what} |")));
        let row = row.unwrap_or_else(|| panic!("{PAGE} has no row `{what}`")).to_owned();
        let limit = limit(&row).unwrap_or_else(|| panic!("{PAGE} has no figure in the row `{what}`"));
        if found > limit {
            heavier.push(format!(
                "{what}: {} instead of {}",
                with_commas(found),
                with_commas(limit)
            ));
        }
        if found < limit && bless {
            let begin = row.trim_end_matches('|').rfind('|').unwrap();
            text = text.replace(&row, &format!("{} {} |", &row[..=begin], with_commas(found)));
        }
    }
    assert!(
        heavier.is_empty(),
        "heavier than {PAGE} says:\n{}\n\nhint: make it lighter, or raise the figure on the page and say why in the commit",
        heavier.join("\n")
    );
    if bless {
        fs::write(page, text).unwrap();
    }
}
