//! The operator's Deployment: finds it, and moves what people change from it into the values of the chart.

use super::ChartError;
use super::marks::{Blocks, FULLNAME, IMAGE};
use super::names::text;
use serde_json::{Map, Value, json};

/// The label of the operator's Pods, as in kubebuilder's projects.
const CONTROL_PLANE: &str = "/spec/selector/matchLabels/control-plane";
/// The container with the operator.
const CONTAINER: &str = "manager";
/// The flag with the prefix of the names of webhooks' objects.
const PREFIX_FLAG: &str = "--webhook-name-prefix=";

/// The flag with which the operator makes the certificate of its metrics.
const OWN_CERTIFICATE: &str = "--metrics-own-cert";

const POD: &str = "/spec/template/spec";

/// A collection in the Deployment that is a value of the chart: its field, the value, and whether it is a list.
struct Lifted(&'static str, &'static str, bool);

const OF_POD: [Lifted; 6] = [
    Lifted("imagePullSecrets", "imagePullSecrets", true),
    Lifted("nodeSelector", "nodeSelector", false),
    Lifted("tolerations", "tolerations", true),
    Lifted("affinity", "affinity", false),
    Lifted("topologySpreadConstraints", "topologySpreadConstraints", true),
    Lifted("securityContext", "podSecurityContext", false),
];

const OF_CONTAINER: [Lifted; 2] = [
    Lifted("securityContext", "securityContext", false),
    Lifted("resources", "resources", false),
];

/// The position of the operator's Deployment among `objects`: the one with the label, or the only one.
pub(crate) fn find(objects: &[&Value]) -> Result<usize, ChartError> {
    let is_deployment = |at: &usize| text(objects[*at], "/kind") == "Deployment";
    let all: Vec<usize> = (0..objects.len()).filter(is_deployment).collect();
    let mut found = all.clone();
    found.retain(|at| text(objects[*at], CONTROL_PLANE) == "controller-manager");
    match (found.as_slice(), all.as_slice()) {
        ([one], _) | ([], [one]) => Ok(*one),
        _ => Err(ChartError::Deployment(all.len())),
    }
}

/// Moves fields of the operator's Deployment into values, and puts template text in their places. With `prefix`, the name of the chart's
/// prefix, the operator is told if its webhooks or its metrics have another one.
pub(super) fn lift(
    deployment: &mut Value,
    prefix: Option<&str>,
    blocks: &mut Blocks,
) -> Result<Map<String, Value>, ChartError> {
    let mut values = Map::new();
    let place = container(deployment)?;
    let spec = &mut deployment["spec"];
    values.insert("replicas".to_owned(), take(spec, "replicas").unwrap_or_default());
    let none = "{{- if not (kindIs \"invalid\" .Values.replicas) }}";
    blocks.insert(
        spec,
        format!("{none}\nreplicas: {{{{ toYaml .Values.replicas }}}}\n{{{{- end }}}}"),
    );

    metadata(&mut deployment["spec"]["template"]["metadata"], &mut values, blocks);
    let pod = &mut deployment["spec"]["template"]["spec"];
    for lifted in &OF_POD {
        move_out(pod, lifted, &mut values, blocks);
    }
    values.insert(
        "priorityClassName".to_owned(),
        take(pod, "priorityClassName").unwrap_or_else(|| json!("")),
    );
    blocks.insert(
        pod,
        "{{- with .Values.priorityClassName }}\npriorityClassName: {{ toYaml . }}\n{{- end }}",
    );

    let container = &mut deployment["spec"]["template"]["spec"]["containers"][place];
    for lifted in &OF_CONTAINER {
        move_out(container, lifted, &mut values, blocks);
    }
    values.insert("image".to_owned(), image(container, blocks));
    arguments(container, prefix, blocks);
    environment(container, blocks);
    values.insert("extraArgs".to_owned(), json!([]));
    values.insert("extraEnv".to_owned(), json!([]));
    Ok(values)
}

/// Whether the operator makes the certificate of its metrics server, whose names have the prefix too.
pub(super) fn makes_certificates(deployment: &Value) -> bool {
    let containers = deployment.pointer(POD).and_then(|pod| pod["containers"].as_array());
    let arguments = containers.into_iter().flatten().filter_map(|it| it["args"].as_array());
    let given = |argument: &Value| argument == OWN_CERTIFICATE || argument == &format!("{OWN_CERTIFICATE}=true");
    arguments.flatten().any(given)
}

/// The position of the operator's container.
pub(crate) fn container(deployment: &Value) -> Result<usize, ChartError> {
    let containers = deployment.pointer(POD).and_then(|pod| pod.get("containers"));
    let containers = containers
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    let named = containers.iter().position(|it| text(it, "/name") == CONTAINER);
    let only = (containers.len() == 1).then_some(0);
    named.or(only).ok_or(ChartError::Container)
}

fn take(parent: &mut Value, field: &str) -> Option<Value> {
    parent.as_object_mut()?.remove(field)
}

fn move_out(parent: &mut Value, lifted: &Lifted, values: &mut Map<String, Value>, blocks: &mut Blocks) {
    let Lifted(field, value, is_list) = *lifted;
    let none = || if is_list { json!([]) } else { json!({}) };
    values.insert(value.to_owned(), take(parent, field).unwrap_or_else(none));
    blocks.insert(parent, collection(field, value));
}

/// A field whose value is a collection among the values; none if that is empty.
pub(super) fn collection(field: &str, value: &str) -> String {
    format!("{{{{- with .Values.{value} }}}}\n{field}:\n  {{{{- toYaml . | nindent +2 }}}}\n{{{{- end }}}}")
}

