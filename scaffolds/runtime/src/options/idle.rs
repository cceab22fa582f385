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
    use crate::options::tests::parse;

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
