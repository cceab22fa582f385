//! The server's verdicts on schemas, and on objects under their rules. The recording itself has the cases: the tests of
//! `scaffolds/schema` add theirs to it, without an answer.

use std::{collections::BTreeSet, time::Duration};

use anyhow::{Context, Result, ensure};
use control_plane::{eventually, root};
use serde_json::{Value, json};

use super::{Lines, Pick, Real, line_of};
use crate::{Answer, Step, normal::without_made_up_types};

/// The recording of verdicts on definitions.
pub const VERDICTS: &str = "scaffolds/schema/tests/recorded/server/verdicts.jsonl";
/// The recording of verdicts on rules.
pub const RULES: &str = "scaffolds/schema/tests/recorded/cel/recorded.jsonl";

pub(super) const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
/// The limit for what the server does with a definition, usually within seconds.
pub(super) const PATIENCE: Duration = Duration::from_secs(180);

/// The requests of a recording that are picked, by position.
pub(super) fn cases(file: &str, pick: &Pick<'_>) -> Result<Vec<(usize, Value)>> {
    let mut requests = recordings::requests::<Value>(&std::fs::read_to_string(root().join(file))?);
    let picked = pick.of(requests.len()).into_iter();
    Ok(picked.map(|position| (position, requests[position].take())).collect())
}

/// Whether each definition is accepted, its causes and its warnings.
pub(super) async fn verdicts(real: &Real, pick: &Pick<'_>) -> Result<Lines> {
    let mut lines = Lines::new();
    for (position, case) in cases(VERDICTS, pick)? {
        let line = format!("POST {CRDS}?dryRun=All&fieldValidation=Strict");
        let answer = ask(real, &line, Some(&case["crd"])).await?;
        ensure!(matches!(answer.code, 201 | 422), "{}: {}", case["name"], answer.body);
        let causes: BTreeSet<_> = causes(&answer.body).into_iter().map(without_go_values).collect();
        let verdict = json!({"accepted": answer.code == 201, "causes": causes, "warnings": warnings(&answer)});
        lines.insert(position, line_of(case, verdict)?);
    }
    Ok(lines)
}

/// `{"definition", "objects"}`: the verdicts on a schema with rules, and on each object of the case.
pub(super) async fn rules(real: &Real, pick: &Pick<'_>) -> Result<Lines> {
    let server = Rules::start(real).await?;
    let mut lines = Lines::new();
    for (position, case) in cases(RULES, pick)? {
        let name = case["name"].to_string();
        let definition = server.definition(&case["schema"]).await.context(name.clone())?;
        let mut objects = Vec::new();
        if definition.is_empty() {
            for tried in case["tries"].as_array().into_iter().flatten() {
                objects.push(server.attempt(&case["schema"], tried).await.context(name.clone())?);
            }
        }
        lines.insert(
            position,
            line_of(case, json!({"definition": definition, "objects": objects}))?,
        );
    }
    server.end().await?;
    Ok(lines)
}

/// A definition whose schema changes from case to case.
struct Rules<'a> {
    real: &'a Real,
}

const OBJECTS: &str = "/apis/cel.example.com/v1/namespaces/default/rules";

impl<'a> Rules<'a> {
    async fn start(real: &'a Real) -> Result<Self> {
        let server = Self { real };
        let made = ask(real, &format!("POST {CRDS}"), Some(&crd("rules", "Rule", &anything()))).await?;
        ensure!(made.code == 201, "{}", made.body);
        eventually("the kind to be served", PATIENCE, async || {
            let list = ask(real, &format!("GET {OBJECTS}"), None).await?;
            Ok((list.code == 200).then_some(()))
        })
        .await?;
        Ok(server)
    }

    async fn end(&self) -> Result<()> {
        let path = format!("{CRDS}/rules.cel.example.com");
        ask(self.real, &format!("DELETE {path}"), None).await?;
        eventually("the definition to be deleted", PATIENCE, async || {
            let it = ask(self.real, &format!("GET {path}"), None).await?;
            Ok((it.code == 404).then_some(()))
        })
        .await
    }

    /// The causes that refuse a schema.
    async fn definition(&self, schema: &Value) -> Result<BTreeSet<Cause>> {
        let line = format!("POST {CRDS}?dryRun=All");
        let answer = ask(self.real, &line, Some(&crd("drafts", "Draft", schema))).await?;
        ensure!(matches!(answer.code, 201 | 422), "{}", answer.body);
        Ok(causes(&answer.body))
    }

