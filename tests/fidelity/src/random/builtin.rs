//! The built-in kinds in random programs, with schemas of the generated fields. Most values are valid, so that the
//! stored objects are meaningful.

use serde_json::{Value, json};

use super::shapes::Kind;
use fastrand::Rng;

/// A random built-in kind.
pub fn any(rng: &mut Rng) -> Kind {
    match rng.u8(..24) {
        0 | 1 => config_map(),
        2 => secret(),
        3 => Kind::built_in("", "v1", "Service", "services", service()),
        4 | 5 => Kind::built_in("apps", "v1", "Deployment", "deployments", deployment()),
        6 => lease(),
        7..=9 => Kind::built_in("", "v1", "Pod", "pods", pod()),
        10 => Kind::built_in("apps", "v1", "StatefulSet", "statefulsets", stateful_set()),
        11 => Kind::built_in("apps", "v1", "DaemonSet", "daemonsets", daemon_set()),
        12 | 13 => Kind::built_in("batch", "v1", "Job", "jobs", job()),
        14 => Kind::built_in("batch", "v1", "CronJob", "cronjobs", cron_job()),
        15 => Kind::built_in("networking.k8s.io", "v1", "Ingress", "ingresses", ingress()),
        16 => Kind::built_in(
            "networking.k8s.io",
            "v1",
            "NetworkPolicy",
            "networkpolicies",
            network_policy(),
        ),
        17 | 18 => Kind::built_in("rbac.authorization.k8s.io", "v1", "Role", "roles", role()),
        19 => Kind::built_in(
            "rbac.authorization.k8s.io",
            "v1",
            "RoleBinding",
            "rolebindings",
            binding(),
        ),
        20 => Kind::built_in(
            "autoscaling",
            "v2",
            "HorizontalPodAutoscaler",
            "horizontalpodautoscalers",
            autoscaler(),
        ),
        21 => Kind::built_in("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", budget()),
        22 => Kind::built_in("", "v1", "ServiceAccount", "serviceaccounts", account()),
        _ => Kind::built_in("discovery.k8s.io", "v1", "EndpointSlice", "endpointslices", slice()),
    }
}

fn object(required: &[&str], properties: Value) -> Value {
    json!({"type": "object", "required": required, "properties": properties})
}

fn list(item: Value) -> Value {
    json!({"type": "array", "items": item})
}

/// A list with at least one item. Where a list is always encoded, an empty one differs from an absent one, see the
/// ledger.
fn filled(item: Value) -> Value {
    json!({"type": "array", "items": item, "minItems": 1})
}

fn one_of(values: Value) -> Value {
    json!({"examples": values})
}

fn spec(required: &[&str], properties: Value) -> Value {
    object(&["spec"], json!({"spec": object(required, properties)}))
}

fn texts() -> Value {
    json!({"type": "object", "additionalProperties": {"type": "string"}})
}

fn config_map() -> Kind {
    let schema = object(
        &[],
        json!({"data": texts(), "immutable": {"enum": [true, false, false, false]},
            "binaryData": {"type": "object", "additionalProperties": one_of(json!(["YQ==", "YWI=", "?"]))}}),
    );
    Kind::built_in("", "v1", "ConfigMap", "configmaps", schema)
}

fn secret() -> Kind {
    let schema = object(
        &[],
        json!({"stringData": texts(),
            "data": {"type": "object", "additionalProperties": one_of(json!(["YQ==", "YWI=", "?"]))},
            "type": one_of(json!(["Opaque", "kubernetes.io/basic-auth", "example.com/x"]))}),
    );
    Kind::built_in("", "v1", "Secret", "secrets", schema)
}

fn lease() -> Kind {
    let schema = spec(
        &[],
        json!({"holderIdentity": one_of(json!(["a", "b", ""])), "leaseDurationSeconds": one_of(json!([1, 15, 0, -1])),
            "renewTime": one_of(json!(["2026-01-02T03:04:05.000000Z", "2026-01-02T03:04:05Z", "yesterday"])),
            "leaseTransitions": {"type": "integer"}}),
    );
    Kind::built_in("coordination.k8s.io", "v1", "Lease", "leases", schema)
}

