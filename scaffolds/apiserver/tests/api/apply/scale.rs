//! managedFields entries that move between an object and its Scale, as observed on kube-apiserver 1.37.

use kubewright_apiserver::testing::apply::{Schema, Writer, apply, scale_entries, scaled_entries, update};
use serde_json::{Value, json};

fn schema() -> Schema {
    let integer = json!({"type": "integer", "format": "int32"});
    let spec = json!({"type": "object", "properties": {"replicas": integer}});
    let meta = json!({"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"});
    let text = json!({"type": "string"});
    let properties = json!({"apiVersion": text, "kind": text, "metadata": meta, "spec": spec, "status": spec});
    Schema::compile(&json!({"type": "object", "properties": properties}), &|_| None)
}

fn replicas(version: &str) -> Option<String> {
    (version == "apps/v1").then(|| "spec.replicas".to_owned())
}

/// Sets the replicas through the scale subresource.
fn scale(object: &mut Value, manager: &str, count: u64, applies: bool) {
    let schema = schema();
    let writer = Writer {
        manager,
        api_version: "autoscaling/v1",
        kind: "Scale",
        subresource: "scale",
        now: "2026-01-02T00:00:00Z",
        reset: &[],
        schema: &schema,
        versions: &|_| None,
        convert: None,
    };
    let (name, before) = (json!("it"), object["spec"]["replicas"].clone());
    let live_of = |replicas: &Value| {
        json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": name, "uid": "1"},
            "spec": {"replicas": replicas}})
    };
    let mut live = live_of(&before);
    scale_entries(object, &mut live, &replicas);
    let written = if applies {
        let config = json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": name},
            "spec": {"replicas": count}});
        apply(Some(&live), &config, true, &writer).expect("applies")
    } else {
        let mut new = live_of(&json!(count));
        update(Some(&live), &mut new, &writer);
        new
    };
    object["spec"]["replicas"] = written["spec"]["replicas"].clone();
    scaled_entries(object, &written, "apps/v1", &replicas);
}

fn entry(manager: &str, operation: &str, subresource: &str, time: &str, fields: Value) -> Value {
    let mut entry = json!({"manager": manager, "operation": operation, "apiVersion": "apps/v1",
        "fieldsType": "FieldsV1", "fieldsV1": fields});
    for (name, value) in [("subresource", subresource), ("time", time)] {
        if !value.is_empty() {
            entry[name] = json!(value);
        }
    }
    entry
}

#[test]
fn scaling_transfers_the_ownership_of_replicas_without_a_time() {
    const THEN: &str = "2026-01-01T00:00:00Z";
    let of = |fields: &Value| json!({"f:spec": fields});
    let (replicas, paused) = (of(&json!({"f:replicas": {}})), of(&json!({"f:paused": {}})));
    let both = of(&json!({"f:replicas": {}, "f:paused": {}}));
    let rest = entry("creator", "Update", "", THEN, paused);
    let owner = |manager, operation| entry(manager, operation, "scale", "", replicas.clone());
    let mut object = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "it", "managedFields":
        [entry("creator", "Update", "", THEN, both)]}, "spec": {"replicas": 1, "paused": true}});
    let entries = |object: &Value| object["metadata"]["managedFields"].clone();

    // Writing the same number again splits the owner's entry, because the Scale has it in the Scale's version.
    scale(&mut object, "one", 1, false);
    assert_eq!(
        entries(&object),
        json!([entry("creator", "Update", "", "", replicas.clone()), rest])
    );
    // Of two entries with the same manager only the later one is read. So the replicas lose their owner, and neither
    // entry is kept.
    scale(&mut object, "one", 2, false);
    assert_eq!(entries(&object), json!([rest]));
    scale(&mut object, "app", 3, true);
    assert_eq!(entries(&object), json!([owner("app", "Apply"), rest]));
    scale(&mut object, "app2", 3, true);
    assert_eq!(
        entries(&object),
        json!([owner("app", "Apply"), owner("app2", "Apply"), rest])
    );
    scale(&mut object, "one", 5, false);
    assert_eq!(entries(&object), json!([owner("one", "Update"), rest]));
    scale(&mut object, "one", 5, false);
    assert_eq!(entries(&object), json!([owner("one", "Update"), rest]));
}