    /// Objects are sent with `dryRun`. For an update, the old object is stored first, under a schema that accepts anything.
    async fn attempt(&self, schema: &Value, tried: &Value) -> Result<Value> {
        let name = tried["new"]["metadata"]["name"]
            .as_str()
            .context("an object without a name")?;
        let path = format!("{OBJECTS}/{name}");
        ask(self.real, &format!("DELETE {path}"), None).await?;
        let Some(old) = tried.get("old") else {
            self.define(schema).await?;
            return self.verdict(&format!("POST {OBJECTS}"), &tried["new"]).await;
        };
        self.define(&anything()).await?;
        let stored = ask(self.real, &format!("POST {OBJECTS}"), Some(old)).await?;
        ensure!(stored.code == 201, "{}", stored.body);
        self.define(schema).await?;
        let mut new = tried["new"].clone();
        new["metadata"]["resourceVersion"] = stored.body["metadata"]["resourceVersion"].clone();
        self.verdict(&format!("PUT {path}"), &new).await
    }

    async fn verdict(&self, line: &str, object: &Value) -> Result<Value> {
        let answer = ask(self.real, &format!("{line}?dryRun=All"), Some(object)).await?;
        ensure!(matches!(answer.code, 200 | 201 | 422), "{object}: {}", answer.body);
        Ok(json!({"causes": causes(&answer.body), "warnings": warnings(&answer)}))
    }

    /// Gives the definition another schema, and waits until the server uses it: until the refusal of an object contains a
    /// random word of the new schema.
    async fn define(&self, schema: &Value) -> Result<()> {
        let path = format!("{CRDS}/rules.cel.example.com");
        let mut marked = schema.clone();
        let marker = format!("marker{}", fastrand::u32(..));
        marked["properties"]["marker"] = json!({"type": "string", "enum": [marker]});
        eventually("the definition to be written", PATIENCE, async || {
            let mut definition = ask(self.real, &format!("GET {path}"), None).await?.body;
            definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = marked.clone();
            let answer = ask(self.real, &format!("PUT {path}"), Some(&definition)).await?;
            ensure!(matches!(answer.code, 200 | 409), "{}", answer.body);
            Ok((answer.code == 200).then_some(()))
        })
        .await?;
        let mut object = json!({"metadata": {"name": "probe"}, "marker": "none"});
        object["apiVersion"] = "cel.example.com/v1".into();
        object["kind"] = "Rule".into();
        eventually("the schema to be in force", PATIENCE, async || {
            let answer = ask(self.real, &format!("POST {OBJECTS}?dryRun=All"), Some(&object)).await?;
            let message = answer.body["message"].as_str().unwrap_or_default();
            Ok(message.contains(&marker).then_some(()))
        })
        .await
    }
}

/// Reason, field and message.
type Cause = (String, String, String);

pub(super) fn causes(body: &Value) -> BTreeSet<Cause> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let all = body["details"]["causes"].as_array().into_iter().flatten();
    all.map(|it| {
        (
            text(&it["reason"]),
            text(&it["field"]),
            without_made_up_types(&text(&it["message"])),
        )
    })
    .collect()
}

/// A server shows values of several fields as its own Go types.
fn without_go_values((reason, field, message): Cause) -> Cause {
    let message = match message.strip_prefix("Invalid value: ") {
        Some(rest) if rest.starts_with(['{', '[']) || rest.starts_with("null") => {
            let end = rest.rfind(": ").map_or(rest, |at| &rest[at..]);
            format!("Invalid value: …{end}")
        }
        _ => message,
    };
    (reason, field, message)
}

/// `299 - "text"`, with quotes inside escaped.
pub(super) fn warnings(answer: &Answer) -> BTreeSet<String> {
    let text = |header: &String| Some(header.split_once('"')?.1.strip_suffix('"')?.replace("\\\"", "\""));
    let headers = answer.headers.get("warning").into_iter().flatten();
    headers.filter_map(text).collect()
}

fn anything() -> Value {
    json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true})
}

fn crd(plural: &str, kind: &str, schema: &Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.cel.example.com")},
        "spec": {
            "group": "cel.example.com", "scope": "Namespaced", "names": {"plural": plural, "kind": kind},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
        },
    })
}

pub(super) async fn ask(real: &Real, line: &str, body: Option<&Value>) -> Result<Answer> {
    let step = Step {
        r#do: line.to_owned(),
        body: body.cloned(),
        ..Step::default()
    };
    real.target.send(&step).await
}
