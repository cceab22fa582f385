//! `/healthz`, `/livez`, `/readyz`, `/version` and the list of paths at `/`.

use serde_json::{Value, json};

use crate::{
    catalogue::Snapshot,
    release,
    request::{Info, Query, accept::Format},
    response::{self, Answer},
    status::Status,
};

/// The checks that each of the three endpoints reports, in the order of the real server. This server is ready once it
/// answers, so every check passes.
const CHECKS: [(&str, &[&str]); 3] = [
    ("healthz", &["ping", "log", "etcd"]),
    ("livez", &["ping", "log", "etcd"]),
    (
        "readyz",
        &["ping", "log", "etcd", "etcd-readiness", "informer-sync", "shutdown"],
    ),
];

/// Answers one of these paths; `None` for other paths.
pub fn answer(info: &Info, query: &Query, catalogue: &Snapshot, format: Format) -> Option<Answer> {
    match info.path.as_str() {
        "/" | "/index.html" => Some(response::object(
            200,
            &json!({"paths": paths(catalogue)}),
            Format::Pretty,
        )),
        "/version" | "/version/" if info.verb == "get" => Some(response::object(200, &version(), Format::Pretty)),
        "/version" | "/version/" => Some(response::failure(&Status::method_not_allowed(), format)),
        path => health(path.strip_prefix('/')?, query),
    }
}

fn health(path: &str, query: &Query) -> Option<Answer> {
    let (probe, check) = path
        .split_once('/')
        .map_or((path, None), |(probe, check)| (probe, Some(check)));
    let (_, checks) = CHECKS.iter().find(|(name, _)| *name == probe)?;
    if let Some(check) = check {
        return checks.contains(&check).then(|| response::text(200, "ok"));
    }
    let excluded = |check: &str| {
        query
            .pairs()
            .iter()
            .any(|(name, value)| name == "exclude" && value == check)
    };
    if query.pairs().iter().all(|(name, _)| name != "verbose") {
        return Some(response::text(200, "ok"));
    }
    let lines = checks.iter().map(|check| match excluded(check) {
        true => format!("[+]{check} excluded: ok\n"),
        false => format!("[+]{check} ok\n"),
    });
    let lines: String = lines.collect();
    let unknown: Vec<String> = query
        .pairs()
        .iter()
        .filter(|(name, value)| name == "exclude" && !checks.contains(&value.as_str()))
        .map(|(_, value)| kubewright_machinery::go::quote(value))
        .collect();
    let warning = match unknown.join(", ") {
        none if none.is_empty() => String::new(),
        list => format!("warn: some health checks cannot be excluded: no matches for {list}\n"),
    };
    Some(response::text(200, format!("{lines}{warning}{probe} check passed\n")))
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
    for (probe, checks) in CHECKS {
        paths.push(format!("/{probe}"));
        paths.extend(checks.iter().map(|check| format!("/{probe}/{check}")));
    }
    paths.sort();
    paths.dedup();
    paths
}
