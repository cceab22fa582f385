//! Each value of a chart, and the names of a release, change what they should and nothing else.

use anyhow::{Result, ensure};
use serde_json::Value;

use crate::{
    Programs, programs,
    project::{NAME, NAMESPACE, Objects, Project, by_name, differences},
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
    let cases: [(&[&str], Vec<String>); 17] = [
        (&["image.tag=v2"], vec![format!(r#"{manager}.image: "controller:latest" -> "controller:v2""#)]),
        (
            &["image.repository=a.example:5000/b", "image.digest=sha256:00", "image.pullPolicy=Always"],
            vec![
                format!(r#"{manager}.image: "controller:latest" -> "a.example:5000/b:latest@sha256:00""#),
                format!(r#"{manager}.imagePullPolicy: null -> "Always""#),
            ],
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
        let different = differences(&before, &project.rendered(&programs, [NAME, NAMESPACE], &flags)?);
        ensure!(different == wanted, "{sets:?}: {different:#?}, and not {wanted:#?}");
    }
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
    let (project, before) = project(programs, "one", components)?;
    let cases: [(&str, &[&str], &str); 4] = [
        ("prod", &[], "prod-foobar-operator"),
        ("my-foobar-operator", &[], "my-foobar-operator"),
        ("prod", &["--set", "nameOverride=foo"], "prod-foo"),
        ("prod", &["--set", "fullnameOverride=foo"], "foo"),
    ];
    for (release, flags, prefix) in cases {
        let text = serde_json::to_string(&before.values().collect::<Vec<_>>())?;
        let text = text
            .replace(NAMESPACE, "elsewhere")
            .replace("foobar-operator-", &format!("{prefix}-"));
        let mut wanted = by_name(serde_json::from_str::<Vec<Value>>(&text)?)?;
        let deployment = wanted.get_mut(&format!("Deployment/elsewhere/{prefix}-controller-manager"));
        if let Some(Value::Array(args)) =
            deployment.and_then(|it| it.pointer_mut("/spec/template/spec/containers/0/args"))
        {
            args.push(format!("--webhook-name-prefix={prefix}-").into());
        }
        let different = differences(&wanted, &project.rendered(programs, [release, "elsewhere"], flags)?);
        ensure!(
            different.is_empty(),
            "{components:?} {release} {flags:?}: {different:#?}"
        );
    }
    Ok(())
}
