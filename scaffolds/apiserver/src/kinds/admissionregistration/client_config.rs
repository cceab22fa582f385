//! The address of a webhook: a URL or a Service.

use kubewright_machinery::url::Url;

use crate::kinds::{
    faults::{Faults, quoted},
    format::{port_number, subdomain},
    located::Located,
};

pub(super) fn validate(at: &Located<'_>, faults: &mut Faults) {
    let (url, service) = (at.get("url"), at.get("service"));
    match (url.is_set(), service.is_set()) {
        (true, false) => address(&url, faults),
        (false, true) => reference(&service, faults),
        _ => faults.required(at, "exactly one of url or service is required"),
    }
}

fn address(at: &Located<'_>, faults: &mut Faults) {
    const FORM: &str = "desired format: https://host[/path]";
    let url = match Url::parse(at.str()) {
        Ok(url) => url,
        Err(why) => return faults.required(at, &format!("url must be a valid URL: {why}; {FORM}")),
    };
    let mut wrong = |shown: &str, detail: &str| faults.invalid_as(at, &quoted(shown), detail);
    if url.scheme != "https" {
        wrong(&url.scheme, &format!("'https' is the only allowed URL scheme; {FORM}"));
    }
    if url.host.is_empty() {
        wrong("", &format!("host must be specified; {FORM}"));
    }
    if let Some(user) = &url.user {
        wrong(user, "user information is not permitted in the URL");
    }
    if !url.fragment.is_empty() {
        wrong(&url.fragment, "fragments are not permitted in the URL");
    }
    if !url.query.is_empty() {
        wrong(&url.query, "query parameters are not permitted in the URL");
    }
}

fn reference(at: &Located<'_>, faults: &mut Faults) {
    // As upstream, which passes name and namespace in the other order.
    for (field, named) in [("name", "namespace"), ("namespace", "name")] {
        if at.get(named).str().is_empty() {
            faults.required(&at.get(field), "");
        }
    }
    let port = at.get("port");
    if let Some(wrong) = port_number(port.int()) {
        faults.invalid(&port, &format!("port is not valid: {wrong}"));
    }
    path(&at.get("path"), faults);
}

fn path(at: &Located<'_>, faults: &mut Faults) {
    let path = at.str();
    if path.is_empty() || path == "/" {
        return;
    }
    if path == "//" {
        return faults.invalid(at, "segment[0] may not be empty");
    }
    if !path.starts_with('/') {
        faults.invalid(at, "must start with a '/'");
    }
    // As upstream, which takes the first byte for a slash.
    let rest = path.get(1..).unwrap_or_default();
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    for (index, segment) in rest.split('/').enumerate() {
        if segment.is_empty() {
            faults.invalid(at, &format!("segment[{index}] may not be empty"));
            continue;
        }
        for wrong in subdomain(segment) {
            faults.invalid(at, &format!("segment[{index}]: {wrong}"));
        }
    }
}
