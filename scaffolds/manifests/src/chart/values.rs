//! values.yaml, and the schema by which Helm checks the values of users.

use super::switches::{SERVICE_MONITOR, SWITCHES};
use kubewright_schema::yaml;
use serde_json::{Map, Value, json};

/// A value of the chart: its key, what it is, its type.
struct Entry(&'static str, &'static str, fn() -> Value);

const ENTRIES: [Entry; 32] = [
    Entry(
        "image",
        "The operator's image. A digest is used beside the tag; an empty tag is left out. A registry takes the place of the one in \
         repository.",
        || {
            object(&[
                ("registry", text()),
                ("repository", text()),
                ("tag", text()),
                ("digest", text()),
                ("pullPolicy", text()),
            ])
        },
    ),
    Entry("imagePullSecrets", "Secrets for the registry, as `- name: NAME`.", list),
    Entry(
        "replicas",
        "The number of Pods; one of them is the leader, the others stand by.",
        || json!({"type": ["integer", "null"], "minimum": 0}),
    ),
    Entry(
        "leaderElection",
        "Whether the Pods elect the one that works. More than one replica needs it. Without, an update deletes the old Pod first.",
        switch,
    ),
    Entry(
        "extraArgs",
        "More flags of the operator. A later flag replaces an earlier one of the same name.",
        || json!({"type": "array", "items": text()}),
    ),
    Entry(
        "extraEnv",
        "More environment variables. One of the same name replaces the chart's.",
        || json!({"type": "array", "items": {"type": "object", "required": ["name"]}}),
    ),
    Entry(
        "extraEnvFrom",
        "ConfigMaps and Secrets with more environment variables.",
        list,
    ),
    Entry("extraVolumes", "More volumes of the Pods.", list),
    Entry("extraVolumeMounts", "More mounts in the operator's container.", list),
    Entry(
        "hostNetwork",
        "Whether the Pods use the network of their node, for clusters whose API server cannot reach the network of Pods.",
        flag,
    ),
    Entry(
        "resources",
        "The resource requests and limits of the operator's container.",
        map,
    ),
    Entry("nodeSelector", "The labels of nodes for the Pods.", map),
    Entry("tolerations", "The taints that the Pods tolerate.", list),
    Entry("affinity", "The affinity and anti-affinity rules of the Pods.", map),
    Entry(
        "topologySpreadConstraints",
        "The rules for spreading the Pods across nodes and zones.",
        list,
    ),
    Entry("priorityClassName", "The priority of the Pods.", text),
    Entry(
        "podLabels",
        "More labels of the Pods. Those by which Pods are selected stay.",
        texts,
    ),
    Entry("podAnnotations", "The annotations of the Pods.", texts),
    Entry(
        "deploymentLabels",
        "More labels of the Deployment. Those that it has stay.",
        texts,
    ),
    Entry("deploymentAnnotations", "The annotations of the Deployment.", texts),
    Entry("podSecurityContext", "The security context of the Pods.", map),
    Entry(
        "securityContext",
        "The security context of the operator's container.",
        map,
    ),
    Entry(
        "serviceAccount",
        "The operator's ServiceAccount. Without `create`, `name` names one that exists.",
        || object(&[("create", flag()), ("name", text()), ("annotations", texts())]),
    ),
    Entry(
        "install",
        "The part that is installed: `all`, `cluster` (what needs rights in the cluster), or `namespace` (the rest, for which the role \
         admin in the namespace is enough).",
        || json!({"enum": ["all", "cluster", "namespace"]}),
    ),
    Entry("rbac", "Whether roles and bindings are created.", || {
        object(&[("create", flag())])
    }),
    Entry(
        "crds",
        "Whether the CRDs are part of the release, and whether they, and all objects of their kinds, outlive it.",
        || object(&[("enabled", flag()), ("keep", flag())]),
    ),
    Entry(
        "namespace",
        "Whether the release's namespace is rendered: for `helm template`, not for `helm install`.",
        || object(&[("create", flag())]),
    ),
    Entry(
        "nameOverride",
        "Replaces the chart's name in the names of all objects.",
        text,
    ),
    Entry(
        "fullnameOverride",
        "The prefix of the names of all objects, in place of one from the release's name.",
        text,
    ),
    Entry("global", "Of a chart that contains this one; not used.", map),
    // Only in the schema. Helm evaluates `condition` and `tags` of a chart that contains this one, and passes the values on.
    Entry("enabled", "Whether a chart that contains this one installs it.", flag),
    Entry("tags", "Which charts a chart that contains this one installs.", map),
];

