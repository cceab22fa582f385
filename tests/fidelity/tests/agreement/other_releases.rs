//! Different answers of another release of Kubernetes to the recorded requests: the tables of
//! docs/src/reference/kubernetes-versions.md.

use std::{collections::BTreeMap, fs};

use anyhow::{Context, Result, ensure};
use control_plane::root;
use fidelity::recording::{self, Differences, Pick, Real, Recorder, Recording};
use serde_json::Value;

const PAGE: &str = "docs/src/reference/kubernetes-versions.md";

/// Recordings of Go's types and functions: the control plane of another release has none.
const OF_GO: [&str; 6] = [
    "shapes",
    "rule-functions",
    "embedded-types",
    "embedded",
    "forms",
    "autoscalers",
];

/// The most names in a row; a longer list is cut, with the number of the rest.
const NAMED: usize = 12;

#[tokio::test]
#[ignore = "needs the control plane of another release in KUBEBUILDER_ASSETS: `make nightly`"]
async fn the_page_says_what_this_release_answers_differently() -> Result<()> {
    let real = Real::start().await?;
    let version = real.get("/version").await?;
    let release = version["gitVersion"].as_str().context("no version")?;
    let mut table = String::from("| requests | answers | different | which |\n|---|---|---|---|\n");
    for recording in recording::all()? {
        if OF_GO.contains(&recording.name.as_str()) {
            continue;
        }
        let found = recording::differences(&recording, &real, &Pick::All).await;
        if let Some(found) = found.with_context(|| recording.name.clone())? {
            println!("{}\n{}", recording.name, found.text);
            table.extend(row(&recording, &found));
        }
    }
    let path = root().join(PAGE);
    let page = fs::read_to_string(&path)?;
    let written = with_section(&page, release, &table)?;
    if std::env::var_os("KUBEWRIGHT_BLESS").is_some() {
        return Ok(fs::write(path, written)?);
    }
    ensure!(
        page == written,
        "{PAGE} does not say what {release} answers\n\nhint: KUBEWRIGHT_BLESS=1 writes it:\n{table}"
    );
    Ok(())
}

/// The row of a recording that differs.
fn row(recording: &Recording, found: &Differences) -> Option<String> {
    let different = found.different.len();
    (different > 0).then(|| {
        let which = names(&recording.recorder, found);
        let (name, all) = (&recording.name, found.lines.len());
        format!("| {name} | {all} | {different} | {which} |\n")
    })
}

/// The requests behind the lines that differ, each name once.
fn names(recorder: &Recorder, found: &Differences) -> String {
    let mut times = BTreeMap::<String, usize>::new();
    for line in found.different.iter().filter_map(|position| found.lines.get(*position)) {
        let line: Value = serde_json::from_str(line).unwrap_or_default();
        let name = match recorder {
            Recorder::Probes(_) => line.pointer("/asked/name"),
            Recorder::Kinds => line.pointer("/asked/kind"),
            _ => None,
        };
        *times
            .entry(name.and_then(Value::as_str).unwrap_or_default().to_owned())
            .or_default() += 1;
    }
    times.remove("");
    let rest = times.len().saturating_sub(NAMED);
    let mut shown: Vec<String> = times
        .into_iter()
        .take(NAMED)
        .map(|(name, times)| match times {
            1 => name,
            _ => format!("{name} ({times})"),
        })
        .collect();
    shown.extend((rest > 0).then(|| format!("and {rest} more")));
    shown.join("; ").replace('|', "\\|")
}

/// The page with `table` between the marks of the release's minor version.
fn with_section(page: &str, release: &str, table: &str) -> Result<String> {
    let minor = release
        .trim_start_matches('v')
        .rsplit_once('.')
        .context("no version")?
        .0;
    let (start, end) = (format!("<!-- differences: {minor} -->\n"), "<!-- end -->\n");
    let hint = || format!("{PAGE} has no section for {minor}\n\nhint: a line `{start}` and a line `{end}`");
    let (before, rest) = page.split_once(&start).with_context(hint)?;
    let (_, after) = rest.split_once(end).with_context(hint)?;
    Ok(format!("{before}{start}{table}{end}{after}"))
}

#[test]
fn rows_name_the_requests_and_only_the_section_of_the_release_changes() {
    let recording = |name: &str, recorder| Recording {
        name: name.to_owned(),
        file: String::new(),
        recorder,
    };
    let line = |name: &str| format!(r#"{{"asked":{{"name":"{name}"}}}}"#);
    let found = |different: &[usize]| Differences {
        lines: vec![line("a role | changes"), line("same"), line("a role | changes")],
        different: different.to_vec(),
        text: String::new(),
    };
    let probes = recording("probes/rbac", Recorder::Probes("rbac".into()));
    assert_eq!(row(&probes, &found(&[])), None);
    assert_eq!(
        row(&probes, &found(&[0, 2])).unwrap(),
        "| probes/rbac | 3 | 2 | a role \\| changes (2) |\n"
    );
    // A line that is new has no name.
    assert_eq!(
        row(&recording("roles", Recorder::Roles), &found(&[1, 9])).unwrap(),
        "| roles | 3 | 2 |  |\n"
    );
    let page = "a\n<!-- differences: 1.37 -->\nold\n<!-- end -->\nb\n";
    let written = with_section(page, "v1.37.2", "new\n").unwrap();
    assert_eq!(written, page.replace("old", "new"));
    assert!(with_section(page, "v1.38.0", "new\n").is_err());
}
