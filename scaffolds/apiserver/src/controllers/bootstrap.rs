//! Creates the objects that a server has from the beginning: namespaces, the Service `kubernetes`, PriorityClasses, roles, flow control,
//! the states of components.

use std::sync::Arc;

use bytes::Bytes;
use kubewright_machinery::time;
use serde_json::{Value, json};

use super::act;
use crate::{
    authorize,
    call::{Call, Verb},
    effects::Cluster,
    flow,
    state::Core,
    store::Key,
};

/// The field manager of these objects.
const MANAGER: &str = "kube-apiserver";
/// The namespaces, in the order in which a real server creates them.
const NAMESPACES: [&str; 4] = ["kube-system", "kube-public", "kube-node-lease", "default"];
/// The first address of the range for Services.
const ADDRESS: &str = "10.0.0.1";

/// The PriorityClasses, in the order in which a real server creates them: name, value, and what they are for.
const PRIORITY_CLASSES: [(&str, i64, &str); 2] = [
    (
        "system-node-critical",
        2_000_001_000,
        "Used for system critical pods that must not be moved from their current node.",
    ),
    (
        "system-cluster-critical",
        2_000_000_000,
        "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
    ),
];

/// Creates the objects that do not exist. `port` is where the server listens, 443 if it has no socket.
pub async fn bootstrap(cluster: &Arc<Cluster>, port: u16) {
    for name in NAMESPACES {
        let key = Key::new("/namespaces", "", name);
        create(cluster, &key, &json!({"metadata": {"name": name}})).await;
    }
    let service = json!({
        "metadata": {"name": "kubernetes", "labels": {"component": "apiserver", "provider": "kubernetes"}},
        "spec": {
            "ports": [{"name": "https", "protocol": "TCP", "port": 443, "targetPort": port}],
            "clusterIP": ADDRESS,
            "type": "ClusterIP",
            "sessionAffinity": "None",
            "ipFamilyPolicy": "SingleStack",
        },
    });
    create(cluster, &Key::new("/services", "default", "kubernetes"), &service).await;
    for (name, value, description) in PRIORITY_CLASSES {
        let class = json!({"metadata": {"name": name}, "value": value, "description": description});
        create(
            cluster,
            &Key::new("scheduling.k8s.io/priorityclasses", "", name),
            &class,
        )
        .await;
    }
    roles(&cluster.core);
    flows(&cluster.core);
    components(&cluster.core);
}

/// Stores the missing FlowSchemas and their levels.
fn flows(core: &Core) {
    for (key, object) in flow::bootstrap::objects(&time::text(core.now())) {
        if core.store.get(&key).is_none() {
            let at = |revision: u64| {
                let mut object = object.clone();
                object["metadata"]["resourceVersion"] = json!(revision.to_string());
                Bytes::from(object.to_string())
            };
            let _ = core.store.create(&key, &at);
        }
    }
}

/// Stores the states of components. As for a kube-apiserver alone, only the storage is there.
fn components(core: &Core) {
    let unreachable = |port: u16| {
        let message =
            format!("Get \"https://127.0.0.1:{port}/healthz\": dial tcp 127.0.0.1:{port}: connect: connection refused");
        json!({"type": "Healthy", "status": "False", "message": message})
    };
    for (name, condition) in [
        ("scheduler", unreachable(10_259)),
        ("controller-manager", unreachable(10_257)),
        ("etcd-0", json!({"type": "Healthy", "status": "True", "message": "ok"})),
    ] {
        let object = json!({"apiVersion": "v1", "kind": "ComponentStatus", "metadata": {"name": name}, "conditions": [condition]});
        let _ = core.store.create(&Key::new("/componentstatuses", "", name), &|_| {
            Bytes::from(object.to_string())
        });
    }
}

/// Stores the missing roles and bindings exactly as a real server created them.
fn roles(core: &Core) {
    let now = time::text(core.now());
    for object in authorize::bootstrap::objects() {
        if core.store.get(&object.key).is_none() {
            // This cannot conflict: there is no other writer yet.
            let _ = core.store.create(&object.key, &|revision| object.at(&now, revision));
        }
    }
}

async fn create(cluster: &Arc<Cluster>, key: &Key, object: &Value) {
    let core = &cluster.core;
    let (None, Some(resource)) = (core.store.get(key), act::resource(core, &key.resource)) else {
        return;
    };
    let call = Call {
        namespace: key.namespace.clone(),
        body: Bytes::from(object.to_string()),
        ..Call::by_server(MANAGER, Verb::Create, resource)
    };
    // An older store may have the object in a form that is refused now; then the object exists already.
    let _ = cluster.write(call, &mut Vec::new()).await;
}
