//! The panels of the dashboards. `SCOPE` stands for what the user has chosen, `OPERATOR` for the part of it that every
//! metric has.

/// A row of panels.
pub(super) struct Row {
    pub(super) title: &'static str,
    pub(super) panels: &'static [Panel],
}

/// A panel.
pub(super) struct Panel {
    pub(super) title: &'static str,
    pub(super) description: &'static str,
    /// One of Grafana's units.
    pub(super) unit: &'static str,
    /// Expressions, and the names of their lines: words with `$` are labels.
    pub(super) queries: &'static [(&'static str, &'static str)],
}

const RATE: &str = "ops";
const SECONDS: &str = "s";
const COUNT: &str = "short";
const BYTES: &str = "bytes";

pub(super) const CONTROLLERS: [Row; 3] = [
    Row {
        title: "Reconciles",
        panels: &[
            Panel {
                title: "Reconciles per second",
                description: "Finished reconciles by result.",
                unit: RATE,
                queries: &[(
                    "sum by (result) (rate(controller_runtime_reconcile_total{SCOPE}[$__rate_interval]))",
                    "$result",
                )],
            },
            Panel {
                title: "Failures per second",
                description: "Terminal failures are not retried before the object changes. Panics and time-outs are failures too.",
                unit: RATE,
                queries: &[
                    (
                        "sum by (controller) (rate(controller_runtime_reconcile_errors_total{SCOPE}[$__rate_interval]))",
                        "$controller failed",
                    ),
                    (
                        "sum by (controller) (rate(controller_runtime_terminal_reconcile_errors_total{SCOPE}[$__rate_interval]))",
                        "$controller terminal",
                    ),
                    (
                        "sum by (controller) (rate(controller_runtime_reconcile_panics_total{SCOPE}[$__rate_interval]))",
                        "$controller panics",
                    ),
                    (
                        "sum by (controller) (rate(controller_runtime_reconcile_timeouts_total{SCOPE}[$__rate_interval]))",
                        "$controller time-outs",
                    ),
                ],
            },
            Panel {
                title: "Duration of reconciles",
                description: "",
                unit: SECONDS,
                queries: &[
                    (
                        "histogram_quantile(0.5, sum by (controller, le) (rate(controller_runtime_reconcile_time_seconds_bucket{SCOPE}[$__rate_interval])))",
                        "$controller p50",
                    ),
                    (
                        "histogram_quantile(0.99, sum by (controller, le) (rate(controller_runtime_reconcile_time_seconds_bucket{SCOPE}[$__rate_interval])))",
                        "$controller p99",
                    ),
                ],
            },
            Panel {
                title: "Busy workers",
                description: "If all of them are busy, objects wait.",
                unit: COUNT,
                queries: &[
                    (
                        "sum by (controller) (controller_runtime_active_workers{SCOPE})",
                        "$controller",
                    ),
                    (
                        "max by (controller) (controller_runtime_max_concurrent_reconciles{SCOPE})",
                        "$controller configured",
                    ),
                ],
            },
        ],
    },
    Row {
        title: "Work queue",
        panels: &[
            Panel {
                title: "Depth",
                description: "Keys that are ready. Those of resyncs and restarts have the low priority -100.",
                unit: COUNT,
                queries: &[(
                    "sum by (controller, priority) (workqueue_depth{SCOPE})",
                    "$controller priority $priority",
                )],
            },
            Panel {
                title: "Time until a worker takes a key",
                description: "",
                unit: SECONDS,
                queries: &[
                    (
                        "histogram_quantile(0.5, sum by (controller, le) (rate(workqueue_queue_duration_seconds_bucket{SCOPE}[$__rate_interval])))",
                        "$controller p50",
                    ),
                    (
                        "histogram_quantile(0.99, sum by (controller, le) (rate(workqueue_queue_duration_seconds_bucket{SCOPE}[$__rate_interval])))",
                        "$controller p99",
                    ),
                ],
            },
            Panel {
                title: "Keys per second",
                description: "Keys that became ready, and those that were added with a delay.",
                unit: RATE,
                queries: &[
                    (
                        "sum by (controller) (rate(workqueue_adds_total{SCOPE}[$__rate_interval]))",
                        "$controller added",
                    ),
                    (
                        "sum by (controller) (rate(workqueue_retries_total{SCOPE}[$__rate_interval]))",
                        "$controller later",
                    ),
                ],
            },
            Panel {
                title: "Time for which a worker holds a key",
                description: "",
                unit: SECONDS,
                queries: &[(
                    "histogram_quantile(0.99, sum by (controller, le) (rate(workqueue_work_duration_seconds_bucket{SCOPE}[$__rate_interval])))",
                    "$controller p99",
                )],
            },
            Panel {
                title: "Unfinished work",
                description: "The longest running reconcile, and the sum of all that run. A line that only rises is one that hangs.",
                unit: SECONDS,
                queries: &[
                    (
                        "max by (controller) (workqueue_longest_running_processor_seconds{SCOPE})",
                        "$controller longest",
                    ),
                    (
                        "sum by (controller) (workqueue_unfinished_work_seconds{SCOPE})",
                        "$controller sum",
                    ),
                ],
            },
        ],
    },
    Row {
        title: "Objects and events",
        panels: &[
            Panel {
                title: "Objects that cannot be decoded",
                description: "They are not reconciled until they are repaired. The log names them.",
                unit: COUNT,
                queries: &[(
                    "max by (group, version, kind) (kubewright_invalid_objects{OPERATOR})",
                    "$kind $version $group",
                )],
            },
            Panel {
                title: "Failing lists and watches",
                description: "Their part of the cache may be old. The log says why they fail.",
                unit: COUNT,
                queries: &[(
                    "max by (group, version, kind) (kubewright_failing_watches{OPERATOR})",
                    "$kind $version $group",
                )],
            },
            Panel {
                title: "Dropped events and unmerged writes",
                description: "Writes are unmerged where resourceVersions are not numbers, as with some aggregated API servers.",
                unit: RATE,
                queries: &[
                    (
                        "sum by (reason) (rate(kubewright_events_dropped_total{OPERATOR}[$__rate_interval]))",
                        "events $reason",
                    ),
                    (
                        "sum by (kind) (rate(kubewright_unmerged_writes_total{OPERATOR}[$__rate_interval]))",
                        "writes $kind",
                    ),
                ],
            },
        ],
    },
];