fn service() -> Value {
    let port = object(
        &["port"],
        json!({"name": one_of(json!(["http", "https", "x", "Upper"])), "port": one_of(json!([80, 443, 80, 0, 70000])),
            "protocol": one_of(json!(["TCP", "UDP", "tcp"])), "targetPort": one_of(json!([8080, "http", "", 0]))}),
    );
    let mut schema = spec(
        &["ports"],
        json!({"ports": list(port),
            "selector": {"type": "object", "additionalProperties": one_of(json!(["a", "b"]))},
            "type": one_of(json!(["ClusterIP", "ClusterIP", "ExternalName", "NodePort", "LoadBalancer", "Other"])),
            "sessionAffinity": one_of(json!(["None", "ClientIP", "Other"])),
            "clusterIP": one_of(json!(["None", "None", ""])),
            "externalTrafficPolicy": one_of(json!(["Local", "Cluster", "x"])),
            "externalName": one_of(json!(["example.com"]))}),
    );
    schema["properties"]["status"] = object(&[], json!({"loadBalancer": {"type": "object"}}));
    schema
}

fn quantity() -> Value {
    one_of(json!(["1", "1000m", "0.5", "1Gi", "100Mi", "1e3", "x", "-1"]))
}

fn probe() -> Value {
    object(
        &[],
        json!({"httpGet": object(&["port"], json!({"port": one_of(json!([80, "http", 0])), "path": one_of(json!(["/", "x"])),
                "scheme": one_of(json!(["HTTP", "HTTPS"]))})),
            "exec": object(&[], json!({"command": list(json!({"type": "string"}))})),
            "periodSeconds": one_of(json!([1, 0, -1])), "successThreshold": one_of(json!([1, 2])),
            "terminationGracePeriodSeconds": one_of(json!([1, 0]))}),
    )
}

fn container() -> Value {
    let source = object(
        &[],
        json!({"fieldRef": object(&["fieldPath"], json!({"fieldPath": one_of(json!(["metadata.name", "status.podIP", "spec.x"]))})),
            "configMapKeyRef": object(&["key"], json!({"name": one_of(json!(["m", ""])), "key": one_of(json!(["k", "no key"]))}))}),
    );
    let env = object(
        &["name"],
        json!({"name": one_of(json!(["A", "B", "C", "no name"])), "value": one_of(json!(["1", "2", ""])), "valueFrom": source}),
    );
    let port = object(
        &["containerPort"],
        json!({"containerPort": one_of(json!([80, 443, 0])), "name": one_of(json!(["http", "https"])),
            "protocol": one_of(json!(["TCP", "UDP"])), "hostPort": one_of(json!([80, 0]))}),
    );
    let mount = object(
        &["name", "mountPath"],
        json!({"name": one_of(json!(["v", "w"])), "mountPath": one_of(json!(["/a", "/b", "c:d"])), "readOnly": {"type": "boolean"},
            "subPath": one_of(json!(["x", "../x"]))}),
    );
    let security = object(
        &[],
        json!({"runAsUser": one_of(json!([0, 1000, -1])), "privileged": {"type": "boolean"}, "allowPrivilegeEscalation": {"type": "boolean"},
            "capabilities": object(&[], json!({"add": list(one_of(json!(["NET_ADMIN", "CAP_SYS_ADMIN"]))), "drop": list(one_of(json!(["ALL"])))})),
            "seccompProfile": object(&["type"], json!({"type": one_of(json!(["RuntimeDefault", "Localhost", "x"])), "localhostProfile": one_of(json!(["p"]))}))}),
    );
    let amounts = object(
        &[],
        json!({"cpu": quantity(), "memory": quantity(), "example.com/x": one_of(json!(["1", "1.5"]))}),
    );
    object(
        &["name"],
        json!({"name": one_of(json!(["a", "b", "c"])), "image": one_of(json!(["x", "y", "x:latest"])),
            "imagePullPolicy": one_of(json!(["Always", "Never", "x"])),
            "env": list(env), "ports": list(port), "args": list(json!({"type": "string"})), "volumeMounts": list(mount),
            "livenessProbe": probe(), "readinessProbe": probe(), "securityContext": security,
            "restartPolicy": one_of(json!(["Always", "OnFailure"])),
            "resources": object(&[], json!({"limits": amounts, "requests": amounts}))}),
    )
}

fn volume() -> Value {
    let items = list(object(
        &["key", "path"],
        json!({"key": one_of(json!(["k"])), "path": one_of(json!(["p", "../p", "p/q"]))}),
    ));
    object(
        &["name"],
        json!({"name": one_of(json!(["v", "w", "No"])), "emptyDir": object(&[], json!({"sizeLimit": quantity(), "medium": one_of(json!(["Memory", "x"]))})),
            "configMap": object(&[], json!({"name": one_of(json!(["m"])), "items": items, "defaultMode": one_of(json!([420, 1000]))})),
            "hostPath": object(&["path"], json!({"path": one_of(json!(["/x", "/x/../y"])), "type": one_of(json!(["File", "x"]))}))}),
    )
}

