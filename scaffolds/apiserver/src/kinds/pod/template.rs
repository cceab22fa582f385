//! Templates of Pods.

use crate::kinds::{
    faults::Faults,
    labels::{annotations, labels},
    located::Located,
    pod::spec::pod_spec,
};

/// A template; `at` is its place.
pub(in crate::kinds) fn pod_template(at: &Located<'_>, faults: &mut Faults) {
    // Metadata of a template is not called so in paths.
    labels(&at.at("metadata.labels").called(&format!("{}.labels", at.path)), faults);
    annotations(
        &at.at("metadata.annotations")
            .called(&format!("{}.annotations", at.path)),
        faults,
    );
    let spec = at.get("spec");
    pod_spec(&spec, faults);
    if spec.get("ephemeralContainers").len() > 0 {
        faults.forbidden(
            &spec.get("ephemeralContainers"),
            "ephemeral containers not allowed in pod template",
        );
    }
}
