//! The book and the README are correct: links have targets, code is included from compiled files, lists are complete.
//! `tests/docs/check` runs their commands.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The files below a folder whose names have this suffix.
fn files(folder: &str, end: &str) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![root().join(folder)]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            match entry.is_dir() {
                true => folders.push(entry),
                false if entry.to_string_lossy().ends_with(end) => found.push(entry),
                false => {}
            }
        }
    }
    found.sort();
    found
}

struct Page {
    path: PathBuf,
    text: String,
}

/// A fenced block, with the text after the fence and the line before it.
struct Block {
    info: String,
    before: String,
    text: String,
    line: usize,
}

impl Page {
    fn open(path: PathBuf) -> Self {
        let text = read(&path);
        Self { path, text }
    }

    fn name(&self) -> String {
        self.path.strip_prefix(root()).unwrap().display().to_string()
    }

    fn beside(&self, target: &str) -> PathBuf {
        self.path.parent().unwrap().join(target)
    }

    fn blocks(&self) -> Vec<Block> {
        let (mut blocks, mut open, mut before) = (Vec::<Block>::new(), false, "");
        for (at, line) in self.text.lines().enumerate() {
            let line = line.trim_end();
            match line.trim_start().strip_prefix("```") {
                Some(_) if open => open = false,
                Some(info) => {
                    open = true;
                    let (info, before) = (info.to_owned(), before.to_owned());
                    blocks.push(Block {
                        info,
                        before,
                        text: String::new(),
                        line: at + 1,
                    });
                }
                None if open => blocks.last_mut().unwrap().text.extend([line, "\n"]),
                None => {}
            }
            before = line;
        }
        blocks
    }

    /// The page without its blocks and inline code.
    fn prose(&self) -> String {
        let mut prose = String::new();
        let mut open = false;
        for line in self.text.lines() {
            match line.trim_start().starts_with("```") {
                true => open = !open,
                false if !open => prose.extend(line.split('`').step_by(2).chain(["\n"])),
                false => {}
            }
        }
        prose
    }

    /// The anchors of its headings, as mdBook and GitHub generate them.
    fn anchors(&self) -> BTreeSet<String> {
        let heading = |line: &&str| line.starts_with('#');
        let slug = |line: &str| {
            let text = line.trim_start_matches('#').trim().to_lowercase();
            let kept = text.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
            kept.map(|c| if c == ' ' { '-' } else { c }).collect()
        };
        self.text.lines().filter(heading).map(slug).collect()
    }
}

fn pages() -> Vec<Page> {
    let mut paths = files("docs/src", ".md");
    paths.extend(["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(|name| root().join(name)));
    paths.into_iter().map(Page::open).collect()
}

/// Each text between `start` and `end`.
fn between<'t>(text: &'t str, start: &str, end: &str) -> Vec<&'t str> {
    text.split(start)
        .skip(1)
        .filter_map(|rest| Some(rest.split_once(end)?.0))
        .collect()
}

