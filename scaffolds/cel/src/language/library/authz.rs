//! The library for authorization: builds a request step by step, and sends it.

use crate::language::value::{Fault, Foreign, Outcome, Val};
use kubewright_machinery::names::{Unit, label, subdomain};
use std::fmt;
use std::sync::Arc;

/// Somebody's request, as an authorizer judges it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Asked {
    /// Namespace and name of the service account that is asked about, instead of the user of the admitted request.
    pub account: Option<Account>,
    /// The path of a request that is not for a resource; empty for resources.
    pub path: String,
    /// The API group of the resource.
    pub group: String,
    /// The plural of the resource.
    pub resource: String,
    /// The subresource; empty for the resource itself.
    pub subresource: String,
    /// The namespace; empty for the whole cluster.
    pub namespace: String,
    /// The name of the object; empty for any.
    pub name: String,
    /// The verb.
    pub verb: String,
}

/// A service account.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Account {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// An authorizer's answer.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Decision {
    /// Whether the request is allowed.
    pub allowed: bool,
    /// The reason; may be empty.
    pub reason: String,
}

/// Whom expressions ask.
#[derive(Clone)]
pub struct Authorizer(Arc<dyn Fn(&Asked) -> Decision + Send + Sync>);

impl Authorizer {
    /// An authorizer that decides by this function.
    pub fn new(decide: impl Fn(&Asked) -> Decision + Send + Sync + 'static) -> Self {
        Self(Arc::new(decide))
    }
}

impl fmt::Debug for Authorizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Authorizer")
    }
}

/// The step in building a question.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::language) enum Step {
    Start,
    Group,
    Resource,
    Path,
}

/// A question that is being built.
#[derive(Clone, Debug)]
pub(in crate::language) struct Question {
    pub(in crate::language) step: Step,
    pub(in crate::language) asked: Asked,
    pub(in crate::language) authorizer: Authorizer,
}

impl Question {
    pub(in crate::language) fn type_name(&self) -> &'static str {
        match self.step {
            Step::Start => "kubernetes.authorization.Authorizer",
            Step::Group => "kubernetes.authorization.GroupCheck",
            Step::Resource => "kubernetes.authorization.ResourceCheck",
            Step::Path => "kubernetes.authorization.PathCheck",
        }
    }

    /// The same question after one more step.
    fn with(&self, step: Step, change: impl FnOnce(&mut Asked)) -> Foreign {
        let mut next = self.clone();
        next.step = step;
        change(&mut next.asked);
        Foreign::Question(next)
    }

    fn ask(&self, verb: &str) -> Foreign {
        let asked = Asked {
            verb: verb.to_owned(),
            ..self.asked.clone()
        };
        Foreign::Decision((self.authorizer.0)(&asked))
    }
}

/// Calls a function of a question; `None` if it has no such function.
pub(super) fn of_question<'a>(function: &str, question: &Question, rest: &[Val<'a>]) -> Option<Outcome<Val<'a>>> {
    let texts: Option<Vec<&str>> = rest
        .iter()
        .map(|value| match value {
            Val::String(text) => Some(text.as_ref()),
            _ => None,
        })
        .collect();
    let next = match (question.step, function, texts?.as_slice()) {
        (Step::Start, "path", [path]) if path.trim().is_empty() => Err("path must not be empty"),
        (Step::Start, "path", [path]) => Ok(question.with(Step::Path, |it| it.path = (*path).to_owned())),
        (Step::Start, "group", [group]) => Ok(question.with(Step::Group, |it| it.group = (*group).to_owned())),
        (Step::Start, "serviceAccount", [namespace, name]) => account(question, namespace, name),
        (Step::Group, "resource", [name]) if name.trim().is_empty() => Err("resource must not be empty"),
        (Step::Group, "resource", [name]) => Ok(question.with(Step::Resource, |it| it.resource = (*name).to_owned())),
        (Step::Resource, "subresource", [name]) => {
            Ok(question.with(Step::Resource, |it| it.subresource = (*name).to_owned()))
        }
        (Step::Resource, "namespace", [name]) => {
            Ok(question.with(Step::Resource, |it| it.namespace = (*name).to_owned()))
        }
        (Step::Resource, "name", [name]) => Ok(question.with(Step::Resource, |it| it.name = (*name).to_owned())),
        // Roles do not depend on selectors.
        (Step::Resource, "fieldSelector" | "labelSelector", [_]) => Ok(question.with(Step::Resource, |_| {})),
        (Step::Resource | Step::Path, "check", [verb]) => Ok(question.ask(verb)),
        _ => return None,
    };
    Some(next.map(Val::foreign).map_err(Fault::new))
}

fn account(question: &Question, namespace: &str, name: &str) -> Result<Foreign, &'static str> {
    if !subdomain(name, Unit::Bytes).is_empty() {
        return Err("Invalid service account name");
    }
    if !label(namespace, Unit::Bytes).is_empty() {
        return Err("Invalid service account namespace");
    }
    let account = Account {
        namespace: namespace.to_owned(),
        name: name.to_owned(),
    };
    Ok(question.with(Step::Start, |it| it.account = Some(account)))
}

/// Calls a function of a decision; `None` if it has no such function. An authorizer by roles has no errors.
pub(super) fn of_decision<'a>(function: &str, decision: &Decision) -> Option<Outcome<Val<'a>>> {
    Some(Ok(match function {
        "allowed" => Val::Bool(decision.allowed),
        "reason" => Val::text(decision.reason.as_str()),
        "errored" => Val::Bool(false),
        "error" => Val::text(""),
        _ => return None,
    }))
}
