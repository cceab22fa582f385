//! The operator's Deployment: finds it, and moves what people change from it into the values of the chart.

use super::ChartError;
use super::command::{self, OperatorRelease, arguments, enabled, enabled_item, environment};
use super::marks::{self, Blocks, IMAGE};
use super::names::Names;
use super::switches;
use crate::rendered::{container, text};
use kubewright_schema::yaml;
use serde_json::{Map, Value, json};

/// The flag with which the operator makes the certificate of its metrics.
const OWN_CERTIFICATE: &str = "--metrics-own-cert";

const POD: &str = "/spec/template/spec";

/// A field of the Deployment that is a value of the chart: the field, the value, and the empty value.
struct Lifted(&'static str, &'static str, fn() -> Value);

/// The field with the Secrets for the registry, and its value.
const PULL_SECRETS: &str = "imagePullSecrets";

const OF_POD: [Lifted; 6] = [
    Lifted("nodeSelector", "nodeSelector", || json!({})),
    Lifted("tolerations", "tolerations", || json!([])),
    Lifted("affinity", "affinity", || json!({})),
    Lifted("topologySpreadConstraints", "topologySpreadConstraints", || json!([])),
    Lifted("priorityClassName", "priorityClassName", || json!("")),
    Lifted("securityContext", "podSecurityContext", || json!({})),
];

const OF_CONTAINER: [Lifted; 2] = [
    Lifted("securityContext", "securityContext", || json!({})),
    Lifted("resources", "resources", || json!({})),
];

/// Moves fields of the operator's Deployment into values, and puts template text in their places.
pub(super) fn lift(
    deployment: &mut Value,
    release: OperatorRelease<'_>,
    blocks: &mut Blocks,
) -> Result<Map<String, Value>, ChartError> {
    let mut values = Map::new();
    let place = container(deployment)?;
    let keys = ["deploymentLabels", "deploymentAnnotations"];
    values.extend(labelled(&mut deployment["metadata"], keys, release.names, blocks));
    let spec = &mut deployment["spec"];
    values.insert("replicas".to_owned(), take(spec, "replicas").unwrap_or_default());
    let none = "{{- if not (kindIs \"invalid\" .Values.replicas) }}";
    blocks.insert(
        spec,
        format!("{none}\nreplicas: {{{{ toYaml .Values.replicas }}}}\n{{{{- end }}}}"),
    );

    strategy(deployment, blocks);

    let template = &mut deployment["spec"]["template"]["metadata"];
    values.extend(labelled(
        template,
        ["podLabels", "podAnnotations"],
        release.names,
        blocks,
    ));
    let pod = &mut deployment["spec"]["template"]["spec"];
    pull_secrets(pod, release.names, &mut values, blocks);
    for lifted in &OF_POD {
        values.insert(lifted.1.to_owned(), move_out(pod, lifted, release.names, blocks));
    }
    network(pod, &mut values, blocks);
    let switched = volumes(pod, place, release.names, blocks);
    let container = &mut deployment["spec"]["template"]["spec"]["containers"][place];
    extra(container, "volumeMounts", "extraVolumeMounts", blocks, |mount| {
        switched
            .iter()
            .find(|(name, _)| *name == text(mount, "/name"))
            .map(|(_, value)| *value)
    });
    if let Some(ports) = container.get_mut("ports") {
        blocks.switch(ports, enabled_item);
    }
    for lifted in &OF_CONTAINER {
        let value = move_out(container, lifted, release.names, blocks);
        values.insert(lifted.1.to_owned(), value);
    }
    values.insert("image".to_owned(), image(container, blocks));
    values.insert(
        "leaderElection".to_owned(),
        json!({"enabled": command::elects(container)}),
    );
    arguments(container, release, blocks);
    environment(container, blocks);
    extra(container, "envFrom", "extraEnvFrom", blocks, |_| None);
    for key in [
        "extraArgs",
        "extraEnv",
        "extraEnvFrom",
        "extraVolumes",
        "extraVolumeMounts",
    ] {
        values.insert(key.to_owned(), json!([]));
    }
    Ok(values)
}

