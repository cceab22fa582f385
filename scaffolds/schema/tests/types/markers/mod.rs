//! Tests and writes docs/src/reference/markers.md. Each row has markers of controller-gen, an example that is compiled here,
//! and the YAML generated from it. `KUBEWRIGHT_BLESS=1 cargo test -p kubewright-schema --test types` writes the page.

#![allow(dead_code)]

mod examples;
mod rows;

use kubewright_schema::{Finding, Options, finish, yaml};
use rows::{Equivalent, PARTS, Row, UNIONS};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::fmt::Write;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/reference/markers.md");
const MARKERS: &str = include_str!("controller-gen.txt");
const SOURCES: [&str; 2] = [include_str!("examples.rs"), include_str!("whole.rs")];

const TOP: &str = "\
<!-- Written by scaffolds/schema/tests/types/markers: KUBEWRIGHT_BLESS=1 cargo test -p kubewright-schema --test types -->
# Markers and attributes

Every marker of controller-gen (v0.23), and the markers of unions, with the equivalent in Rust and the YAML that `make manifests` writes. A test compares both.

Put `#[kube(…)]` on the spec, and `#[schemars(…)]`, `#[serde(…)]` and `#[x_kube(…)]` on fields and types. A misspelt attribute in them
does not compile. In `#[schemars(extend(…))]`, `make manifests` refuses a key that CRDs do not have, and suggests the correct one.
";

/// The lines of an example, without their common indentation.
fn shown(name: &str) -> String {
    let start = format!("// [{name}]\n");
    let source = SOURCES
        .iter()
        .find(|source| source.contains(&start))
        .unwrap_or_else(|| panic!("no example `{name}`"));
    let (_, rest) = source.split_once(&start).unwrap();
    let (lines, _) = rest.split_once("// [/]").unwrap();
    let lines: Vec<&str> = lines.lines().filter(|line| !line.trim().is_empty()).collect();
    let margin = lines
        .iter()
        .map(|line| line.len() - line.trim_start().len())
        .min()
        .unwrap_or(0);
    let mut text: String = lines.iter().map(|line| format!("{}\n", &line[margin..])).collect();
    if text.ends_with("{\n") {
        // The page leaves out the fields of the struct.
        text.push_str("    // …\n}\n");
    }
    text
}

fn finished(name: &str) -> Result<Vec<Value>, Vec<Finding>> {
    finish(&examples::kinds(name), &Options::default())
}

