//! Outcomes of values of a schema. The cases are those of the recording itself: the tests of `scaffolds/schema` write
//! theirs into it, without an answer. The schemas of many cases share one definition. Its version v1 accepts anything, so that
//! objects that v2 would refuse can exist before an update.

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicUsize, Ordering},
};

use anyhow::{Context, Result, bail, ensure};
use control_plane::eventually;
use futures::{StreamExt, TryStreamExt, stream};
use recordings::Exchange;
use serde_json::{Map, Value, json};

use super::{
    Lines, Pick, Real, lines_of,
    schemas::{CRDS, PATIENCE, ask as request, cases, warnings},
};
use crate::Answer;

/// Of values.
pub(super) const FILE: &str = "scaffolds/schema/tests/recorded/values/recorded.jsonl";

/// The number of schemas in one definition.
const SHARE: usize = 80;
/// The number of schemas with rules in one definition; fewer, because their estimated costs add up.
const SHARE_WITH_RULES: usize = 20;
/// Definitions at a time.
const AT_ONCE: usize = 6;
/// The number of definitions until now: each has a group of its own, so that their names do not conflict.
static DEFINITIONS: AtomicUsize = AtomicUsize::new(0);

/// `{"definition", "outcomes"}`: the causes that refuse the schema, or the outcome for each value.
pub(super) async fn lines(real: &Real, pick: &Pick<'_>) -> Result<Lines> {
    let (positions, cases) = cases(FILE, pick)?.into_iter().unzip();
    lines_of(positions, &ask(real, cases).await?)
}

/// The cases with answers, in the same order.
///
/// # Errors
/// When the server cannot be asked, or refuses what it has always accepted.
pub async fn ask(real: &Real, cases: Vec<Value>) -> Result<Vec<Exchange<Value, Value>>> {
    let refused = stream::iter(cases).map(|mut line| async {
        line["definition"] = json!(causes_of(real, &line).await?);
        anyhow::Ok(line)
    });
    let mut lines: Vec<Value> = refused.buffered(AT_ONCE).try_collect().await?;
    let shared = shares(&lines).into_iter().map(|share| async {
        let outcomes = Definition::start(real, &share, &lines).await?.outcomes(&lines).await?;
        anyhow::Ok(share.into_iter().zip(outcomes).collect::<Vec<_>>())
    });
    let answered: Vec<Vec<(usize, Value)>> = stream::iter(shared).buffered(AT_ONCE).try_collect().await?;
    for (position, outcomes) in answered.into_iter().flatten() {
        lines[position]["outcomes"] = outcomes;
    }
    let exchange = |mut line: Value| {
        let mut answered = json!({"definition": line["definition"].take()});
        if let Some(outcomes) = line.get_mut("outcomes") {
            answered["outcomes"] = outcomes.take();
        }
        let asked = json!({"key": line["key"].take(), "case": line["case"].take()});
        Exchange { asked, answered }
    };
    Ok(lines.into_iter().map(exchange).collect())
}

/// The causes that refuse a case's schema alone: reason, field and message.
async fn causes_of(real: &Real, line: &Value) -> Result<BTreeSet<(String, String, String)>> {
    let answer = request(
        real,
        &format!("POST {CRDS}?dryRun=All"),
        Some(&definition(&whole(line))),
    )
    .await?;
    ensure!(matches!(answer.code, 201 | 422), "{line}: {}", answer.body);
    Ok(super::schemas::causes(&answer.body))
}

/// The positions of accepted cases that share a definition. Rules also affect the causes of other schemas in a definition:
/// the server reports that they were not evaluated. All random cases with rules have some, so they can share one.
fn shares(lines: &[Value]) -> Vec<Vec<usize>> {
    let mut shares: Vec<(usize, Vec<usize>)> = Vec::new();
    for (position, line) in lines.iter().enumerate() {
        if line["definition"].as_array().is_some_and(|causes| !causes.is_empty()) {
            continue;
        }
        let has_rules = line["case"]["schema"].to_string().contains("x-kubernetes-validations");
        let is_random = line["case"]["name"]
            .as_str()
            .is_some_and(|name| name.starts_with("random"));
        let limit = match (has_rules, is_random) {
            _ if line["case"]["place"] != "Spec" => 1,
            (false, _) => SHARE,
            (true, true) => SHARE_WITH_RULES,
            (true, false) => 1,
        };
        let has_key = |positions: &[usize]| positions.iter().any(|other| lines[*other]["key"] == line["key"]);
        let share = shares
            .iter_mut()
            .find(|(of, positions)| *of == limit && positions.len() < limit && !has_key(positions));
        match share {
            Some((_, positions)) => positions.push(position),
            None => shares.push((limit, vec![position])),
        }
    }
    shares.into_iter().map(|(_, positions)| positions).collect()
}

/// A definition with the schemas of some cases.
struct Definition<'a> {
    real: &'a Real,
    group: String,
    positions: Vec<usize>,
}

impl<'a> Definition<'a> {
    async fn start(real: &'a Real, positions: &[usize], lines: &[Value]) -> Result<Self> {
        let number = DEFINITIONS.fetch_add(1, Ordering::Relaxed);
        let it = Self {
            real,
            group: format!("g{number}.values.example.com"),
            positions: positions.to_owned(),
        };
        let first = &lines[positions[0]];
        let schema = if first["case"]["place"] == "Spec" {
            let schema = |at: &usize| {
                let line = &lines[*at];
                (key(line).to_owned(), line["case"]["schema"].clone())
            };
            let schemas: Map<String, Value> = positions.iter().map(schema).collect();
            json!({"type": "object", "properties": {"spec": {"type": "object", "properties": schemas}}})
        } else {
            whole(first)
        };
        let made = request(real, &format!("POST {CRDS}"), Some(&crd(&it.group, &schema))).await?;
        ensure!(made.code == 201, "{}", made.body);
        for version in ["v1", "v2"] {
            let probe =
                json!({"apiVersion": format!("{}/{version}", it.group), "kind": "Foo", "metadata": {"name": "probe"}});
            eventually("the kind to be served", PATIENCE, async || {
                let line = format!("POST {}?dryRun=All", it.objects(version));
                Ok((request(real, &line, Some(&probe)).await?.code != 404).then_some(()))
            })
            .await?;
        }
        Ok(it)
    }

