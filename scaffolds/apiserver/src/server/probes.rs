//! `/healthz`, `/livez`, `/readyz`, `/version` and the list of paths at `/`.

use std::sync::Arc;

use serde_json::{Value, json};

use super::incoming::Incoming;
use crate::{
    catalogue::Snapshot,
    release,
    request::{
        Query,
        accept::{self, Format},
    },
    response::{self, Answer},
    state::Core,
    status::Status,
};

/// The endpoints, with the checks that each reports before and after [`HOOKS`], in the order of the real server. This server is
/// ready once it answers, so every check passes while its disk works.
const ENDPOINTS: [(&str, &[&str], &[&str]); 3] = [
    ("healthz", &["ping", "log", "loopback-serving-certificate", "etcd"], &[]),
    ("livez", &["ping", "log", "loopback-serving-certificate", "etcd"], &[]),
    (
        "readyz",
        &["ping", "log", "etcd", "etcd-readiness", "informer-sync"],
        &["shutdown"],
    ),
];

/// The checks that fail with the disk.
const STORAGE: [&str; 2] = ["etcd", "etcd-readiness"];

/// Hooks that kube-apiserver starts before it is ready; each is a check of all endpoints.
const HOOKS: [&str; 30] = [
    "poststarthook/start-apiserver-admission-initializer",
    "poststarthook/generic-apiserver-start-informers",
    "poststarthook/priority-and-fairness-config-consumer",
    "poststarthook/priority-and-fairness-filter",
    "poststarthook/storage-object-count-tracker-hook",
    "poststarthook/start-apiextensions-informers",
    "poststarthook/start-apiextensions-controllers",
    "poststarthook/crd-informer-synced",
    "poststarthook/start-system-namespaces-controller",
    "poststarthook/peer-endpoint-reconciler-controller",
    "poststarthook/start-cluster-authentication-info-controller",
    "poststarthook/start-kube-apiserver-identity-lease-controller",
    "poststarthook/start-kube-apiserver-identity-lease-garbage-collector",
    "poststarthook/storage-readiness",
    "poststarthook/start-legacy-token-tracking-controller",
    "poststarthook/start-service-ip-repair-controllers",
    "poststarthook/rbac/bootstrap-roles",
    "poststarthook/scheduling/bootstrap-system-priority-classes",
    "poststarthook/priority-and-fairness-config-producer",
    "poststarthook/bootstrap-controller",
    "poststarthook/start-kubernetes-service-cidr-controller",
    "poststarthook/start-kube-aggregator-informers",
    "poststarthook/apiservice-status-local-available-controller",
    "poststarthook/apiservice-status-remote-available-controller",
    "poststarthook/apiservice-registration-controller",
    "poststarthook/apiservice-discovery-controller",
    "poststarthook/kube-apiserver-autoregistration",
    "autoregister-completion",
    "poststarthook/apiservice-openapi-controller",
    "poststarthook/apiservice-openapiv3-controller",
];

/// The checks of an endpoint; `None` if there is no such endpoint.
fn checks(endpoint: &str) -> Option<impl Iterator<Item = &'static str> + Clone> {
    let (_, before, after) = ENDPOINTS.iter().find(|(name, ..)| *name == endpoint)?;
    Some(before.iter().chain(&HOOKS).chain(*after).copied())
}

/// Answers one of these paths; `None` for other paths.
pub fn answer(request: &Incoming<'_>, core: &Core) -> Option<Answer> {
    const JSON: &str = "application/json";
    let Incoming {
        parts,
        info,
        query,
        format,
    } = *request;
    let headers = &parts.headers;
    match info.path.as_str() {
        "/" | "/index.html" => Some(response::object(
            200,
            &json!({"paths": paths(&core.catalogue.snapshot())}),
            Format::Pretty,
        )),
        "/version" | "/version/" if info.verb == "get" => Some(match accept::preferred(headers, &[JSON]) {
            Some(_) => response::object(200, &version(), Format::Pretty),
            None => response::failure(&accept::unavailable(&[JSON]), format),
        }),
        "/version" | "/version/" => Some(response::failure(&Status::method_not_allowed(), format)),
        path if path.starts_with("/version/") => Some(response::failure(&Status::no_such_resource(), format)),
        path => health(path.strip_prefix('/')?, query, core),
    }
}

