//! The examples that need more than the fields of a spec.

use super::*;

/// Kinds by the name of the example.
pub fn kinds(name: &str) -> Option<Vec<Kind>> {
    Some(match name {
        "group" => vec![kind::<group::FooBar>()],
        "version" => vec![kind::<version::FooBar>()],
        "resource" => vec![kind::<resource::FooBar>()],
        "unserved" => vec![kind::<unserved::FooBarV1>(), kind::<unserved::FooBarV2>()],
        "storage" => vec![kind::<storage::FooBarV1>(), kind::<storage::FooBarV2>()],
        "deprecated" => vec![kind::<deprecated::FooBar>()],
        "status" => vec![kind::<status::FooBar>()],
        "scale" => vec![kind::<scale::FooBar>()],
        "column" => vec![kind::<column::FooBar>()],
        "selectable" => vec![kind::<selectable::FooBar>()],
        "metadata" => vec![kind::<metadata::FooBar>()],
        "variants" => vec![kind::<variants::FooBar>()],
        "at_most_one" => vec![kind::<at_most_one::FooBar>()],
        "at_least_one" => vec![kind::<at_least_one::FooBar>()],
        "exactly_one" => vec![kind::<exactly_one::FooBar>()],
        "union" => vec![kind::<union::FooBar>()],
        "items_enum" => vec![kind::<items_enum::FooBar>()],
        "items_exclusive_maximum" => vec![kind::<items_exclusive_maximum::FooBar>()],
        "items_exclusive_minimum" => vec![kind::<items_exclusive_minimum::FooBar>()],
        "items_multiple_of" => vec![kind::<items_multiple_of::FooBar>()],
        "items_max_properties" => vec![kind::<items_max_properties::FooBar>()],
        "items_min_properties" => vec![kind::<items_min_properties::FooBar>()],
        "items_unique" => vec![kind::<items_unique::FooBar>()],
        "items_embedded" => vec![kind::<items_embedded::FooBar>()],
        "items_rule" => vec![kind::<items_rule::FooBar>()],
        _ => return None,
    })
}

mod group {
    use super::*;
    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    // [group]
    #[kube(group = "test.example.com", version = "v1", kind = "FooBar")]
    pub struct FooBarSpec {
        // [/]
        f: String,
    }
}

mod version {
    use super::*;
    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    // [version]
    #[kube(group = "test.example.com", version = "v1beta1", kind = "FooBar")]
    pub struct FooBarSpec {
        // [/]
        f: String,
    }
}

mod resource {
    use super::*;
    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "test.example.com", version = "v1", kind = "FooBar")]
    // [resource]
    #[kube(plural = "foobars", singular = "foobar", shortname = "fb")]
    #[kube(category = "all", namespaced)]
    pub struct FooBarSpec {
        // [/]
        f: String,
    }
}

mod unserved {
    use super::*;
    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    // [unserved]
    #[kube(group = "test.example.com", version = "v1", kind = "FooBar", root = "FooBarV1")]
    #[kube(served = false, storage = false)]
    pub struct FooBarV1Spec {
        // [/]
        f: String,
    }
    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "test.example.com", version = "v2", kind = "FooBar", root = "FooBarV2")]
    pub struct FooBarV2Spec {
        f: String,
    }
}

mod storage {
    use super::*;
    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "test.example.com", version = "v1", kind = "FooBar", root = "FooBarV1")]
    // [storage]
    #[kube(storage = false)]
    pub struct FooBarV1Spec {
        // [/]
        f: String,
    }
    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "test.example.com", version = "v2", kind = "FooBar", root = "FooBarV2")]
    pub struct FooBarV2Spec {
        f: String,
    }
}

mod deprecated {
    use super::*;
    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "test.example.com", version = "v1", kind = "FooBar")]
    // [deprecated]
    #[kube(deprecated = "v1 is going away; use v2")]
    pub struct FooBarSpec {
        // [/]
        f: String,
    }
}

mod status {
    use super::*;
    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "test.example.com", version = "v1", kind = "FooBar")]
    // [status]
    #[kube(status = "FooBarStatus")]
    pub struct FooBarSpec {
        // [/]
        f: String,
    }

    #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
    pub struct FooBarStatus {
        ready: bool,
    }
}

mod scale {
    use super::*;
    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "test.example.com", version = "v1", kind = "FooBar")]
    // [scale]
    #[kube(
        status = "FooBarStatus",
        scale(
            spec_replicas_path = ".spec.replicas",
            status_replicas_path = ".status.replicas",
            label_selector_path = ".status.selector"
        )
    )]
    pub struct FooBarSpec {
        // [/]
        replicas: u16,
    }

    #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
    pub struct FooBarStatus {
        replicas: u16,
        selector: String,
    }
}

