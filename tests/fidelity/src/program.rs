//! Programs: requests in order, in which later ones can refer to earlier answers.

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{collections::BTreeMap, fs, path::Path};

use crate::{Answer, hook::Hook};

/// A named list of requests. `$ns` stands for the program's own namespace, which exists when it starts; `$x(1000)` for a thousand
/// letters; `$hook` and others for a webhook that the process which runs the program serves, see `hook.rs`.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Program {
    /// The behaviour that it shows.
    pub name: String,
    /// The requests, in order.
    pub steps: Vec<Step>,
    /// Requests that clean up afterwards, whether the program succeeded or not: a server with a thousand CRDs is slow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<Step>,
}

/// One request.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// `METHOD /path?query`; `WATCH /path?query` is a GET that is read to its end, and needs a `timeoutSeconds`.
    pub r#do: String,
    /// The content type; `application/json` by default, and none if it is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#as: Option<String>,
    /// The header `Accept`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accept: Option<String>,
    /// The sender, by impersonation: a user and its groups, separated by blanks; the administrator by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
    /// Further headers, each in the form `Name: value`. With `Authorization`, no other header names the sender.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub with: Vec<String>,
    /// The body: a string is sent unchanged, any other value as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Value>,
    /// Repeats the request, for at most 5 s, until the answer has these values at these JSON pointers (`null`: no
    /// value), for effects that the real server completes later.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub until: BTreeMap<String, Value>,
    /// Of a watch: how many events are read. A server adds bookmarks whenever it likes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<usize>,
    /// The reason that the answer is not compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unlike: Option<String>,
}

impl Program {
    /// Whether it sets a default class, which other programs would see: it runs while no other one does.
    pub fn sets_defaults(&self) -> bool {
        let sets = |body: &Value| {
            let text = body.to_string();
            text.contains(r#""globalDefault":true"#) || text.contains("is-default-class")
        };
        self.steps.iter().filter_map(|step| step.body.as_ref()).any(sets)
    }

    /// Whether it has a policy with parameters. On kube-apiserver 1.36 only a new server finds those for certain: after the last such
    /// policy was deleted, later ones may find none.
    pub fn has_parameters(&self) -> bool {
        let has = |body: &Value| body.to_string().contains(r#""paramKind":"#);
        self.steps.iter().filter_map(|step| step.body.as_ref()).any(has)
    }

    /// Whether it configures a webhook of this process.
    pub fn has_hook(&self) -> bool {
        let has = |body: &Value| {
            let text = body.to_string();
            HOOK.iter().any(|word| text.contains(word))
        };
        self.steps.iter().filter_map(|step| step.body.as_ref()).any(has)
    }
}

impl Step {
    /// Method, path with query, and whether it is a watch, with `$ns` and `${STEP:/json/pointer}` replaced. A step is a
    /// number, `last`, or `list` for the first list.
    pub fn line(&self, namespace: &str, earlier: &[Answer]) -> Result<(String, String, bool)> {
        let line = fill(&self.r#do, namespace, earlier)?;
        let (method, path) = line
            .split_once(' ')
            .with_context(|| format!("`{line}` is no `METHOD /path`"))?;
        let watch = method == "WATCH";
        Ok((if watch { "GET" } else { method }.to_owned(), path.to_owned(), watch))
    }

    /// The headers in [`Self::who`] and [`Self::with`].
    pub fn headers(&self, namespace: &str, earlier: &[Answer]) -> Result<Vec<(String, String)>> {
        let mut headers = Vec::new();
        let mut name = "impersonate-user";
        for part in self.who.iter().flat_map(|who| who.split(' ')) {
            headers.push((name.to_owned(), fill(part, namespace, earlier)?));
            name = "impersonate-group";
        }
        for line in &self.with {
            let (name, value) = line
                .split_once(": ")
                .with_context(|| format!("`{line}` is no header"))?;
            headers.push((name.to_ascii_lowercase(), fill(value, namespace, earlier)?));
        }
        Ok(headers)
    }

    /// The bytes to send.
    pub fn bytes(&self, namespace: &str, earlier: &[Answer]) -> Result<Vec<u8>> {
        let text = match &self.body {
            None => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
        };
        Ok(fill(&text, namespace, earlier)?.into_bytes())
    }
}

/// The hand-written programs of `probes/`, by file.
pub fn probes() -> Result<BTreeMap<String, Vec<Program>>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("probes");
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path)?;
        let programs: BTreeMap<String, Vec<Step>> =
            serde_saphyr::from_str(&text).with_context(|| format!("cannot read `{}`", path.display()))?;
        let programs = programs.into_iter().map(|(name, steps)| Program {
            name,
            steps,
            after: Vec::new(),
        });
        all.insert(name, programs.collect());
    }
    Ok(all)
}

/// The words that stand for the webhook of the process that runs the program.
const HOOK: [&str; 5] = ["$hook", "$other", "$plain", "$ca", "$stranger"];

/// Replaces `$x(1000)` by as many letters.
fn lengthen(text: &mut String) -> Result<()> {
    while let Some(at) = text.find("$x(") {
        let end = text[at..].find(')').context("no end of `$x(`")?;
        let count: usize = text[at + 3..at + end].parse()?;
        text.replace_range(at..=at + end, &"x".repeat(count));
    }
    Ok(())
}

fn fill(text: &str, namespace: &str, earlier: &[Answer]) -> Result<String> {
    let mut filled = text.replace("$ns", namespace);
    lengthen(&mut filled)?;
    if HOOK.iter().any(|word| filled.contains(word)) {
        for (word, value) in &Hook::get()?.words {
            filled = filled.replace(word, value);
        }
    }
    while let Some(at) = filled.find("${") {
        let Some(end) = filled[at..].find('}') else {
            bail!("`{text}`: no end of `${{`");
        };
        let reference = &filled[at + 2..at + end];
        let (step, pointer) = reference
            .split_once(':')
            .with_context(|| format!("`{reference}` is no `STEP:/pointer`"))?;
        let answer = match step {
            "last" => earlier.last(),
            // Absent if the CRD was refused.
            "list" => earlier
                .iter()
                .find(|answer| answer.body["items"].is_array())
                .or(earlier.first()),
            number => earlier.get(number.parse::<usize>()?),
        };
        let answer = answer.with_context(|| format!("`{reference}` names a later step"))?;
        let value = match answer.body.pointer(pointer) {
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
            None => String::new(),
        };
        filled.replace_range(at..=at + end, &value);
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn later_requests_can_refer_to_earlier_answers() {
        let earlier = [Answer {
            code: 200,
            body: json!({"metadata": {"resourceVersion": "7"}}),
            ..Answer::default()
        }];
        let step = Step {
            r#do: "WATCH /api/v1/namespaces/$ns/configmaps?resourceVersion=${0:/metadata/resourceVersion}".to_owned(),
            ..Step::default()
        };
        let line = step.line("here", &earlier).unwrap();
        let path = "/api/v1/namespaces/here/configmaps?resourceVersion=7".to_owned();
        assert_eq!(line, ("GET".to_owned(), path, true));
    }

    #[test]
    fn every_probe_is_well_formed_and_names_are_unique() {
        let mut names = std::collections::BTreeSet::new();
        for program in probes().unwrap().into_values().flatten() {
            assert!(names.insert(program.name.clone()), "`{}` twice", program.name);
        }
        assert!(!names.is_empty());
    }
}
