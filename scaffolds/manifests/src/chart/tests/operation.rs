//! Tests of charts in operation: installations, upgrades, drains.

use super::{NAMESPACE, chart, files, object, project, with};
use serde_json::json;
use std::collections::BTreeMap;

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
fn without_an_election_no_two_pods_work_at_once_and_no_alert_waits_for_a_leader() {
    let mut objects = project();
    objects[5]["spec"]["strategy"] = json!({"rollingUpdate": {"maxSurge": 1}});
    let rules = json!([{"alert": "OperatorHasNoLeader", "expr": "x"}, {"alert": "OperatorRestarts", "expr": "y"}]);
    objects.push(with(
        object("monitoring.coreos.com/v1", "PrometheusRule", "foo-rules"),
        json!({"spec": {"groups": [{"name": "foo", "rules": rules}]}}),
    ));
    let path = |chart: &BTreeMap<String, String>, file: &str| chart[&format!("templates/{file}.yaml")].clone();
    let with_election = chart(&objects);
    let deployment = path(&with_election, "deployment-controller-manager");
    let strategy = "  {{- if or .Values.hostNetwork (not .Values.leaderElection.enabled) }}\n  strategy:\n    rollingUpdate:\n      maxSurge: 0\n      \
                    maxUnavailable: 1\n    type: RollingUpdate\n  {{- else }}\n  strategy:\n    rollingUpdate:\n      maxSurge: 1\n  \
                    {{- end }}\n";
    assert!(deployment.contains(strategy), "{deployment}");
    let alerts = path(&with_election, "prometheusrule-rules");
    let alert = "    {{- if .Values.leaderElection.enabled }}\n    - alert: OperatorHasNoLeader\n      expr: x\n    {{- end }}\n    \
                 - alert: OperatorRestarts\n";
    assert!(alerts.contains(alert), "{alerts}");

    objects[5]["spec"]["strategy"] = json!({"type": "Recreate"});
    let recreated = path(&chart(&objects), "deployment-controller-manager");
    assert!(recreated.contains("  strategy:\n    type: Recreate\n") && !recreated.contains("maxSurge"));

    // The author of an operator that never elects has chosen the strategy and the alerts.
    objects[5]["spec"]["template"]["spec"]["containers"][1]["args"] = json!([]);
    let without = chart(&objects);
    assert!(!path(&without, "deployment-controller-manager").contains("leaderElection.enabled) }}\n  strategy"));
    assert!(!path(&without, "prometheusrule-rules").contains("leaderElection"));
}

#[test]
fn a_prometheus_that_selects_by_labels_finds_the_monitor_and_the_alerts() {
    let mut objects = project();
    let of = |kind: &str, name: &str| object("monitoring.coreos.com/v1", kind, name);
    let mut monitor = of("ServiceMonitor", "foo-monitor");
    monitor["metadata"]["labels"] = json!({"app": "foo"});
    monitor["spec"]["endpoints"] = json!([{"bearerTokenFile": "/token", "port": "https"}, {"port": "http"}]);
    objects.extend([monitor, of("PrometheusRule", "foo-rules")]);
    let chart = chart(&objects);
    let monitor = &chart["templates/servicemonitor-monitor.yaml"];
    let more = "    app: foo\n    {{- with omit (.Values.serviceMonitor.labels | default dict) \"app\" }}\n    {{- toYaml . | nindent 4 }}\n    {{- end }}\n";
    assert!(monitor.contains(more), "{monitor}");
    let file = "  - port: https\n    {{- with .Values.serviceMonitor.authorization }}\n    authorization:\n      {{- toYaml . | nindent 6 }}\n    \
                {{- else }}\n    bearerTokenFile: /token\n    {{- end }}\n  - port: http\n    {{- with .Values.serviceMonitor.authorization }}\n";
    assert!(monitor.contains(file), "{monitor}");
    let rules = &chart["templates/prometheusrule-rules.yaml"];
    let labels =
        "  {{- with .Values.prometheusRule.labels }}\n  labels:\n    {{- toYaml . | nindent 4 }}\n  {{- end }}\n";
    assert!(rules.contains(labels), "{rules}");
    assert!(chart["values.yaml"].contains("serviceMonitor:\n  authorization: {}\n  enabled: false\n  labels: {}\n"));
    let schema: serde_json::Value = serde_json::from_str(&chart["values.schema.json"]).unwrap();
    for key in ["serviceMonitor", "prometheusRule"] {
        assert!(schema["properties"][key]["properties"]["labels"].is_object());
    }
    assert_eq!(schema["properties"]["metrics"]["properties"]["labels"], json!(null));
}

#[test]
fn metrics_of_the_deployment_alone_are_served_until_they_are_switched_off() {
    let mut objects = project();
    let container = &mut objects[5]["spec"]["template"]["spec"]["containers"][1];
    container["args"] = json!([
        "--metrics-bind-address",
        ":8080",
        "--leader-elect",
        "--metrics-secure=false",
        "run"
    ]);
    let chart = chart(&objects);
    let deployment = &chart["templates/deployment-controller-manager.yaml"];
    let switched = "        {{- if .Values.metrics.enabled }}\n        - ':8080'\n        {{- end }}\n        {{- if .Values.leader";
    assert!(deployment.contains(switched), "{deployment}");
    let unswitched = "        - '--metrics-secure=false'\n        {{- end }}\n        - run\n";
    assert!(deployment.contains(unswitched), "{deployment}");
    assert!(chart["values.yaml"].contains("\nmetrics:\n  enabled: true\n"));
    assert!(!chart["templates/checks.yaml"].contains("metrics.enabled is true, but"));
}

