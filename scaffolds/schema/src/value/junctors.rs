//! Validates `anyOf`, `oneOf`, `allOf` and `not`.

use super::check::plain;
use super::node::Node;
use super::verdict::{At, Verdict};
use kubewright_machinery::go;
use serde_json::Value;

pub(super) fn check(value: &Value, node: &Node, at: &At) -> Verdict {
    let mut verdict = Verdict::default();
    let junctors = &node.junctors;
    let place = || go::quote(&at.place.to_string());
    if !junctors.any_of.is_empty() {
        any_of(value, &junctors.any_of, at, &mut verdict);
    }
    if !junctors.one_of.is_empty() {
        one_of(value, &junctors.one_of, at, &mut verdict);
    }
    if !junctors.all_of.is_empty() {
        all_of(value, &junctors.all_of, at, &mut verdict);
    }
    if let Some(not) = &junctors.not
        && plain(value, not, at, None).is_valid()
    {
        verdict.add(at.general(format!("{} must not validate the schema (not)", place())));
    }
    verdict.checks += 1;
    verdict
}

/// Keeps the failed branch that passed the most checks; the first of several.
fn keep_best(best: &mut Option<Verdict>, failed: Verdict) {
    if best.as_ref().is_none_or(|best| failed.checks > best.checks) {
        *best = Some(failed);
    }
}

fn any_of(value: &Value, branches: &[Node], at: &At, verdict: &mut Verdict) {
    let mut best = None;
    for branch in branches {
        let result = plain(value, branch, at, None);
        if result.is_valid() {
            verdict.merge(result);
            return;
        }
        keep_best(&mut best, result);
    }
    let place = go::quote(&at.place.to_string());
    verdict.add(at.general(format!("{place} must validate at least one schema (anyOf)")));
    verdict.merge(best.unwrap_or_default());
}

fn one_of(value: &Value, branches: &[Node], at: &At, verdict: &mut Verdict) {
    let mut best = None;
    let mut valid = Vec::new();
    for branch in branches {
        let result = plain(value, branch, at, None);
        if result.is_valid() {
            valid.push(result);
        } else if valid.is_empty() {
            keep_best(&mut best, result);
        }
    }
    let found = match valid.len() {
        0 => "Found none valid".to_owned(),
        1 => {
            verdict.merge(valid.pop().unwrap_or_default());
            return;
        }
        count => format!("Found {count} valid alternatives"),
    };
    let place = go::quote(&at.place.to_string());
    verdict.add(at.general(format!(
        "{place} must validate one and only one schema (oneOf). {found}"
    )));
    if valid.is_empty() {
        verdict.merge(best.unwrap_or_default());
    }
}

fn all_of(value: &Value, branches: &[Node], at: &At, verdict: &mut Verdict) {
    let mut valid = 0;
    for branch in branches {
        let result = plain(value, branch, at, None);
        valid += usize::from(result.is_valid());
        verdict.merge(result);
    }
    if valid < branches.len() {
        let place = go::quote(&at.place.to_string());
        let none = if valid == 0 { ". None validated" } else { "" };
        verdict.add(at.general(format!("{place} must validate all the schemas (allOf){none}")));
    }
}
