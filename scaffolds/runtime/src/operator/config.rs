//! The decisions that follow from an operator's flags and environment, without effects.

use std::{collections::BTreeSet, time::Duration};

use super::DEVELOPMENT;
use crate::{
    error::{Error, Result},
    options::{BindAddress, Options},
};

/// The time for which webhooks are served after the signal: until a Service no longer leads here, in API servers and kube-proxy.
const DRAIN: Duration = Duration::from_secs(10);

/// The settings of one process.
pub(super) struct ProcessConfig {
    /// The namespaces to watch; empty means all.
    pub(super) watched: BTreeSet<String>,
    /// The labels of the namespaces to watch.
    pub(super) selector: Option<String>,
    /// Whether the process runs in a Pod of the cluster that it works for.
    pub(super) in_cluster: bool,
    pub(super) report_unseen: bool,
    /// Whether the process makes the certificate of its metrics server.
    pub(super) makes_metrics_certificate: bool,
    /// The time for which webhooks are served after the signal.
    pub(super) drain: Duration,
}

impl ProcessConfig {
    /// `is_set` returns whether the environment has a variable.
    ///
    /// # Errors
    /// [`Error::Setup`] for flags that contradict each other, or an operator that is `namespaced`.
    pub(super) fn of(options: &Options, namespaced: bool, is_set: impl Fn(&str) -> bool) -> Result<Self> {
        let refused = |text: &str, hint: &str| Err(Error::Setup(format!("{text}\n\nhint: {hint}")));
        let (watched, selector) = (options.watched_namespaces(), options.watched_selector()?);
        if namespaced && selector.is_some() {
            return refused(
                "this operator works in named namespaces only: no Role lets it find namespaces by their labels",
                "pass --namespace NAME instead of --namespace-selector",
            );
        }
        if namespaced && watched.is_empty() {
            return refused(
                "this operator works in named namespaces only, but none is set",
                "pass --namespace NAME, or set WATCH_NAMESPACE",
            );
        }
        let serves_tls = options.metrics_secure && options.metrics_bind_address != BindAddress::Off;
        let makes_metrics_certificate = options.metrics_own_cert && serves_tls;
        if makes_metrics_certificate && options.metrics_cert_path.is_some() {
            return refused(
                "the metrics server has two certificates",
                "pass either --metrics-own-cert or --metrics-cert-path",
            );
        }
        Ok(Self {
            watched,
            selector,
            // The kubelet sets the first in every container. A kubeconfig may be for another cluster.
            in_cluster: is_set("KUBERNETES_SERVICE_HOST") && !is_set("KUBECONFIG") && options.kubeconfig.is_none(),
            report_unseen: is_set(DEVELOPMENT),
            makes_metrics_certificate,
            drain: DRAIN.min(options.graceful_shutdown_timeout),
        })
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Flags {
        #[command(flatten)]
        options: Options,
    }

    fn decide(flags: &[&str], namespaced: bool, variables: &[&str]) -> Result<ProcessConfig> {
        let flags = Flags::parse_from([&["operator"], flags].concat());
        ProcessConfig::of(&flags.options, namespaced, |name| variables.contains(&name))
    }

    fn refused(flags: &[&str], namespaced: bool) -> String {
        let config = decide(flags, namespaced, &[]);
        config.err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn a_namespaced_operator_needs_the_names_of_its_namespaces() {
        assert!(refused(&["--namespace="], true).contains("but none is set"));
        assert!(refused(&["--namespace-selector", "team=a"], true).contains("no Role lets it find"));
        assert_eq!(refused(&["--namespace", "a"], true), "");
        assert_eq!(refused(&["--namespace-selector", "team=a"], false), "");
    }

    #[test]
    fn metrics_have_one_certificate() {
        let both = [
            "--metrics-bind-address=:8443",
            "--metrics-own-cert",
            "--metrics-cert-path=x",
        ];
        assert!(refused(&both, false).contains("two certificates"));
        assert_eq!(refused(&both[1..], false), "", "no server");
        let made = |flags: &[&str]| decide(flags, false, &[]).unwrap().makes_metrics_certificate;
        assert!(made(&both[..2]));
        assert!(!made(&[
            "--metrics-bind-address=:8443",
            "--metrics-own-cert",
            "--metrics-secure=false"
        ]));
    }

    #[test]
    fn a_process_works_for_the_cluster_of_its_pod_unless_a_kubeconfig_names_another() {
        let in_cluster = |flags: &[&str], variables: &[&str]| decide(flags, false, variables).unwrap().in_cluster;
        let pod = "KUBERNETES_SERVICE_HOST";
        assert!(in_cluster(&[], &[pod]));
        assert!(!in_cluster(&[], &[pod, "KUBECONFIG"]));
        assert!(!in_cluster(&["--kubeconfig=x"], &[pod]));
        assert!(!in_cluster(&[], &[]));
    }

    #[test]
    fn webhooks_are_served_no_longer_than_reconciles_may_take() {
        let drain = |flags: &[&str]| decide(flags, false, &[]).unwrap().drain;
        assert_eq!(drain(&[]), DRAIN);
        assert_eq!(drain(&["--graceful-shutdown-timeout=2s"]), Duration::from_secs(2));
    }
}