/// The operator's container.
pub(super) fn operator(deployment: &Value) -> Option<&Value> {
    let place = container(deployment).ok()?;
    Some(&deployment.pointer(POD)?["containers"][place])
}

/// Whether the operator elects a leader. Without an election in `config/`, the alerts stay as their author wrote them.
pub(super) fn elects(deployment: &Value) -> bool {
    operator(deployment).is_some_and(command::elects)
}

/// The operator's image, which other containers may run too.
pub(super) fn image_of(deployment: &Value) -> &str {
    operator(deployment).map_or("", |operator| text(operator, "/image"))
}

/// A PodDisruptionBudget for the operator's Pods. One Pod at a time may be evicted, so with one replica a drain does not wait.
pub(super) fn budget(deployment: &Value) -> Value {
    json!({
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {
            "name": text(deployment, "/metadata/name"),
            "namespace": text(deployment, "/metadata/namespace"),
            "labels": deployment["metadata"]["labels"],
        },
        // A Pod that is not ready serves nothing, and does not stop a drain.
        "spec": {
            "maxUnavailable": 1,
            "selector": deployment["spec"]["selector"],
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
        },
    })
}

/// Whether the operator makes the certificate of its metrics server, whose names have the prefix too.
pub(super) fn makes_certificates(deployment: &Value) -> bool {
    let containers = deployment.pointer(POD).and_then(|pod| pod["containers"].as_array());
    let arguments = containers.into_iter().flatten().filter_map(|it| it["args"].as_array());
    let given = |argument: &Value| argument == OWN_CERTIFICATE || argument == &format!("{OWN_CERTIFICATE}=true");
    arguments.flatten().any(given)
}

pub(super) fn take(parent: &mut Value, field: &str) -> Option<Value> {
    parent.as_object_mut()?.remove(field)
}

/// The fields that may contain the name of an object or of a namespace.
const WITH_NAMES: [&str; 2] = ["affinity", "priorityClassName"];

/// Replaces a field by its value, and returns the default. A field with a name that follows the release stays, for an empty value.
fn move_out(parent: &mut Value, lifted: &Lifted, names: &Names, blocks: &mut Blocks) -> Value {
    let Lifted(field, value, empty) = *lifted;
    let mut given = take(parent, field).filter(|given| !given.is_null());
    let mut block = collection(field, value);
    if let Some(own) = given.take_if(|given| WITH_NAMES.contains(&field) && follows(given, names)) {
        let mut own = json!({field: own});
        names.mark(&mut own);
        block = or_else(&block, &marks::write(&own, &Blocks::default(), &names.base));
    }
    blocks.insert(parent, block);
    given.unwrap_or_else(empty)
}

/// Whether `value` contains a name that follows the release. Such a name stays in the template, because a value of the chart is the same in all releases.
fn follows(value: &Value, names: &Names) -> bool {
    let mut marked = value.clone();
    names.mark(&mut marked);
    marked != *value
}

/// Moves the Secrets for the registry into the values, except Secrets that the chart itself creates.
fn pull_secrets(pod: &mut Value, names: &Names, values: &mut Map<String, Value>, blocks: &mut Blocks) {
    let all = take(pod, PULL_SECRETS).and_then(|all| all.as_array().cloned());
    let (own, others): (Vec<_>, Vec<_>) = all.into_iter().flatten().partition(|it| follows(it, names));
    values.insert(PULL_SECRETS.to_owned(), others.into());
    pod[PULL_SECRETS] = own.into();
    extra(pod, PULL_SECRETS, PULL_SECRETS, blocks, |_| None);
}