fn health(path: &str, query: &Query, core: &Core) -> Option<Answer> {
    let (probe, check) = path
        .split_once('/')
        .map_or((path, None), |(probe, check)| (probe, Some(check)));
    let mut checks = checks(probe)?;
    if let Some(check) = check {
        return checks.any(|it| it == check).then(|| match failure(check, core) {
            None => response::plain(200, "ok"),
            Some(why) => response::text(500, format!("internal server error: {why}\n")),
        });
    }
    let excluded = |check: &str| {
        query
            .pairs()
            .iter()
            .any(|(name, value)| name == "exclude" && value == check)
    };
    let fails = |check: &str| !excluded(check) && failure(check, core).is_some();
    let has_failed = checks.clone().any(fails);
    if !has_failed && query.pairs().iter().all(|(name, _)| name != "verbose") {
        return Some(response::text(200, "ok"));
    }
    let lines = checks.clone().map(|check| match excluded(check) {
        true => format!("[+]{check} excluded: ok\n"),
        false if fails(check) => format!("[-]{check} failed: reason withheld\n"),
        false => format!("[+]{check} ok\n"),
    });
    let lines: String = lines.collect();
    let unknown: Vec<String> = query
        .pairs()
        .iter()
        .filter(|(name, value)| name == "exclude" && !checks.clone().any(|check| check == value))
        .map(|(_, value)| kubewright_machinery::go::quote(value))
        .collect();
    let warning = match unknown.join(", ") {
        none if none.is_empty() => String::new(),
        list => format!("warn: some health checks cannot be excluded: no matches for {list}\n"),
    };
    Some(match has_failed {
        true => response::text(500, format!("{lines}{warning}{probe} check failed\n")),
        false => response::text(200, format!("{lines}{warning}{probe} check passed\n")),
    })
}

/// The reason that a check fails.
fn failure(check: &str, core: &Core) -> Option<Arc<str>> {
    let lost = core.store.failure().filter(|_| STORAGE.contains(&check));
    lost.map(|lost| lost.0)
}

/// The version that clients see: that of the server whose behaviour this is, with build metadata that marks it as ours.
fn version() -> Value {
    let minor = release::minor();
    json!({
        "major": "1", "minor": minor.to_string(),
        "emulationMajor": "1", "emulationMinor": minor.to_string(),
        "minCompatibilityMajor": "1", "minCompatibilityMinor": (minor - 1).to_string(),
        "gitVersion": release::GIT_VERSION, "gitCommit": "", "gitTreeState": "",
        "buildDate": "1970-01-01T00:00:00Z", "goVersion": "", "compiler": "rustc",
        "platform": format!("{}/{}", std::env::consts::OS, architecture()),
    })
}

/// The processor architecture, by Go's name.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

fn paths(catalogue: &Snapshot) -> Vec<String> {
    let mut paths: Vec<String> = [
        "/.well-known/openid-configuration",
        "/api",
        "/apis",
        "/apis/",
        "/metrics",
        "/openapi/v2",
        "/openapi/v3",
        "/openapi/v3/",
        "/openid/v1/jwks",
        "/version",
    ]
    .map(str::to_owned)
    .to_vec();
    for group in catalogue.groups() {
        let root = if group.is_empty() {
            "/api".to_owned()
        } else {
            format!("/apis/{group}")
        };
        paths.extend(
            catalogue
                .versions(group)
                .iter()
                .map(|version| format!("{root}/{version}")),
        );
        paths.push(root);
    }
    for (probe, ..) in ENDPOINTS {
        paths.push(format!("/{probe}"));
        paths.extend(
            checks(probe)
                .into_iter()
                .flatten()
                .map(|check| format!("/{probe}/{check}")),
        );
    }
    paths.sort();
    paths.dedup();
    paths
}
