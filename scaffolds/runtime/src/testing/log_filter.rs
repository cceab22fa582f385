//! The log filter of the operator under test: `RUST_LOG`, and in any case the warnings of the runtime, which contain
//! refused requests.

use tracing::Level;
use tracing_subscriber::filter::Targets;

/// The target of the runtime's messages.
const RUNTIME: &str = "kubewright_runtime";

/// The directives that log all that these do, and the warnings of the runtime. Without directives, the default of operators.
pub(super) fn with_warnings(asked: &str) -> String {
    if asked.is_empty() {
        return "info".to_owned();
    }
    let kept: Vec<_> = asked.split(',').filter(|directive| !hides(directive)).collect();
    // Directives about spans change only the level inside of these.
    let by_target: Vec<_> = kept
        .iter()
        .copied()
        .filter(|directive| !is_about_spans(directive))
        .collect();
    let targets: Targets = by_target.join(",").parse().unwrap_or_default();
    let mut kept = kept.join(",");
    if !targets.would_enable(RUNTIME, &Level::WARN) {
        // If nothing else is left, the comma does not matter.
        kept.push_str(&format!(",{RUNTIME}=warn"));
    }
    kept
}

/// Whether the directive is about the runtime alone and leaves out its warnings, as `kubewright_runtime::worker=off`.
fn hides(directive: &str) -> bool {
    let target = directive.split('=').next().unwrap_or_default().trim();
    let is_about_runtime = target == RUNTIME || target.starts_with("kubewright_runtime::");
    let targets = directive.parse::<Targets>();
    is_about_runtime
        && !is_about_spans(directive)
        && targets.is_ok_and(|targets| !targets.would_enable(target, &Level::WARN))
}

/// Whether this is a directive, or a part of one, of the form `target[span{field=value,…}]=level`.
fn is_about_spans(directive: &str) -> bool {
    directive.contains(['[', ']', '{', '}'])
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use tracing_subscriber::{EnvFilter, Layer, fmt, layer::SubscriberExt};

    use super::*;

    #[test]
    fn all_that_is_asked_for_is_logged_and_warnings_of_the_runtime() {
        for (asked, expected) in [
            ("", "info"),
            ("info", "info"),
            ("debug", "debug"),
            ("error", "error,kubewright_runtime=warn"),
            ("off", "off,kubewright_runtime=warn"),
            ("my_operator=debug", "my_operator=debug,kubewright_runtime=warn"),
            ("error,kubewright_runtime=trace", "error,kubewright_runtime=trace"),
            ("info,kubewright_runtime=error", "info"),
            ("info,kubewright_runtime::worker=off,kube=debug", "info,kube=debug"),
            ("kubewright_runtime=off", ",kubewright_runtime=warn"),
            // A target is any beginning of a name.
            ("kube=off,warn", "kube=off,warn,kubewright_runtime=warn"),
            (
                "error,kubewright_runtime[reconcile{a=1,b=2}]=off",
                "error,kubewright_runtime[reconcile{a=1,b=2}]=off,kubewright_runtime=warn",
            ),
            // The operator refuses it, with the reason.
            ("info,kube=loud", "info,kube=loud,kubewright_runtime=warn"),
        ] {
            assert_eq!(with_warnings(asked), expected, "{asked}");
        }
    }

    #[test]
    fn the_filter_of_operators_reads_them() {
        for asked in [
            "error",
            "off",
            "my_operator=debug",
            "kubewright_runtime=off",
            "kubewright_runtime::worker=error,error",
        ] {
            let (mut page, writer) = std::io::pipe().unwrap();
            let lines = fmt::layer().with_ansi(false).with_writer(std::sync::Arc::new(writer));
            let filter = EnvFilter::try_new(with_warnings(asked)).unwrap();
            let log = tracing_subscriber::registry().with(lines.with_filter(filter));
            tracing::subscriber::with_default(log, || {
                tracing::warn!(target: "kubewright_runtime::worker::settle", "reconcile failed");
                tracing::info!(target: "kubewright_runtime::worker::settle", "not asked for");
            });
            // The writer was dropped with the log.
            let mut text = String::new();
            page.read_to_string(&mut text).unwrap();
            assert!(
                text.contains("reconcile failed") && !text.contains("not asked for"),
                "{asked}: {text}"
            );
        }
    }
}
