//! All metrics of a process by name, and their text in Prometheus' format. It is independent of the single metrics.

use std::{
    collections::BTreeMap,
    fmt::Write,
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::value::{Counter, Gauge, Histogram};

/// Metric families by name.
#[derive(Default)]
pub(super) struct Registry(Mutex<BTreeMap<String, Family>>);

struct Family {
    help: String,
    kind: &'static str,
    /// By the text of the labels, which is unique for a set of labels because their names are sorted.
    series: BTreeMap<String, Series>,
}

/// One line of a family, or one histogram.
pub(super) enum Series {
    Counter(Counter),
    Gauge(Gauge),
    /// Computed at every scrape, with this metric type.
    Computed(&'static str, Box<dyn Fn() -> f64 + Send + Sync>),
    Histogram(Histogram),
}

/// The metric, and the labels of a series in it.
#[derive(Clone, Copy)]
pub(super) struct Name<'a> {
    pub(super) name: &'a str,
    pub(super) help: &'a str,
    pub(super) labels: &'a [(&'a str, &'a str)],
}

impl Series {
    fn kind(&self) -> &'static str {
        match self {
            Self::Counter(_) => "counter",
            Self::Gauge(_) => "gauge",
            Self::Computed(kind, _) => kind,
            Self::Histogram(_) => "histogram",
        }
    }
}

impl Registry {
    /// Passes the series of this name and these labels, created by `new()` if they are missing, to `read`.
    ///
    /// # Panics
    ///
    /// If the name or a label's name is invalid in Prometheus, or a metric of another type has the name: programming
    /// errors that the first run finds.
    pub(super) fn series<T>(&self, name: Name<'_>, new: impl FnOnce() -> Series, read: impl FnOnce(&Series) -> T) -> T {
        assert!(is_name(name.name, true), "`{}` is not a metric name", name.name);
        for (label, _) in name.labels {
            assert!(is_name(label, false) && *label != "le", "`{label}` is not a label name");
        }
        let new = new();
        let mut families = self.lock();
        let family = families.entry(name.name.to_owned()).or_insert_with(|| Family {
            help: name.help.to_owned(),
            kind: new.kind(),
            series: BTreeMap::new(),
        });
        assert_eq!(
            family.kind,
            new.kind(),
            "metric `{}` exists with another type",
            name.name
        );
        read(family.series.entry(label_text(name.labels)).or_insert(new))
    }

    /// Removes the series whose name starts with `prefix` and that have all of these labels; handles on them stay valid,
    /// and are not exposed any more.
    pub(super) fn remove(&self, prefix: &str, labels: &[(&str, &str)]) {
        let mut removed = Vec::new();
        let mut families = self.lock();
        families.retain(|name, family| {
            if name.starts_with(prefix) {
                removed.extend(family.series.extract_if(.., |text, _| has_labels(text, labels)));
            }
            !family.series.is_empty()
        });
        // A computed series owns what it computes from, which is dropped when the lock is not held.
        drop(families);
    }

