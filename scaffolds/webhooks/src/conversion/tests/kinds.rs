//! A kind with two versions, each of which holds what the other one cannot, and the conversion between them.

use kube::{CustomResource, CustomResourceExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::conversion::Hub;

pub(crate) mod v1 {
    use super::*;

    #[derive(Clone, Debug, CustomResource, Deserialize, JsonSchema, Serialize)]
    #[kube(
        group = "test.example.com",
        version = "v1",
        kind = "FooBar",
        namespaced,
        status = "FooBarStatus"
    )]
    pub(crate) struct FooBarSpec {
        /// `host:port`; v2 has two fields for it.
        pub(crate) target: String,
        /// v2 has none.
        #[schemars(length(max = 8))]
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub(crate) colour: Option<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub(crate) items: Vec<Item>,
    }

    #[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
    pub(crate) struct FooBarStatus {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub(crate) ready: Option<bool>,
    }

    #[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
    pub(crate) struct Item {
        pub(crate) name: String,
        /// v2 has none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub(crate) weight: Option<i64>,
    }
}

pub(crate) mod v2 {
    use super::*;

    #[derive(Clone, Debug, CustomResource, Deserialize, JsonSchema, Serialize)]
    #[kube(
        group = "test.example.com",
        version = "v2",
        kind = "FooBar",
        namespaced,
        storage = false,
        status = "FooBarStatus"
    )]
    pub(crate) struct FooBarSpec {
        pub(crate) host: String,
        pub(crate) port: u16,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub(crate) items: Vec<Item>,
        /// v1 has none.
        #[schemars(range(max = 9))]
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub(crate) tries: Option<u32>,
    }

    #[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
    pub(crate) struct FooBarStatus {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub(crate) ready: Option<bool>,
    }

    #[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
    pub(crate) struct Item {
        pub(crate) name: String,
    }
}

pub(crate) fn to_v1(old: v2::FooBar) -> Result<v1::FooBar, String> {
    let v2::FooBar { metadata, spec, status } = old;
    let v2::FooBarSpec {
        host,
        port,
        items,
        tries: _,
    } = spec;
    if host == "panic" {
        panic!("no host");
    }
    let items = items
        .into_iter()
        .map(|v2::Item { name }| v1::Item { name, weight: None });
    let spec = v1::FooBarSpec {
        target: format!("{host}:{port}"),
        colour: None,
        items: items.collect(),
    };
    let status = status.map(|v2::FooBarStatus { ready }| v1::FooBarStatus { ready });
    Ok(v1::FooBar { metadata, spec, status })
}

pub(crate) fn to_v2(old: v1::FooBar) -> Result<v2::FooBar, String> {
    let v1::FooBar {
        mut metadata,
        spec,
        status,
    } = old;
    let v1::FooBarSpec {
        target,
        colour: _,
        items,
    } = spec;
    let (host, port) = target.split_once(':').unwrap_or((&target, "0"));
    if host == "rename" {
        metadata.name = None;
    }
    let port = port.parse().map_err(|error| format!("spec.target: {error}"))?;
    let items = items.into_iter().map(|v1::Item { name, weight: _ }| v2::Item { name });
    let spec = v2::FooBarSpec {
        host: host.to_owned(),
        port,
        items: items.collect(),
        tries: None,
    };
    let status = status.map(|v1::FooBarStatus { ready }| v2::FooBarStatus { ready });
    Ok(v2::FooBar { metadata, spec, status })
}

pub(crate) fn hub() -> Hub<v1::FooBar> {
    Hub::new().spoke(to_v1, to_v2)
}

/// The definition with both versions.
pub(crate) fn definition() -> Value {
    let (mut definition, other) = (json!(v1::FooBar::crd()), json!(v2::FooBar::crd()));
    let versions = definition["spec"]["versions"].as_array_mut();
    versions.unwrap().push(other["spec"]["versions"][0].clone());
    definition
}