/// The YAML for the page: the values of the CRD at these JSON pointers, each under its last segment.
fn part(crd: &Value, places: &[&str]) -> String {
    let mut part = Map::new();
    for place in places {
        let (_, key) = place.rsplit_once('/').unwrap();
        let mut value = match crd.pointer(place) {
            Some(value) => value.clone(),
            // Without required fields there is no `required`.
            None if key == "required" => continue,
            None => panic!("{place}: {crd}"),
        };
        if let Some(annotations) = value.as_object_mut().filter(|_| key == "annotations") {
            annotations.remove(kubewright_schema::testing::VERSION_ANNOTATION);
        }
        if let (1, "properties", Value::Object(fields)) = (places.len(), key, &value) {
            part.extend(fields.clone());
        } else {
            part.insert(key.to_owned(), value);
        }
    }
    yaml::to_string(&Value::Object(part))
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Converts Markdown to HTML for a table cell: code spans and one link.
fn words(text: &str) -> String {
    let mut html = String::new();
    for (at, piece) in escape(text).split('`').enumerate() {
        html.push_str(match at {
            0 => "",
            at if at % 2 == 1 => "<code>",
            _ => "</code>",
        });
        html.push_str(piece);
    }
    match html.split_once("](") {
        Some((before, after)) => {
            let (before, text) = before.rsplit_once('[').unwrap();
            let (target, after) = after.split_once(')').unwrap();
            let target = target.replace(".md", ".html");
            format!("{before}<a href=\"{target}\">{text}</a>{after}")
        }
        None => html,
    }
}

/// Whether two markers have the same equivalent, apart from notes. They share a row of the page.
fn is_same(one: &Row, other: &Row) -> bool {
    match (&one.equivalent, &other.equivalent) {
        (Equivalent::Explained(one), Equivalent::Explained(other)) => one == other,
        (Equivalent::Example(one, shown, _), Equivalent::Example(other, also, _)) => one == other && shown == also,
        _ => false,
    }
}

fn line(rows: &[Row]) -> String {
    let markers: Vec<_> = rows.iter().map(|row| format!("<code>{}</code>", row.marker)).collect();
    let markers = markers.join("<br>");
    match rows[0].equivalent {
        Equivalent::Explained(text) => format!("<tr><td>{markers}</td><td colspan=\"2\">{}</td></tr>\n", words(text)),
        Equivalent::Example(name, places, _) => {
            let crds = finished(name).unwrap_or_else(|findings| panic!("{name}: {findings:#?}"));
            let notes = rows.iter().filter_map(|row| match row.equivalent {
                Equivalent::Example(.., note) if !note.is_empty() => Some(format!("<p>{}</p>", words(note))),
                _ => None,
            });
            format!(
                "<tr><td>{markers}</td>\n<td><pre><code class=\"language-rust\">{}</code></pre>{}</td>\n\
                 <td><pre><code class=\"language-yaml\">{}</code></pre></td></tr>\n",
                escape(shown(name).trim_end()),
                notes.collect::<String>(),
                escape(part(&crds[0], places).trim_end())
            )
        }
    }
}

fn page() -> String {
    let mut page = TOP.to_owned();
    for part in PARTS {
        _ = write!(page, "\n## {}\n\n", part.title);
        if !part.words.is_empty() {
            _ = write!(page, "{}\n\n", part.words);
        }
        page.push_str("<table>\n<tr><th>marker</th><th>in Rust</th><th>in the CRD</th></tr>\n");
        part.rows.chunk_by(is_same).for_each(|rows| page.push_str(&line(rows)));
        page.push_str("</table>\n");
    }
    page
}

#[test]
fn the_page_is_up_to_date() {
    let page = page();
    if std::env::var_os("KUBEWRIGHT_BLESS").is_some() {
        std::fs::write(PAGE, &page).unwrap();
    }
    let committed = std::fs::read_to_string(PAGE).unwrap();
    for (at, (ours, theirs)) in page.lines().zip(committed.lines()).enumerate() {
        assert_eq!(ours, theirs, "line {}; KUBEWRIGHT_BLESS=1 writes the page", at + 1);
    }
    assert_eq!(page.lines().count(), committed.lines().count());
}

#[test]
fn the_page_has_each_marker_of_controller_gen_once() {
    let markers: BTreeSet<&str> = MARKERS
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split(' ').nth(1).unwrap())
        .collect();
    let parts = PARTS.iter().filter(|part| part.title != UNIONS);
    let rows: Vec<&str> = parts.flat_map(|part| part.rows).map(|row| row.marker).collect();
    let set: BTreeSet<&str> = rows.iter().copied().collect();
    assert_eq!(set.len(), rows.len(), "a marker is on the page twice");
    assert_eq!(set, markers);
}

#[test]
fn every_example_has_a_row() {
    let used: BTreeSet<&str> = PARTS
        .iter()
        .flat_map(|part| part.rows)
        .filter_map(|row| match row.equivalent {
            Equivalent::Example(name, ..) => Some(name),
            Equivalent::Explained(_) => None,
        })
        .collect();
    for source in SOURCES {
        for start in source
            .lines()
            .filter_map(|line| line.trim().strip_prefix("// [")?.strip_suffix(']'))
        {
            assert!(start == "/" || used.contains(start), "`{start}` is in no row");
        }
    }
}

#[test]
#[ignore = "needs KUBEBUILDER_ASSETS"]
fn the_api_server_stores_every_example_unchanged() {
    let server = crate::control_plane::ControlPlane::start();
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All&fieldValidation=Strict";
    for row in PARTS.iter().flat_map(|part| part.rows) {
        let Equivalent::Example(name, places, _) = row.equivalent else {
            continue;
        };
        let crd = finished(name).unwrap().remove(0);
        let answer = server.post(path, &crd);
        assert_eq!(
            (answer.status, answer.warnings.len()),
            (201, 0),
            "{name}: {}",
            answer.body
        );
        assert_eq!(part(&answer.body, places), part(&crd, places), "{name}");
    }
}
