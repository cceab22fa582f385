//! An operator that has run exposes the metrics that dashboards need, under exactly these names.

use std::{collections::BTreeSet, sync::Arc};

use crate::support::{
    faults::failure,
    kinds::{FooBar, Running, at, foobar, seconds, world},
};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::core::PartialObjectMeta;
use kubewright_runtime::{Action, Context, Controller, Manager, Reconciler, Result};

struct Nothing;

impl Reconciler<FooBar> for Nothing {
    async fn reconcile(&self, _: &Context<FooBar>, _: Arc<FooBar>) -> Result<Action> {
        Ok(Action::Done)
    }
}

/// The samples' names, each with the names of its labels.
fn samples(text: &str) -> BTreeSet<(String, BTreeSet<String>)> {
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let sample = |line: &str| {
        let (name, labels) = line.split_once(['{', ' ']).expect("a sample has a value");
        let labels = labels.rsplit_once('}').map_or("", |(labels, _)| labels);
        let names = labels
            .split(',')
            .filter_map(|label| Some(label.split_once('=')?.0.to_owned()));
        (name.to_owned(), names.collect())
    };
    lines.map(sample).collect()
}

async fn scraped() -> BTreeSet<(String, BTreeSet<String>)> {
    let world = world();
    world.put(&at("a"), foobar("x"));
    let manager = Manager::builder(world.client()).build();
    let metrics = manager.metrics().clone();
    metrics.process();
    Controller::<FooBar>::new("foobar").register(&manager, Nothing).unwrap();
    let running = Running::start(manager);
    seconds(5).await;
    let text = metrics.encode();
    running.stop().await.unwrap();
    samples(&text)
}

/// The metrics that the panels and variables of kubebuilder 4.15's Grafana plugin query (`grafana/v1alpha`, both
/// dashboards), and the labels that they group by. `job`, `namespace`, `instance` and `pod` come from the scrape.
#[cfg(target_os = "linux")]
const PANELS: [(&str, &[&str]); 11] = [
    ("controller_runtime_active_workers", &["controller"]),
    ("controller_runtime_reconcile_total", &[]),
    ("controller_runtime_reconcile_errors_total", &[]),
    ("workqueue_depth", &[]),
    ("workqueue_queue_duration_seconds_bucket", &["name", "le"]),
    ("workqueue_adds_total", &["name"]),
    ("workqueue_unfinished_work_seconds", &[]),
    ("workqueue_work_duration_seconds_bucket", &["name", "le"]),
    ("workqueue_retries_total", &["name"]),
    ("process_cpu_seconds_total", &[]),
    ("process_resident_memory_bytes", &[]),
];

#[cfg(target_os = "linux")]
#[tokio::test(start_paused = true)]
async fn every_panel_of_kubebuilders_dashboards_has_its_metrics() {
    let samples = scraped().await;
    for (metric, labels) in PANELS {
        let has = |(name, has): &(String, BTreeSet<String>)| {
            name == metric && labels.iter().all(|label| has.contains(*label))
        };
        assert!(samples.iter().any(has), "{metric}{labels:?} is not among {samples:#?}");
    }
}

/// A kind with a cache of its objects and one of their metadata, and the watch of chosen namespaces.
#[tokio::test(start_paused = true)]
async fn failing_watches_of_all_caches_are_counted_by_kind() {
    let world = world();
    world.intercept(|_, path| {
        let refused = ["/api/v1/configmaps", "/api/v1/namespaces"].contains(&path);
        refused.then(|| (403, failure(403, "Forbidden", path)))
    });
    let manager = Manager::builder(world.client()).build();
    let chooses = Manager::builder(world.client()).metrics(manager.metrics().clone());
    let chooses = chooses.namespace_selector("team=a").unwrap().build();
    let metrics = manager.metrics().clone();
    manager.informer::<ConfigMap>();
    manager.informer::<PartialObjectMeta<ConfigMap>>();
    let running = [Running::start(manager), Running::start(chooses)];
    seconds(5).await;
    let failing = |kind: &str| {
        let (text, series) = (
            metrics.encode(),
            format!("kubewright_failing_watches{{group=\"\",kind=\"{kind}\""),
        );
        let line = text
            .lines()
            .find(|line| line.starts_with(&series))
            .unwrap_or_else(|| panic!("{text}"));
        line.rsplit_once(' ').unwrap().1.to_owned()
    };
    assert_eq!(
        (failing("ConfigMap"), failing("Namespace")),
        ("2".to_owned(), "1".to_owned())
    );
    running.iter().for_each(|running| running.done.abort());
}

/// Series on which promtool tests the alerts of generated projects.
const SERIES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/prometheus/rules.test.yaml");

#[tokio::test(start_paused = true)]
async fn the_series_on_which_alerts_are_tested_have_the_labels_that_a_manager_exports() {
    let exported = scraped().await;
    let text = std::fs::read_to_string(SERIES).unwrap();
    let mut compared = BTreeSet::new();
    for line in text.lines().filter_map(|line| line.trim().strip_prefix("- series: '")) {
        let (name, mut labels) = samples(&line.replace('\'', " 0")).pop_first().unwrap();
        // The scrape adds these.
        labels.retain(|label| !["namespace", "job", "pod"].contains(&label.as_str()));
        if exported.iter().any(|(other, _)| *other == name) {
            assert!(exported.contains(&(name.clone(), labels.clone())), "{name}{labels:?}");
            compared.insert(name);
        }
    }
    // The others need webhooks, a leader election or a connection.
    assert!(compared.len() > 6, "{compared:?}");
}

#[tokio::test(start_paused = true)]
async fn names_and_labels_are_those_of_controller_runtime() {
    let samples = scraped().await;
    let mut expected = BTreeSet::new();
    let mut expect = |names: &[&str], labels: &[&str]| {
        let labels: BTreeSet<_> = labels.iter().map(|label| (*label).to_owned()).collect();
        expected.extend(names.iter().map(|name| ((*name).to_owned(), labels.clone())));
    };
    expect(&["controller_runtime_reconcile_total"], &["controller", "result"]);
    expect(
        &[
            "controller_runtime_reconcile_errors_total",
            "controller_runtime_terminal_reconcile_errors_total",
            "controller_runtime_reconcile_panics_total",
            "controller_runtime_reconcile_timeouts_total",
            "controller_runtime_max_concurrent_reconciles",
            "controller_runtime_active_workers",
            "controller_runtime_reconcile_time_seconds_sum",
            "controller_runtime_reconcile_time_seconds_count",
        ],
        &["controller"],
    );
    expect(
        &["controller_runtime_reconcile_time_seconds_bucket"],
        &["controller", "le"],
    );
    expect(&["workqueue_depth"], &["name", "controller", "priority"]);
    expect(
        &[
            "workqueue_adds_total",
            "workqueue_retries_total",
            "workqueue_unfinished_work_seconds",
            "workqueue_longest_running_processor_seconds",
            "workqueue_queue_duration_seconds_sum",
            "workqueue_queue_duration_seconds_count",
            "workqueue_work_duration_seconds_sum",
            "workqueue_work_duration_seconds_count",
        ],
        &["name", "controller"],
    );
    expect(
        &[
            "workqueue_queue_duration_seconds_bucket",
            "workqueue_work_duration_seconds_bucket",
        ],
        &["name", "controller", "le"],
    );
    let ours: BTreeSet<_> = samples
        .into_iter()
        .filter(|(name, _)| !name.starts_with("process_") && !name.starts_with("kubewright_"))
        .collect();
    assert_eq!(ours, expected);
}
