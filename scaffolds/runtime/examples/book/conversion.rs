//! The second version of the kind FooBar, and the conversion between the two.

use kube::CustomResource;
use kubewright_runtime::{Manager, Result};
use kubewright_webhooks::Hub;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::foobar as v1;

pub mod v2 {
    use super::*;
    use crate::foobar::FooBarStatus;

    // ANCHOR: type
    /// The desired state of a FooBar.
    #[derive(Clone, Debug, PartialEq, CustomResource, Deserialize, JsonSchema, Serialize)]
    #[kube(
        group = "test.example.com",
        version = "v2",
        kind = "FooBar",
        namespaced,
        storage = false,
        status = "FooBarStatus",
        annotation("kubewright.dev/conversion", "Webhook")
    )]
    #[serde(rename_all = "camelCase")]
    pub struct FooBarSpec {
        /// Of the target `host:port`, which is one field in v1.
        pub host: String,
        /// The other half.
        pub port: u16,
        /// The maximum of attempts. v1 has no such field.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub tries: Option<u32>,
    }
    // ANCHOR_END: type
}

// ANCHOR: functions
fn to_hub(new: v2::FooBar) -> Result<v1::FooBar> {
    // Without `..`: a field that is added later does not compile until it is converted.
    let v2::FooBar { metadata, spec, status } = new;
    let v2::FooBarSpec { host, port, tries: _ } = spec;
    let spec = v1::FooBarSpec {
        target: format!("{host}:{port}"),
        // Only v1 has it, and only it sets it.
        secret_name: None,
    };
    Ok(v1::FooBar { metadata, spec, status })
}

fn from_hub(hub: v1::FooBar) -> Result<v2::FooBar> {
    let v1::FooBar { metadata, spec, status } = hub;
    let v1::FooBarSpec { target, secret_name: _ } = spec;
    // It fails for no object that the schema allows: otherwise nobody could read that object in v2.
    let parts = target
        .split_once(':')
        .and_then(|(host, port)| Some((host, port.parse().ok()?)));
    let (host, port) = parts.unwrap_or((&target, 80));
    let spec = v2::FooBarSpec {
        host: host.to_owned(),
        port,
        tries: None,
    };
    Ok(v2::FooBar { metadata, spec, status })
}
// ANCHOR_END: functions

// ANCHOR: register
pub fn hub() -> Hub<v1::FooBar> {
    Hub::new().spoke(to_hub, from_hub)
}

pub fn register(manager: &Manager) -> Result<()> {
    hub().register(manager)
}
// ANCHOR_END: register