/// Moves annotations into a value, and returns it. Those with names that follow the release stay.
pub(super) fn annotations(metadata: &mut Value, value: &str, names: &Names, blocks: &mut Blocks) -> Value {
    let all = take(metadata, "annotations").and_then(|all| all.as_object().cloned());
    let (own, others): (Map<_, _>, Map<_, _>) = all
        .into_iter()
        .flatten()
        .partition(|(key, text)| follows(&json!({key: text}), names));
    if !own.is_empty() {
        metadata["annotations"] = own.into();
    }
    more(metadata, "annotations", value, blocks);
    others.into()
}

/// A field whose value is a collection among the values; left out if the collection is empty.
pub(super) fn collection(field: &str, value: &str) -> String {
    format!("{{{{- with .Values.{value} }}}}\n{field}:\n  {{{{- toYaml . | nindent +2 }}}}\n{{{{- end }}}}")
}

/// A block with these lines for an empty value.
pub(super) fn or_else(block: &str, lines: &str) -> String {
    block.replace("{{- end }}", &format!("{{{{- else }}}}\n{lines}{{{{- end }}}}"))
}

/// Labels and annotations of the Pods or of the Deployment. Labels that are there already cannot be changed: selectors name them.
fn labelled(metadata: &mut Value, keys: [&str; 2], names: &Names, blocks: &mut Blocks) -> [(String, Value); 2] {
    let [of_labels, of_annotations] = keys;
    let annotations = annotations(metadata, of_annotations, names, blocks);
    more(metadata, "labels", of_labels, blocks);
    [
        (of_annotations.to_owned(), annotations),
        (of_labels.to_owned(), json!({})),
    ]
}

/// Adds the entries of a value to the labels or annotations that are there already, which stay.
pub(super) fn more(metadata: &mut Value, field: &str, value: &str, blocks: &mut Blocks) {
    let entries = &mut metadata[field];
    if entries.as_object().is_none_or(Map::is_empty) {
        take(metadata, field);
        blocks.insert(metadata, collection(field, value));
        return;
    }
    let fixed = entries.as_object().into_iter().flat_map(Map::keys);
    let fixed: String = fixed.map(|key| format!(" {}", quoted(key))).collect();
    // The values of an earlier chart, which `helm upgrade --reuse-values` uses, may lack it.
    let more = format!(
        "{{{{- with omit (.Values.{value} | default dict){fixed} }}}}\n{{{{- toYaml . | nindent +0 }}}}\n{{{{- end }}}}"
    );
    blocks.insert(entries, more);
}

