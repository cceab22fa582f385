//! Flags that were given and that nothing reads, because of other flags.

use super::{BindAddress, Options};

impl Options {
    /// Each flag that was given and has no effect, with the reason. It is no error: overlays append to the arguments, so that one may turn
    /// off what another configures.
    pub(crate) fn idle(&self, has_webhooks: bool) -> Vec<(&'static str, &'static str)> {
        let first = |reasons: &[(bool, &'static str)]| reasons.iter().find(|(holds, _)| *holds).map(|(_, why)| *why);
        let metrics = [
            (
                self.metrics_bind_address == BindAddress::Off,
                "the metrics server is off: see --metrics-bind-address",
            ),
            (
                !self.metrics_secure,
                "--metrics-secure=false serves the metrics without a certificate",
            ),
            (self.metrics_cert_path.is_none(), "--metrics-cert-path is not set"),
        ];
        let webhooks = [
            (!has_webhooks, "the operator has no webhooks"),
            (
                self.webhook_bind_address == BindAddress::Off,
                "--webhook-bind-address=0 turns the webhook server off",
            ),
            (self.webhook_cert_path.is_none(), "--webhook-cert-path is not set"),
        ];
        let given = [
            webhooks[0],
            webhooks[1],
            (
                self.webhook_cert_path.is_some(),
                "--webhook-cert-path names the certificate, so the operator makes none",
            ),
        ];
        let leader = [(!self.leader_elect, "--leader-elect is not set")];
        let limit = [(self.kube_api_qps == 0.0, "--kube-api-qps sets no limit")];
        // The Service and the Secret of the metrics have names too.
        let names = first(&given).filter(|_| !self.metrics_own_cert || first(&metrics[..2]).is_some());
        let milliseconds = |is: std::time::Duration, usual: u128| is.as_millis() != usual;
        let flags = [
            ("--metrics-secure", !self.metrics_secure, first(&metrics[..1])),
            ("--metrics-own-cert", self.metrics_own_cert, first(&metrics[..2])),
            (
                "--metrics-cert-path",
                self.metrics_cert_path.is_some(),
                first(&metrics[..2]),
            ),
            (
                "--metrics-cert-name",
                self.metrics_cert_name != "tls.crt",
                first(&metrics),
            ),
            (
                "--metrics-cert-key",
                self.metrics_cert_key != "tls.key",
                first(&metrics),
            ),
            (
                "--webhook-bind-address",
                ![":9443", "0"].contains(&self.webhook_bind_address.to_string().as_str()),
                first(&webhooks[..1]),
            ),
            (
                "--webhook-cert-path",
                self.webhook_cert_path.is_some(),
                first(&webhooks[..2]),
            ),
            (
                "--webhook-cert-name",
                self.webhook_cert_name != "tls.crt",
                first(&webhooks),
            ),
            (
                "--webhook-cert-key",
                self.webhook_cert_key != "tls.key",
                first(&webhooks),
            ),
            ("--webhook-host", !self.webhook_host.is_empty(), first(&given)),
            ("--webhook-url", self.webhook_url.is_some(), first(&given)),
            ("--webhook-name-prefix", self.webhook_name_prefix.is_some(), names),
            ("--webhook-name-suffix", self.webhook_name_suffix.is_some(), names),
            (
                "--webhook-configuration-prefix",
                self.webhook_configuration_prefix.is_some(),
                first(&given),
            ),
            (
                "--leader-election-namespace",
                self.leader_election_namespace.is_some(),
                first(&leader),
            ),
            (
                "--leader-elect-lease-duration",
                milliseconds(self.leader_elect_lease_duration, 15_000),
                first(&leader),
            ),
            (
                "--leader-elect-renew-deadline",
                milliseconds(self.leader_elect_renew_deadline, 10_000),
                first(&leader),
            ),
            (
                "--leader-elect-retry-period",
                milliseconds(self.leader_elect_retry_period, 2_000),
                first(&leader),
            ),
            ("--kube-api-burst", self.kube_api_burst.get() != 30, first(&limit)),
        ];
        let idle =
            |(flag, is_given, why): (&'static str, bool, Option<&'static str>)| Some((flag, why.filter(|_| is_given)?));
        flags.into_iter().filter_map(idle).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Options;
    use crate::options::tests::parse;
    use clap::{Args, Command};
    use std::collections::BTreeSet;

    /// Flags that an operator always reads.
    const READ: [&str; 18] = [
        "cache-sync-timeout",
        "graceful-shutdown-timeout",
        "health-probe-bind-address",
        "install-crds",
        "kube-api-qps",
        "kubeconfig",
        "leader-elect",
        "log-format",
        "log-level",
        "max-concurrent-reconciles",
        "metrics-bind-address",
        "metrics-secure",
        "namespace",
        "namespace-selector",
        "operator-namespace",
        "webhook-bind-address",
        "watch-silence-timeout",
        // Without the metrics server it is refused.
        "profiling",
    ];

    /// Flags that nothing reads unless others are given.
    const MAY_BE_IDLE: [&str; 16] = [
        "kube-api-burst=5",
        "leader-elect-lease-duration=1m",
        "leader-elect-renew-deadline=11s",
        "leader-elect-retry-period=1s",
        "leader-election-namespace=a",
        "metrics-cert-key=a",
        "metrics-cert-name=a",
        "metrics-cert-path=a",
        "metrics-own-cert",
        "webhook-cert-key=a",
        "webhook-cert-name=a",
        "webhook-cert-path=a",
        "webhook-configuration-prefix=a-",
        "webhook-host=a",
        "webhook-name-prefix=a-",
        "webhook-name-suffix=-a",
    ];

    #[test]
    fn every_flag_has_an_effect_or_is_named() {
        let named = |flag: &str| flag.split('=').next().unwrap().to_owned();
        for flag in MAY_BE_IDLE.into_iter().chain(["webhook-url=https://127.0.0.1:9443"]) {
            assert_eq!(idle(&[&format!("--{flag}")], false), [format!("--{}", named(flag))]);
        }
        assert!(parse(&["--enable-http2"]).is_err());
        let known: BTreeSet<_> = READ
            .into_iter()
            .chain(MAY_BE_IDLE)
            .chain(["webhook-url", "enable-http2"])
            .map(named)
            .collect();
        let command = Options::augment_args(Command::new("operator"));
        let flags = command.get_arguments().filter_map(|arg| arg.get_long());
        assert_eq!(flags.map(str::to_owned).collect::<BTreeSet<_>>(), known);
    }

    /// The names of the flags without effect.
    fn idle(flags: &[&str], has_webhooks: bool) -> Vec<&'static str> {
        let idle = parse(flags).unwrap().idle(has_webhooks);
        idle.into_iter().map(|(flag, _)| flag).collect()
    }

    #[test]
    fn a_flag_that_nothing_reads_is_named_with_the_reason() {
        let none: [&str; 0] = [];
        assert_eq!(idle(&[], true), none, "defaults are not given");
        assert_eq!(idle(&[], false), none);
        for (flags, named) in [
            (&["--metrics-own-cert"][..], &["--metrics-own-cert"][..]),
            (&["--metrics-own-cert", "--metrics-bind-address=:8443"], &none),
            (
                &[
                    "--metrics-cert-path=x",
                    "--metrics-bind-address=:8080",
                    "--metrics-secure=false",
                ],
                &["--metrics-cert-path"],
            ),
            (&["--metrics-secure=false"], &["--metrics-secure"]),
            (
                &["--metrics-cert-name=a", "--metrics-bind-address=:8443"],
                &["--metrics-cert-name"],
            ),
            (&["--webhook-cert-key=a"], &["--webhook-cert-key"]),
            (&["--webhook-cert-path=x", "--webhook-cert-key=a"], &none),
            (
                &["--webhook-cert-path=x", "--webhook-url=https://127.0.0.1:9443"],
                &["--webhook-url"],
            ),
            (&["--webhook-bind-address=0", "--webhook-host=a"], &["--webhook-host"]),
            (&["--leader-elect-retry-period=1s"], &["--leader-elect-retry-period"]),
            (&["--leader-election-namespace=a"], &["--leader-election-namespace"]),
            (&["--leader-election-namespace=a", "--leader-elect"], &none),
            (&["--kube-api-burst=5"], &["--kube-api-burst"]),
            (&["--kube-api-burst=5", "--kube-api-qps=5"], &none),
            (
                &["--webhook-bind-address=0", "--webhook-name-prefix=a-"],
                &["--webhook-name-prefix"],
            ),
            (
                &[
                    "--webhook-bind-address=0",
                    "--webhook-name-prefix=a-",
                    "--webhook-name-suffix=-a",
                    "--metrics-own-cert",
                    "--metrics-bind-address=:1",
                ],
                &none,
            ),
        ] {
            assert_eq!(idle(flags, true), named, "{flags:?}");
        }
        let flags = ["--webhook-bind-address=:1", "--webhook-cert-path=x"];
        assert_eq!(idle(&flags, false), ["--webhook-bind-address", "--webhook-cert-path"]);
        assert_eq!(idle(&flags, true), none);
        assert_eq!(idle(&["--webhook-bind-address=0"], false), none);
        let why = parse(&["--kube-api-burst=5"]).unwrap().idle(true);
        assert_eq!(why[0].1, "--kube-api-qps sets no limit");
    }
}