pub(super) const PROCESS: [Row; 4] = [
    Row {
        title: "Replicas",
        panels: &[
            Panel {
                title: "Leader",
                description: "1 while the replica leads. The lines of all replicas add up to 1.",
                unit: COUNT,
                queries: &[("max by (pod) (leader_election_master_status{SCOPE})", "$pod")],
            },
            Panel {
                title: "Time since the start",
                description: "A saw-tooth is a replica that ends again and again.",
                unit: SECONDS,
                queries: &[("time() - max by (pod) (process_start_time_seconds{SCOPE})", "$pod")],
            },
            Panel {
                title: "CPU",
                description: "Seconds of all threads per second.",
                unit: COUNT,
                queries: &[(
                    "sum by (pod) (rate(process_cpu_seconds_total{SCOPE}[$__rate_interval]))",
                    "$pod",
                )],
            },
            Panel {
                title: "Memory",
                description: "",
                unit: BYTES,
                queries: &[
                    ("max by (pod) (process_resident_memory_bytes{SCOPE})", "$pod resident"),
                    ("max by (pod) (process_virtual_memory_bytes{SCOPE})", "$pod virtual"),
                    ("max by (pod) (kubewright_memory_limit_bytes{SCOPE})", "$pod limit"),
                ],
            },
            Panel {
                title: "Tasks",
                description: "Tasks of the asynchronous runtime. A line that only rises is a leak.",
                unit: COUNT,
                queries: &[("max by (pod) (kubewright_alive_tasks{SCOPE})", "$pod")],
            },
            Panel {
                title: "Files and sockets",
                description: "",
                unit: COUNT,
                queries: &[
                    ("max by (pod) (process_open_fds{SCOPE})", "$pod open"),
                    ("max by (pod) (process_max_fds{SCOPE})", "$pod limit"),
                ],
            },
        ],
    },
    Row {
        title: "Requests to the API server",
        panels: &[
            Panel {
                title: "Requests per second",
                description: "By status; <error> is one without a response.",
                unit: RATE,
                queries: &[(
                    "sum by (method, code) (rate(rest_client_requests_total{SCOPE}[$__rate_interval]))",
                    "$method $code",
                )],
            },
            Panel {
                title: "Time until the response begins",
                description: "",
                unit: SECONDS,
                queries: &[(
                    "histogram_quantile(0.99, sum by (verb, le) (rate(rest_client_request_duration_seconds_bucket{SCOPE}[$__rate_interval])))",
                    "$verb p99",
                )],
            },
        ],
    },
    Row {
        title: "Webhooks",
        panels: &[
            Panel {
                title: "Answers per second",
                description: "By HTTP status: 200 for yes and no.",
                unit: RATE,
                queries: &[(
                    "sum by (webhook, code) (rate(controller_runtime_webhook_requests_total{SCOPE}[$__rate_interval]))",
                    "$webhook $code",
                )],
            },
            Panel {
                title: "Time until the answer",
                description: "Each write of such an object takes this much longer.",
                unit: SECONDS,
                queries: &[
                    (
                        "histogram_quantile(0.5, sum by (webhook, le) (rate(controller_runtime_webhook_latency_seconds_bucket{SCOPE}[$__rate_interval])))",
                        "$webhook p50",
                    ),
                    (
                        "histogram_quantile(0.99, sum by (webhook, le) (rate(controller_runtime_webhook_latency_seconds_bucket{SCOPE}[$__rate_interval])))",
                        "$webhook p99",
                    ),
                ],
            },
            Panel {
                title: "Refusals and failures per second",
                description: "",
                unit: RATE,
                queries: &[
                    (
                        "sum by (webhook) (rate(kubewright_webhook_denied_total{SCOPE}[$__rate_interval]))",
                        "$webhook denied",
                    ),
                    (
                        "sum by (webhook) (rate(kubewright_webhook_undecodable_total{SCOPE}[$__rate_interval]))",
                        "$webhook let through",
                    ),
                    (
                        "sum by (webhook) (rate(kubewright_conversion_failures_total{SCOPE}[$__rate_interval]))",
                        "$webhook not converted",
                    ),
                    (
                        "sum(rate(controller_runtime_webhook_panics_total{SCOPE}[$__rate_interval]))",
                        "panics",
                    ),
                    (
                        "sum(rate(controller_runtime_conversion_webhook_panics_total{SCOPE}[$__rate_interval]))",
                        "panics of conversions",
                    ),
                ],
            },
            Panel {
                title: "Requests in flight",
                description: "",
                unit: COUNT,
                queries: &[(
                    "sum by (webhook) (controller_runtime_webhook_requests_in_flight{SCOPE})",
                    "$webhook",
                )],
            },
        ],
    },
    Row {
        title: "Certificates",
        panels: &[
            Panel {
                title: "Time that is left",
                description: "The operator renews its own certificates when 30 of their 90 days are left.",
                unit: SECONDS,
                queries: &[
                    (
                        "min by (pod) (kubewright_webhook_certificate_expiry_seconds{SCOPE})",
                        "$pod webhooks",
                    ),
                    (
                        "min by (pod) (kubewright_metrics_certificate_expiry_seconds{SCOPE})",
                        "$pod metrics",
                    ),
                ],
            },
            Panel {
                title: "Reads of given certificates per second",
                description: "",
                unit: RATE,
                queries: &[
                    (
                        "sum(rate(certwatcher_read_certificate_total{SCOPE}[$__rate_interval]))",
                        "read",
                    ),
                    (
                        "sum(rate(certwatcher_read_certificate_errors_total{SCOPE}[$__rate_interval]))",
                        "failed",
                    ),
                ],
            },
        ],
    },
];
