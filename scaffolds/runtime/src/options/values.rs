//! The valid values of single options.

use tracing_subscriber::EnvFilter;

use crate::selector;

/// A namespace's name, or the empty string: Go operators use `WATCH_NAMESPACE=""` for all namespaces.
pub(super) fn namespace(text: &str) -> std::result::Result<String, String> {
    let name = text.trim();
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let edges = !name.starts_with('-') && !name.ends_with('-');
    if name.len() <= 63 && edges && name.chars().all(inner) {
        Ok(name.to_owned())
    } else {
        Err("a namespace has at most 63 small letters, digits and inner `-`".to_owned())
    }
}

pub(super) fn label_selector(text: &str) -> std::result::Result<String, String> {
    selector::parse(text).map_err(|error| error.to_string())?;
    Ok(text.trim().to_owned())
}

pub(super) fn per_second(text: &str) -> std::result::Result<f64, String> {
    let number = text
        .parse::<f64>()
        .ok()
        .filter(|number| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| "a number of requests per second, or 0".to_owned())
}

pub(super) fn directives(text: &str) -> std::result::Result<String, String> {
    EnvFilter::try_new(text)
        .map(|_| text.to_owned())
        .map_err(|error| error.to_string())
}

pub(super) fn http1(text: &str) -> std::result::Result<bool, String> {
    let refused = "HTTP/2 is not built in, and neither Kubernetes nor Prometheus needs it here";
    switch(text, Some(refused))
}

pub(super) fn profiled(text: &str) -> std::result::Result<bool, String> {
    let absent = "the feature `pprof` of kubewright-runtime is not built in: add `features = [\"pprof\"]` to it in the \
                  operator's Cargo.toml (x86-64 and ARM64, on Unix only)";
    let is_built = cfg!(all(
        feature = "pprof",
        unix,
        any(target_arch = "x86_64", target_arch = "aarch64")
    ));
    switch(text, (!is_built).then_some(absent))
}

/// Reads the value of a flag that may not be turned on if there is a reason.
fn switch(text: &str, refused: Option<&str>) -> std::result::Result<bool, String> {
    match (text, refused) {
        ("false", _) => Ok(false),
        ("true", None) => Ok(true),
        ("true", Some(why)) => Err(why.to_owned()),
        _ => Err("true or false".to_owned()),
    }
}
