//! Compares two servers' answers to one program.

use anyhow::{Context, Result};
use serde_json::{Value, json};
use similar::TextDiff;
use std::{fmt, time::Duration};
use tokio::time::timeout;

use crate::{Answer, Program, Target, normal};

/// The first step that two servers answer differently.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The program.
    pub program: Program,
    /// The position of the step.
    pub step: usize,
    /// A unified diff from the real answer to ours.
    pub diff: String,
    /// The path of the first difference in the answer, without positions in lists.
    pub place: String,
}

impl Difference {
    /// Whether two programs show the same difference: the same request is answered differently at the same path.
    pub fn is_like(&self, other: &Self) -> bool {
        let request = |it: &Self| {
            let step = &it.program.steps[it.step];
            (step.r#do.clone(), step.r#as.clone())
        };
        request(self) == request(other) && self.place == other.place
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "`{}`, step {}:", self.program.name, self.step)?;
        for (at, step) in self.program.steps.iter().enumerate().take(self.step + 1) {
            write!(f, "  {at}. {}", step.r#do)?;
            if let Some(content_type) = &step.r#as {
                write!(f, " as {content_type}")?;
            }
            match &step.body {
                Some(body) => writeln!(f, " {body}")?,
                None => writeln!(f)?,
            }
        }
        write!(f, "{}", self.diff)
    }
}

/// The number of times that a difference must occur to count, because the real server answers some requests at random, for
/// example in the order of a Go map.
const TIMES: usize = 3;

/// The time limit of a program, even on a busy machine; most take two seconds.
const PATIENCE: Duration = Duration::from_secs(180);

/// Runs the program on both servers and compares the answers. `None` if they agree at least once.
///
/// # Errors
/// When a server does not answer.
pub async fn compare(program: &Program, real: &Target, ours: &Target, namespace: &str) -> Result<Option<Difference>> {
    let mut found = None;
    for time in 0..TIMES {
        found = compare_once(program, real, ours, &format!("{namespace}-{time}")).await?;
        if found.is_none() {
            return Ok(None);
        }
    }
    Ok(found)
}

async fn compare_once(program: &Program, real: &Target, ours: &Target, namespace: &str) -> Result<Option<Difference>> {
    let both = async { tokio::join!(real.run(program, namespace), ours.run(program, namespace)) };
    let (real, ours) = timeout(PATIENCE, both)
        .await
        .with_context(|| format!("`{}` has no end after {} s", program.name, PATIENCE.as_secs()))?;
    let form = |answers: Vec<Answer>| {
        let mut formed = normal::form(program, &answers, namespace);
        normal::sort_quoted_fields(&mut formed);
        formed
    };
    Ok(difference(program, &form(real?), &form(ours?)))
}

/// The first difference between answers in their comparable form.
pub fn difference(program: &Program, real: &[Answer], ours: &[Answer]) -> Option<Difference> {
    let step = real
        .iter()
        .zip(ours)
        .zip(&program.steps)
        .position(|((real, ours), step)| {
            // A 501 names what is missing, so it is not a wrong answer; the ledger lists these.
            step.unlike.is_none() && ours.code != 501 && real != ours
        })?;
    let [real, ours] = [real, ours].map(|answers| json!(&answers[step]));
    let place = parting(&real, &ours);
    let [real, ours] = [real, ours].map(|answer| serde_json::to_string_pretty(&answer).unwrap_or_default());
    let diff = TextDiff::from_lines(&real, &ours);
    let diff = diff
        .unified_diff()
        .context_radius(4)
        .header("kube-apiserver", "kubewright")
        .to_string();
    Some(Difference {
        program: program.clone(),
        step,
        diff,
        place,
    })
}

/// The path to the first difference between two values.
fn parting(real: &Value, ours: &Value) -> String {
    match (real, ours) {
        (Value::Object(real), Value::Object(ours)) => {
            let mut names: Vec<&String> = real.keys().chain(ours.keys()).collect();
            names.sort_unstable();
            let name = names.into_iter().find(|name| real.get(*name) != ours.get(*name));
            name.map_or_else(String::new, |name| {
                let [real, ours] = [real, ours].map(|it| it.get(name).unwrap_or(&Value::Null));
                format!(".{name}{}", parting(real, ours))
            })
        }
        (Value::Array(real), Value::Array(ours)) if real.len() == ours.len() => {
            let parts = real.iter().zip(ours).find(|(real, ours)| real != ours);
            parts.map_or_else(String::new, |(real, ours)| format!("[]{}", parting(real, ours)))
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_has_a_path() {
        let real = json!({"a": 1, "b": [{"c": 1}, {"c": 2, "d": 3}]});
        let mut ours = real.clone();
        assert_eq!(parting(&real, &ours), "");
        ours["b"][1]["d"] = json!(4);
        assert_eq!(parting(&real, &ours), ".b[].d");
    }
}
