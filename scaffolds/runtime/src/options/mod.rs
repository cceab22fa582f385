//! The flags of every operator, with kubebuilder's names and defaults for kubebuilder's flags. This module only parses
//! them.

mod bind;
mod duration;
mod idle;
mod place;
mod values;

use std::{
    collections::BTreeSet,
    num::{NonZeroU32, NonZeroUsize},
    path::PathBuf,
    time::Duration,
};

use clap::{Args, Subcommand, ValueEnum};

pub use self::bind::BindAddress;
#[cfg(feature = "testing")]
pub(crate) use self::place::LocalAddress;
use self::{
    duration::parse as duration,
    place::{host, url},
    values::{directives, http1, label_selector, namespace, per_second, profiled},
};
use crate::{
    error::{Error, Result},
    limit::RateLimit,
};

/// The flags of every operator, to be included in the operator's own with `#[command(flatten)]`.
///
/// Switches take an optional value as in Go: `--leader-elect`, `--leader-elect=false`. Durations have Go's syntax:
/// `15s`, `1m30s`, `500ms`. If a flag is repeated, the last one counts.
#[derive(Args, Clone, Debug)]
// As in Go, the last of several counts: kustomize overlays append to the arguments.
#[command(args_override_self = true)]
pub struct Options {
    /// Address of the metrics server, as `:8443` or `127.0.0.1:8443`; 0 turns it off
    #[arg(long, value_name = "ADDRESS", default_value = "0")]
    pub metrics_bind_address: BindAddress,

    /// Serve metrics over HTTPS, to users whom the API server authorizes to read /metrics
    #[arg(long, value_name = "BOOL", default_value_t = true, default_missing_value = "true", num_args = 0..=1, require_equals = true, action = clap::ArgAction::Set)]
    pub metrics_secure: bool,

    /// Folder of the metrics server's certificate; if unset, the server creates a self-signed one
    #[arg(long, value_name = "FOLDER")]
    pub metrics_cert_path: Option<PathBuf>,

    /// Make and renew the metrics server's certificate, in the Secret `metrics-server-cert` of config/prometheus
    #[arg(long, value_name = "BOOL", default_value_t = false, default_missing_value = "true", num_args = 0..=1, require_equals = true, action = clap::ArgAction::Set)]
    pub metrics_own_cert: bool,

    /// File name of the metrics server's certificate
    #[arg(long, value_name = "FILE", default_value = "tls.crt")]
    pub metrics_cert_name: String,

    /// File name of the metrics server's key
    #[arg(long, value_name = "FILE", default_value = "tls.key")]
    pub metrics_cert_key: String,

    /// Address of the webhook server, if the operator has webhooks; 0 turns it off
    #[arg(long, value_name = "ADDRESS", default_value = ":9443", hide_short_help = true)]
    pub webhook_bind_address: BindAddress,

    /// Folder of the webhook server's certificate; if unset, the operator makes and renews its own
    #[arg(long, value_name = "FOLDER", hide_short_help = true)]
    pub webhook_cert_path: Option<PathBuf>,

    /// File name of the webhook server's certificate
    #[arg(long, value_name = "FILE", default_value = "tls.crt", hide_short_help = true)]
    pub webhook_cert_name: String,

    /// File name of the webhook server's key
    #[arg(long, value_name = "FILE", default_value = "tls.key", hide_short_help = true)]
    pub webhook_cert_key: String,

    /// Prefix that kustomize adds to the names of the Services and Secrets of webhooks and metrics, and of webhook configurations
    /// [default: the part of the ServiceAccount's name before `controller-manager`; outside of a cluster, the operator's name and
    /// `-`]
    #[arg(long, value_name = "PREFIX", hide_short_help = true)]
    pub webhook_name_prefix: Option<String>,

    /// Suffix that kustomize adds to the same names
    /// [default: the part of the ServiceAccount's name after `controller-manager`; outside of a cluster, none]
    #[arg(long, value_name = "SUFFIX", hide_short_help = true)]
    pub webhook_name_suffix: Option<String>,

    /// Prefix of the webhook configurations, which are cluster-scoped
    /// [default: as --webhook-name-prefix]
    #[arg(long, value_name = "PREFIX", hide_short_help = true)]
    pub webhook_configuration_prefix: Option<String>,