    /// A list of outcomes for each case; then deletes the definition.
    async fn outcomes(self, lines: &[Value]) -> Result<Vec<Value>> {
        let mut outcomes = Vec::new();
        for position in &self.positions {
            let line = &lines[*position];
            let mut of_case = Vec::new();
            for tried in line["case"]["tries"].as_array().into_iter().flatten() {
                let outcome = self.outcome(line, tried).await;
                of_case.push(outcome.with_context(|| format!("{}: {tried}", line["case"]["name"]))?);
            }
            outcomes.push(json!(of_case));
        }
        request(self.real, &format!("DELETE {CRDS}/foos.{}", self.group), None).await?;
        Ok(outcomes)
    }

    fn objects(&self, version: &str) -> String {
        format!("/apis/{}/{version}/namespaces/default/foos", self.group)
    }

    async fn outcome(&self, line: &Value, tried: &Value) -> Result<Value> {
        let mut new = self.object(line, &tried["value"], "v2");
        let query = "?dryRun=All&fieldValidation=Warn";
        let Some(old) = tried.get("old") else {
            let answer = request(self.real, &format!("POST {}{query}", self.objects("v2")), Some(&new)).await?;
            return outcome(answer);
        };
        let mut old = self.object(line, old, "v1");
        let path = self.objects("v1");
        let mut made = request(self.real, &format!("POST {path}"), Some(&old)).await?;
        ensure!(made.code == 201, "{}", made.body);
        let is_status = line["case"]["place"] == "Status";
        if is_status {
            old["metadata"] = made.body["metadata"].clone();
            made = request(self.real, &format!("PUT {path}/foo/status"), Some(&old)).await?;
            ensure!(made.code == 200, "{}", made.body);
        }
        new["metadata"]["resourceVersion"] = made.body["metadata"]["resourceVersion"].clone();
        let part = if is_status { "/status" } else { "" };
        let put = format!("PUT {}/foo{part}{query}", self.objects("v2"));
        let answer = request(self.real, &put, Some(&new)).await?;
        request(self.real, &format!("DELETE {path}/foo"), None).await?;
        outcome(answer)
    }

    /// An object with a value at the case's place.
    fn object(&self, line: &Value, value: &Value, version: &str) -> Value {
        let version = format!("{}/{version}", self.group);
        let mut object = json!({"apiVersion": version, "kind": "Foo", "metadata": {"name": "foo"}});
        match line["case"]["place"].as_str() {
            Some("Spec") => object["spec"] = json!({key(line): value}),
            Some("Status") => object["status"] = value.clone(),
            _ => {
                for (name, value) in value.as_object().into_iter().flatten() {
                    object[name] = value.clone();
                }
            }
        }
        object
    }
}

fn key(line: &Value) -> &str {
    line["key"].as_str().unwrap_or_default()
}

/// The schema of the resource.
fn whole(line: &Value) -> Value {
    let schema = &line["case"]["schema"];
    match line["case"]["place"].as_str() {
        Some("Spec") => {
            json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {key(line): schema}}}})
        }
        Some("Status") => json!({"type": "object", "properties": {"status": schema}}),
        _ => schema.clone(),
    }
}

/// A definition whose version v2 has a schema.
pub fn definition(schema: &Value) -> Value {
    crd("values.example.com", schema)
}

fn crd(group: &str, schema: &Value) -> Value {
    let anything = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let has_status = schema["properties"]["status"].is_object();
    let version = |name: &str, schema: &Value, storage: bool| {
        let subresources = if has_status { json!({"status": {}}) } else { json!({}) };
        let schema = json!({"openAPIV3Schema": schema});
        json!({"name": name, "served": true, "storage": storage, "schema": schema, "subresources": subresources})
    };
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("foos.{group}")},
        "spec": {
            "group": group, "scope": "Namespaced", "names": {"kind": "Foo", "plural": "foos"},
            "versions": [version("v1", &anything, true), version("v2", schema, false)],
        },
    })
}

/// `{"Stored": [the value, the unknown fields]}`, `{"Invalid": causes}`, `{"Unreadable": message}`, or `{"Broken": message}`.
fn outcome(answer: Answer) -> Result<Value> {
    let message = answer.body["message"].as_str().unwrap_or_default();
    Ok(match answer.code {
        200 | 201 => {
            let warnings = warnings(&answer);
            let unknown = warnings
                .iter()
                .filter_map(|it| it.strip_prefix("unknown field \"")?.strip_suffix('"'));
            let unknown: BTreeSet<&str> = unknown.collect();
            let mut stored = answer.body.as_object().cloned().unwrap_or_default();
            stored.retain(|name, _| !matches!(name.as_str(), "metadata" | "apiVersion" | "kind"));
            json!({"Stored": [stored, unknown]})
        }
        422 => json!({"Invalid": super::schemas::causes(&answer.body)}),
        400 => {
            let start = "Foo in version \"v2\" cannot be handled as a Foo: ";
            json!({"Unreadable": message.strip_prefix(start).unwrap_or(message)})
        }
        // The server cannot decode the old object by v2's schema. Without v1, such an object could not exist.
        500 => json!({"Broken": message}),
        code => bail!("{code} {}", answer.body),
    })
}
