//! Pod templates.

use crate::kinds::{
    faults::Faults,
    labels::{annotations, labels},
    located::Located,
    pod::spec::pod_spec,
};

/// Validates the template at `at`.
pub(in crate::kinds) fn pod_template(at: &Located<'_>, faults: &mut Faults) {
    // The server's paths omit `metadata` here.
    labels(&at.at("metadata.labels").called(&format!("{}.labels", at.path)), faults);
    annotations(
        &at.at("metadata.annotations")
            .called(&format!("{}.annotations", at.path)),
        faults,
    );
    let spec = at.get("spec");
    pod_spec(&spec, None, faults);
    if spec.get("ephemeralContainers").len() > 0 {
        faults.forbidden(
            &spec.get("ephemeralContainers"),
            "ephemeral containers not allowed in pod template",
        );
    }
}
