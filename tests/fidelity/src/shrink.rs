//! Shrinks a failing program: removes steps, then fields of bodies, while it still fails.

use anyhow::Result;
use futures::future::join_all;
use serde_json::Value;
use std::time::Duration;
use tokio::time::Instant;

use crate::{
    Program, Step, Target,
    compare::{Difference, compare},
};

/// The time for tries of smaller programs: a large program has hundreds, and one minute finds almost as much as a day.
const PATIENCE: Duration = Duration::from_secs(120);

/// The number of programs that are tried at a time.
const AT_ONCE: usize = 4;

/// The smallest failing program that was found, with its difference.
pub async fn shrink(mut failing: Difference, real: &Target, ours: &Target, namespace: &str) -> Difference {
    failing.program.steps.truncate(failing.step + 1);
    let end = Instant::now() + PATIENCE;
    // The position at which to continue: a part that was needed before can rarely be removed later.
    let (mut at, mut in_vain, mut tries) = (0, 0, 0);
    loop {
        let all = smaller(&failing.program);
        let left = all.len().saturating_sub(in_vain);
        if left == 0 || Instant::now() > end {
            return failing;
        }
        let candidates = (0..left.min(AT_ONCE)).map(|next| &all[(at + next) % all.len()]);
        let compared = candidates.enumerate().map(|(next, candidate)| {
            let namespace = format!("{namespace}-{}", tries + next);
            async move { compare(candidate, real, ours, &namespace).await }
        });
        let compared = join_all(compared).await;
        tries += compared.len();
        // A program that refers to a removed answer cannot be run, so it is not a smaller failure.
        let like = |outcome: &Result<Option<Difference>>| matches!(outcome, Ok(Some(it)) if it.is_like(&failing));
        let first = compared.iter().position(like);
        let steps = first.unwrap_or(compared.len());
        at = (at + steps) % all.len();
        in_vain += steps;
        if let Some(Ok(Some(found))) = first.and_then(|first| compared.into_iter().nth(first)) {
            failing = found;
            failing.program.steps.truncate(failing.step + 1);
            in_vain = 0;
        }
    }
}

/// The programs with one step or one field less.
fn smaller(program: &Program) -> Vec<Program> {
    let mut all = Vec::new();
    for at in 0..program.steps.len() {
        // References by number would refer to other steps.
        if !program.steps.iter().any(counts) {
            let mut without = program.clone();
            without.steps.remove(at);
            all.push(without);
        }
        let Some(body) = &program.steps[at].body else { continue };
        for body in less(body) {
            let mut without = program.clone();
            without.steps[at].body = Some(body);
            all.push(without);
        }
    }
    all
}

/// Whether a step refers to another one by number.
fn counts(step: &Step) -> bool {
    let text = format!("{} {:?}", step.r#do, step.body);
    text.split("${")
        .skip(1)
        .any(|reference| reference.starts_with(|c: char| c.is_ascii_digit()))
}

/// The value without one of its parts, at any depth.
fn less(value: &Value) -> Vec<Value> {
    let mut all = Vec::new();
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                let mut without = map.clone();
                without.remove(key);
                all.push(without.into());
                for inner in less(inner) {
                    let mut with = map.clone();
                    with.insert(key.clone(), inner);
                    all.push(with.into());
                }
            }
        }
        Value::Array(items) => {
            for (at, inner) in items.iter().enumerate() {
                let mut without = items.clone();
                without.remove(at);
                all.push(without.into());
                for inner in less(inner) {
                    let mut with = items.clone();
                    with[at] = inner;
                    all.push(with.into());
                }
            }
        }
        _ => {}
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_part_is_removed_once() {
        let all = less(&json!({"a": {"b": 1, "c": [2]}}));
        for expected in [json!({}), json!({"a": {"c": [2]}}), json!({"a": {"b": 1, "c": []}})] {
            assert!(all.contains(&expected), "{expected} is not among {all:?}");
        }
    }
}