    /// A further DNS name or IPv4 address in the webhook server's own certificate; may be repeated
    #[arg(long, value_name = "HOST", value_parser = host, hide_short_help = true)]
    pub webhook_host: Vec<String>,

    /// URL of the conversion webhooks for API servers, instead of their Service, as `https://127.0.0.1:9443`; its host is in
    /// the webhook server's own certificate
    #[arg(long, value_name = "URL", value_parser = url, hide_short_help = true)]
    pub webhook_url: Option<String>,

    /// Serve CPU profiles at /debug/pprof/profile of the metrics server; needs the feature `pprof` of kubewright-runtime
    #[arg(long, value_name = "BOOL", default_value_t = false, default_missing_value = "true", num_args = 0..=1, require_equals = true, action = clap::ArgAction::Set, value_parser = profiled)]
    pub profiling: bool,

    /// Accepted for compatibility with kubebuilder: the servers support HTTP/1.1 only
    #[arg(long, value_name = "BOOL", default_value_t = false, default_missing_value = "true", num_args = 0..=1, require_equals = true, action = clap::ArgAction::Set, value_parser = http1)]
    pub enable_http2: bool,

    /// Address of the probes /healthz and /readyz; 0 turns them off
    #[arg(long, value_name = "ADDRESS", default_value = ":8081")]
    pub health_probe_bind_address: BindAddress,

    /// Work only while holding the leader lease, so that one of several replicas is active
    #[arg(long, value_name = "BOOL", default_value_t = false, default_missing_value = "true", num_args = 0..=1, require_equals = true, action = clap::ArgAction::Set)]
    pub leader_elect: bool,

    /// Namespace of the lease [default: the operator's own]
    #[arg(long, value_name = "NAMESPACE", value_parser = namespace)]
    pub leader_election_namespace: Option<String>,

    /// Let another replica acquire the lease if it is not renewed for this time
    #[arg(long, value_name = "DURATION", default_value = "15s", value_parser = duration, hide_short_help = true)]
    pub leader_elect_lease_duration: Duration,

