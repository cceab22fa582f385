//! What a server has before anybody asked for it: its namespaces, the Service `kubernetes`, roles.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};

use super::act;
use crate::{
    authorize,
    call::{Call, Verb},
    effects::Cluster,
    meta,
    state::Core,
    store::Key,
};

/// Who makes all this.
const MANAGER: &str = "kube-apiserver";
/// The namespaces, in the order in which a real server makes them.
const NAMESPACES: [&str; 4] = ["kube-system", "kube-public", "kube-node-lease", "default"];
/// The first address of the range that Services get theirs from.
const ADDRESS: &str = "10.0.0.1";

/// Makes what is not there yet. `port` is where the server listens, 443 when it does not.
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
    roles(&cluster.core);
}

/// Makes the roles and bindings that are not there yet, word for word as a real server made them: ready to be stored.
fn roles(core: &Core) {
    let now = meta::time::text(core.now());
    for object in authorize::bootstrap::objects() {
        if core.store.get(&object.key).is_none() {
            // Nobody else writes yet.
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
    // A store from another time may have it in a shape that is refused now; then it has it already.
    let _ = cluster.write(call, &mut Vec::new()).await;
}
