//! Values that a CRD admits and its Rust type cannot decode: a pattern excludes them where one is known for the format, and `make manifests`
//! refuses the type elsewhere. The random test takes values that the finished CRDs admit, and decodes them.

mod admitted;
mod further;
mod rounds;
mod unions;
mod written;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::SystemTime;

use k8s_openapi::api::core::v1::{PersistentVolumeClaim, PodTemplateSpec, ResourceRequirements};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, MicroTime, Time};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::{CustomResource, CustomResourceExt};
use kubewright_schema::{CustomType, Finding, Options, finish};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

/// The finished CRD of a kind.
fn finished<K: CustomResourceExt + DeserializeOwned + JsonSchema + Serialize>() -> Result<Value, Vec<Finding>> {
    finish(&[CustomType::of::<K>(K::crd)], &Options::default()).map(|mut crds| crds.remove(0))
}

/// A text whose first character must be a digit: no schema knows.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(try_from = "String")]
pub struct Numbered(String);

impl TryFrom<String> for Numbered {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        if text.starts_with(|first: char| first.is_ascii_digit()) {
            Ok(Self(text))
        } else {
            Err("no digit at the start")
        }
    }
}

/// A label of a name in the DNS, whose schema does not limit its length.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String")]
pub struct Label(String);

impl TryFrom<String> for Label {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        if text.len() <= 63 {
            Ok(Self(text))
        } else {
            Err("more than 63 bytes")
        }
    }
}

