//! Each value of a chart, and the names of a release, change what they should and nothing else.

use anyhow::{Result, ensure};
use serde_json::Value;

use crate::{
    Programs, programs,
    project::{NAME, NAMESPACE, Objects, Project, by_name, copy, differences, render},
};

const DEPLOYMENT: &str = "Deployment/foobar-operator-system/foobar-operator-controller-manager";

/// A golden project with all components, and what it renders with default values.
fn project(programs: &Programs, case: &str, components: &[&str]) -> Result<(Project, Objects)> {
    let project = Project::golden(case, components)?;
    project.write_chart(&project.kustomized(programs)?, "0.1.0")?;
    let rendered = project.rendered(programs, [NAME, NAMESPACE], &[])?;
    Ok((project, rendered))
}

#[test]
fn each_value_changes_what_it_should_and_nothing_else() -> Result<()> {
    let Some(programs) = programs() else { return Ok(()) };
    let (project, before) = project(&programs, "namespaced", &["metrics"])?;
    let pod = format!("{DEPLOYMENT}.spec.template.spec");
    let manager = format!("{pod}.containers.0");
    let template = format!("{DEPLOYMENT}.spec.template.metadata");
    let mount = "[{\"mountPath\":\"/etc/a\",\"name\":\"a\"}]";
    let cases: [(&[&str], Vec<String>); 25] = [
        (&["image.tag=v2"], vec![format!(r#"{manager}.image: "controller:latest" -> "controller:v2""#)]),
        (
            &["image.repository=a.example:5000/b", "image.digest=sha256:00", "image.pullPolicy=Always"],
            vec![
                format!(r#"{manager}.image: "controller:latest" -> "a.example:5000/b:latest@sha256:00""#),
                format!(r#"{manager}.imagePullPolicy: null -> "Always""#),
            ],
        ),
        (
            &["image.registry=mirror.example/a"],
            vec![format!(r#"{manager}.image: "controller:latest" -> "mirror.example/a/controller:latest""#)],
        ),
        (
            &["image.repository=localhost:5000/x/y", "image.registry=mirror.example/"],
            vec![format!(r#"{manager}.image: "controller:latest" -> "mirror.example/x/y:latest""#)],
        ),
        (
            &["hostNetwork=true"],
            vec![
                format!(
                    r#"{DEPLOYMENT}.spec.strategy: null -> {{"rollingUpdate":{{"maxSurge":0,"maxUnavailable":1}},"type":"RollingUpdate"}}"#
                ),
                format!(r#"{pod}.dnsPolicy: null -> "ClusterFirstWithHostNet""#),
                format!("{pod}.hostNetwork: null -> true"),
            ],
        ),
        (
            &["extraVolumes[0].name=a", "extraVolumes[0].emptyDir.medium=Memory"],
            vec![format!(r#"{pod}.volumes: null -> [{{"emptyDir":{{"medium":"Memory"}},"name":"a"}}]"#)],
        ),
        (
            &["extraVolumeMounts[0].name=a", "extraVolumeMounts[0].mountPath=/etc/a"],
            vec![format!("{manager}.volumeMounts: null -> {mount}")],
        ),
        (
            &["extraEnvFrom[0].configMapRef.name=a"],
            vec![format!(r#"{manager}.envFrom: null -> [{{"configMapRef":{{"name":"a"}}}}]"#)],
        ),
        (
            &["deploymentLabels.team=a", "deploymentLabels.control-plane=mine", "deploymentAnnotations.note=b"],
            vec![
                format!(r#"{DEPLOYMENT}.metadata.annotations: null -> {{"note":"b"}}"#),
                format!(r#"{DEPLOYMENT}.metadata.labels.team: null -> "a""#),
            ],
        ),
        (
            &["podDisruptionBudget.enabled=true"],
            vec!["+ PodDisruptionBudget/foobar-operator-system/foobar-operator-controller-manager".to_owned()],
        ),
        (&["image.tag="], vec![format!(r#"{manager}.image: "controller:latest" -> "controller""#)]),
        (
            &["imagePullSecrets[0].name=registry"],
            vec![format!(r#"{pod}.imagePullSecrets: null -> [{{"name":"registry"}}]"#)],
        ),
        (&["replicas=0"], vec![format!("{DEPLOYMENT}.spec.replicas: 1 -> 0")]),
        (&["replicas=null"], vec![format!("{DEPLOYMENT}.spec.replicas: 1 -> null")]),
        (
            &["resources.limits.cpu=2", "resources.requests=null"],
            vec![
                format!(r#"{manager}.resources.limits.cpu: "500m" -> 2"#),
                format!(r#"{manager}.resources.requests: {{"cpu":"10m","memory":"32Mi"}} -> null"#),
            ],
        ),
        (&["nodeSelector.disk=ssd"], vec![format!(r#"{pod}.nodeSelector: null -> {{"disk":"ssd"}}"#)]),
        (
            &["tolerations[0].operator=Exists"],
            vec![format!(r#"{pod}.tolerations: null -> [{{"operator":"Exists"}}]"#)],
        ),
        (
            &["affinity.nodeAffinity.x=y"],
            vec![format!(r#"{pod}.affinity: null -> {{"nodeAffinity":{{"x":"y"}}}}"#)],
        ),
        (&["priorityClassName=high"], vec![format!(r#"{pod}.priorityClassName: null -> "high""#)]),
        (
            &["podSecurityContext.runAsUser=7", "securityContext.readOnlyRootFilesystem=false"],
            vec![
                format!("{manager}.securityContext.readOnlyRootFilesystem: true -> false"),
                format!("{pod}.securityContext.runAsUser: null -> 7"),
            ],
        ),
        (
            &["extraArgs[0]=--max-concurrent-reconciles=16", "extraArgs[1]=--x={{ y }}"],
            vec![
                format!(r#"{manager}.args.5: null -> "--max-concurrent-reconciles=16""#),
                format!(r#"{manager}.args.6: null -> "--x={{{{ y }}}}""#),
            ],
        ),
        (
            &["extraEnv[0].name=MODE", "extraEnv[0].value=fast"],
            vec![format!(r#"{manager}.env.1: null -> {{"name":"MODE","value":"fast"}}"#)],
        ),
        (
            &["extraEnv[0].name=WATCH_NAMESPACE", "extraEnv[0].value=a"],
            vec![
                format!(r#"{manager}.env.0.value: null -> "a""#),
                format!(r#"{manager}.env.0.valueFrom: {{"fieldRef":{{"fieldPath":"metadata.namespace"}}}} -> null"#),
            ],
        ),
        (
            &["podLabels.team=a", "podLabels.control-plane=mine", "podAnnotations.note=b"],
            vec![
                format!(r#"{template}.annotations.note: null -> "b""#),
                format!(r#"{template}.labels.team: null -> "a""#),
            ],
        ),
        (
            &["serviceAccount.annotations.role=arn"],
            vec![
                "ServiceAccount/foobar-operator-system/foobar-operator-controller-manager.metadata.annotations: null -> \
                 {\"role\":\"arn\"}"
                    .to_owned(),
            ],
        ),
    ];
    for (sets, wanted) in cases {
        let flags: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
        project.lint(&programs, &flags)?;
        let different = differences(&before, &project.rendered(&programs, [NAME, NAMESPACE], &flags)?);
        ensure!(different == wanted, "{sets:?}: {different:#?}, and not {wanted:#?}");
    }
    Ok(())
}

const COMPONENTS: [&str; 4] = ["metrics", "prometheus", "network-policy", "webhook"];

#[test]
fn each_switch_leaves_out_its_part_and_nothing_else() -> Result<()> {
    let Some(programs) = programs() else { return Ok(()) };
    let (project, _) = project(&programs, "one", &COMPONENTS)?;
    let all = [
        "--set",
        "serviceMonitor.enabled=true",
        "--set",
        "prometheusRule.enabled=true",
    ];
    let before = project.rendered(&programs, [NAME, NAMESPACE], &all)?;
    let manager = format!("{DEPLOYMENT}.spec.template.spec.containers.0");
    let without_metrics = [
        "serviceMonitor.enabled=false",
        "prometheusRule.enabled=false",
        "metrics.enabled=false",
    ];
    let cases: [(&[&str], &[&str]); 7] = [
        (&["serviceMonitor.enabled=false"], &["ServiceMonitor/"]),
        (&["prometheusRule.enabled=false"], &["PrometheusRule/"]),
        (&["networkPolicy.enabled=false"], &["NetworkPolicy/"]),
        (&["podDisruptionBudget.enabled=false"], &["PodDisruptionBudget/"]),
        (&["webhooks.enabled=false"], &["WebhookConfiguration/", "webhook-se"]),
        (&without_metrics, &["ServiceMonitor/", "PrometheusRule/", "metrics-"]),
        (&["certManager.enabled=false"], &[]),
    ];
    for (sets, parts) in cases {
        let more: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
        let flags = [&all, &more[..]].concat();
        project.lint(&programs, &flags)?;
        let after = project.rendered(&programs, [NAME, NAMESPACE], &flags)?;
        let (mut different, in_deployment): (Vec<_>, Vec<_>) = differences(&before, &after)
            .into_iter()
            .partition(|line| !line.starts_with(&manager));
        // The policy that allows the metrics has their name.
        let is_gone = |name: &&String| parts.iter().any(|part| name.contains(part)) && !name.contains("allow-");
        let mut wanted: Vec<_> = before.keys().filter(is_gone).map(|name| format!("- {name}")).collect();
        if parts == ["NetworkPolicy/"] {
            wanted = before
                .keys()
                .filter(|it| it.starts_with("NetworkPolicy/"))
                .map(|it| format!("- {it}"))
                .collect();
        }
        different.sort();
        wanted.sort();
        ensure!(different == wanted, "{sets:?}: {different:#?}, and not {wanted:#?}");
        ensure!(wanted.is_empty() == parts.is_empty(), "{sets:?} leaves nothing out");
        let container = &after[DEPLOYMENT]["spec"]["template"]["spec"]["containers"][0];
        let (args, ports) = (container["args"].to_string(), container["ports"].to_string());
        let metrics = !sets.contains(&"metrics.enabled=false");
        let webhooks = !sets.contains(&"webhooks.enabled=false");
        ensure!(args.contains("--metrics-") == metrics, "{sets:?}: {args}");
        ensure!(ports.contains("\"metrics\"") == metrics, "{sets:?}: {ports}");
        ensure!(
            args.contains("--webhook-bind-address=0") != webhooks,
            "{sets:?}: {args}"
        );
        ensure!(ports.contains("\"webhook\"") == webhooks, "{sets:?}: {ports}");
        ensure!(
            in_deployment.is_empty() == (metrics && webhooks),
            "{sets:?}: {in_deployment:#?}"
        );
    }
    Ok(())
}

#[test]
fn values_that_contradict_each_other_or_the_chart_are_refused() -> Result<()> {
    let Some(programs) = programs() else { return Ok(()) };
    let (plain, _) = project(&programs, "one", &[])?;
    let (whole, _) = project(&programs, "one", &COMPONENTS)?;
    let (wide, _) = project(&programs, "wide", &[])?;
    for (project, sets, message) in [
        (
            &plain,
            "metrics.enabled=true",
            "add ../metrics to the components of config/default",
        ),
        (&plain, "serviceMonitor.enabled=true", "add ../prometheus"),
        (&plain, "prometheusRule.enabled=true", "add ../prometheus"),
        (&plain, "networkPolicy.enabled=true", "add ../network-policy"),
        (&plain, "webhooks.enabled=true", "kubewright create webhook"),
        (&plain, "certManager.enabled=true", "add your Certificate"),
        (
            &plain,
            "leaderElection.enabled=false,replicas=2",
            "leaderElection.enabled is false, but replicas",
        ),
        (
            &whole,
            "metrics.enabled=false,serviceMonitor.enabled=true",
            "metrics.enabled is false",
        ),
        (
            &whole,
            "metrics.enabled=false,prometheusRule.enabled=true",
            "metrics.enabled is false",
        ),
        (
            &wide,
            "webhooks.enabled=false",
            "converts the versions of foobars.test.example.com",
        ),
    ] {
        let refused = project.rendered(&programs, [NAME, NAMESPACE], &["--set", sets]).err();
        let error = refused.map(|error| format!("{error:#}")).unwrap_or_default();
        ensure!(
            error.contains(message),
            "{sets} is not refused with `{message}`: {error}"
        );
    }
    let alone = ["--set", "leaderElection.enabled=false"];
    let rendered = plain.rendered(&programs, [NAME, NAMESPACE], &alone)?;
    ensure!(
        !rendered[DEPLOYMENT].to_string().contains("--leader-elect"),
        "{rendered:#?}"
    );
    let strategy = &rendered[DEPLOYMENT]["spec"]["strategy"];
    let in_turn = serde_json::json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}});
    ensure!(*strategy == in_turn, "{strategy}");
    Ok(())
}

#[test]
fn a_chart_that_contains_the_chart_turns_it_on_and_off() -> Result<()> {
    let Some(programs) = programs() else { return Ok(()) };
    let (project, before) = project(&programs, "one", &COMPONENTS)?;
    let umbrella = tempfile::tempdir()?;
    let chart = "apiVersion: v2\nname: umbrella\nversion: 0.1.0\ndependencies:\n- name: foobar-operator\n  version: 0.1.0\n  \
                 condition: foobar-operator.enabled\n  tags: [operators]\n";
    std::fs::write(umbrella.path().join("Chart.yaml"), chart)?;
    let values = "global: {imageRegistry: a.example, deep: {er: [1, true]}}\ntags: {operators: true}\n\
                  foobar-operator: {enabled: true, global: {more: 1}, tags: {x: true}, image: {tag: latest}}\n";
    std::fs::write(umbrella.path().join("values.yaml"), values)?;
    std::fs::create_dir(umbrella.path().join("charts"))?;
    copy(&project.chart(), &umbrella.path().join("charts/foobar-operator"))?;
    let rendered = |flags: &[&str]| render(&programs, umbrella.path(), [NAME, NAMESPACE], flags);
    let different = differences(&before, &rendered(&[])?);
    ensure!(different.is_empty(), "{different:#?}");
    ensure!(rendered(&["--set", "foobar-operator.enabled=false"])?.is_empty());
    ensure!(rendered(&["--set", "foobar-operator.enabled=null", "--set", "tags.operators=false"])?.is_empty());
    let refused = rendered(&["--set", "foobar-operator.imgae=x"]).err();
    let error = refused.map(|error| format!("{error:#}")).unwrap_or_default();
    ensure!(error.contains("imgae"), "{error}");
    let linted = control_plane::run(
        std::process::Command::new(&programs.helm)
            .arg("lint")
            .arg(umbrella.path()),
    )?;
    ensure!(linted.contains("0 chart(s) failed"), "{linted}");
    Ok(())
}

#[test]
fn objects_that_values_turn_off_are_not_rendered() -> Result<()> {
    let Some(programs) = programs() else { return Ok(()) };
    let (project, before) = project(&programs, "one", &["metrics"])?;
    let gone = |flags: &[&str]| -> Result<Vec<String>> {
        Ok(differences(
            &before,
            &project.rendered(&programs, [NAME, NAMESPACE], flags)?,
        ))
    };
    let without = |kinds: &[&str]| -> Vec<String> {
        let is = |name: &&String| kinds.iter().any(|kind| name.starts_with(&format!("{kind}/")));
        before.keys().filter(is).map(|name| format!("- {name}")).collect()
    };
    ensure!(gone(&["--set", "crds.enabled=false"])? == without(&["CustomResourceDefinition"]));
    let rbac = ["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"];
    let different = gone(&["--set", "rbac.create=false"])?;
    ensure!(different == without(&rbac) && different.len() > 5, "{different:#?}");

    // Everything names another ServiceAccount.
    let other = [
        "--set",
        "serviceAccount.create=false",
        "--set",
        "serviceAccount.name=mine",
    ];
    let different = gone(&other)?;
    let account = "ServiceAccount/foobar-operator-system/foobar-operator-controller-manager";
    ensure!(different.contains(&format!("- {account}")), "{different:#?}");
    let renamed = r#""foobar-operator-controller-manager" -> "mine""#;
    let rest: Vec<_> = different.iter().filter(|line| !line.starts_with('-')).collect();
    // Three bindings and the Deployment.
    ensure!(
        rest.len() == 4 && rest.iter().all(|line| line.ends_with(renamed)),
        "{different:#?}"
    );

    for (flags, message) in [
        (
            ["--set", "serviceAccount.create=false"],
            "serviceAccount.name has to name a ServiceAccount",
        ),
        (["--set", "imgae.tag=v1"], "imgae"),
        (["--set", "replicas=many"], "replicas"),
    ] {
        let refused = gone(&flags).err();
        let error = refused.map(|error| format!("{error:#}")).unwrap_or_default();
        ensure!(
            error.contains(message),
            "{flags:?} is not refused with `{message}`: {error}"
        );
    }
    Ok(())
}

#[test]
fn a_release_of_another_name_in_another_namespace_has_its_own_names_everywhere() -> Result<()> {
    let Some(programs) = programs() else { return Ok(()) };
    // The operator is told the prefix if it has webhooks, or makes the certificate of its metrics.
    renamed(&programs, &["metrics", "prometheus", "network-policy", "webhook"])?;
    renamed(&programs, &["metrics", "prometheus"])
}

fn renamed(programs: &Programs, components: &[&str]) -> Result<()> {
    let (project, _) = project(programs, "one", components)?;
    let all = [
        "--set",
        "serviceMonitor.enabled=true",
        "--set",
        "prometheusRule.enabled=true",
    ];
    let before = project.rendered(programs, [NAME, NAMESPACE], &all)?;
    let cases: [(&str, &[&str], &str); 4] = [
        ("prod", &[], "prod-foobar-operator"),
        ("my-foobar-operator", &[], "my-foobar-operator"),
        ("prod", &["--set", "nameOverride=foo"], "prod-foo"),
        ("prod", &["--set", "fullnameOverride=foo"], "foo"),
    ];
    for (release, flags, prefix) in cases {
        let of_cluster = format!("elsewhere.{prefix}-");
        let text = serde_json::to_string(&before.values().collect::<Vec<_>>())?;
        let mut text = text.replace(NAMESPACE, "elsewhere");
        // References to objects of the cluster.
        for before in [
            "\"kind\":\"ClusterRole\",\"name\":\"",
            "\"resourceNames\":[\"foobar-operator-mutating",
            "\"resourceNames\":[\"foobar-operator-validating",
        ] {
            let after = before.replace("foobar-operator-", "");
            let (start, end) = after.rsplit_once('"').unwrap_or_default();
            let prefixed = format!("{start}\"{of_cluster}{end}");
            text = text.replace(&format!("{start}\"foobar-operator-{end}"), &prefixed);
        }
        let text = text
            .replace("\"foobar-operator-", &format!("\"{prefix}-"))
            .replace("=foobar-operator-", &format!("={prefix}-"));
        let mut objects = serde_json::from_str::<Vec<Value>>(&text)?;
        for object in &mut objects {
            let metadata = &mut object["metadata"];
            let name = metadata["name"].as_str().unwrap_or_default().to_owned();
            if let (None, Some(rest)) = (metadata.get("namespace"), name.strip_prefix(&format!("{prefix}-"))) {
                metadata["name"] = format!("{of_cluster}{rest}").into();
            }
        }
        let mut wanted = by_name(objects)?;
        let deployment = wanted.get_mut(&format!("Deployment/elsewhere/{prefix}-controller-manager"));
        if let Some(Value::Array(args)) =
            deployment.and_then(|it| it.pointer_mut("/spec/template/spec/containers/0/args"))
        {
            args.push(format!("--webhook-name-prefix={prefix}-").into());
            if components.contains(&"webhook") {
                args.push(format!("--webhook-configuration-prefix={of_cluster}").into());
            }
        }
        let flags = [&all, flags].concat();
        let different = differences(&wanted, &project.rendered(programs, [release, "elsewhere"], &flags)?);
        ensure!(
            different.is_empty(),
            "{components:?} {release} {flags:?}: {different:#?}"
        );
    }
    // The operator must not take the end of the ServiceAccount's name for a suffix.
    let account = ["--set", "serviceAccount.name=shop-controller-manager-sa"];
    let rendered = project.rendered(programs, [NAME, NAMESPACE], &account)?;
    let args = &rendered[DEPLOYMENT]["spec"]["template"]["spec"]["containers"][0]["args"];
    for flag in ["--webhook-name-prefix=foobar-operator-", "--webhook-name-suffix="] {
        ensure!(
            args.as_array().is_some_and(|args| args.contains(&flag.into())),
            "{args}"
        );
    }
    Ok(())
}

#[test]
fn releases_of_one_name_in_two_namespaces_share_no_object_but_the_crds() -> Result<()> {
    let Some(programs) = programs() else { return Ok(()) };
    for case in Project::cases()? {
        let project = project(&programs, &case, &["metrics"])?.0;
        let names = |namespace: &str| -> Result<std::collections::BTreeSet<String>> {
            let rendered = project.rendered(&programs, ["same", namespace], &["--set", "crds.enabled=false"])?;
            Ok(rendered.into_keys().collect())
        };
        // The project's own namespace is one of them.
        for [one, other] in [["team-a", "team-b"], [NAMESPACE, "team-a"], ["a", "a-same"]] {
            let (one, other) = (names(one)?, names(other)?);
            let both: Vec<_> = one.intersection(&other).collect();
            ensure!(
                both.is_empty() && one.len() == other.len() && one.len() > 5,
                "{case}: {both:#?}"
            );
        }
    }
    Ok(())
}