/// The spec of a Pod, which rarely has containers that restart by themselves.
fn pod_spec() -> Value {
    let toleration = object(
        &[],
        json!({"key": one_of(json!(["a", "b c"])), "operator": one_of(json!(["Exists", "Equal", "x"])), "value": one_of(json!(["v"])),
            "effect": one_of(json!(["NoSchedule", "NoExecute", "x"])), "tolerationSeconds": one_of(json!([1]))}),
    );
    let spread = object(
        &["maxSkew", "topologyKey", "whenUnsatisfiable"],
        json!({"maxSkew": one_of(json!([1, 0])), "topologyKey": one_of(json!(["zone", "host"])),
            "whenUnsatisfiable": one_of(json!(["DoNotSchedule", "ScheduleAnyway", "x"])),
            "labelSelector": one_of(json!([{"matchLabels": {"a": "b"}}, {}]))}),
    );
    object(
        &["containers"],
        json!({"containers": list(container()), "initContainers": list(container()), "volumes": list(volume()),
            "restartPolicy": one_of(json!(["Always", "Always", "Never", "OnFailure"])),
            "terminationGracePeriodSeconds": one_of(json!([0, 30, -1])), "activeDeadlineSeconds": one_of(json!([1, 0])),
            "nodeSelector": one_of(json!([{"a": "b"}, {"beta.kubernetes.io/os": "l"}, {"a": "b c"}])),
            "serviceAccountName": one_of(json!(["default", "No"])), "hostNetwork": {"type": "boolean"},
            "dnsPolicy": one_of(json!(["Default", "None", "x"])), "tolerations": list(toleration),
            "imagePullSecrets": list(object(&[], json!({"name": one_of(json!(["s", "t", ""]))}))),
            "topologySpreadConstraints": list(spread),
            "securityContext": object(&[], json!({"fsGroup": one_of(json!([1, -1])), "runAsNonRoot": {"type": "boolean"},
                "sysctls": list(object(&["name"], json!({"name": one_of(json!(["kernel.shm_rmid_forced", "a b"])), "value": one_of(json!(["1"]))})))})),
            "affinity": one_of(json!([{"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "h"}]}},
                {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}}])),
            "schedulerName": one_of(json!(["s"])), "hostname": one_of(json!(["h", "H"])), "enableServiceLinks": {"type": "boolean"}}),
    )
}

fn pod() -> Value {
    object(
        &["spec"],
        json!({"spec": pod_spec(), "status": object(&[], json!({"phase": one_of(json!(["Running", "Failed"])), "message": {"type": "string"},
            "conditions": one_of(json!([[{"type": "Ready", "status": "True"}], [{"type": "Ready", "status": "x"}]])),
            "podIPs": one_of(json!([[{"ip": "1.2.3.4"}], [{"ip": "x"}]]))}))}),
    )
}

fn template() -> Value {
    let labels = one_of(json!([{"app": "x"}, {"app": "x"}, {"app": "x", "y": "z"}, {}]));
    object(
        &["metadata", "spec"],
        json!({"metadata": object(&["labels"], json!({"labels": labels})), "spec": pod_spec()}),
    )
}

fn selector() -> Value {
    one_of(
        json!([{"matchLabels": {"app": "x"}}, {"matchLabels": {"app": "x"}}, {"matchLabels": {"app": "x"}},
        {"matchExpressions": [{"key": "app", "operator": "In", "values": ["x"]}]}, {}]),
    )
}

fn deployment() -> Value {
    let mut schema = spec(
        &["selector", "template"],
        json!({"replicas": one_of(json!([0, 1, 3, -1])), "paused": {"type": "boolean"}, "selector": selector(),
            "strategy": one_of(json!([{"type": "Recreate"}, {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "50%"}}])),
            "template": template()}),
    );
    schema["properties"]["status"] = object(
        &[],
        json!({"replicas": one_of(json!([0, 2, -1])), "observedGeneration": one_of(json!([1, 2]))}),
    );
    schema
}

fn stateful_set() -> Value {
    let claim = object(
        &["metadata", "spec"],
        json!({"metadata": one_of(json!([{"name": "v"}, {"name": "V"}])), "spec": claim_spec()}),
    );
    spec(
        &["selector", "template", "serviceName"],
        json!({"replicas": one_of(json!([0, 1, -1])), "serviceName": one_of(json!(["s", "S"])), "selector": selector(), "template": template(),
            "podManagementPolicy": one_of(json!(["Parallel", "x"])), "volumeClaimTemplates": list(claim),
            "revisionHistoryLimit": one_of(json!([1, -1])), "minReadySeconds": one_of(json!([1, -1])),
            "updateStrategy": one_of(json!([{"type": "OnDelete"}, {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}, {"type": "x"}]))}),
    )
}