fn none(wrong: Vec<String>) {
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// The value of the first line `key = "value"` of a manifest.
fn manifest(path: impl AsRef<Path>, key: &str) -> String {
    let (text, start) = (read(path), format!("{key} = \""));
    let line = text.lines().find_map(|line| line.strip_prefix(&start));
    line.and_then(|rest| rest.split('"').next()).unwrap().to_owned()
}

#[test]
fn pages_name_the_rust_version_of_the_manifests() {
    let oldest = format!("Rust {}", manifest("Cargo.toml", "rust-version"));
    for crate_manifest in files("scaffolds", "Cargo.toml") {
        let named = manifest(crate_manifest.strip_prefix(root()).unwrap(), "rust-version");
        assert_eq!(format!("Rust {named}"), oldest, "{}", crate_manifest.display());
    }
    for page in ["README.md", "CONTRIBUTING.md", "docs/src/guide/install.md"] {
        let text = read(page);
        let named = between(&text, "Rust 1.", " ");
        assert!(!named.is_empty(), "{page} does not say which Rust it needs");
        for minor in named {
            assert_eq!(format!("Rust 1.{minor}"), oldest, "{page}");
        }
    }
}

#[test]
fn the_releasing_page_names_each_published_crate() {
    let page = read("docs/src/contributing/releasing.md");
    for crate_manifest in files("scaffolds", "Cargo.toml") {
        let name = manifest(crate_manifest.strip_prefix(root()).unwrap(), "name");
        assert!(
            page.contains(&format!("`{name}`")),
            "releasing.md does not publish `{name}`"
        );
    }
}

#[test]
fn the_page_of_the_crates_lists_each_public_type_of_the_runtime_and_of_the_webhooks() {
    let exported = ["runtime", "webhooks"].map(|name| read(format!("scaffolds/{name}/src/lib.rs")));
    let exported: String = exported.concat().replace("#[cfg(feature = \"testing\")]\npub use", "");
    let is_type = |name: &&str| name.starts_with(|c: char| c.is_ascii_uppercase()) && name.contains(char::is_lowercase);
    let names = |list: &str| -> Vec<String> {
        let items = list.split(['{', '}', ',', ':']).map(str::trim);
        let items = items.map(|item| item.split_once(" as ").map_or(item, |(_, alias)| alias));
        items.filter(is_type).map(str::to_owned).collect()
    };
    let exported: BTreeSet<String> = between(&exported, "\npub use ", ";")
        .into_iter()
        .flat_map(names)
        .collect();
    let page = read("docs/src/reference/crates.md");
    let (_, table) = page.split_once("## Items of the runtime").unwrap();
    let listed = table.lines().filter_map(|line| line.rsplit(" | ").next());
    let listed = listed.flat_map(|cell| cell.split('`').skip(1).step_by(2).filter(is_type));
    assert_eq!(listed.map(str::to_owned).collect::<BTreeSet<_>>(), exported);
}

#[test]
fn every_link_has_a_target() {
    let mut wrong = Vec::new();
    for page in pages() {
        for link in between(&page.prose(), "](", ")") {
            if link.contains("://") {
                continue;
            }
            let (target, anchor) = link
                .split_once('#')
                .map_or((link, None), |(target, anchor)| (target, Some(anchor)));
            let target = if target.is_empty() {
                page.path.clone()
            } else {
                page.beside(target)
            };
            let there =
                target.exists() && anchor.is_none_or(|anchor| Page::open(target.clone()).anchors().contains(anchor));
            if !there {
                wrong.push(format!("{}: {link}", page.name()));
            }
        }
    }
    none(wrong);
}

#[test]
fn every_page_is_in_the_summary() {
    let summary = read("docs/src/SUMMARY.md");
    let listed: BTreeSet<_> = between(&summary, "](", ")").into_iter().map(str::to_owned).collect();
    let source = root().join("docs/src");
    let there = files("docs/src", ".md")
        .into_iter()
        .map(|path| path.strip_prefix(&source).unwrap().display().to_string());
    assert_eq!(listed, there.filter(|path| path != "SUMMARY.md").collect());
}

#[test]
fn every_include_exists_and_is_found_by_name() {
    let mut wrong = Vec::new();
    for page in pages() {
        for include in between(&page.text, "{{#include ", "}}") {
            let (path, anchor) = include
                .split_once(':')
                .map_or((include, None), |(path, part)| (path, Some(part)));
            let text = fs::read_to_string(page.beside(path));
            // Line numbers could become wrong unnoticed.
            let found = text.is_ok_and(|text| anchor.is_none_or(|name| text.contains(&format!("// ANCHOR: {name}\n"))));
            if !found {
                wrong.push(format!("{}: {include}", page.name()));
            }
        }
    }
    none(wrong);
}

#[test]
fn every_rust_block_and_every_quoted_one_is_part_of_its_file() {
    let mut wrong = Vec::new();
    for page in pages() {
        let checked = |block: &&Block| block.info.starts_with("rust") || block.before.starts_with("<!-- from: ");
        for block in page.blocks().iter().filter(checked) {
            let included = block
                .text
                .lines()
                .all(|line| line.starts_with("{{#include ") && line.contains(".rs"));
            let quoted = block
                .before
                .strip_prefix("<!-- from: ")
                .and_then(|rest| rest.strip_suffix(" -->"));
            if !included && !quoted.is_some_and(|file| read(file).contains(&block.text)) {
                wrong.push(format!("{}:{}", page.name(), block.line));
            }
        }
    }
    none(wrong);
}

#[test]
fn every_command_block_declares_its_needs() {
    const KNOWN: [&str; 9] = [
        "fails",
        "needs=assets",
        "needs=cluster",
        "needs=deployed",
        "needs=docker",
        "needs=kubectl",
        "needs=network",
        "needs=time",
        "sh",
    ];
    let mut wrong = Vec::new();
    for page in pages() {
        for block in page.blocks() {
            let mut words = block.info.split(' ');
            let is_shell = ["sh", "bash", "console", "shell", ""].contains(&words.next().unwrap_or_default());
            if is_shell && !block.info.split(' ').all(|word| KNOWN.contains(&word)) {
                wrong.push(format!("{}:{}: `{}`", page.name(), block.line, block.info));
            }
        }
    }
    none(wrong);
}

/// The words of a text with one of these prefixes.
fn words(text: &str, starts: &[&str]) -> BTreeSet<String> {
    let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let all = text.split(|c| !word(c));
    all.filter(|name| starts.iter().any(|start| name.starts_with(start)))
        .map(str::to_owned)
        .collect()
}

/// Prefixes of the names of the runtime's metrics.
const METRICS: [&str; 7] = [
    "controller_runtime_",
    "workqueue_",
    "rest_client_",
    "leader_election_",
    "certwatcher_",
    "process_",
    "kubewright_",
];

#[test]
fn queries_of_the_monitoring_page_use_metrics_that_exist() {
    let known = words(&read("docs/src/reference/metrics.md"), &METRICS);
    let used = words(&read("docs/src/guide/monitoring.md"), &METRICS);
    let unknown = used
        .into_iter()
        .filter(|name| !known.contains(name.trim_end_matches("_bucket")));
    none(unknown.collect());
}

#[test]
fn alerts_query_metrics_that_exist_and_dashboards_all_of_them() {
    let known = words(&read("docs/src/reference/metrics.md"), &METRICS);
    let queried = |path: &str| -> BTreeSet<String> {
        let names = words(&read(path), &METRICS).into_iter();
        names
            .map(|name| {
                let family = name.strip_suffix("_bucket").or_else(|| name.strip_suffix("_count"));
                family.unwrap_or(&name).to_owned()
            })
            .collect()
    };
    let shown = queried("scaffolds/runtime/src/dashboards/panels.rs");
    assert_eq!(shown, known, "on dashboards, and in the reference");
    let alerts = queried("templates/project/config/prometheus/rules.yaml.tera");
    none(alerts.difference(&known).cloned().collect());
    let important = [
        "leader_election_master_status",
        "controller_runtime_reconcile_errors_total",
        "workqueue_queue_duration_seconds",
        "workqueue_longest_running_processor_seconds",
        "kubewright_invalid_objects",
        "kubewright_webhook_certificate_expiry_seconds",
        "kubewright_metrics_certificate_expiry_seconds",
    ];
    none(
        important
            .iter()
            .filter(|name| !alerts.contains(**name))
            .map(|name| (*name).to_owned())
            .collect(),
    );
}

#[test]
fn the_metrics_page_lists_what_the_runtime_counts() {
    let mut counted = BTreeSet::new();
    let sources = ["scaffolds/runtime/src", "scaffolds/webhooks/src"];
    for path in sources.iter().flat_map(|folder| files(folder, ".rs")) {
        let text = read(path);
        // A metric's name is a whole literal.
        let literals = text
            .split('"')
            .skip(1)
            .step_by(2)
            .filter(|text| !text.contains(['{', ' ', '/', '-']));
        counted.extend(literals.flat_map(|literal| words(literal, &METRICS)));
    }
    let is_part = |name: &String| name.ends_with("_bucket") || name.ends_with('_');
    counted.retain(|name| {
        !is_part(name)
            && ![
                "kubewright_cel",
                "kubewright_machinery",
                "kubewright_runtime",
                "kubewright_schema",
                "kubewright_webhooks",
            ]
            .contains(&name.as_str())
    });
    assert_eq!(words(&read("docs/src/reference/metrics.md"), &METRICS), counted);
}

#[test]
fn every_hazard_has_its_test() {
    let page = read("docs/src/contributing/hazards.md");
    let mut sources = String::new();
    for folder in [
        "scaffolds/runtime/src",
        "scaffolds/runtime/tests",
        "scaffolds/webhooks/src",
        "tests/faults/tests",
    ] {
        sources.extend(files(folder, ".rs").into_iter().map(read));
    }
    let mut wrong = Vec::new();
    for number in 1..=21 {
        let row = page.lines().find(|line| line.starts_with(&format!("| K{number} |")));
        let cell = row
            .and_then(|row| row.trim_end_matches(" |").rsplit(" | ").next())
            .unwrap_or_default();
        if cell.is_empty() {
            wrong.push(format!(
                "K{number} has no row, or neither a test nor the reason why it cannot occur"
            ));
        }
    }
    let named: Vec<_> = page
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|name| name.matches('_').count() > 2)
        .collect();
    for name in &named {
        if !sources.contains(&format!("fn {name}(")) {
            wrong.push(format!("there is no test `{name}`"));
        }
    }
    for name in between(&sources, "fn ", "(")
        .into_iter()
        .filter(|name| is_numbered(name))
    {
        if !named.contains(&name) {
            wrong.push(format!("the test `{name}` is not listed"));
        }
    }
    none(wrong);
}