/// A module for `#[serde(with = …)]`.
mod hundred {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(value: &u8, serializer: S) -> Result<S::Ok, S::Error> {
        value.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u8, D::Error> {
        let value = u8::deserialize(deserializer)?;
        if value > 100 {
            return Err(serde::de::Error::custom("more than a hundred"));
        }
        Ok(value)
    }
}

/// A kind with a required and an optional field of a type.
macro_rules! kind {
    ($(#[$meta:meta])* $type:ty) => {
        use super::*;

        #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
        #[kube(group = "test.example.com", version = "v1", kind = "Other", namespaced)]
        pub struct OtherSpec {
            $(#[$meta])*
            pub f: $type,
            pub list: Option<Vec<In>>,
        }

        /// The same inside a list, beside a field that is required too.
        #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
        pub struct In {
            pub name: String,
            $(#[$meta])*
            pub f: $type,
        }
    };
}

macro_rules! refused {
    ($($(#[$meta:meta])* $name:ident: $type:ty => $start:literal;)*) => { $(
        mod $name {
            kind!($(#[$meta])* $type);

            #[test]
            fn refused() {
                let findings = finished::<Other>().unwrap_err();
                let fields: Vec<_> = findings.iter().map(|it| it.field.as_str()).collect();
                let suffix = fields[0].strip_prefix("spec.f").unwrap();
                assert_eq!(fields, [format!("spec.f{suffix}"), format!("spec.list[].f{suffix}")]);
                for finding in findings {
                    let message = finding.to_string();
                    assert!(message.contains(concat!("API servers accept ", $start)), "{message}");
                    assert!(message.contains("hint: "), "{message}");
                }
            }
        }
    )* };
}

refused! {
    socket: SocketAddr => "\"a\" here, and the type cannot decode it: invalid socket address syntax";
    duration: kube::core::Duration => "\"a\"";
    signed_duration: jiff::SignedDuration => "\"";
    version: semver::Version => "\"1.2.18446744073709551616\"";
    os_string: OsString => "";
    numbered: Numbered => "\"a\"";
    #[schemars(regex(pattern = "^[a-z]([-a-z0-9]*[a-z0-9])?$"))]
    a_label_of_any_length: Label => "a text of 64 characters here, and the type cannot decode it: more than 63 bytes";
    #[schemars(regex(pattern = "^x([-a-z0-9]*[a-z0-9])?$"))]
    a_label_of_any_length_with_a_start: Label => "a text of 6";
    #[schemars(length(max = 70), regex(pattern = "^x([-a-z0-9]*[a-z0-9])?$"))]
    a_label_that_is_too_long: Label => "a text of ";
    keys_of_labels: BTreeMap<Label, u8> => "a text of 64 characters";
    #[schemars(with = "u8")]
    #[serde(with = "hundred")]
    hundreds: u8 => "255 here, and the type cannot decode it: more than a hundred";
    keys_of_addresses: BTreeMap<IpAddr, String> => "\"a\"";
    keys_of_bytes: BTreeMap<u8, String> => "\"a\"";
    keys_of_bools: BTreeMap<bool, String> => "\"a\"";
    keys_of_characters: BTreeMap<char, String> => "\"10.0.0.1\"";
    keys_of_uuids: BTreeMap<uuid::Uuid, u8> => "\"a\"";
}

macro_rules! decodes {
    ($($(#[$meta:meta])* $name:ident: $type:ty;)*) => {
        $( mod $name { kind!($(#[$meta])* $type); } )*

        #[test]
        fn what_a_finished_crd_admits_is_decoded() {
            $( admitted::all_decode::<$name::Other>(stringify!($name), &finished::<$name::Other>().unwrap()); )*
        }
    };
}

decodes! {
    text: String;
    byte: u8;
    integer: i64;
    unsigned: u64;
    float: f32;
    boolean: bool;
    one_character: char;
    system_time: SystemTime;
    seconds_and_nanoseconds: std::time::Duration;
    v4: Ipv4Addr;
    v6: Ipv6Addr;
    ip: IpAddr;
    uuids: uuid::Uuid;
    timestamp: jiff::Timestamp;
    day: jiff::civil::Date;
    day_and_time: jiff::civil::DateTime;
    time_of_day: jiff::civil::Time;
    time: Time;
    micro_time: MicroTime;
    int_or_string: IntOrString;
    quantity: Quantity;
    resources: ResourceRequirements;
    conditions: Vec<Condition>;
    map: BTreeMap<String, IpAddr>;
    #[schemars(range(max = 100), with = "u8")]
    #[serde(with = "hundred")]
    bounded: u8;
    #[schemars(regex(pattern = "^[0-9]"))]
    constrained: Numbered;
    #[schemars(length(max = 63), regex(pattern = "^[a-z]([-a-z0-9]*[a-z0-9])?$"))]
    a_label: Label;
    template: PodTemplateSpec;
    claims: Vec<PersistentVolumeClaim>;
}

#[test]
fn a_whole_object_of_kubernetes_is_of_its_own_kind() {
    let crd = finished::<claims::Other>().unwrap();
    let spec = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
    let claim = &spec["properties"]["f"]["items"]["properties"];
    assert_eq!(claim["apiVersion"]["enum"], serde_json::json!(["v1"]));
    assert_eq!(claim["kind"]["enum"], serde_json::json!(["PersistentVolumeClaim"]));
    let role = finished::<roles::Other>().unwrap();
    let spec = &role["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
    assert_eq!(
        spec["properties"]["f"]["properties"]["apiVersion"]["enum"],
        serde_json::json!(["rbac.authorization.k8s.io/v1"])
    );
}

mod roles {
    kind!(k8s_openapi::api::rbac::v1::Role);
}

#[test]
fn values_that_every_decoder_accepts_stay_admitted() {
    let admits = |schema: &Value, value: &str| {
        let schema =
            &schema["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["f"];
        admitted::admits(schema, &Value::from(value))
    };
    let of = |crd: Result<Value, Vec<Finding>>, values: &[&str]| {
        let crd = crd.unwrap();
        for value in values {
            assert!(admits(&crd, value), "{value}");
        }
    };
    let times = [
        "2026-01-02T03:04:05Z",
        "2024-02-29T23:59:59.123456789+23:59",
        "9999-11-30T23:59:59Z",
        "0001-01-01T00:00:00Z",
    ];
    of(finished::<timestamp::Other>(), &times);
    of(finished::<time::Other>(), &times);
    of(
        finished::<day_and_time::Other>(),
        &["2024-02-29T00:00:00", "2000-02-29T23:59:59.5"],
    );
    of(
        finished::<uuids::Other>(),
        &[
            "9a2f1c64-0d7e-4f3b-8a51-2b9d6c7e8f10",
            "9A2F1C640D7E4F3B8A512B9D6C7E8F10",
        ],
    );
    of(
        finished::<ip::Other>(),
        &[
            "10.0.0.1",
            "::",
            "::1",
            "2001:db8::ff00:42:8329",
            "::ffff:1.2.3.4",
            "1:2:3:4:5:6:7:8",
        ],
    );
    of(finished::<quantity::Other>(), &["1", "100Mi", "1.5", "1e3", "500m"]);
}

/// Two values that decode only if they fit together, which no rule says.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(try_from = "Limits")]
pub struct Between {
    least: i64,
    most: i64,
}

#[derive(Deserialize, JsonSchema)]
struct Limits {
    #[serde(default)]
    least: i64,
    #[serde(default)]
    most: i64,
}

impl TryFrom<Limits> for Between {
    type Error = &'static str;

    fn try_from(it: Limits) -> Result<Self, Self::Error> {
        let Limits { least, most } = it;
        // One at a time beside 1, each of the values at the edges decodes.
        let fits = least == 1 || most == 1 || least < 1_000_000 || most < 1_000_000;
        if fits {
            Ok(Self { least, most })
        } else {
            Err("both are large")
        }
    }
}

#[test]
fn fields_that_decode_only_one_by_one_are_refused_with_a_small_object() {
    mod own {
        use super::*;

        #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
        #[kube(group = "test.example.com", version = "v1", kind = "Other", namespaced)]
        pub struct OtherSpec {
            pub between: Between,
            pub other: Option<String>,
        }
    }
    let findings = finished::<own::Other>().unwrap_err();
    let [finding] = &findings[..] else {
        panic!("{findings:#?}")
    };
    let message = finding.to_string();
    assert!(
        message.contains("both are large. It would never be reconciled: {"),
        "{message}"
    );
    assert!(
        message.contains(r#""spec":{"between":{"#) && !message.contains(r#""other""#),
        "{message}"
    );
    assert!(message.contains("hint: let a rule refuse such objects"), "{message}");
}

#[test]
fn texts_with_a_format_stay_as_they_are() {
    mod own {
        use super::*;

        #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
        #[kube(group = "test.example.com", version = "v1", kind = "Other", namespaced)]
        pub struct OtherSpec {
            #[schemars(extend("format" = "date-time"))]
            pub at: String,
        }
    }
    let crd = finished::<own::Other>().unwrap();
    let at = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["at"];
    assert_eq!(*at, serde_json::json!({"type": "string", "format": "date-time"}));
}

#[test]
fn a_list_of_another_type_with_the_fields_of_a_condition_stays_as_it_is() {
    mod own {
        use super::*;

        #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
        #[kube(group = "test.example.com", version = "v1", kind = "Other", namespaced)]
        pub struct OtherSpec {
            pub conditions: Vec<Condition>,
        }

        #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
        #[serde(rename_all = "camelCase")]
        pub struct Condition {
            pub last_transition_time: String,
            pub message: String,
            pub observed_generation: i64,
            pub reason: String,
            pub status: String,
            pub r#type: String,
        }
    }
    let crd = finished::<own::Other>().unwrap();
    let spec = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
    let list = &spec["properties"]["conditions"];
    assert_eq!(
        list["items"]["properties"]["status"],
        serde_json::json!({"type": "string"})
    );
    assert_eq!(list.get("x-kubernetes-list-type"), None);
}