fn daemon_set() -> Value {
    spec(
        &["selector", "template"],
        json!({"selector": selector(), "template": template(), "minReadySeconds": one_of(json!([1, -1])),
            "updateStrategy": one_of(json!([{"type": "OnDelete"}, {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "150%"}}]))}),
    )
}

fn job_spec() -> Value {
    let policy = one_of(
        json!([{"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1, 2]}}]},
        {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]},
        {"rules": [{"action": "x", "onExitCodes": {"operator": "In", "values": [0]}}]}, {"rules": []}]),
    );
    let mut template = object(&["spec"], json!({"spec": pod_spec()}));
    template["properties"]["spec"]["required"] = json!(["containers", "restartPolicy"]);
    template["properties"]["spec"]["properties"]["restartPolicy"] =
        one_of(json!(["Never", "Never", "OnFailure", "Always"]));
    object(
        &["template"],
        json!({"parallelism": one_of(json!([1, 0, -1])), "completions": one_of(json!([1, 3, -1])), "backoffLimit": one_of(json!([1, -1])),
            "completionMode": one_of(json!(["Indexed", "NonIndexed", "x"])), "suspend": {"type": "boolean"},
            "activeDeadlineSeconds": one_of(json!([1, -1])), "ttlSecondsAfterFinished": one_of(json!([1, -1])),
            "podFailurePolicy": policy, "template": template}),
    )
}

fn job() -> Value {
    object(&["spec"], json!({"spec": job_spec()}))
}

fn cron_job() -> Value {
    spec(
        &["schedule", "jobTemplate"],
        json!({"schedule": one_of(json!(["* * * * *", "@daily", "TZ=UTC * * * * *", "x"])), "timeZone": one_of(json!(["Etc/UTC", "x"])),
            "concurrencyPolicy": one_of(json!(["Forbid", "x"])), "suspend": {"type": "boolean"},
            "successfulJobsHistoryLimit": one_of(json!([1, -1])), "startingDeadlineSeconds": one_of(json!([1, -1])),
            "jobTemplate": object(&["spec"], json!({"spec": job_spec()}))}),
    )
}

fn ingress() -> Value {
    let backend = one_of(
        json!([{"service": {"name": "s", "port": {"number": 80}}}, {"service": {"name": "s", "port": {"name": "http"}}},
        {"service": {"name": "S", "port": {}}}, {}]),
    );
    let path = object(
        &["pathType", "backend"],
        json!({"path": one_of(json!(["/", "/a", "x", "/a//b"])), "pathType": one_of(json!(["Prefix", "Exact", "ImplementationSpecific", "x"])), "backend": backend}),
    );
    let rule = object(
        &[],
        json!({"host": one_of(json!(["example.com", "*.example.com", "Bad", "1.2.3.4"])), "http": object(&["paths"], json!({"paths": list(path)}))}),
    );
    spec(
        &[],
        json!({"defaultBackend": backend, "rules": filled(rule), "ingressClassName": one_of(json!(["c", "C"])),
            "tls": list(object(&[], json!({"hosts": list(one_of(json!(["example.com", "*.x", "X"]))), "secretName": one_of(json!(["s", ""]))})))}),
    )
}

fn network_policy() -> Value {
    let peer = one_of(
        json!([{"podSelector": {}}, {"namespaceSelector": {"matchLabels": {"a": "b"}}}, {"ipBlock": {"cidr": "10.0.0.0/8"}},
        {"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16", "11.0.0.0/16"]}}, {"ipBlock": {"cidr": "x"}, "podSelector": {}}, {}]),
    );
    let port = object(
        &[],
        json!({"port": one_of(json!([80, "http", 0, "No Port"])), "protocol": one_of(json!(["TCP", "UDP", "x"])), "endPort": one_of(json!([90, 10]))}),
    );
    spec(
        &["podSelector"],
        json!({"podSelector": one_of(json!([{}, {"matchLabels": {"a": "b"}}, {"matchLabels": {"a b": "c"}}])),
            "policyTypes": filled(one_of(json!(["Ingress", "Egress", "x"]))),
            "ingress": filled(object(&[], json!({"from": filled(peer.clone()), "ports": filled(port.clone())}))),
            "egress": filled(object(&[], json!({"to": filled(peer), "ports": filled(port)})))}),
    )
}

