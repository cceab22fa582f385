//! The rules of `spec.conversion`.

use kubewright_machinery::cause::{Cause, Path};
use kubewright_machinery::names::{self, Unit};
use kubewright_machinery::url::Url;
use serde_json::Value;

/// Versions of ConversionReview that API servers support.
const REVIEWS: [&str; 2] = ["v1", "v1beta1"];

pub(super) fn check(conversion: &Value, path: &Path) -> Vec<Cause> {
    if !conversion.is_object() {
        return Vec::new();
    }
    let webhook = &conversion["webhook"];
    let (client, reviews) = (&webhook["clientConfig"], &webhook["conversionReviewVersions"]);
    let reviews = reviews.as_array().map(Vec::as_slice).unwrap_or_default();
    // In the server's paths these fields are one level higher than in the manifest.
    let client_path = path.child("webhookClientConfig");
    let reviews_path = path.child("conversionReviewVersions");
    let mut causes = Vec::new();
    match conversion["strategy"].as_str().unwrap_or_default() {
        "Webhook" => {
            if client.is_object() {
                causes.extend(client_config(client, &client_path));
            } else {
                causes.push(client_path.required("required when strategy is set to Webhook"));
            }
            causes.extend(review_versions(reviews, &reviews_path));
            return causes;
        }
        "None" => {}
        "" => causes.push(path.child("strategy").required("")),
        other => causes.push(path.child("strategy").unsupported(other, &["None", "Webhook"])),
    }
    if client.is_object() {
        causes.push(client_path.forbidden("should not be set when strategy is not set to Webhook"));
    }
    if !reviews.is_empty() {
        causes.push(reviews_path.forbidden("should not be set when strategy is not set to Webhook"));
    }
    causes
}

fn client_config(client: &Value, path: &Path) -> Vec<Cause> {
    let service = &client["service"];
    if client["url"].is_string() == service.is_object() {
        return vec![path.required("exactly one of url or service is required")];
    }
    if let Some(url) = client["url"].as_str() {
        return url_causes(url, &path.child("url"));
    }
    let path = path.child("service");
    let text = |key: &str| service[key].as_str().unwrap_or_default();
    let mut causes = Vec::new();
    // The server passes name and namespace to this check in the wrong order.
    for (key, value) in [("name", text("namespace")), ("namespace", text("name"))] {
        if value.is_empty() {
            causes.push(path.child(key).required(""));
        }
    }
    let port = service["port"].as_i64().unwrap_or(443);
    if !(1..=65535).contains(&port) {
        let detail = "port is not valid: must be between 1 and 65535, inclusive";
        causes.push(path.child("port").invalid(port, detail));
    }
    if let Some(url_path) = service["path"].as_str() {
        causes.extend(path_causes(url_path, &path.child("path")));
    }
    causes
}

fn url_causes(url: &str, path: &Path) -> Vec<Cause> {
    const FORM: &str = "; desired format: https://host[/path]";
    let url = match Url::parse(url) {
        Ok(url) => url,
        Err(why) => return vec![path.required(&format!("url must be a valid URL: {why}{FORM}"))],
    };
    let mut causes = Vec::new();
    if url.scheme != "https" {
        let detail = format!("'https' is the only allowed URL scheme{FORM}");
        causes.push(path.invalid(url.scheme.as_str(), &detail));
    }
    if url.host.is_empty() {
        causes.push(path.invalid("", &format!("host must be specified{FORM}")));
    }
    if let Some(user) = &url.user {
        causes.push(path.invalid(user.as_str(), "user information is not permitted in the URL"));
    }
    if !url.fragment.is_empty() {
        causes.push(path.invalid(url.fragment.as_str(), "fragments are not permitted in the URL"));
    }
    if !url.query.is_empty() {
        causes.push(path.invalid(url.query.as_str(), "query parameters are not permitted in the URL"));
    }
    causes
}

fn path_causes(url_path: &str, path: &Path) -> Vec<Cause> {
    if url_path.is_empty() || url_path == "/" {
        return Vec::new();
    }
    if url_path == "//" {
        return vec![path.invalid(url_path, "segment[0] may not be empty")];
    }
    let mut causes = Vec::new();
    if !url_path.starts_with('/') {
        causes.push(path.invalid(url_path, "must start with a '/'"));
    }
    // The server removes the first byte, even if it is not a slash.
    let inner = url_path.get(1..).unwrap_or_default();
    for (index, step) in inner.strip_suffix('/').unwrap_or(inner).split('/').enumerate() {
        if step.is_empty() {
            causes.push(path.invalid(url_path, &format!("segment[{index}] may not be empty")));
            continue;
        }
        for error in names::subdomain(step, Unit::Characters) {
            causes.push(path.invalid(url_path, &format!("segment[{index}]: {error}")));
        }
    }
    causes
}

fn review_versions(versions: &[Value], path: &Path) -> Vec<Cause> {
    if versions.is_empty() {
        return vec![path.required("")];
    }
    let mut causes = Vec::new();
    let mut seen = Vec::new();
    for (index, version) in versions.iter().enumerate() {
        let version = version.as_str().unwrap_or_default();
        if seen.contains(&version) {
            causes.push(path.index(index).invalid(version, "duplicate version"));
            continue;
        }
        seen.push(version);
        causes.extend(
            names::label_1035(version, Unit::Characters)
                .iter()
                .map(|error| path.index(index).invalid(version, error)),
        );
    }
    if !seen.iter().any(|version| REVIEWS.contains(version)) {
        let detail = format!("must include at least one of {}", REVIEWS.join(", "));
        causes.push(path.invalid(versions.to_vec(), &detail));
    }
    causes
}
