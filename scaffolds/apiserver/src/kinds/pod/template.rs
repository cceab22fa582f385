//! Pod templates.

use crate::kinds::{
    faults::Faults,
    labels::{annotations, labels},
    located::Located,
    pod::{self, spec::pod_spec},
};

/// Validates the template at `at`.
pub(in crate::kinds) fn pod_template(at: &Located<'_>, faults: &mut Faults) {
    // The server's paths omit `metadata` here.
    labels(&at.at("metadata.labels").called(&format!("{}.labels", at.path)), faults);
    let notes = at.at("metadata.annotations");
    let (notes, spec) = (notes.called(&format!("{}.annotations", at.path)), at.get("spec"));
    annotations(&notes, faults);
    pod::annotations::validate(&notes, &spec, faults);
    pod_spec(&spec, None, faults);
    pod::annotations::agree_with_fields(&notes, &spec, faults);
    if spec.get("ephemeralContainers").len() > 0 {
        faults.forbidden(
            &spec.get("ephemeralContainers"),
            "ephemeral containers not allowed in pod template",
        );
    }
}