fn claim_spec() -> Value {
    object(
        &["accessModes", "resources"],
        json!({"accessModes": list(one_of(json!(["ReadWriteOnce", "ReadOnlyMany", "x"]))),
            "resources": object(&["requests"], json!({"requests": object(&["storage"], json!({"storage": one_of(json!(["1Gi", "2Gi", "0", "1500m"]))}))})),
            "storageClassName": one_of(json!(["c", "", "C C"])), "volumeMode": one_of(json!(["Block", "x"])), "volumeName": one_of(json!(["v"])),
            "selector": one_of(json!([{}, {"matchLabels": {"a": "b"}}]))}),
    )
}

fn role() -> Value {
    let rule = object(
        &["verbs"],
        json!({"verbs": list(one_of(json!(["get", "*", ""]))), "apiGroups": list(one_of(json!(["", "apps"]))),
            "resources": list(one_of(json!(["pods", "pods/log"]))), "resourceNames": list(one_of(json!(["a"]))),
            "nonResourceURLs": list(one_of(json!(["/healthz"])))}),
    );
    object(&[], json!({"rules": filled(rule)}))
}

fn binding() -> Value {
    let subject = object(
        &["kind", "name"],
        json!({"kind": one_of(json!(["User", "Group", "ServiceAccount", "x"])), "name": one_of(json!(["a", "", "A"])),
            "namespace": one_of(json!(["default", ""])), "apiGroup": one_of(json!(["rbac.authorization.k8s.io", "x"]))}),
    );
    let to = one_of(
        json!([{"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"}, {"kind": "ClusterRole", "name": "r"},
        {"apiGroup": "x", "kind": "Role", "name": ""}]),
    );
    object(&["roleRef"], json!({"subjects": list(subject), "roleRef": to}))
}

fn autoscaler() -> Value {
    let metric = one_of(json!([
        {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}},
        {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "AverageValue", "averageValue": "1"}}},
        {"type": "Pods", "pods": {"metric": {"name": "m"}, "target": {"type": "AverageValue", "averageValue": "1"}}},
        {"type": "Resource"}, {"type": "x"}]));
    spec(
        &["scaleTargetRef", "maxReplicas"],
        json!({"scaleTargetRef": one_of(json!([{"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}, {"kind": "Deployment", "name": "d"}, {"kind": "", "name": "a/b"}])),
            "minReplicas": one_of(json!([1, 2, 0, 9])), "maxReplicas": one_of(json!([3, 5, 0])), "metrics": list(metric),
            "behavior": one_of(json!([{"scaleDown": {"stabilizationWindowSeconds": 1}}, {"scaleUp": {"selectPolicy": "x"}},
                {"scaleUp": {"policies": [{"type": "Pods", "value": 1, "periodSeconds": 1}]}}]))}),
    )
}

fn budget() -> Value {
    spec(
        &[],
        json!({"minAvailable": one_of(json!([1, "50%", "x", -1])), "maxUnavailable": one_of(json!([1, "50%", "150%"])),
            "selector": one_of(json!([{}, {"matchLabels": {"a": "b"}}, {"matchLabels": {"a b": ""}}])),
            "unhealthyPodEvictionPolicy": one_of(json!(["AlwaysAllow", "x"]))}),
    )
}

fn account() -> Value {
    object(
        &[],
        json!({"automountServiceAccountToken": {"type": "boolean"}, "secrets": list(object(&[], json!({"name": one_of(json!(["s", "t"]))}))),
            "imagePullSecrets": list(object(&[], json!({"name": one_of(json!(["s"]))})))}),
    )
}

fn slice() -> Value {
    let endpoint = object(
        &["addresses"],
        json!({"addresses": list(one_of(json!(["1.2.3.4", "1.2.3.5", "x", "::1"]))), "hostname": one_of(json!(["h", "H"])),
            "conditions": object(&[], json!({"ready": {"type": "boolean"}}))}),
    );
    let port = object(
        &[],
        json!({"name": one_of(json!(["http", "x", "X"])), "port": one_of(json!([80, 0])), "protocol": one_of(json!(["TCP", "x"])), "appProtocol": one_of(json!(["http", "a b"]))}),
    );
    object(
        &["addressType", "endpoints"],
        json!({"addressType": one_of(json!(["IPv4", "IPv4", "IPv6", "x"])), "endpoints": filled(endpoint), "ports": filled(port)}),
    )
}
