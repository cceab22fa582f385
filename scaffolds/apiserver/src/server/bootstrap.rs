//! What a server has from its first moment: the namespaces that every cluster has.

use bytes::Bytes;
use futures::FutureExt;
use serde_json::json;

use super::Core;
use crate::registry::{self, Call, Verb};

/// In the order in which the real server makes them.
const NAMESPACES: [&str; 4] = ["kube-system", "kube-public", "kube-node-lease", "default"];
/// Who makes them.
const AGENT: &str = "kube-apiserver/v1.36.3";

/// Makes what is not there yet, and serves what the CustomResourceDefinitions that are there define.
pub fn bootstrap(core: &Core) {
    if let Some(resource) = core.catalogue.resource("", "v1", "namespaces") {
        for name in NAMESPACES {
            let call = Call {
                verb: Verb::Create,
                resource: resource.clone(),
                namespace: String::new(),
                name: String::new(),
                subresource: String::new(),
                query: Vec::new(),
                content_type: String::new(),
                user_agent: AGENT.to_owned(),
                body: Bytes::from(json!({"metadata": {"name": name}}).to_string()),
            };
            // Refused when it is there already, from an earlier run. Writes never wait.
            let _ = registry::serve(core, call, &mut Vec::new()).now_or_never();
        }
    }
    core.definitions.restore(core);
}
