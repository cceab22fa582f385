//! Controller-gen's output for lists of rules. The lists are those of the recording itself. One run has many, each as the
//! Role of a namespace of its own.

use std::{collections::BTreeMap, fmt::Write, fs, path::Path};

use anyhow::{Context, Result};
use recordings::Exchange;
use serde_json::Value;

use super::{Lines, Pick, go, lines_of, schemas::cases};

/// Of role rules.
pub(super) const FILE: &str = "scaffolds/schema/tests/recorded/rbac/recorded.jsonl";

/// The number of lists in one run: YAML parsers limit the number of documents.
const SHARE: usize = 500;

/// The fields of a rule, as a marker and as a Role name them.
const FIELDS: [(&str, &str); 5] = [
    ("groups", "apiGroups"),
    ("resources", "resources"),
    ("resourceNames", "resourceNames"),
    ("urls", "nonResourceURLs"),
    ("verbs", "verbs"),
];

/// Rules as they are in markers, and as controller-gen writes them. `None` without controller-gen.
pub(super) async fn lines(pick: &Pick<'_>) -> Result<Option<Lines>> {
    let (positions, sets) = cases(FILE, pick)?.into_iter().unzip();
    let recorded = ask(sets).await?;
    recorded.map(|recorded| lines_of(positions, &recorded)).transpose()
}

/// A line for each list of rules. `None` without controller-gen.
///
/// # Errors
/// When controller-gen fails.
pub async fn ask(sets: Vec<Value>) -> Result<Option<Vec<Exchange<Value, Value>>>> {
    let Some(controller_gen) = go::controller_gen().await? else {
        return Ok(None);
    };
    let mut lines = Vec::new();
    for some in sets.chunks(SHARE) {
        let mut roles = roles(&controller_gen, some).await?;
        for (at, rules) in some.iter().enumerate() {
            lines.push(Exchange {
                asked: rules.clone(),
                answered: roles.remove(&namespace(at)).context("a Role is missing")?,
            });
        }
    }
    Ok(Some(lines))
}

/// The rules of each Role by its namespace.
async fn roles(controller_gen: &Path, sets: &[Value]) -> Result<BTreeMap<String, Value>> {
    let mut source = String::from("package rules\n\n");
    for (at, rules) in sets.iter().enumerate() {
        for rule in rules.as_array().into_iter().flatten() {
            writeln!(source, "{}", marker(at, rule))?;
        }
    }
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("go.mod"), "module rules\n\ngo 1.24\n")?;
    fs::write(folder.path().join("rules.go"), source)?;
    let arguments = ["rbac:roleName=manager-role", "paths=./...", "output:stdout"];
    let printed = String::from_utf8(go::generate(controller_gen, &arguments, folder.path()).await?)?;
    let roles: Vec<Value> = serde_saphyr::from_multiple(&printed)?;
    let rules = |mut role: Value| {
        let namespace = role["metadata"]["namespace"].as_str().unwrap_or_default().to_owned();
        (namespace, role["rules"].take())
    };
    Ok(roles.into_iter().map(rules).collect())
}

fn namespace(at: usize) -> String {
    format!("set-{at}")
}

fn marker(at: usize, rule: &Value) -> String {
    let mut text = format!("// +kubebuilder:rbac:namespace={}", namespace(at));
    for (name, field) in FIELDS {
        if let Some(words) = rule[field].as_array() {
            let quoted: Vec<String> = words.iter().map(Value::to_string).collect();
            text += &format!(",{name}={{{}}}", quoted.join(","));
        }
    }
    text
}
