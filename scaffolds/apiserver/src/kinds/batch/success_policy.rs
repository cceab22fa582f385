//! The successPolicy of a Job: when an indexed Job has succeeded although some of its Pods have not.

use serde_json::Value;

use crate::kinds::{
    faults::{Faults, quoted},
    located::Located,
};

/// The maximum number of rules.
const MOST_RULES: usize = 20;

/// The maximum length of a list of indexes, in bytes.
const LONGEST: usize = 64 * 1024;

pub(in crate::kinds) fn success_policy(spec: &Located<'_>, faults: &mut Faults) {
    let policy = spec.get("successPolicy");
    if !policy.is_set() {
        return;
    }
    if spec.get("completionMode").str() != "Indexed" {
        return faults.invalid_as(&policy, &shown(&policy), "requires indexed completion mode");
    }
    let rules = policy.get("rules");
    if rules.len() == 0 {
        let detail = "at least one rules must be specified when the successPolicy is specified";
        faults.required(&rules, detail);
    }
    if rules.len() > MOST_RULES {
        faults.too_many(&rules, MOST_RULES);
    }
    let completions = spec.get("completions").int();
    rules.items().for_each(|item| rule(&item, completions, faults));
}

fn rule(at: &Located<'_>, completions: i64, faults: &mut Faults) {
    let (indexes, count) = (at.get("succeededIndexes"), at.get("succeededCount"));
    if !indexes.is_set() && !count.is_set() {
        let detail = "at least one of succeededCount or succeededIndexes must be specified";
        faults.required(at, detail);
    }
    let mut total = 0;
    if indexes.is_set() {
        if indexes.str().len() > LONGEST {
            faults.too_long(&indexes, LONGEST);
        }
        match how_many(indexes.str(), completions) {
            Ok(found) => total = found,
            Err(why) => faults.invalid(&indexes, &format!("error parsing succeededIndexes: {why}")),
        }
    }
    if count.is_set() {
        faults.not_negative(&count);
        let mut at_most = |most: i64, of: &str| {
            if count.int() > most {
                faults.invalid(
                    &count,
                    &format!("must be less than or equal to {most} (the number of {of})"),
                );
            }
        };
        at_most(completions, "specified completions");
        if indexes.is_set() {
            at_most(total, "indexes in the specified succeededIndexes field");
        }
    }
}

/// The number of indexes in a text such as `1,3-5`, which must be ascending and below `completions`.
fn how_many(text: &str, completions: i64) -> Result<i64, String> {
    let mut total = 0;
    let mut last = None;
    for part in text.split(',').filter(|_| !text.is_empty()) {
        let (from, to) = interval(part, completions)?;
        if let Some(last) = last.filter(|last| *last >= from) {
            return Err(format!("non-increasing order, previous: {last}, current: {from}"));
        }
        total += to - from + 1;
        last = Some(to);
    }
    Ok(total)
}

fn interval(part: &str, completions: i64) -> Result<(i64, i64), String> {
    let ends: Vec<&str> = part.split('-').collect();
    let index = |text: &str| match text.parse::<i64>() {
        Err(_) => Err(format!("cannot convert string to integer for index: {}", quoted(text))),
        Ok(index) if index >= completions => Err(format!("too large index: {}", quoted(text))),
        Ok(index) => Ok(index),
    };
    match ends.as_slice() {
        [only] => index(only).map(|only| (only, only)),
        [from, to] => match (index(from)?, index(to)?) {
            (from, to) if from >= to => Err(format!("non-increasing order, previous: {from}, current: {to}")),
            both => Ok(both),
        },
        _ => Err(format!(
            "the fragment {} violates the requirement that an index interval can have at most two parts separated by '-'",
            quoted(part)
        )),
    }
}

/// The policy in Go's notation, with Go's field names.
fn shown(policy: &Located<'_>) -> String {
    let rule = |rule: Located<'_>| {
        let (indexes, count) = (rule.get("succeededIndexes"), rule.get("succeededCount"));
        format!(
            r#"{{"SucceededIndexes":{},"SucceededCount":{}}}"#,
            indexes.value, count.value
        )
    };
    let rules = policy.get("rules");
    match rules.value {
        Value::Array(_) => {
            let rules: Vec<String> = rules.items().map(rule).collect();
            format!(r#"{{"Rules":[{}]}}"#, rules.join(","))
        }
        _ => r#"{"Rules":null}"#.to_owned(),
    }
}
