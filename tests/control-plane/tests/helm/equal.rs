//! With default values Helm renders what kustomize does, for each golden project and each component.

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use crate::{
    Programs, programs,
    project::{NAME, NAMESPACE, Objects, Project, by_name, differences},
};

const COMPONENTS: [&[&str]; 6] = [
    &[],
    &["metrics"],
    &["network-policy"],
    &["metrics", "prometheus", "network-policy"],
    &["webhook"],
    &["metrics", "prometheus", "network-policy", "webhook"],
];

/// The values with which a release has what kustomize's output has.
const LIKE_KUSTOMIZE: [&str; 4] = ["--set", "namespace.create=true", "--set", "crds.keep=false"];
/// The same for the component `prometheus`.
const PROMETHEUS: [&str; 4] = [
    "--set",
    "serviceMonitor.enabled=true",
    "--set",
    "prometheusRule.enabled=true",
];

/// Helm's lint, and its rendering with the project's own names.
fn check(project: &Project, programs: &Programs) -> Result<()> {
    let objects = project.kustomized(programs)?;
    project.write_chart(&objects, "0.1.0")?;
    project.lint(programs, &[])?;

    let wanted = by_name(objects)?;
    let is_watched = wanted.values().any(is_of_prometheus);
    let more = if is_watched { &PROMETHEUS[..] } else { &[] };
    let flags = [&LIKE_KUSTOMIZE, more].concat();
    let different = differences(&wanted, &project.rendered(programs, [NAME, NAMESPACE], &flags)?);
    ensure!(different.is_empty(), "{different:#?}");
    let different = differences(&wanted, &project.rendered(programs, [NAME, NAMESPACE], &[])?);
    ensure!(different == exceptions(&wanted), "{different:#?}");
    Ok(())
}

/// Whether the Prometheus operator has a CRD for this object.
fn is_of_prometheus(object: &Value) -> bool {
    object["apiVersion"] == "monitoring.coreos.com/v1"
}

/// The differences between a release with default values and kustomize's output.
fn exceptions(objects: &Objects) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, object) in objects {
        if object["kind"] == "CustomResourceDefinition" {
            let path = "metadata.annotations.helm.sh/resource-policy";
            lines.push(format!("{name}.{path}: null -> \"keep\""));
        }
        if object["kind"] == "Namespace" || is_of_prometheus(object) {
            lines.push(format!("- {name}"));
        }
    }
    lines
}

#[test]
fn each_golden_project_with_each_component_is_rendered_as_kustomize_does() -> Result<()> {
    let Some(programs) = programs() else { return Ok(()) };
    for case in Project::cases()? {
        // The other projects differ in their kinds and roles only.
        let all = ["one", "namespaced"].contains(&case.as_str());
        for components in COMPONENTS.iter().filter(|it| all || it.is_empty() || it.len() == 3) {
            if components.contains(&"webhook") && case == "namespaced" {
                // Its certificates are the user's: there is no Secret for them.
                continue;
            }
            let project = Project::golden(&case, components)?;
            check(&project, &programs).map_err(|error| error.context(format!("{case} with {components:?}")))?;
        }
    }
    Ok(())
}

#[test]
fn texts_that_look_like_templates_or_other_types_arrive_as_they_are() -> Result<()> {
    let Some(programs) = programs() else { return Ok(()) };
    let project = Project::golden("one", &[])?;
    let mut objects = project.kustomized(&programs)?;
    objects.push(json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "foobar-operator-odd", "namespace": NAMESPACE},
        "data": {
            "template": "{{ .Values.image }} {{- end }} {{{ }}} {{/* c */}} `{{`",
            "lines": "{{ if }}\n  x: {{ include \"a\" . }}\n\n# end\n",
            "yes": "on", "octal": "0644", "date": "2001-01-01", "quotes": "'\"\\ \\uffff", "control": "\u{1}\t", "empty": "",
            "number": "1e3", "unicode": "ü\u{2028}😀", "own": "in foobar-operator-system/foobar-operator-odd",
        },
    }));
    for object in &mut objects {
        if object["kind"] == "CustomResourceDefinition" {
            let schema = &mut object["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
            schema["description"] = "a {{ template }} of {{\nseveral }} lines\n".into();
            schema["properties"]["spec"]["properties"]["target"]["default"] = "{{ foobar-operator-system }}".into();
            schema["properties"]["spec"]["properties"]["type"]["enum"] = json!(["{{", "}}", "yes"]);
        }
        if object["kind"] == "Deployment" {
            object["spec"]["template"]["metadata"]["annotations"]["big"] = "10000000000000000000000".into();
            let pod = &mut object["spec"]["template"]["spec"];
            pod["tolerations"] = json!([{"key": "{{ a }}", "operator": "Exists", "tolerationSeconds": 123456789}]);
            pod["containers"][0]["env"] = json!([{"name": "TEXT", "value": "{{ b }}"}]);
            pod["volumes"] = json!([{"name": "v", "configMap": {"name": "foobar-operator-odd", "defaultMode": 420}}]);
        }
    }
    project.write_chart(&objects, "0.1.0")?;
    let wanted = by_name(objects)?;
    let different = differences(
        &wanted,
        &project.rendered(&programs, [NAME, NAMESPACE], &LIKE_KUSTOMIZE)?,
    );
    ensure!(different.is_empty(), "{different:#?}");
    Ok(())
}
