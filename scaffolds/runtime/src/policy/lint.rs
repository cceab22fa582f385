//! Refuses policies that the API server would refuse, or that could block a cluster, for other reasons than their expressions.

use std::collections::BTreeSet;

use kubewright_machinery::{labels, names::is_subdomain};

use super::{
    declare::{Declared, Policy, Validating, ValidationAction},
    params::Chosen,
};
use crate::{
    error::{Error, Result},
    scope::lint::{Checked, check as check_scope, is_of_kubernetes, selector, touchable, wrong},
};

/// The most audit annotations that the API allows.
const MOST_ANNOTATIONS: usize = 20;

/// Checks a declaration.
///
/// # Errors
///
/// [`Error::Setup`] with what is wrong, and what to do.
pub(crate) fn check(policy: &Policy<Validating>) -> Result<()> {
    let declared = &policy.declared;
    let checked = common(declared)
        .and_then(|()| form(&policy.form))
        .and_then(|()| annotations(declared, &policy.form));
    checked.map_err(|[why, hint]| refused(declared, &why, &hint))
}

/// The error for a policy.
pub(super) fn refused(declared: &Declared, why: &str, hint: &str) -> Error {
    let name = &declared.name;
    Error::Setup(format!("the policy `{name}` is refused: {why}\n\nhint: {hint}"))
}

/// What both forms have.
fn common(declared: &Declared) -> Checked {
    if !is_subdomain(&declared.name) {
        return wrong("that is not a name", "use lower case letters, digits, `-` and `.`");
    }
    check_scope(&declared.scope, "it is about")?;
    variables(&declared.variables)?;
    params(declared)?;
    dangers(declared)
}

/// The names of variables.
fn variables(all: &[[String; 2]]) -> Checked {
    let mut seen = BTreeSet::new();
    for [name, _] in all {
        let mut letters = name.chars();
        let is_first = |c: char| c == '_' || c.is_ascii_alphabetic();
        if !letters.next().is_some_and(is_first) || !letters.all(|c| is_first(c) || c.is_ascii_digit()) {
            let why = format!("`{name}` cannot be the name of a variable");
            return wrong(why, "use letters, digits and `_`");
        }
        if !seen.insert(name) {
            return wrong(format!("two variables are named `{name}`"), "give each its own name");
        }
    }
    Ok(())
}

fn params(declared: &Declared) -> Checked {
    let Some(params) = &declared.params else {
        return Ok(());
    };
    if let Chosen::Labels(labels) = &params.chosen {
        selector("params", Some(labels))?;
    }
    match (&params.namespace, params.namespaced, declared.scope.namespaced) {
        (Some(_), false, _) => wrong(
            format!("a {} is in no namespace", params.kind),
            "leave out `.namespace(…)` of the params",
        ),
        (None, true, false) => wrong(
            format!(
                "a {} is in no namespace, so there is none to find params in",
                declared.scope.kind
            ),
            "name one with `.namespace(…)` of the params",
        ),
        _ => Ok(()),
    }
}

/// What could block a cluster.
fn dangers(declared: &Declared) -> Checked {
    touchable(&declared.scope, "no policy may be about")?;
    if is_of_kubernetes(&declared.scope.group) && declared.scope.failure_policy.is_none() {
        return wrong(
            "it is for a kind of Kubernetes, and says nothing of requests for which an expression has no value",
            "add `.failure_policy(FailurePolicy::Ignore)`, or `Fail` to refuse them",
        );
    }
    Ok(())
}

fn form(form: &Validating) -> Checked {
    if form.validations.is_empty() && form.annotations.is_empty() {
        return wrong("it demands nothing", "add `.validation(…)`");
    }
    if [ValidationAction::Deny, ValidationAction::Warn]
        .iter()
        .all(|it| form.actions.contains(it))
    {
        return wrong("a request is refused or warned about, not both", "leave out one action");
    }
    let messages = form.validations.iter().filter_map(|it| it.message.as_deref());
    for message in messages {
        if message.trim().is_empty() || message.trim().contains(['\n', '\r']) {
            return wrong("a message is one line of text", "leave it out, or join its lines");
        }
    }
    Ok(())
}

fn annotations(declared: &Declared, form: &Validating) -> Checked {
    if form.annotations.len() > MOST_ANNOTATIONS {
        return wrong("it has more than 20 audit annotations", "leave some out");
    }
    let mut seen = BTreeSet::new();
    for [key, _] in &form.annotations {
        if !labels::key(&format!("{}/{key}", declared.name)).is_empty() {
            let why = format!("`{key}` cannot be the key of an audit annotation");
            return wrong(why, "use a key such as `target`");
        }
        if !seen.insert(key) {
            let why = format!("two audit annotations have the key `{key}`");
            return wrong(why, "give each its own key");
        }
    }
    Ok(())
}
