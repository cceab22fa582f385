//! docs/src/reference/markers.md: each row is a marker of controller-gen, an example that is compiled here, and the YAML
//! that comes of it. `KUBEWRIGHT_BLESS=1 cargo test -p kubewright-schema --test markers` writes the page.

#![allow(missing_docs, dead_code)]

#[path = "../server/control_plane.rs"]
mod control_plane;
mod examples;
mod rows;

use kubewright_schema::{Finding, Options, finish, yaml};
use rows::{PARTS, Row, Says};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::fmt::Write;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/reference/markers.md");
const MARKERS: &str = include_str!("controller-gen.txt");
const SOURCES: [&str; 2] = [include_str!("examples.rs"), include_str!("whole.rs")];

const TOP: &str = "\
<!-- Written by scaffolds/schema/tests/markers: KUBEWRIGHT_BLESS=1 cargo test -p kubewright-schema --test markers -->
# Markers and attributes

Everything that a marker of controller-gen (v0.23) says, and what says it here. Each example is compiled, and the YAML beside it is
what `make manifests` makes of it; a test holds both, and the list of markers is controller-gen's own.

`#[kube(…)]` stands on the spec, `#[schemars(…)]`, `#[serde(…)]` and `#[x_kube(…)]` on fields and types. A misspelt word in them
does not compile. `#[schemars(extend(…))]` takes any key: there `make manifests` refuses what no CRD has, with the type, the field and
the word that was meant.
";

/// The lines of an example, shifted to the left.
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
        // The fields are beside the point.
        text.push_str("    // …\n}\n");
    }
    text
}

fn finished(name: &str) -> Result<Vec<Value>, Vec<Finding>> {
    finish(&examples::kinds(name), &Options::default())
}

/// What is shown of a CRD: the values at these places under their last words.
fn part(crd: &Value, places: &[&str]) -> String {
    let mut part = Map::new();
    for place in places {
        let (_, key) = place.rsplit_once('/').unwrap();
        let mut value = match crd.pointer(place) {
            Some(value) => value.clone(),
            // That nothing is required is shown by nothing.
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

/// Markdown in the cell of a table of HTML.
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

fn line(Row { marker, says }: &Row) -> String {
    match says {
        Says::Words(text) => format!(
            "<tr><td><code>{marker}</code></td><td colspan=\"2\">{}</td></tr>\n",
            words(text)
        ),
        Says::Example(name, places, more) => {
            let crds = finished(name).unwrap_or_else(|findings| panic!("{name}: {findings:#?}"));
            let more = if more.is_empty() {
                String::new()
            } else {
                format!("<p>{}</p>", words(more))
            };
            format!(
                "<tr><td><code>{marker}</code></td>\n<td><pre><code class=\"language-rust\">{}</code></pre>{more}</td>\n\
                 <td><pre><code class=\"language-yaml\">{}</code></pre></td></tr>\n",
                escape(shown(name).trim_end()),
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
        page.push_str("<table>\n<tr><th>marker</th><th>here</th><th>in the CRD</th></tr>\n");
        part.rows.iter().for_each(|row| page.push_str(&line(row)));
        page.push_str("</table>\n");
    }
    page
}

#[test]
fn the_page_shows_what_comes_of_each_example() {
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
fn every_marker_of_controller_gen_has_a_row_and_no_row_is_of_another() {
    let markers: BTreeSet<&str> = MARKERS
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split(' ').nth(1).unwrap())
        .collect();
    let rows: Vec<&str> = PARTS.iter().flat_map(|part| part.rows).map(|row| row.marker).collect();
    let set: BTreeSet<&str> = rows.iter().copied().collect();
    assert_eq!(set.len(), rows.len(), "a marker has two rows");
    assert_eq!(set, markers);
}

#[test]
fn every_example_is_shown() {
    let used: BTreeSet<&str> = PARTS
        .iter()
        .flat_map(|part| part.rows)
        .filter_map(|row| match row.says {
            Says::Example(name, ..) => Some(name),
            Says::Words(_) => None,
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
fn the_server_takes_every_example_as_it_stands_there() {
    let server = control_plane::ControlPlane::start();
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All&fieldValidation=Strict";
    for row in PARTS.iter().flat_map(|part| part.rows) {
        let Says::Example(name, places, _) = row.says else {
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