fn text() -> Value {
    json!({"type": "string"})
}

fn switch() -> Value {
    object(&[("enabled", flag())])
}

fn labelled() -> Value {
    object(&[("enabled", flag()), ("labels", texts())])
}

fn monitored() -> Value {
    object(&[("enabled", flag()), ("labels", texts()), ("authorization", map())])
}

fn flag() -> Value {
    json!({"type": "boolean"})
}

fn list() -> Value {
    json!({"type": "array"})
}

fn map() -> Value {
    json!({"type": "object"})
}

fn texts() -> Value {
    json!({"type": "object", "additionalProperties": text()})
}

fn object(properties: &[(&str, Value)]) -> Value {
    let properties: Map<String, Value> = properties
        .iter()
        .map(|(name, of)| ((*name).to_owned(), of.clone()))
        .collect();
    json!({"type": "object", "additionalProperties": false, "properties": properties})
}

/// The values that no field of an object stands for.
pub(super) fn fixed(values: &mut Map<String, Value>) {
    let more = json!({
        "install": "all",
        "rbac": {"create": true},
        "crds": {"enabled": true, "keep": true},
        "namespace": {"create": false},
        "nameOverride": "",
        "fullnameOverride": "",
        "global": {},
    });
    if let Value::Object(more) = more {
        values.extend(more);
    }
}

/// Key, comment and type of each value, in the order of values.yaml.
fn entries() -> impl Iterator<Item = (&'static str, &'static str, fn() -> Value)> {
    let switches = SWITCHES.iter().map(|it| {
        let of: fn() -> Value = match it.key {
            SERVICE_MONITOR => monitored,
            _ if it.labels => labelled,
            _ => switch,
        };
        (it.key, it.about, of)
    });
    ENTRIES
        .iter()
        .map(|Entry(key, what, of)| (*key, *what, *of))
        .chain(switches)
}

/// values.yaml.
pub(super) fn file(values: &Map<String, Value>, header: &str) -> String {
    let mut out = format!(
        "{header}\n# The defaults of this chart. `make chart` writes all of it again: put your own values into a file of yours, and pass\n\
         # that to Helm with --values.\n"
    );
    for (key, what, _) in entries() {
        let Some(value) = values.get(key) else { continue };
        out.push_str(&format!("\n# {what}\n{}", yaml::to_string(&json!({key: value}))));
    }
    out
}

/// values.schema.json: a value that does not exist is an error.
pub(super) fn schema(header: &str) -> String {
    let properties: Map<String, Value> = entries().map(|(key, _, of)| (key.to_owned(), of())).collect();
    let schema = json!({
        "$comment": header,
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    });
    // A value of strings, lists and maps can be written.
    format!("{}\n", serde_json::to_string_pretty(&schema).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_is_in_the_schema_and_has_a_comment() {
        let mut values = Map::new();
        fixed(&mut values);
        values.insert("replicas".to_owned(), json!(2));
        let file = file(&values, "# header");
        assert!(file.starts_with("# header\n# The defaults"), "{file}");
        assert!(
            file.contains("\n\n# The number of Pods; one of them is the leader, the others stand by.\nreplicas: 2\n"),
            "{file}"
        );
        let schema: Value = serde_json::from_str(&schema("header")).unwrap();
        assert_eq!(schema["$comment"], "header");
        let read: Value = yaml::documents(&file).unwrap().remove(0);
        for key in read.as_object().unwrap().keys() {
            assert!(schema["properties"][key].is_object(), "{key}");
        }
    }
}
