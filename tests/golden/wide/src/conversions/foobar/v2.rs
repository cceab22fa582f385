//! Converts objects of FooBar between v2 and the hub, v1. The API server asks for it when a client reads or
//! writes an object in another version than the stored one. The runtime keeps values that a version cannot hold in an annotation.

use api::test::v1::foobar as v1;
use api::test::v2::foobar as v2;
use kubewright_runtime::Result;

pub fn to_hub(from: v2::FooBar) -> Result<v1::FooBar> {
    // Without `..`: a field that is added later does not compile until it is converted.
    let v2::FooBar {
        metadata,
        spec,
        status,
    } = from;
    Ok(v1::FooBar {
        metadata,
        spec: spec_to_hub(spec),
        status: status.map(status_to_hub),
    })
}

fn spec_to_hub(from: v2::FooBarSpec) -> v1::FooBarSpec {
    let v2::FooBarSpec { target, r#type } = from;
    v1::FooBarSpec { target, r#type }
}

fn status_to_hub(from: v2::FooBarStatus) -> v1::FooBarStatus {
    let v2::FooBarStatus {
        observed_generation,
        conditions,
    } = from;
    v1::FooBarStatus {
        observed_generation,
        conditions,
    }
}

pub fn from_hub(from: v1::FooBar) -> Result<v2::FooBar> {
    // Without `..`: a field that is added later does not compile until it is converted.
    let v1::FooBar {
        metadata,
        spec,
        status,
    } = from;
    Ok(v2::FooBar {
        metadata,
        spec: spec_from_hub(spec),
        status: status.map(status_from_hub),
    })
}

fn spec_from_hub(from: v1::FooBarSpec) -> v2::FooBarSpec {
    let v1::FooBarSpec { target, r#type } = from;
    v2::FooBarSpec { target, r#type }
}

fn status_from_hub(from: v1::FooBarStatus) -> v2::FooBarStatus {
    let v1::FooBarStatus {
        observed_generation,
        conditions,
    } = from;
    v2::FooBarStatus {
        observed_generation,
        conditions,
    }
}

#[cfg(test)]
mod tests {
    use kubewright_webhooks::Hub;
    use kubewright_webhooks::testing::round_trips;

    use super::*;

    #[test]
    fn objects_of_each_version_survive_the_other_one() {
        let found = round_trips(Hub::new().spoke(to_hub, from_hub)).unwrap();
        // The fields that one version alone has: fields that a function forgets are among them.
        assert!(found.only("v1").is_empty(), "{found:?}");
        assert!(found.only("v2").is_empty(), "{found:?}");
    }
}
