//! The flags of kube-apiserver that `kubewright envtest`'s accepts.

use crate::cli::envtest::flags::{Flag, Program, flag, ignored, only};
use kubewright_apiserver::PROGRAM_VERSION;

/// The program.
pub const KUBE_APISERVER: Program = Program {
    name: "kube-apiserver",
    about: "The kube-apiserver of `kubewright envtest`: answers as kube-apiserver 1.37, with its objects in memory.",
    version: PROGRAM_VERSION,
    flags: FLAGS,
    differs: "What this server does not do\nanswers 501 with its name: docs/src/reference/fidelity.md. Objects end with the process.",
};

const FLAGS: &[Flag] = &[
    flag(
        "bind-address",
        "ip",
        "Where to listen [default: 127.0.0.1, not all addresses]",
    ),
    flag("secure-port", "int", "The port for HTTPS [default: 6443]"),
    flag(
        "advertise-address",
        "ip",
        "The address that discovery reports [default: --bind-address]",
    ),
    flag(
        "external-hostname",
        "string",
        "The host that discovery reports [default: --advertise-address]",
    ),
    flag(
        "cert-dir",
        "string",
        "The folder of apiserver.crt and apiserver.key, which are written if missing [default: in memory]",
    ),
    flag(
        "tls-cert-file",
        "string",
        "The certificate for HTTPS, with those of its issuers",
    ),
    flag("tls-private-key-file", "string", "Its private key"),
    flag("client-ca-file", "string", "The authorities of client certificates"),
    flag(
        "token-auth-file",
        "string",
        "Bearer tokens: lines of token,user,uid,\"group,group\"",
    ),
    flag(
        "anonymous-auth",
        "",
        "Accept requests without credentials, as system:anonymous [default: true]",
    ),
    flag(
        "authorization-mode",
        "strings",
        "RBAC or AlwaysAllow [default: AlwaysAllow]",
    ),
    flag(
        "service-account-issuer",
        "stringArray",
        "The issuer of service accounts' tokens; of several, the first",
    ),
    flag(
        "service-account-signing-key-file",
        "string",
        "The private key that signs them: RSA or P-256 [default: a new one]",
    ),
    flag(
        "service-account-key-file",
        "stringArray",
        "The public key that verifies them: that of the private one",
    ),
    flag(
        "api-audiences",
        "strings",
        "The audiences of this server [default: the issuer]",
    ),
    flag(
        "enable-admission-plugins",
        "strings",
        "Plugins that this server has, all of which are on",
    ),
    flag(
        "disable-admission-plugins",
        "strings",
        "Plugins that this server does not have",
    ),
    flag("disable-http2-serving", "", "Serve HTTP/1.1 only [default: false]"),
    flag(
        "http2-max-streams-per-connection",
        "int",
        "How many requests a connection of HTTP/2 may have in progress [default: 100]",
    ),
    flag(
        "enable-controllers",
        "strings",
        "kubewright's own: garbage-collector, namespaces, cluster-roles, resource-quotas, policy-types, service-accounts, workloads [default: none]",
    ),
    flag("help", "", "Print this"),
    flag("version", "", "Print the version"),
    only("allow-privileged", "", &["true"], "Privileged containers are allowed"),
    only("contention-profiling", "", &["false"], "There are no profiles"),
    only(
        "enable-garbage-collector",
        "",
        &["true"],
        "Deletions propagate as with a garbage collector",
    ),
    only("profiling", "", &["false"], "There are no profiles"),
    only(
        "request-timeout",
        "duration",
        &["1m0s", "1m", "60s"],
        "How long a request may take",
    ),
    only(
        "service-account-lookup",
        "",
        &["true"],
        "A token ends with its service account",
    ),
    only(
        "service-cluster-ip-range",
        "string",
        &["10.0.0.0/24"],
        "The addresses of Services",
    ),
    only(
        "service-node-port-range",
        "portRange",
        &["30000-32767"],
        "The ports of Services of the type NodePort",
    ),
    only(
        "shutdown-delay-duration",
        "duration",
        &["0", "0s"],
        "How long to serve after SIGTERM",
    ),
    only(
        "storage-backend",
        "string",
        &["etcd3"],
        "Accepted; objects are in memory",
    ),
    only(
        "watch-cache",
        "",
        &["true"],
        "Lists and watches behave as with the cache",
    ),
    ignored("default-watch-cache-size", "int"),
    ignored("delete-collection-workers", "int"),
    ignored("enable-priority-and-fairness", ""),
    ignored("endpoint-reconciler-type", "string"),
    ignored("etcd-cafile", "string"),
    ignored("etcd-certfile", "string"),
    ignored("etcd-compaction-interval", "duration"),
    ignored("etcd-count-metric-poll-period", "duration"),
    ignored("etcd-db-metric-poll-interval", "duration"),
    ignored("etcd-healthcheck-timeout", "duration"),
    ignored("etcd-keyfile", "string"),
    ignored("etcd-prefix", "string"),
    ignored("etcd-readycheck-timeout", "duration"),
    ignored("etcd-servers", "strings"),
    ignored("lease-reuse-duration-seconds", "int"),
    ignored("livez-grace-period", "duration"),
    ignored("log-flush-frequency", "duration"),
    ignored("logging-format", "string"),
    ignored("max-mutating-requests-inflight", "int"),
    ignored("max-requests-inflight", "int"),
    ignored("min-request-timeout", "int"),
    ignored("storage-initialization-timeout", "duration"),
    ignored("storage-media-type", "string"),
    ignored("v", "level"),
    ignored("vmodule", "pattern=N"),
    ignored("watch-cache-sizes", "strings"),
];
