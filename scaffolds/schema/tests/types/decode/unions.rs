//! Enums whose variants have data: one property for each variant, of which an object has one.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Numbered, admitted, finished};

/// Structs and a value in variants, at the edges of their types.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Source {
    Inline { text: String, times: u8 },
    Address(Ipv4Addr),
    Claim(Claim),
    Labels(BTreeMap<String, i64>),
    Nested(Box<Inner>),
    Nothing {},
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Claim {
    name: String,
    at: Option<jiff::Timestamp>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Inner {
    Seconds(u32),
    Id(uuid::Uuid),
}

/// The properties of the variants among its own.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Flattened {
    name: String,
    #[serde(flatten)]
    source: Source,
}

/// As kubebuilder's unions: the name of the variant, and a field for each.
#[derive(Clone, Debug, Deserialize, kube::KubeSchema, Serialize)]
#[x_kube(validation = "self.kind == 'Size' ? has(self.size) && !has(self.text) : has(self.text) && !has(self.size)")]
pub struct Named {
    kind: Which,
    size: Option<u8>,
    text: Option<String>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub enum Which {
    Size,
    Text,
}

macro_rules! kind {
    ($type:ty) => {
        use super::*;

        #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
        #[kube(group = "test.example.com", version = "v1", kind = "Other", namespaced)]
        pub struct OtherSpec {
            pub f: $type,
        }
    };
}

macro_rules! decodes {
    ($($name:ident: $type:ty;)*) => { $(
        mod $name {
            kind!($type);

            #[test]
            fn what_a_finished_crd_admits_is_decoded() {
                admitted::all_decode::<Other>(stringify!($name), &finished::<Other>().unwrap());
            }
        }
    )* };
}

decodes! {
    one: Source;
    optional: Option<Source>;
    list: Vec<Source>;
    map: BTreeMap<String, Source>;
    flattened: Flattened;
    named: Named;
}

/// Objects that no variant alone can decode.
macro_rules! refused {
    ($($name:ident: $type:ty => [$($field:literal),*];)*) => { $(
        mod $name {
            kind!($type);

            #[test]
            fn refused() {
                let findings = finished::<Other>().unwrap_err();
                let fields: Vec<_> = findings.iter().map(|it| it.field.as_str()).collect();
                assert_eq!(fields, [$($field),*], "{findings:#?}");
                for finding in findings {
                    assert!(finding.message.contains("and the type cannot decode it"), "{finding}");
                }
            }
        }
    )* };
}

/// Two variants with a value that no schema describes, and a third.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Strict {
    Plain { text: String },
    Number { at: Numbered, other: u8 },
    Socket(SocketAddr),
    Deep { list: Vec<Few> },
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Few {
    Text(String),
    Version(semver::Version),
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Among {
    name: String,
    #[serde(flatten)]
    strict: Strict,
}

refused! {
    strict: Strict => ["spec.f.deep.list[].version", "spec.f.number.at", "spec.f.socket"];
    strict_option: Option<Strict> => ["spec.f.deep.list[].version", "spec.f.number.at", "spec.f.socket"];
    strict_list: Vec<Strict> => ["spec.f[].deep.list[].version", "spec.f[].number.at", "spec.f[].socket"];
    strict_among: Among => ["spec.f.deep.list[].version", "spec.f.number.at", "spec.f.socket"];
}

/// A variant without a field that its own decoder demands, which the schema has for all of them.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(try_from = "Fields")]
pub struct Demanding {
    kind: Which,
    size: Option<u8>,
    text: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
pub struct Fields {
    kind: Which,
    size: Option<u8>,
    text: Option<String>,
}

impl TryFrom<Fields> for Demanding {
    type Error = String;

    fn try_from(Fields { kind, size, text }: Fields) -> Result<Self, String> {
        match (&kind, &size, &text) {
            (Which::Size, None, _) => Err("a size is missing".to_owned()),
            (Which::Text, _, None) => Err("a text is missing".to_owned()),
            _ => Ok(Self { kind, size, text }),
        }
    }
}

mod demanding {
    kind!(Demanding);

    #[test]
    fn refused() {
        let findings = finished::<Other>().unwrap_err();
        assert!(findings[0].message.contains("is missing"), "{findings:#?}");
    }
}

/// A large union, in lists and beside another one: whole objects have one variant of each.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Many {
    A(u8),
    B(u8),
    C(u8),
    D(u8),
    E(u8),
    F(u8),
    G(u8),
    H { least: i64, most: i64 },
}

#[test]
fn whole_objects_have_one_variant_of_each_enum() {
    use kubewright_schema::{examples, value::Structural};
    mod own {
        kind!(Vec<Many>);
    }
    let crd = finished::<own::Other>().unwrap();
    let schema = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    let (compiled, examples, mut dice) = (
        Structural::compile(schema),
        examples::Examples::at_edges(schema),
        examples::Dice::default(),
    );
    let mut valid = 0;
    for _ in 0..300 {
        let mut object = examples.object(&mut dice).unwrap();
        object["metadata"] = serde_json::json!({"name": "a"});
        valid += usize::from(compiled.validate(&object).is_empty());
    }
    assert_eq!(valid, 300);
}