/// The strategy of the Deployment. An old Pod is deleted before a new one is created, if two would work at once, or would need the same
/// ports of one node. Not `Recreate`: server-side apply leaves the defaults of `rollingUpdate` in an existing Deployment, which that type
/// forbids.
fn strategy(deployment: &mut Value, blocks: &mut Blocks) {
    let on_host = deployment.pointer(POD).is_some_and(|pod| pod["hostNetwork"] == true);
    // A strategy of an operator that never elects, or is always on the network of the node, is as its author wants it.
    let condition = match (elects(deployment), on_host) {
        (true, false) => "or .Values.hostNetwork (not .Values.leaderElection.enabled)",
        (true, true) => "not .Values.leaderElection.enabled",
        (false, false) => ".Values.hostNetwork",
        (false, true) => return,
    };
    let spec = &mut deployment["spec"];
    if text(spec, "/strategy/type") == "Recreate" {
        return;
    }
    let given = take(spec, "strategy").map(|given| yaml::to_string(&json!({"strategy": given})));
    let otherwise = given.map_or_else(String::new, |given| {
        format!("{{{{- else }}}}\n{}", marks::escape(&given))
    });
    let in_turn = json!({"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}});
    let in_turn = yaml::to_string(&in_turn);
    blocks.insert(
        spec,
        format!("{{{{- if {condition} }}}}\n{in_turn}{otherwise}{{{{- end }}}}"),
    );
}

/// Whether the Pods use the network of their node. Then only this policy finds the Services of the cluster.
fn network(pod: &mut Value, values: &mut Map<String, Value>, blocks: &mut Blocks) {
    values.insert(
        "hostNetwork".to_owned(),
        take(pod, "hostNetwork").unwrap_or(Value::Bool(false)),
    );
    let policy = match text(pod, "/dnsPolicy") {
        "" => "\ndnsPolicy: ClusterFirstWithHostNet",
        _ => "",
    };
    blocks.insert(
        pod,
        format!("{{{{- if .Values.hostNetwork }}}}\nhostNetwork: true{policy}\n{{{{- end }}}}"),
    );
}

/// Adds the volumes of the values to the Pod. Returns the names of volumes that a switch leaves out, with its value.
fn volumes(pod: &mut Value, place: usize, names: &Names, blocks: &mut Blocks) -> Vec<(String, &'static str)> {
    let of_volume = |volume: &Value| switches::of_volume(volume, names).and_then(enabled);
    let all = pod["volumes"].as_array().cloned().unwrap_or_default();
    let switched: Vec<_> = all
        .iter()
        .filter_map(|volume| Some((text(volume, "/name").to_owned(), of_volume(volume)?)))
        .collect();
    // Another container that mounts a volume needs it, whatever the operator serves.
    let others = pod["containers"]
        .as_array()
        .into_iter()
        .flatten()
        .enumerate()
        .filter(|(at, _)| *at != place);
    let mounts = others.flat_map(|(_, it)| it["volumeMounts"].as_array().into_iter().flatten());
    let mounted: Vec<String> = mounts.map(|mount| text(mount, "/name").to_owned()).collect();
    let switched: Vec<_> = switched
        .into_iter()
        .filter(|(name, _)| !mounted.contains(name))
        .collect();
    extra(pod, "volumes", "extraVolumes", blocks, |volume| {
        switched
            .iter()
            .find(|(name, _)| *name == text(volume, "/name"))
            .map(|(_, value)| *value)
    });
    switched
}

/// Appends the list of a value to the list of a field, whose own items have conditions.
fn extra(
    parent: &mut Value,
    field: &str,
    value: &str,
    blocks: &mut Blocks,
    condition: impl Fn(&Value) -> Option<&'static str>,
) {
    if parent[field].as_array().is_none_or(Vec::is_empty) {
        take(parent, field);
        blocks.insert(parent, collection(field, value));
        return;
    }
    blocks.switch(&mut parent[field], condition);
    let more = format!("{{{{- with .Values.{value} }}}}\n{{{{- toYaml . | nindent +0 }}}}\n{{{{- end }}}}");
    blocks.push(&mut parent[field], more);
}

/// A string in a template.
pub(super) fn quoted(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}

fn image(container: &mut Value, blocks: &mut Blocks) -> Value {
    let image = text(container, "/image").to_owned();
    let policy = take(container, "imagePullPolicy").unwrap_or_else(|| json!(""));
    container["image"] = IMAGE.into();
    let pull = "{{- with .Values.image.pullPolicy }}\nimagePullPolicy: {{ toYaml . }}\n{{- end }}";
    blocks.insert(container, pull);
    let (name, digest) = image.split_once('@').unwrap_or((&image, ""));
    // A colon before a slash belongs to a port.
    let tagged = name.rsplit_once(':').filter(|(_, tag)| !tag.contains('/'));
    let (repository, tag) = tagged.unwrap_or((name, ""));
    json!({"registry": "", "repository": repository, "tag": tag, "digest": digest, "pullPolicy": policy})
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
            let wanted =
                json!({"registry": "", "repository": repository, "tag": tag, "digest": digest, "pullPolicy": ""});
            assert_eq!(image_of(image), wanted, "{image}");
        }
        let always = image_values(json!({"image": "a", "imagePullPolicy": "Always"}));
        assert_eq!(always["pullPolicy"], "Always");
    }
}
