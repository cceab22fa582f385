//! Tests of charts in operation: installations, upgrades, drains.

use super::{chart, files, project};

/// The budget of a chart, whose objects have none.
#[test]
fn pods_that_are_not_ready_stop_no_drain() {
    let budget = &chart(&project())["templates/poddisruptionbudget-controller-manager.yaml"];
    let spec = "spec:\n  maxUnavailable: 1\n";
    assert!(budget.contains(spec), "{budget}");
    assert!(
        budget.contains("  unhealthyPodEvictionPolicy: AlwaysAllow\n"),
        "{budget}"
    );
}

#[test]
fn helm_refuses_a_release_of_kubernetes_before_the_oldest_one() {
    let of = |oldest| files(&project(), "1.2.3", oldest).unwrap()["Chart.yaml"].clone();
    assert!(!of(None).contains("kubeVersion"));
    assert!(
        of(Some(34)).contains("kubeVersion: '>= 1.34.0-0'\n"),
        "{}",
        of(Some(34))
    );
}
