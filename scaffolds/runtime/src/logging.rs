//! The process' log on stderr, and its traces where they are wanted. Nothing but set-up: whoever has something to say uses
//! `tracing`.

use std::io::{self, IsTerminal};

use tracing::{Level, Metadata};
use tracing_subscriber::{EnvFilter, Layer, filter::filter_fn, fmt, layer::SubscriberExt, util::SubscriberInitExt};

use crate::{
    error::{Error, Result},
    options::{LogFormat, Options},
};

/// Starts logging as the flags ask: `--log-level`, else `RUST_LOG`, else `info`. Text is coloured on a terminal only, and
/// never when `NO_COLOR` is set.
///
/// With the feature `otel` spans are sent to a collector too, if the environment names one, as `service` unless it says
/// otherwise. What is not sent yet is sent when the returned value is dropped.
///
/// A log that the process has set up already stands, as in tests that run several operators.
///
/// # Errors
///
/// [`Error::Setup`] when `RUST_LOG` cannot be understood, or a collector cannot be sent to.
pub fn init(options: &Options, service: &str) -> Result<Option<Traces>> {
    let (layer, traces) = traces(service)?.unzip();
    let registry = tracing_subscriber::registry().with(filter(options)?).with(layer);
    let writer = io::stderr;
    // An error means that there is a log already.
    let _ = match options.log_format {
        LogFormat::Text => {
            let colour =
                io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
            let lines = fmt::layer().with_ansi(colour).with_writer(writer);
            registry.with(lines.with_filter(filter_fn(may_be_logged))).try_init()
        }
        LogFormat::Json => {
            let objects = fmt::layer()
                .json()
                .flatten_event(true)
                .with_span_list(false)
                .with_writer(writer);
            registry.with(objects.with_filter(filter_fn(may_be_logged))).try_init()
        }
    };
    Ok(traces)
}

#[cfg(feature = "otel")]
pub use crate::otel::Traces;

/// There are none.
#[cfg(not(feature = "otel"))]
pub type Traces = std::convert::Infallible;

/// What is logged and what of it is sent to a collector.
type Filtered = tracing_subscriber::layer::Layered<EnvFilter, tracing_subscriber::Registry>;
type Exported = Box<dyn Layer<Filtered> + Send + Sync>;

#[cfg(feature = "otel")]
fn traces(service: &str) -> Result<Option<(Exported, Traces)>> {
    let traces = crate::otel::from_environment(service)?;
    Ok(traces.map(|traces| {
        // The same secrets as in the log.
        let layer = traces.layer().with_filter(filter_fn(may_be_logged));
        let layer: Exported = Box::new(layer);
        (layer, traces)
    }))
}

#[cfg(not(feature = "otel"))]
fn traces(_: &str) -> Result<Option<(Exported, Traces)>> {
    Ok(None)
}

fn filter(options: &Options) -> Result<EnvFilter> {
    let rust_log = || std::env::var("RUST_LOG").ok().filter(|value| !value.is_empty());
    let directives = options
        .log_level
        .clone()
        .or_else(rust_log)
        .unwrap_or_else(|| "info".to_owned());
    EnvFilter::try_new(&directives).map_err(|error| {
        Error::Setup(format!(
            "RUST_LOG is `{directives}`, which is no filter: {error}\n\nhint: try RUST_LOG=info"
        ))
    })
}

/// Whatever the level: kube writes answers that it cannot decode into the log, and an answer may be a Secret. And it
/// reports each failed request as an error without saying what was asked for; whoever sent it says so too, with the reason.
fn may_be_logged(metadata: &Metadata<'_>) -> bool {
    match metadata.target() {
        "kube_client::client" => metadata.is_span(),
        "kube_client::client::builder" => metadata.is_span() || *metadata.level() > Level::WARN,
        // Each retry of a failing watch: the informer tells the first, and then ever fewer, with the kind's name.
        "kube_runtime::watcher" => metadata.is_span() || *metadata.level() > Level::WARN,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use std::{io::Read, sync::Arc};

    use tracing::{debug, error, info, warn};

    use super::*;

    #[test]
    fn bodies_of_answers_are_never_logged() {
        let (mut page, writer) = io::pipe().unwrap();
        let lines = fmt::layer().with_ansi(false).with_writer(Arc::new(writer));
        let log = tracing_subscriber::registry()
            .with(EnvFilter::new("trace"))
            .with(lines.with_filter(filter_fn(may_be_logged)));
        tracing::subscriber::with_default(log, || {
            // As kube-client's `Client::request` and its trace layer say it.
            warn!(target: "kube_client::client", "{}, {:?}", "{\"password\":\"hunter2\"}", "expected value");
            error!(target: "kube_client::client::builder", "failed with status 503");
            debug!(target: "kube_client::client::builder", "requesting");
            info!(target: "my_operator", "hello");
        });
        // The writer has gone with the log.
        let mut text = String::new();
        page.read_to_string(&mut text).unwrap();
        assert!(
            !text.contains("hunter2") && !text.contains("failed with status"),
            "{text}"
        );
        assert!(text.contains("requesting") && text.contains("hello"), "{text}");
    }
}
