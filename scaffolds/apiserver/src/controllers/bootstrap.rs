//! What a server has before anybody asked for it: its namespaces, the Service `kubernetes`, roles.

use bytes::Bytes;
use serde_json::{Value, json};

use super::act;
use crate::{
    auth::User,
    authorize, meta,
    registry::{self, Call, Verb},
    server::Core,
    store::Key,
};

/// Who makes all this.
const MANAGER: &str = "kube-apiserver";
/// The namespaces, in the order in which a real server makes them.
const NAMESPACES: [&str; 4] = ["kube-system", "kube-public", "kube-node-lease", "default"];
/// The first address of the range that Services get theirs from.
const ADDRESS: &str = "10.0.0.1";

/// Makes what is not there yet. `port` is where the server listens, 443 when it does not.
pub fn bootstrap(core: &Core, port: u16) {
    for name in NAMESPACES {
        create(
            core,
            &Key::new("/namespaces", "", name),
            &json!({"metadata": {"name": name}}),
        );
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
    create(core, &Key::new("/services", "default", "kubernetes"), &service);
}

/// Makes the roles and bindings that are not there yet.
pub fn roles(core: &Core) {
    let now = meta::time::text(core.now());
    for object in authorize::bootstrap::objects() {
        if core.store.get(&object.key).is_none() {
            // Nobody else writes yet.
            let _ = core.store.create(&object.key, &|revision| object.at(&now, revision));
        }
    }
}

fn create(core: &Core, key: &Key, object: &Value) {
    let (None, Some(resource)) = (core.store.get(key), act::resource(core, &key.resource)) else {
        return;
    };
    let call = Call {
        verb: Verb::Create,
        resource,
        namespace: key.namespace.clone(),
        name: String::new(),
        subresource: String::new(),
        query: Vec::new(),
        content_type: String::new(),
        user_agent: MANAGER.to_owned(),
        body: Bytes::from(object.to_string()),
        user: User::admin(),
    };
    // A store from another time may have it in a shape that is refused now; then it has it already.
    let _ = registry::serve_write(core, &call, &mut Vec::new());
}