#[test]
fn names_of_the_charts_objects_follow_the_release_and_are_no_values() {
    let mut objects = project();
    objects.push(object("v1", "Secret", "foo-registry"));
    let annotations = json!({"reloader": "foo-registry", "a": "b"});
    objects[2]["metadata"]["annotations"] = annotations.clone();
    let template = &mut objects[5]["spec"]["template"];
    template["metadata"]["annotations"] = annotations;
    template["spec"]["imagePullSecrets"] = json!([{"name": "other"}, {"name": "foo-registry"}]);
    template["spec"]["affinity"] = json!({"podAffinity": {"here": [{"namespaces": [NAMESPACE]}]}});
    template["spec"]["priorityClassName"] = "foo-high".into();
    template["spec"]["tolerations"] = json!([{"key": NAMESPACE}]);
    objects
        .push(json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "foo-high"}}));
    let chart = chart(&objects);
    let values = &chart["values.yaml"];
    for value in [
        "imagePullSecrets:\n- name: other\n",
        "podAnnotations:\n  a: b\n",
        "  annotations:\n    a: b\n",
        "affinity: {}\n",
        "priorityClassName: \"\"\n",
        &format!("tolerations:\n- key: {NAMESPACE}\n"),
    ] {
        assert!(values.contains(value), "no {value} in\n{values}");
    }
    assert!(!values.contains("foo-registry"), "{values}");
    let name = "\"{{ include \"foo.fullname\" . }}-registry\"\n";
    let deployment = &chart["templates/deployment-controller-manager.yaml"];
    let secrets = format!(
        "      imagePullSecrets:\n      - name: {name}      {{{{- with .Values.imagePullSecrets }}}}\n      {{{{- toYaml . | nindent 6 }}}}\n"
    );
    assert!(deployment.contains(&secrets), "{deployment}");
    for field in [
        "      {{- else }}\n      affinity:\n        podAffinity:\n          here:\n          - namespaces:\n            - \"{{ .Release.Namespace }}\"\n      {{- end }}\n",
        "      {{- else }}\n      priorityClassName: \"{{ include \"foo.clusterName\" . }}-high\"\n      {{- end }}\n",
    ] {
        assert!(deployment.contains(field), "no {field} in\n{deployment}");
    }
    for (file, value) in [
        ("deployment", "podAnnotations"),
        ("serviceaccount", "serviceAccount.annotations"),
    ] {
        let text = &chart[&format!("templates/{file}-controller-manager.yaml")];
        assert!(text.contains(&format!("reloader: {name}")), "{text}");
        assert!(
            text.contains(&format!(
                "{{{{- with omit (.Values.{value} | default dict) \"reloader\" }}}}"
            )),
            "{text}"
        );
    }
}

#[test]
fn on_the_network_of_the_node_an_update_frees_the_ports_first() {
    let of = |changed: &dyn Fn(&mut serde_json::Value)| {
        let mut objects = project();
        changed(&mut objects[5]["spec"]["template"]["spec"]);
        chart(&objects)["templates/deployment-controller-manager.yaml"].clone()
    };
    let strategy = " }}\n  strategy:\n    rollingUpdate:\n      maxSurge: 0\n      maxUnavailable: 1\n    type: RollingUpdate\n  {{- end }}\n";
    let both = format!("{{{{- if or .Values.hostNetwork (not .Values.leaderElection.enabled){strategy}");
    let elects = of(&|_| {});
    assert!(elects.contains(&both), "{elects}");
    let alone = of(&|pod| pod["containers"][1]["args"] = json!([]));
    assert!(
        alone.contains(&format!("{{{{- if .Values.hostNetwork{strategy}")),
        "{alone}"
    );
    let always = of(&|pod| pod["hostNetwork"] = true.into());
    assert!(
        always.contains(&format!("{{{{- if not .Values.leaderElection.enabled{strategy}")),
        "{always}"
    );
}

#[test]
fn every_container_with_the_image_of_the_operator_follows_the_values() {
    let image = "localhost:5000/foo:v1";
    let mut objects = project();
    let pod = &mut objects[5]["spec"]["template"]["spec"];
    pod["initContainers"] = json!([{"name": "prepare", "image": image}, {"name": "wait", "image": "busybox:1"}]);
    objects[1]["spec"]["image"] = image.into();
    let containers = json!([{"name": "migrate", "image": image}]);
    objects.push(with(
        object("batch/v1", "Job", "foo-migrate"),
        json!({"spec": {"template": {"spec": {"containers": containers}}}}),
    ));
    let chart = chart(&objects);
    let follows = |file: &str| {
        let text = &chart[&format!("templates/{file}.yaml")];
        text.matches("image: \"{{ include \"foo.image\" . }}\"\n").count()
    };
    assert_eq!(follows("deployment-controller-manager"), 2);
    assert_eq!(follows("job-migrate"), 1);
    assert_eq!(follows("crds/foos.example.com"), 0);
    let deployment = &chart["templates/deployment-controller-manager.yaml"];
    assert!(deployment.contains("image: busybox:1\n") && deployment.contains("image: sidecar:v1\n"));
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
