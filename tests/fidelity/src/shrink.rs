//! Makes a program that fails as small as it gets: without each step, then without each field of each body.

use anyhow::Result;
use serde_json::Value;

use crate::{
    Program, Step, Target,
    compare::{Difference, compare},
};

/// How often a smaller program is tried; enough for the programs of [`crate::random`].
const TRIES: usize = 300;

/// The smallest program found whose answers differ, with its difference.
///
/// # Errors
/// When a server cannot be asked.
pub async fn shrink(mut failing: Difference, real: &Target, ours: &Target, namespace: &str) -> Result<Difference> {
    failing.program.steps.truncate(failing.step + 1);
    let mut tries = 0;
    let mut at = 0;
    loop {
        let smaller = smaller(&failing.program);
        let Some(candidate) = smaller.into_iter().nth(at) else {
            return Ok(failing);
        };
        tries += 1;
        if tries > TRIES {
            return Ok(failing);
        }
        // A program that refers to an answer that is gone cannot be run: it is no smaller failure.
        match compare(&candidate, real, ours, &format!("{namespace}-{tries}")).await {
            Ok(Some(found)) if found.is_like(&failing) => {
                failing = found;
                failing.program.steps.truncate(failing.step + 1);
                at = 0;
            }
            _ => at += 1,
        }
    }
}

/// The programs that are one step or one field smaller.
fn smaller(program: &Program) -> Vec<Program> {
    let mut all = Vec::new();
    for at in 0..program.steps.len() {
        // References by number would point elsewhere.
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

/// Whether a step refers to another by number.
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
    fn every_part_is_left_out_once() {
        let all = less(&json!({"a": {"b": 1, "c": [2]}}));
        for expected in [json!({}), json!({"a": {"c": [2]}}), json!({"a": {"b": 1, "c": []}})] {
            assert!(all.contains(&expected), "{expected} is not among {all:?}");
        }
    }
}