    /// Time that the leader continues without a successful renewal
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = duration, hide_short_help = true)]
    pub leader_elect_renew_deadline: Duration,

    /// Time between two attempts to acquire or renew the lease
    #[arg(long, value_name = "DURATION", default_value = "2s", value_parser = duration, hide_short_help = true)]
    pub leader_elect_retry_period: Duration,

    /// Kubeconfig file [default: the first that exists of KUBECONFIG, the pod's service account, ~/.kube/config]
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,

    /// Namespaces to watch: repeated or separated by commas; none means all
    #[arg(long = "namespace", value_name = "NAMESPACE", env = "WATCH_NAMESPACE", value_delimiter = ',', value_parser = namespace)]
    pub namespaces: Vec<String>,

    /// Instead of --namespace: watch the namespaces with these labels, as `team=a,tier in (b, c)`, also if the labels change
    #[arg(long, value_name = "SELECTOR", env = "WATCH_NAMESPACE_SELECTOR", value_parser = label_selector)]
    pub namespace_selector: Option<String>,

    /// Namespace of the operator itself: of its lease, and of the children of cluster-scoped objects
    /// [default: the pod's, or the kubeconfig's]
    #[arg(long, value_name = "NAMESPACE", env = "POD_NAMESPACE", value_parser = namespace, hide_short_help = true)]
    pub operator_namespace: Option<String>,

    /// Objects that a controller reconciles at the same time, unless it sets its own number
    #[arg(long, value_name = "N", default_value = "1")]
    pub max_concurrent_reconciles: NonZeroUsize,

    /// Time for running reconciles to end after SIGTERM
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = duration)]
    pub graceful_shutdown_timeout: Duration,

    /// End the process if a cache that is being filled makes no progress for this time; 0 for no limit
    #[arg(long, value_name = "DURATION", default_value = "2m", value_parser = duration, hide_short_help = true)]
    pub cache_sync_timeout: Duration,

    /// Restart a watch that has received nothing for this time; API servers send a bookmark each minute; 0 for no limit
    #[arg(long, value_name = "DURATION", default_value = "90s", value_parser = duration, hide_short_help = true)]
    pub watch_silence_timeout: Duration,

    /// Average limit of requests per second to the API server, without those for the lease, webhooks, certificates and reviews of tokens; 0 for no limit
    #[arg(long, value_name = "N", default_value = "0", value_parser = per_second, hide_short_help = true)]
    pub kube_api_qps: f64,

    /// Requests that may begin at once if --kube-api-qps limits them
    #[arg(long, value_name = "N", default_value = "30", hide_short_help = true)]
    pub kube_api_burst: NonZeroU32,

    /// Apply the operator's own CRDs at start and wait until they are established
    #[arg(long, value_name = "BOOL", default_value_t = false, default_missing_value = "true", num_args = 0..=1, require_equals = true, action = clap::ArgAction::Set)]
    pub install_crds: bool,

    /// Form of the log on stderr
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub log_format: LogFormat,

    /// Log filter: error, warn, info, debug, trace, or directives as `info,my_operator=debug`
    /// [default: RUST_LOG, or info]
    #[arg(long, value_name = "LEVEL", value_parser = directives)]
    pub log_level: Option<String>,

    /// Instead of running the operator
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The commands of an operator besides running its controllers.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Write the RBAC roles that the operator's controllers need, the webhook configurations and the admission policies
    Manifests {
        /// Folder to write to
        #[arg(long, value_name = "FOLDER", default_value = "config/rbac")]
        out: PathBuf,
        /// Folder to write the webhooks' configurations to, if there are webhooks
        #[arg(long, value_name = "FOLDER", default_value = "config/webhook")]
        webhook_out: PathBuf,
        /// Folder to write the admission policies to, if there are any
        #[arg(long, value_name = "FOLDER", default_value = "config/policy")]
        policy_out: PathBuf,
        /// Write nothing; print the difference and fail if there is one
        #[arg(long)]
        check: bool,
    },
    /// Store all objects of the operator's kinds in the current storage version, so that earlier versions can be removed
    MigrateStorage {
        /// Write nothing; print what is left, and fail if there is something
        #[arg(long)]
        check: bool,
        /// Time to wait if a CRD has changed within the last minute, until every API server has read it
        #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = duration)]
        settle: Duration,
    },
    /// Write Grafana dashboards of the operator's metrics
    Dashboards {
        /// Folder to write to
        #[arg(long, value_name = "FOLDER", default_value = "dist/grafana")]
        out: PathBuf,
    },
}

/// The form of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Lines for people, coloured on a terminal
    #[default]
    Text,
    /// One JSON object per line
    Json,
}

impl Options {
    /// The limit of `--kube-api-qps` and `--kube-api-burst`.
    pub(crate) fn request_limit(&self) -> Option<RateLimit> {
        (self.kube_api_qps > 0.0).then(|| RateLimit::new(self.kube_api_qps, self.kube_api_burst.get()))
    }

    /// The namespaces to watch; empty means all. An empty WATCH_NAMESPACE counts as unset.
    pub fn watched_namespaces(&self) -> BTreeSet<String> {
        self.namespaces
            .iter()
            .filter(|name| !name.is_empty())
            .cloned()
            .collect()
    }

    /// The labels of the namespaces to watch. An empty WATCH_NAMESPACE_SELECTOR counts as unset.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] if namespaces are named as well.
    pub fn watched_selector(&self) -> Result<Option<String>> {
        let selector = self.namespace_selector.clone().filter(|selector| !selector.is_empty());
        if selector.is_some() && !self.watched_namespaces().is_empty() {
            let text = "namespaces are both named and chosen by their labels";
            let hint = "pass either --namespace (WATCH_NAMESPACE) or --namespace-selector (WATCH_NAMESPACE_SELECTOR)";
            return Err(Error::Setup(format!("{text}\n\nhint: {hint}")));
        }
        Ok(selector)
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;

    /// The flags of an operator's author.
    #[derive(Parser)]
    struct AuthorFlags {
        #[command(flatten)]
        operator: Options,
        #[arg(long)]
        greeting: Option<String>,
    }

    pub(super) fn parse(args: &[&str]) -> Result<Options, clap::Error> {
        AuthorFlags::try_parse_from([&["operator"], args].concat()).map(|flags| flags.operator)
    }

    #[test]
    fn the_defaults_are_those_of_kubebuilder() {
        AuthorFlags::command().debug_assert();
        let options = parse(&[]).unwrap();
        assert_eq!(options.metrics_bind_address, BindAddress::Off);
        assert_eq!(options.health_probe_bind_address.to_string(), ":8081");
        assert!(options.metrics_secure && !options.leader_elect && !options.enable_http2 && !options.install_crds);
        assert_eq!(
            (options.metrics_cert_name.as_str(), options.metrics_cert_key.as_str()),
            ("tls.crt", "tls.key")
        );
        assert_eq!(options.max_concurrent_reconciles.get(), 1);
        assert_eq!(options.graceful_shutdown_timeout, Duration::from_secs(30));
        assert!(options.command.is_none());
    }

    #[test]
    fn switches_are_parsed_as_in_go() {
        assert!(parse(&["--leader-elect"]).unwrap().leader_elect);
        assert!(
            !parse(&["--leader-elect=false", "--greeting", "hi"])
                .unwrap()
                .leader_elect
        );
        assert!(!parse(&["--metrics-secure=false"]).unwrap().metrics_secure);
        assert!(parse(&["--enable-http2=false"]).is_ok());
        let error = parse(&["--enable-http2"]).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("not built in"), "{error}");
    }