mod column {
    use super::*;
    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "test.example.com", version = "v1", kind = "FooBar")]
    // [column]
    #[kube(printcolumn(
        name = "Size",
        type_ = "integer",
        format = "int32",
        priority = 1,
        description = "How big it is",
        json_path = ".spec.size"
    ))]
    pub struct FooBarSpec {
        // [/]
        size: i32,
    }
}

mod selectable {
    use super::*;
    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "test.example.com", version = "v1", kind = "FooBar")]
    // [selectable]
    #[kube(selectable = ".spec.target")]
    pub struct FooBarSpec {
        // [/]
        target: String,
    }
}

mod metadata {
    use super::*;
    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "test.example.com", version = "v1", kind = "FooBar")]
    // [metadata]
    #[kube(label("team", "a"), annotation("example.com/docs", "https://example.com"))]
    pub struct FooBarSpec {
        // [/]
        f: String,
    }
}

mod variants {
    use super::*;
    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "test.example.com", version = "v1", kind = "FooBar")]
    pub struct FooBarSpec {
        f: Size,
    }

    // [variants]
    #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
    pub enum Size {
        Small,
        Large,
    }
    // [/]
}

/// A kind with a field `f` of the type `Source`, whose rules limit how many of its two fields are set.
macro_rules! one_of {
    ($name:ident { $($item:tt)* }) => {
        mod $name {
            use super::*;
            #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
            #[kube(group = "test.example.com", version = "v1", kind = "FooBar")]
            pub struct FooBarSpec {
                f: Source,
            }

            $($item)*
        }
    };
}

one_of! { at_most_one {
    // [at_most_one]
    #[derive(Clone, Debug, Deserialize, Serialize, KubeSchema)]
    #[x_kube(validation = ("[has(self.a), has(self.b)].filter(it, it).size() <= 1", "a or b, not both"))]
    pub struct Source {
        a: Option<String>,
        b: Option<String>,
    }
    // [/]
} }

one_of! { at_least_one {
    // [at_least_one]
    #[derive(Clone, Debug, Deserialize, Serialize, KubeSchema)]
    #[x_kube(validation = ("has(self.a) || has(self.b)", "a or b or both"))]
    pub struct Source {
        a: Option<String>,
        b: Option<String>,
    }
    // [/]
} }

one_of! { exactly_one {
    // [exactly_one]
    #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    pub enum Source {
        A(String),
        B(i32),
    }
    // [/]
} }

mod union {
    use super::*;

    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "test.example.com", version = "v1", kind = "FooBar")]
    pub struct FooBarSpec {
        f: Strategy,
    }

    #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
    pub enum StrategyType {
        Recreate,
        RollingUpdate,
    }

    // [union]
    #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    pub struct Strategy {
        #[schemars(extend("k8s:unionDiscriminator" = true))]
        r#type: StrategyType,
        #[schemars(extend("k8s:unionMember" = true))]
        rolling_update: Option<Part>,
    }
    // [/]
}

/// A kind with a list of `Item`s.
macro_rules! items {
    ($($name:ident { $($item:tt)* })*) => { $(
        mod $name {
            #[allow(unused_imports, reason = "each example needs some of them")]
            use super::*;
            #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
            #[kube(group = "test.example.com", version = "v1", kind = "FooBar")]
            pub struct FooBarSpec {
                f: Vec<Item>,
            }

            $($item)*
        }
    )* };
}

items! {
    items_enum {
        // [items_enum]
        #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
        pub enum Item {
            Small,
            Large,
        }
        // [/]
    }
    items_exclusive_maximum {
        // [items_exclusive_maximum]
        #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
        pub struct Item(#[schemars(range(max = 1.5), extend("exclusiveMaximum" = true))] f64);
        // [/]
    }
    items_exclusive_minimum {
        // [items_exclusive_minimum]
        #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
        pub struct Item(#[schemars(range(min = 0.0), extend("exclusiveMinimum" = true))] f64);
        // [/]
    }
    items_multiple_of {
        // [items_multiple_of]
        #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
        pub struct Item(#[schemars(extend("multipleOf" = 5))] i32);
        // [/]
    }
    items_max_properties {
        // [items_max_properties]
        #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
        pub struct Item(#[schemars(extend("maxProperties" = 3))] BTreeMap<String, String>);
        // [/]
    }
    items_min_properties {
        // [items_min_properties]
        #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
        pub struct Item(#[schemars(extend("minProperties" = 1))] BTreeMap<String, String>);
        // [/]
    }
    items_unique {
        // [items_unique]
        #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
        pub struct Item(#[schemars(extend("x-kubernetes-list-type" = "set"))] Vec<String>);
        // [/]
    }
    items_embedded {
        // [items_embedded]
        #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
        pub struct Item(#[schemars(extend("x-kubernetes-embedded-resource" = true))] RawExtension);
        // [/]
    }
    items_rule {
        // [items_rule]
        #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
        pub struct Item(
            #[schemars(extend("x-kubernetes-validations" = [{"rule": "self != 3", "message": "three is no size"}]))] i32,
        );
        // [/]
    }
}
