//! The order of the modules of each crate, as the architecture page lists it: a file imports only from modules before
//! its own. So no import cycle spans two modules. Code that is compiled for tests only may import anything.

mod effects;
mod files;
mod forms;
mod imports;
mod maps;
mod page;
mod parameters;
mod source;
mod targets;
mod versions;

use page::{PAGE, order};
use source::{Crate, Import, ROOT, files_of};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Each crate: the folder of its source, and its name in other crates.
const CRATES: [(&str, &str); 8] = [
    ("scaffolds/machinery/src", "kubewright_machinery"),
    ("scaffolds/cel/src", "kubewright_cel"),
    ("scaffolds/schema/src", "kubewright_schema"),
    ("scaffolds/manifests/src", "kubewright_manifests"),
    ("scaffolds/runtime/src", "kubewright_runtime"),
    ("scaffolds/webhooks/src", "kubewright_webhooks"),
    ("scaffolds/apiserver/src", "kubewright_apiserver"),
    ("src", "kubewright"),
];

fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn page_text() -> String {
    fs::read_to_string(repository().join(PAGE)).unwrap()
}

/// The imports from a module that is not before the importing one, or of an item of the root.
fn against<'a>(imports: &'a [Import], order: &[String]) -> Vec<&'a Import> {
    let place = |module: &str| order.iter().position(|other| other == module);
    let wrong = |import: &&Import| match (place(&import.from), place(&import.to)) {
        (Some(from), Some(to)) => to >= from,
        _ => true,
    };
    imports.iter().filter(wrong).collect()
}

#[test]
fn no_file_imports_against_the_order_of_its_crate() {
    let page = page_text();
    for (src, name) in CRATES {
        let source = Crate::read(&files_of(&repository().join(src)), name);
        let order = order(&page, src);
        assert!(!source.imports.is_empty(), "{src}");
        let wrong = against(&source.imports, &order).into_iter();
        let wrong: Vec<_> = wrong
            .map(|Import { file, from, to, path }| format!("{src}/{file}: `{from}` imports `{path}` from `{to}`"))
            .collect();
        assert!(wrong.is_empty(), "against the order on {PAGE}:\n{}", wrong.join("\n"));
    }
}

#[test]
fn the_page_lists_the_modules_of_each_crate_once() {
    let page = page_text();
    for (src, name) in CRATES {
        let mut listed = order(&page, src);
        let mut modules = Crate::read(&files_of(&repository().join(src)), name).modules;
        listed.sort();
        modules.sort();
        assert_eq!(listed, modules, "{PAGE} against {src}/{ROOT}");
    }
}

#[test]
fn the_crates_are_those_of_the_workspace() {
    let scaffolds = fs::read_dir(repository().join("scaffolds"))
        .unwrap()
        .map(Result::unwrap);
    let folders = scaffolds.filter(|entry| entry.path().join("Cargo.toml").exists());
    let found: BTreeSet<String> = folders
        .map(|entry| format!("scaffolds/{}/src", entry.file_name().to_str().unwrap()))
        .chain(["src".to_owned()])
        .collect();
    let listed: BTreeSet<String> = CRATES.iter().map(|(src, _)| (*src).to_owned()).collect();
    assert_eq!(found, listed);
    let page = page_text();
    for src in listed {
        let folder = Path::new(&src).parent().unwrap().to_str().unwrap();
        assert!(page.contains(&format!("\n{folder}")), "{PAGE} does not list `{folder}`");
    }
}
