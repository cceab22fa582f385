//! Refuses policies that the API server would refuse, or that could block a cluster, for other reasons than their expressions.

use std::collections::BTreeSet;

use kubewright_machinery::names::is_subdomain;
use kubewright_runtime::{Error, Result};

use super::{
    declare::{DeclaredPolicy, Policy},
    form::PolicyForm,
    params::ChosenParams,
};
use crate::scope::lint::{Checked, check as check_scope, is_of_kubernetes, selector, touchable, wrong};

/// Checks a declaration.
///
/// # Errors
///
/// [`Error::Setup`] with what is wrong, and what to do.
pub(crate) fn check<F: PolicyForm>(policy: &Policy<F>) -> Result<()> {
    let declared = &policy.declared;
    let checked = common(declared).and_then(|()| policy.form.lint(declared));
    checked.map_err(|[why, hint]| refused(declared, &why, &hint))
}

/// The error for a policy.
pub(super) fn refused(declared: &DeclaredPolicy, why: &str, hint: &str) -> Error {
    let name = &declared.name;
    Error::Setup(format!("the policy `{name}` is refused: {why}\n\nhint: {hint}"))
}

/// Checks the common part of both forms.
fn common(declared: &DeclaredPolicy) -> Checked {
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

fn params(declared: &DeclaredPolicy) -> Checked {
    let Some(params) = &declared.params else {
        return Ok(());
    };
    if let ChosenParams::Labels(labels) = &params.chosen {
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

/// Finds policies that could block a cluster.
fn dangers(declared: &DeclaredPolicy) -> Checked {
    touchable(&declared.scope, "no policy may be about")?;
    if is_of_kubernetes(&declared.scope.group) && declared.scope.failure_policy.is_none() {
        return wrong(
            "it is for a kind of Kubernetes, and says nothing of requests for which an expression has no value",
            "add `.failure_policy(FailurePolicy::Ignore)`, or `Fail` to refuse them",
        );
    }
    Ok(())
}