/// Labels and annotations of the Pods. Labels that are there already cannot be changed: selectors name them.
fn metadata(metadata: &mut Value, values: &mut Map<String, Value>, blocks: &mut Blocks) {
    let annotations = take(metadata, "annotations").unwrap_or_else(|| json!({}));
    values.insert("podAnnotations".to_owned(), annotations);
    blocks.insert(metadata, collection("annotations", "podAnnotations"));
    let labels = &mut metadata["labels"];
    let fixed = labels.as_object().into_iter().flat_map(Map::keys);
    let fixed: String = fixed.map(|key| format!(" {}", quoted(key))).collect();
    let more =
        format!("{{{{- with omit .Values.podLabels{fixed} }}}}\n{{{{- toYaml . | nindent +0 }}}}\n{{{{- end }}}}");
    blocks.insert(labels, more);
    values.insert("podLabels".to_owned(), json!({}));
}

/// A string in a template.
fn quoted(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}

fn image(container: &mut Value, blocks: &mut Blocks) -> Value {
    let image = text(container, "/image").to_owned();
    let policy = take(container, "imagePullPolicy").unwrap_or_else(|| json!(""));
    container["image"] = IMAGE.into();
    let pull = "{{- with .Values.image.pullPolicy }}\nimagePullPolicy: {{ toYaml . }}\n{{- end }}";
    blocks.insert(container, pull);
    let (name, digest) = image.split_once('@').unwrap_or((&image, ""));
    // A colon before a slash is that of a port.
    let tagged = name.rsplit_once(':').filter(|(_, tag)| !tag.contains('/'));
    let (repository, tag) = tagged.unwrap_or((name, ""));
    json!({"repository": repository, "tag": tag, "digest": digest, "pullPolicy": policy})
}

fn arguments(container: &mut Value, prefix: Option<&str>, blocks: &mut Blocks) {
    let more = "{{- range .Values.extraArgs }}\n- {{ quote . }}\n{{- end }}";
    let Some(Value::Array(items)) = container.get_mut("args") else {
        let text = format!("{{{{- if .Values.extraArgs }}}}\nargs:\n{more}\n{{{{- end }}}}");
        blocks.insert(container, text);
        return;
    };
    let given = items
        .iter_mut()
        .find(|it| it.as_str().is_some_and(|it| it.starts_with(PREFIX_FLAG)));
    let mut list = Vec::new();
    match (given, prefix) {
        (Some(item), _) => *item = format!("{PREFIX_FLAG}{FULLNAME}-").into(),
        (None, Some(base)) => {
            let name = format!("(include \"{base}.fullname\" .)");
            list.push(format!(
                "{{{{- if ne {name} {} }}}}\n- {{{{ printf \"{PREFIX_FLAG}%s-\" {name} | quote }}}}\n{{{{- end }}}}",
                quoted(base)
            ));
        }
        (None, None) => {}
    }
    list.push(more.to_owned());
    for text in list {
        blocks.push(&mut container["args"], text);
    }
}

/// A variable of the chart is left out if the values have one of that name.
fn environment(container: &mut Value, blocks: &mut Blocks) {
    let Some(Value::Array(items)) = take(container, "env") else {
        blocks.insert(container, collection("env", "extraEnv"));
        return;
    };
    let given = "{{- $given := list }}\n{{- range .Values.extraEnv }}\n{{- $given = append $given .name }}\n{{- end }}";
    let list = &mut container["env"];
    blocks.push(list, given);
    for item in items {
        let name = quoted(text(&item, "/name"));
        blocks.push(list, format!("{{{{- if not (has {name} $given) }}}}"));
        if let Value::Array(list) = list {
            list.push(item);
        }
        blocks.push(list, "{{- end }}");
    }
    blocks.push(
        list,
        "{{- with .Values.extraEnv }}\n{{- toYaml . | nindent +0 }}\n{{- end }}",
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image_of(image: &str) -> Value {
        image_values(json!({"image": image}))
    }

    fn image_values(mut container: Value) -> Value {
        image(&mut container, &mut Blocks::default())
    }

    #[test]
    fn an_image_has_a_repository_a_tag_and_a_digest() {
        let cases = [
            ("controller:latest", "controller", "latest", ""),
            ("localhost:5000/a/b", "localhost:5000/a/b", "", ""),
            ("localhost:5000/a/b:v1", "localhost:5000/a/b", "v1", ""),
            ("a/b@sha256:00", "a/b", "", "sha256:00"),
            ("a/b:v1@sha256:00", "a/b", "v1", "sha256:00"),
        ];
        for (image, repository, tag, digest) in cases {
            let wanted = json!({"repository": repository, "tag": tag, "digest": digest, "pullPolicy": ""});
            assert_eq!(image_of(image), wanted, "{image}");
        }
        let always = image_values(json!({"image": "a", "imagePullPolicy": "Always"}));
        assert_eq!(always["pullPolicy"], "Always");
    }

    #[test]
    fn the_operator_is_the_labelled_deployment_or_the_only_one() {
        let labelled = json!({"kind": "Deployment", "spec": {"selector": {"matchLabels": {"control-plane": "controller-manager"}}}});
        let other = json!({"kind": "Deployment"});
        assert_eq!(find(&[&other, &labelled]).unwrap(), 1);
        assert_eq!(find(&[&other]).unwrap(), 0);
        for (objects, count) in [(vec![], 0), (vec![&other, &other], 2), (vec![&labelled, &labelled], 2)] {
            assert!(matches!(find(&objects), Err(ChartError::Deployment(n)) if n == count));
        }
    }
}