    /// All metrics in Prometheus' text format, version 0.0.4; names sorted, labels sorted.
    pub(super) fn encode(&self) -> String {
        let mut text = String::new();
        for (name, family) in self.lock().iter() {
            family.encode(name, &mut text);
        }
        text
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Family>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Family {
    fn encode(&self, name: &str, text: &mut String) {
        let help = self.help.replace('\\', r"\\").replace('\n', r"\n");
        line(text, format_args!("# HELP {name} {help}"));
        line(text, format_args!("# TYPE {name} {}", self.kind));
        for (labels, series) in &self.series {
            match series {
                Series::Counter(counter) => sample(text, name, labels, counter.get() as f64),
                Series::Gauge(gauge) => sample(text, name, labels, gauge.get()),
                Series::Computed(_, value) => sample(text, name, labels, value()),
                Series::Histogram(histogram) => encode_histogram(text, name, labels, histogram),
            }
        }
    }
}

fn encode_histogram(text: &mut String, name: &str, labels: &str, histogram: &Histogram) {
    let comma = if labels.is_empty() { "" } else { "," };
    let mut total = 0;
    for (bound, count) in histogram.cumulative() {
        let bound = number(bound);
        line(
            text,
            format_args!(
                "{name}_bucket{{{labels}{comma}le=\"{bound}\"}} {}",
                number(count as f64)
            ),
        );
        total = count;
    }
    sample(text, &format!("{name}_sum"), labels, histogram.sum());
    // Not read again: the lines of a scrape must agree.
    sample(text, &format!("{name}_count"), labels, total as f64);
}

fn sample(text: &mut String, name: &str, labels: &str, value: f64) {
    let value = number(value);
    match labels {
        "" => line(text, format_args!("{name} {value}")),
        labels => line(text, format_args!("{name}{{{labels}}} {value}")),
    }
}

fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a String does not fail.
    let _ = writeln!(text, "{line}");
}

fn label_text(labels: &[(&str, &str)]) -> String {
    let mut labels = labels.to_vec();
    labels.sort_unstable();
    let escaped = |value: &str| value.replace('\\', r"\\").replace('"', r#"\""#).replace('\n', r"\n");
    let pairs: Vec<_> = labels
        .iter()
        .map(|(name, value)| format!("{name}=\"{}\"", escaped(value)))
        .collect();
    pairs.join(",")
}

/// Whether the text of labels has each of these. A quote within a value is escaped, so a pair is found only as a whole.
fn has_labels(text: &str, labels: &[(&str, &str)]) -> bool {
    labels.iter().all(|label| {
        let pair = label_text(&[*label]);
        text.strip_prefix(&pair)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(','))
            || text.contains(&format!(",{pair}"))
    })
}

fn is_name(name: &str, colons: bool) -> bool {
    let plain = |c: char| c.is_ascii_alphabetic() || c == '_' || (colons && c == ':');
    name.starts_with(plain) && name.chars().all(|c| plain(c) || c.is_ascii_digit())
}

/// The shortest text that parses as `value`, in the form of Go's clients (`%g`): rules and dashboards match the `le`
/// label as text.
fn number(value: f64) -> String {
    if value.is_infinite() {
        return if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let scientific = format!("{value:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    match exponent.parse::<i32>() {
        Ok(exponent) if value != 0.0 && !(-4..6).contains(&exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", exponent.abs())
        }
        _ => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_in_go() {
        let written = [
            1e-8,
            9.999999999999999e-6,
            0.001,
            0.25,
            1.0,
            2.5,
            123_456.0,
            1_234_567.0,
            0.0,
            f64::INFINITY,
        ]
        .map(number);
        let go = [
            "1e-08",
            "9.999999999999999e-06",
            "0.001",
            "0.25",
            "1",
            "2.5",
            "123456",
            "1.234567e+06",
            "0",
            "+Inf",
        ];
        assert_eq!(written, go);
        assert_eq!(number(f64::NAN), "NaN");
    }

    #[test]
    fn the_series_of_one_label_are_removed() {
        let registry = Registry::default();
        let add = |name, labels: &[(&str, &str)]| {
            let name = Name { name, help: "", labels };
            registry.series(name, || Series::Gauge(Gauge::default()), |_| ());
        };
        for controller in ["a", "a2", "b", ",controller=\"a\""] {
            add("work_depth", &[("controller", controller), ("result", "x")]);
            add("other", &[("controller", controller)]);
        }
        add("work_time", &[("controller", "a")]);
        registry.remove("work_", &[("controller", "a")]);
        let text = registry.encode();
        assert_eq!(text.matches("work_depth{").count(), 3, "{text}");
        assert!(!text.contains("work_depth{controller=\"a\","), "{text}");
        assert!(!text.contains("work_time"), "{text}");
        assert_eq!(text.matches("other{").count(), 4, "{text}");
    }

    #[test]
    #[should_panic(expected = "is not a metric name")]
    fn an_invalid_metric_name_panics() {
        let name = Name {
            name: "a-b",
            help: "",
            labels: &[],
        };
        Registry::default().series(name, || Series::Gauge(Gauge::default()), |_| ());
    }

    #[test]
    #[should_panic(expected = "exists with another type")]
    fn one_name_has_one_metric_type() {
        let registry = Registry::default();
        let name = Name {
            name: "a",
            help: "",
            labels: &[],
        };
        registry.series(name, || Series::Gauge(Gauge::default()), |_| ());
        registry.series(name, || Series::Counter(Counter::default()), |_| ());
    }
}
