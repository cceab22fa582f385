//! Code of the book: the API server accepts the kind that explains schemas, and FooBars survive their conversion.

#[allow(dead_code, reason = "only the hub is used")]
#[path = "../examples/book/conversion.rs"]
mod conversion;
#[allow(dead_code, reason = "only the types are used")]
#[path = "../examples/book/foobar.rs"]
mod foobar;
#[allow(dead_code, reason = "only the schema is used")]
#[path = "../examples/book/types.rs"]
mod types;

use kube::CustomResourceExt;
use kubewright_schema::{Options, finish};

#[test]
fn the_kind_of_the_book_is_valid_and_has_the_books_schema() {
    let crds = finish(&[("Gallery", types::Gallery::crd as fn() -> _)], &Options::default());
    let crds = crds.unwrap_or_else(|findings| panic!("{findings:#?}"));
    let spec = &crds[0]["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
    let field = |name: &str| &spec["properties"][name];

    assert_eq!(
        (&field("replicas")["default"], &field("replicas")["maximum"]),
        (&1.into(), &9.into())
    );
    assert_eq!(field("style")["enum"].as_array().map(Vec::len), Some(2));
    assert_eq!(field("curator")["pattern"], "^[a-z]+$");
    assert_eq!(field("city")["x-kubernetes-validations"][0]["rule"], "self == oldSelf");
    assert_eq!(field("opens")["format"], "date-time");
    assert_eq!(field("tags")["x-kubernetes-list-type"], "set");
    assert_eq!(field("rooms")["x-kubernetes-list-map-keys"][0], "name");
    assert_eq!(field("spare")["x-kubernetes-int-or-string"], true);
    assert_eq!(
        field("notes")["additionalProperties"]["x-kubernetes-preserve-unknown-fields"],
        true
    );
    assert_eq!(spec["required"], serde_json::json!(["city", "curator", "style"]));
}

// ANCHOR: round_trips
#[test]
fn a_foobar_of_either_version_survives_the_other_one() {
    let found = kubewright_webhooks::testing::round_trips(conversion::hub()).unwrap();
    assert_eq!(found.only("v1"), ["spec.secretName"]);
    assert_eq!(found.only("v2"), ["spec.tries"]);
}
// ANCHOR_END: round_trips
