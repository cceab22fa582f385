//! The requests that a webhook or a policy matches: by namespace, labels and rules.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;

use super::super::{Attributes, Objects, Operation};
use crate::{
    meta,
    resource::Resource,
    state::Core,
    status::{Status, Subject},
    store::Key,
    webhooks::{Rule, Selection},
};

/// A request, as rules and reviews see it.
pub(in crate::admission) struct Asked<'a> {
    pub attributes: &'a Attributes<'a>,
    /// Empty while the server has yet to generate it.
    pub name: String,
    /// The name of a Namespace itself.
    pub namespace: String,
}

/// The version for which a webhook is called or a policy evaluated, and the kind in it.
#[derive(Clone)]
pub(in crate::admission) struct Match {
    pub resource: Arc<Resource>,
    pub kind: Kind,
}

/// A kind: the resource's own, or that of the subresource.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(in crate::admission) struct Kind {
    pub group: String,
    pub version: String,
    pub name: String,
}

impl Kind {
    /// The kind of the objects of a request; `None` if the resource does not have the subresource.
    pub fn of(resource: &Resource, subresource: &str) -> Option<Self> {
        if subresource.is_empty() {
            return Some(Self {
                group: resource.group.clone(),
                version: resource.version.clone(),
                name: resource.names.kind.clone(),
            });
        }
        let found = resource.subresources.iter().find(|it| it.name == subresource)?;
        Some(Self {
            group: found.group.clone(),
            version: found.version.clone(),
            name: found.kind.clone(),
        })
    }
}

impl<'a> Asked<'a> {
    pub fn new(attributes: &'a Attributes<'a>, objects: &Objects<'_>) -> Self {
        let call = attributes.call;
        let name = match call.name.as_str() {
            // The deletion of a collection names no object.
            "" if attributes.operation == Operation::Create => objects.name().to_owned(),
            name => name.to_owned(),
        };
        let namespace = match call.subject() {
            NAMESPACES => name.clone(),
            _ => call.namespace().to_owned(),
        };
        Self {
            attributes,
            name,
            namespace,
        }
    }

    pub fn operation(&self) -> &'static str {
        match self.attributes.operation {
            Operation::Create => "CREATE",
            Operation::Update => "UPDATE",
            Operation::Delete => "DELETE",
            Operation::Connect => "CONNECT",
        }
    }

    pub fn resource(&self) -> &'a Arc<Resource> {
        &self.attributes.call.resource
    }

    pub fn subresource(&self) -> &'a str {
        &self.attributes.call.subresource
    }

    pub fn is_namespace(&self) -> bool {
        self.attributes.call.subject() == NAMESPACES
    }
}

/// The resource of Namespaces.
pub(in crate::admission) const NAMESPACES: Subject<'static> = Subject::new("", "namespaces");

/// Whether a request is selected, and in which version.
///
/// # Errors
/// 404 for a namespace that does not exist.
pub(in crate::admission) fn find(
    core: &Core,
    selection: &Selection,
    asked: &Asked<'_>,
    objects: &Objects<'_>,
) -> Result<Option<Match>, Status> {
    let in_namespace = is_in_namespace(core, selection, asked, objects);
    if matches!(in_namespace, Ok(false)) || !has_labels(selection, objects) {
        return Ok(None);
    }
    let is_equivalent = selection.is_equivalent;
    if by_rules(core, &selection.excluded, is_equivalent, asked).is_some() {
        return Ok(None);
    }
    let found = match &selection.rules {
        Some(rules) => by_rules(core, rules, is_equivalent, asked),
        None => Match::of(asked.resource(), asked),
    };
    if found.is_some() {
        in_namespace?;
    }
    Ok(found)
}

impl Match {
    fn of(resource: &Arc<Resource>, asked: &Asked<'_>) -> Option<Self> {
        let kind = Kind::of(resource, asked.subresource())?;
        let resource = Arc::clone(resource);
        Some(Self { resource, kind })
    }
}

/// Whether the namespace of a request has the wanted labels; what is in no namespace has them always.
///
/// # Errors
/// 404 for a namespace that does not exist.
fn is_in_namespace(
    core: &Core,
    selection: &Selection,
    asked: &Asked<'_>,
    objects: &Objects<'_>,
) -> Result<bool, Status> {
    if selection.namespaces.is_empty() || (asked.namespace.is_empty() && !asked.is_namespace()) {
        return Ok(true);
    }
    let writes = asked.attributes.operation != Operation::Delete;
    if asked.is_namespace() && asked.subresource().is_empty() && writes {
        return Ok(selection.namespaces.matches(&labels(objects.new.as_deref())));
    }
    let record = core.store.get(&Key::new("/namespaces", "", &asked.namespace));
    let record = record.ok_or_else(|| Status::not_found(NAMESPACES, &asked.namespace))?;
    Ok(selection.namespaces.matches(record.labels()))
}

/// Whether the object has the wanted labels, before or after the request.
fn has_labels(selection: &Selection, objects: &Objects<'_>) -> bool {
    let has = |object: Option<&Value>| object.is_some() && selection.objects.matches(&labels(object));
    selection.objects.is_empty() || has(objects.new.as_deref()) || has(objects.old)
}

fn labels(object: Option<&Value>) -> BTreeMap<String, String> {
    let labels = object.and_then(|object| meta::of(object).get("labels"));
    let labels = labels.and_then(Value::as_object).into_iter().flatten();
    labels
        .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
        .collect()
}

/// The version that rules name: that of the request if a rule has it, otherwise the first that a rule has of those that
/// share the objects.
fn by_rules(core: &Core, rules: &[Rule], is_equivalent: bool, asked: &Asked<'_>) -> Option<Match> {
    let own = asked.resource();
    if rules.iter().any(|rule| applies(rule, own, asked)) {
        return Match::of(own, asked);
    }
    if !is_equivalent || rules.is_empty() {
        return None;
    }
    let snapshot = core.catalogue.snapshot();
    let others = snapshot.sharing(&own.store_name());
    let others = || others.iter().filter(|other| other.api_version() != own.api_version());
    let mut all = rules.iter().flat_map(|rule| others().map(move |other| (rule, other)));
    let found = all.find_map(|(rule, other)| applies(rule, other, asked).then(|| Match::of(other, asked)));
    found.flatten()
}

/// Whether a rule applies to a request, if it were for this resource.
fn applies(rule: &Rule, resource: &Resource, asked: &Asked<'_>) -> bool {
    let lists = |items: &[String], wanted: &str| items.iter().any(|item| item == "*" || item == wanted);
    let is_clusterwide = asked.is_namespace() || asked.namespace.is_empty();
    let in_scope = match rule.scope.as_str() {
        "Namespaced" => !is_clusterwide,
        "Cluster" => is_clusterwide,
        scope => scope == "*",
    };
    in_scope
        && (rule.names.is_empty() || rule.names.contains(&asked.name))
        && lists(&rule.operations, asked.operation())
        && lists(&rule.groups, &resource.group)
        && lists(&rule.versions, &resource.version)
        && rule.resources.iter().any(|item| {
            let (name, subresource) = item.split_once('/').unwrap_or((item, ""));
            let is_same = |pattern: &str, text: &str| pattern == "*" || pattern == text;
            is_same(name, &resource.names.plural) && is_same(subresource, asked.subresource())
        })
}