    #[test]
    fn the_last_of_a_repeated_flag_counts_as_in_go() {
        let options = parse(&[
            "--leader-elect",
            "--metrics-bind-address=:8443",
            "--metrics-bind-address=0",
            "--leader-elect=false",
        ]);
        let options = options.unwrap();
        assert_eq!(
            (options.metrics_bind_address, options.leader_elect),
            (BindAddress::Off, false)
        );
    }

    #[test]
    fn namespaces_are_a_list_or_repeated() {
        let options = parse(&["--namespace", "b,a", "--namespace", "c", "--namespace="]).unwrap();
        assert_eq!(
            options.watched_namespaces().into_iter().collect::<Vec<_>>(),
            ["a", "b", "c"]
        );
        assert!(parse(&["--namespace", "Not_a_Name"]).is_err());
    }

    #[test]
    fn namespaces_are_named_or_chosen_by_label_not_both() {
        let chosen = parse(&["--namespace-selector", "team in (a, b)"]).unwrap();
        assert_eq!(chosen.watched_selector().unwrap().as_deref(), Some("team in (a, b)"));
        assert_eq!(
            parse(&["--namespace-selector="]).unwrap().watched_selector().unwrap(),
            None
        );
        assert!(parse(&["--namespace-selector", "team in (a"]).is_err());
        let both = parse(&["--namespace-selector", "team=a", "--namespace", "b"]).unwrap();
        let error = both.watched_selector().unwrap_err().to_string();
        assert!(error.starts_with("namespaces are both named and chosen"), "{error}");
    }

    #[test]
    fn the_subcommands_work_in_flattened_options() {
        let options = parse(&["--log-level", "debug", "manifests", "--out", "x", "--check"]).unwrap();
        let Some(Command::Manifests { out, check, .. }) = options.command else {
            panic!("no subcommand")
        };
        assert_eq!((out, check), (PathBuf::from("x"), true));
        let options = parse(&["--kube-api-qps=50", "migrate-storage", "--settle=0"]).unwrap();
        let Some(Command::MigrateStorage { check, settle }) = options.command else {
            panic!("no subcommand")
        };
        assert_eq!((check, settle), (false, Duration::ZERO));
    }

    #[test]
    fn requests_are_limited_only_if_asked_for() {
        assert_eq!(parse(&[]).unwrap().request_limit(), None);
        let limited = parse(&["--kube-api-qps=0.5", "--kube-api-burst", "3"]).unwrap();
        assert_eq!(limited.request_limit(), Some(RateLimit::new(0.5, 3)));
        let limited = parse(&["--kube-api-qps=20"]).unwrap();
        assert_eq!(limited.request_limit(), Some(RateLimit::new(20.0, 30)));
        for wrong in ["--kube-api-qps=-1", "--kube-api-qps=NaN", "--kube-api-burst=0"] {
            assert!(parse(&[wrong]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_invalid_log_level_is_a_usage_error() {
        assert!(parse(&["--log-level", "info,kube=loud"]).is_err());
        assert!(parse(&["--max-concurrent-reconciles", "0"]).is_err());
    }
}
