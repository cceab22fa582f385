//! Validation of Pods beyond the validation of Pod templates.

use crate::kinds::{
    faults::Faults,
    located::Located,
    pod::{annotations, spec::pod_spec},
};

/// Validates a new Pod.
pub(in crate::kinds) fn validate(at: &Located<'_>, faults: &mut Faults) {
    let spec = at.get("spec");
    whole(at, faults);
    if spec.get("ephemeralContainers").len() > 0 {
        faults.forbidden(&spec.get("ephemeralContainers"), "cannot be set on create");
    }
    if !spec.get("nodeName").str().is_empty() && spec.get("schedulingGates").len() > 0 {
        faults.forbidden(
            &spec.get("nodeName"),
            "cannot be set until all schedulingGates have been cleared",
        );
    }
    annotations::agree_with_fields(&at.at("metadata.annotations"), &spec, faults);
}

/// Validates annotations and spec of a Pod, also beyond the rules for templates.
pub(in crate::kinds) fn whole(pod: &Located<'_>, faults: &mut Faults) {
    let (metadata, spec) = (pod.get("metadata"), &pod.get("spec"));
    annotations::validate(&metadata.get("annotations"), spec, faults);
    pod_spec(spec, Some(&metadata), faults);
    let sources = spec
        .get("volumes")
        .items()
        .flat_map(|volume| volume.at("projected.sources").items());
    for token in sources
        .map(|source| source.get("serviceAccountToken"))
        .filter(Located::is_set)
    {
        if spec.get("serviceAccountName").str().is_empty() {
            faults.forbidden(&token, "must not be specified when serviceAccountName is not set");
        }
    }
    for image in ["containers", "initContainers"]
        .iter()
        .flat_map(|list| spec.get(list).items())
        .map(|at| at.get("image"))
    {
        if image.str().trim() != image.str() {
            faults.invalid(&image, "must not have leading or trailing whitespace");
        }
    }
}
