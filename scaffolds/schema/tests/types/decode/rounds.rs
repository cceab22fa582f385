//! The findings of one type in one run: no mend of one uncovers the next.

use std::net::SocketAddr;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Numbered, finished};

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Item {
    name: String,
    at: SocketAddr,
}

/// A schema that API servers refuse, values that do not decode, and values that are lost.
mod refused {
    use super::*;

    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "test.example.com", version = "v1", kind = "Other", namespaced)]
    pub struct OtherSpec {
        #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["nam"]))]
        pub keys: Vec<Item>,
        pub socket: Option<SocketAddr>,
        #[serde(default, skip_serializing)]
        #[expect(dead_code, reason = "the finding is that nothing keeps it")]
        pub lost: String,
        pub numbered: Numbered,
    }
}

#[test]
fn schemas_that_are_refused_hide_no_decoder() {
    let findings = finished::<refused::Other>().unwrap_err();
    let fields: Vec<_> = findings.iter().map(|it| it.field.as_str()).collect();
    // Parts of a refused schema may be refused for other reasons.
    assert_eq!(
        fields,
        ["spec.keys", "spec.numbered", "spec.socket", "spec.lost"],
        "{findings:#?}"
    );
}

/// A field of which nothing decodes, because its schema is none.
mod nothing {
    use super::*;

    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "test.example.com", version = "v1", kind = "Other", namespaced)]
    pub struct OtherSpec {
        pub unit: (),
        pub text: String,
        pub numbered: Numbered,
    }
}

#[test]
fn a_schema_that_is_refused_makes_no_finding_of_other_fields() {
    let findings = finished::<nothing::Other>().unwrap_err();
    let fields: Vec<_> = findings.iter().map(|it| it.field.as_str()).collect();
    assert_eq!(fields, ["spec.unit"], "{findings:#?}");
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(tag = "type")]
pub enum Internal {
    A { x: String },
    B { y: i32 },
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub enum Mixed {
    Nothing,
    Named(Item),
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(untagged)]
pub enum Shared {
    A {
        /// One thing.
        a: String,
    },
    B {
        /// Another.
        a: String,
        b: i32,
    },
}

/// The derive panics at the first of them.
mod panics {
    use super::*;

    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "test.example.com", version = "v1", kind = "Other", namespaced)]
    pub struct OtherSpec {
        pub tagged: Internal,
        pub mixed: Vec<Mixed>,
        pub shared: Option<Shared>,
        #[schemars(extend("minlength" = 1))]
        pub misspelt: Value,
    }
}

#[test]
fn enums_that_cannot_be_described_are_named_together() {
    let findings = finished::<panics::Other>().unwrap_err();
    let mut fields: Vec<_> = findings.iter().map(|it| it.field.as_str()).collect();
    fields.sort_unstable();
    assert_eq!(
        fields,
        ["spec.misspelt", "spec.mixed[]", "spec.shared", "spec.tagged"],
        "{findings:#?}"
    );
    let of = |field: &str| findings.iter().find(|it| it.field == field).unwrap().message.clone();
    assert!(of("spec.tagged").contains("in the property `type`"));
    assert!(of("spec.mixed[]").contains("the variant Nothing without fields"));
    assert!(of("spec.shared").contains("share the property `a`"));
}
