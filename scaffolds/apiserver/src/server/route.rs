//! Finds the resource and checks the method of a request, and answers the requests for everything that is not served.

use std::sync::Arc;

use http::Method;

use super::incoming::Incoming;
use crate::{
    catalogue::Snapshot,
    request::Info,
    resource::Resource,
    response::{self, Answer},
    status::{Status, Subject},
};

/// Finds the resource of a path, and checks that it supports the requested verb.
///
/// # Errors
/// The answer to send: 405, or 404, which is a Status below the server's own groups and plain text below other groups.
pub fn route(request: &Incoming<'_>, catalogue: &Snapshot) -> Result<Arc<Resource>, Box<Answer>> {
    let Incoming { info, format, .. } = *request;
    let is_core = info.path.starts_with("/api/");
    let is_built_in =
        is_core || !info.path.starts_with("//") && !info.group.is_empty() && catalogue.is_built_in(&info.group);
    let resource = catalogue.resource(&info.group, &info.version, &info.resource);
    if let Some(resource) = &resource
        && !is_built_in
        && info.is_whole
        && scope_fits(info, resource)
        && !has_subresource(info, resource)
    {
        // Upstream looks up the custom resource first, and then finds no object of that name.
        let status = Status::not_found(Subject::new(&info.group, &info.resource), &info.name);
        let mut answer = response::failure(&status, format);
        let deprecation: Vec<String> = resource
            .rules()
            .deprecation
            .as_deref()
            .map(str::to_owned)
            .into_iter()
            .collect();
        response::warn(&mut answer, &deprecation);
        return Err(Box::new(answer));
    }
    let Some(resource) = resource.filter(|resource| info.is_whole && fits(info, resource, is_built_in)) else {
        return Err(Box::new(match is_built_in {
            true => response::failure(&Status::no_such_resource(), format),
            false => response::page_not_found(),
        }));
    };
    // A GET of a subresource without the name of an object is no list.
    let verb = match (info.subresource.is_empty(), info.verb.as_str()) {
        (false, "list") => "get",
        (_, verb) => verb,
    };
    // Authorization treats HEAD as GET; the router does not support HEAD.
    if request.parts.method != Method::HEAD && verbs(info, &resource).contains(&verb) {
        return Ok(resource);
    }
    let status = match is_built_in {
        true => Status::method_not_allowed(),
        false => Status::not_supported(Subject::new(&info.group, &info.resource), &info.verb),
    };
    Err(Box::new(response::failure(&status, format)))
}

/// Refuses paths without the name or the namespace of an object, and names that no object can have because they have a
/// meaning in a path.
///
/// # Errors
/// 400; for a namespace 500, with the words of the real server's storage.
pub fn check_names(info: &Info) -> Result<(), Status> {
    if info.name.is_empty() && !info.subresource.is_empty() {
        return Err(Status::bad_request("name must be provided"));
    }
    if info.has_empty_namespace && !info.name.is_empty() && info.verb != "watch" {
        return Err(Status::bad_request("Namespace parameter required."));
    }
    if [".", ".."].contains(&info.namespace.as_str()) {
        let name = if info.name.is_empty() {
            String::new()
        } else {
            format!("/{}", info.name)
        };
        let key = format!("/{}/{}{name}", info.resource, info.namespace);
        return Err(Status::new(
            500,
            "",
            format!("invalid key: {}", kubewright_machinery::go::quote(&key)),
        ));
    }
    let why = match info.name.as_str() {
        name @ ("." | "..") => format!("may not be '{name}'"),
        name if name.contains('%') => "may not contain '%'".to_owned(),
        _ => return Ok(()),
    };
    let name = kubewright_machinery::go::quote(&info.name);
    Err(Status::bad_request(format!("Name parameter invalid: {name}: {why}")))
}

/// Whether the path has a namespace if and only if the resource is namespaced, and whether its subresource exists. The
/// routes of built-in resources have a place for the namespace, which may be empty.
fn fits(info: &Info, resource: &Resource, is_built_in: bool) -> bool {
    let is_in_scope = match is_built_in && info.has_empty_namespace {
        true => resource.namespaced,
        false => scope_fits(info, resource),
    };
    is_in_scope && has_subresource(info, resource)
}

fn has_subresource(info: &Info, resource: &Resource) -> bool {
    info.subresource.is_empty() || subresource_verbs(info, resource).is_some()
}

fn scope_fits(info: &Info, resource: &Resource) -> bool {
    match (resource.namespaced, info.namespace.is_empty()) {
        (true, true) => info.name.is_empty(),
        (true, false) => true,
        (false, true) => true,
        (false, false) => info.is_namespace(),
    }
}

fn subresource_verbs(info: &Info, resource: &Resource) -> Option<&'static [&'static str]> {
    resource
        .subresources
        .iter()
        .find(|it| it.name == info.subresource)
        .map(|it| it.verbs)
}

fn verbs<'a>(info: &Info, resource: &'a Resource) -> Vec<&'a str> {
    if !info.subresource.is_empty() {
        return subresource_verbs(info, resource).unwrap_or_default().to_vec();
    }
    let is_everywhere = resource.namespaced && info.namespace.is_empty() && !info.has_empty_namespace;
    let on_path: &[&str] = match (info.name.is_empty(), is_everywhere) {
        (false, _) => &["get", "update", "patch", "delete", "watch"],
        (true, true) => &["list", "watch"],
        (true, false) => &["list", "watch", "create", "deletecollection"],
    };
    resource
        .verbs
        .iter()
        .copied()
        .filter(|verb| on_path.contains(verb))
        .collect()
}
