//! Sets up the process' log on stderr, and its traces if they are enabled. To log, use `tracing`.

use std::{
    backtrace::{Backtrace, BacktraceStatus},
    borrow::Cow,
    io::{self, IsTerminal, Write},
    panic,
};

use tracing::{Level, Metadata, error};
use tracing_subscriber::{
    EnvFilter, Layer, filter::filter_fn, fmt, layer::SubscriberExt, registry::LookupSpan, util::SubscriberInitExt,
};

use crate::{
    error::{Error, Result},
    options::{LogFormat, Options},
};

/// Starts logging as the flags specify: `--log-level`, else `RUST_LOG`, else `info`. Text is coloured on a terminal
/// only, and never if `NO_COLOR` is set.
///
/// With the feature `otel`, spans are also sent to a collector if the environment names one, with the service name
/// `service` unless the environment sets another. Unsent spans are sent when the returned value is dropped.
///
/// If the process has set up a log already, that one stays, as in tests that run several operators.
///
/// # Errors
///
/// [`Error::Setup`] if `RUST_LOG` is invalid, or the collector's configuration is.
pub fn init(options: &Options, service: &str) -> Result<Option<Traces>> {
    let (layer, traces) = traces(service)?.unzip();
    let registry = tracing_subscriber::registry().with(filter(options)?).with(layer);
    let writer = io::stderr;
    // An error means that a log is set up already.
    let _ = match options.log_format {
        LogFormat::Text => {
            let colour =
                io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
            let lines = text(writer, colour);
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

/// The feature `otel` is not enabled, so this has no value.
#[cfg(not(feature = "otel"))]
pub type Traces = std::convert::Infallible;

/// The registry with the log's filter, which also applies to the spans for a collector.
type Filtered = tracing_subscriber::layer::Layered<EnvFilter, tracing_subscriber::Registry>;
type Exported = Box<dyn Layer<Filtered> + Send + Sync>;

#[cfg(feature = "otel")]
fn traces(service: &str) -> Result<Option<(Exported, Traces)>> {
    let traces = crate::otel::from_environment(service)?;
    Ok(traces.map(|traces| {
        // Secrets must not reach the collector either.
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
            "RUST_LOG is `{directives}`, which is not a valid filter: {error}\n\nhint: try RUST_LOG=info"
        ))
    })
}

/// Lines of text. A message may contain text of any object in the cluster, so that each message must stay one line:
/// control characters are escaped, and so are those that change the direction of the text.
pub fn text<S, W>(writer: impl Fn() -> W + Send + Sync + 'static, colour: bool) -> impl Layer<S> + Send + Sync
where
    S: tracing::Subscriber + for<'span> LookupSpan<'span>,
    W: Write + 'static,
{
    let lines = move || Lines { out: writer(), colour };
    fmt::layer().with_ansi(colour).with_writer(lines)
}

/// Writes one line per call, as the formatter calls it.
struct Lines<W> {
    out: W,
    colour: bool,
}

impl<W: Write> Write for Lines<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        let (text, end) = text.strip_suffix('\n').map_or((&*text, ""), |text| (text, "\n"));
        self.out.write_all(escaped(text, self.colour).as_bytes())?;
        self.out.write_all(end.as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The text with escapes for characters that a terminal, or a line-based reader, interprets; the formatter's own
/// colours stay.
fn escaped(text: &str, colour: bool) -> Cow<'_, str> {
    let acts = |c: char| c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if !text.contains(acts) {
        return text.into();
    }
    let mut safe = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(at) = rest.find(acts) {
        let (plain, from) = rest.split_at(at);
        safe.push_str(plain);
        let sequence = colour.then(|| colour_sequence(from)).flatten();
        let (kept, length) = match sequence {
            Some(sequence) => (sequence.to_owned(), sequence.len()),
            None => {
                let length = from.chars().next().map_or(0, char::len_utf8);
                (from[..length].escape_default().to_string(), length)
            }
        };
        safe.push_str(&kept);
        rest = &from[length..];
    }
    safe.push_str(rest);
    safe.into()
}

/// The escape sequence of a colour, if the text starts with one.
fn colour_sequence(text: &str) -> Option<&str> {
    let parameters = text.strip_prefix("\u{1b}[")?;
    let end = parameters.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    parameters[end..].starts_with('m').then(|| &text[..end + 3])
}

/// Logs panics like all other messages, in one line. If `RUST_BACKTRACE` is set, the backtrace follows.
pub(crate) fn log_panics() {
    panic::set_hook(Box::new(|info| {
        let message = info.payload_as_str().unwrap_or("without a message");
        let place = info.location().map(ToString::to_string);
        error!(place, "panicked: {message}");
        let backtrace = Backtrace::capture();
        if backtrace.status() == BacktraceStatus::Captured {
            eprintln!("{backtrace}");
        }
    }));
}

/// Excludes some of kube's messages at every level: kube logs responses that it cannot decode, and a response may be a
/// Secret. It also logs each failed request as an error without its path; the caller logs the failure too, with the
/// reason.
fn may_be_logged(metadata: &Metadata<'_>) -> bool {
    match metadata.target() {
        "kube_client::client" => metadata.is_span(),
        "kube_client::client::builder" => metadata.is_span() || *metadata.level() > Level::WARN,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use std::{io::Read, sync::Arc};

    use tracing::{debug, info, warn};

    use super::*;

    #[test]
    fn control_characters_and_line_breaks_are_escaped() {
        assert_eq!(escaped("plain äöü 日本", false), "plain äöü 日本");
        assert_eq!(escaped("a\nb\rc\td\u{7f}", false), "a\\nb\\rc\\td\\u{7f}");
        let acts = "\u{1b}[2J\u{1b}]0;title\u{7}\u{9b}1m\u{202e}\u{2028}\u{2066}";
        let safe = "\\u{1b}[2J\\u{1b}]0;title\\u{7}\\u{9b}1m\\u{202e}\\u{2028}\\u{2066}";
        assert_eq!(escaped(acts, false), safe);
        // On a terminal the formatter's colours stay; all else is escaped.
        assert_eq!(escaped("\u{1b}[2;31mred\u{1b}[0m", true), "\u{1b}[2;31mred\u{1b}[0m");
        assert_eq!(escaped(acts, true), safe);
        assert_eq!(escaped("\u{1b}[2;31mred", false), "\\u{1b}[2;31mred");
        assert_eq!(escaped("\u{1b}[", true), "\\u{1b}[");
    }

    #[test]
    fn response_bodies_are_never_logged() {
        let (mut page, writer) = io::pipe().unwrap();
        let lines = fmt::layer().with_ansi(false).with_writer(Arc::new(writer));
        let log = tracing_subscriber::registry()
            .with(EnvFilter::new("trace"))
            .with(lines.with_filter(filter_fn(may_be_logged)));
        tracing::subscriber::with_default(log, || {
            // The messages of kube-client's `Client::request` and of its trace layer.
            warn!(target: "kube_client::client", "{}, {:?}", "{\"password\":\"hunter2\"}", "expected value");
            error!(target: "kube_client::client::builder", "failed with status 503");
            debug!(target: "kube_client::client::builder", "requesting");
            info!(target: "my_operator", "hello");
        });
        // The writer was dropped with the log.
        let mut text = String::new();
        page.read_to_string(&mut text).unwrap();
        assert!(
            !text.contains("hunter2") && !text.contains("failed with status"),
            "{text}"
        );
        assert!(text.contains("requesting") && text.contains("hello"), "{text}");
    }
}