/// `k07_…`
fn is_numbered(name: &str) -> bool {
    let bytes = name.as_bytes();
    bytes.len() > 4 && bytes[0] == b'k' && bytes[1].is_ascii_digit() && bytes[2].is_ascii_digit() && bytes[3] == b'_'
}

#[test]
fn every_condition_reason_occurs_in_the_code() {
    let page = read("docs/src/reference/conditions.md");
    let mut sources = String::new();
    for (folder, end) in [("scaffolds/runtime/src", ".rs"), ("templates", ".tera")] {
        sources.extend(files(folder, end).into_iter().map(read));
    }
    let reason =
        |word: &&str| word.starts_with(|c: char| c.is_ascii_uppercase()) && word.chars().all(char::is_alphabetic);
    let reasons = page.split('`').skip(1).step_by(2).filter(reason);
    let known = ["Ready", "True", "False", "Normal", "Warning"];
    let unknown = reasons.filter(|word| !known.contains(word) && !sources.contains(&format!("\"{word}\"")));
    none(unknown.map(str::to_owned).collect());
}

#[test]
fn the_page_about_versions_says_how_many_cases_there_are_and_how_many_were_measured() {
    let page = read("docs/src/reference/kubernetes-versions.md");
    let suites = files("tests/control-plane/tests/conformance", ".rs")
        .into_iter()
        .map(read);
    let cases: usize = suites.map(|suite| suite.matches("#[test]").count()).sum();
    let row = page
        .lines()
        .find(|line| line.starts_with("| cases of the generated operator"));
    let measured: BTreeSet<_> = between(row.unwrap(), " of ", " |").into_iter().skip(1).collect();
    assert!(!measured.is_empty(), "the row has no counts, as in `| 5 of 5 |`");
    let said = format!("The suite has {cases} cases");
    // A table with fewer cases than there are has to say so, until `make nightly` has measured all.
    let added = format!("{said}; those that are not in the table were added after the measurement.");
    let is_measured = measured == BTreeSet::from([cases.to_string().as_str()]);
    let expected = if is_measured { format!("{said}.") } else { added };
    assert!(page.contains(&expected), "the page does not say: {expected}");
}
