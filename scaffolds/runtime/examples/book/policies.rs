//! Policies of the kind FooBar, with what one can declare.

use k8s_openapi::api::core::v1::ConfigMap;
use kubewright_runtime::{Manager, Result};
use kubewright_webhooks::{DenialReason, Mutating, Operation, Params, Policy, Validating, Validation};

use crate::foobar::FooBar;

// ANCHOR: policy
/// Only editors delete FooBars, and nobody uses a Secret that the settings of the namespace forbid.
pub fn policy() -> Policy<Validating> {
    Policy::validating::<FooBar>("foobar-secrets")
        .operations([Operation::Create, Operation::Update, Operation::Delete])
        .params(Params::named::<ConfigMap>("foobar-settings").allow_missing())
        .variable("secret", "object.?spec.?secretName.orValue('')")
        .variable("forbidden", "params.?data.?forbidden.orValue('').split(',')")
        .validation(
            Validation::new("request.operation != 'DELETE' || 'editors' in request.userInfo.groups")
                .message("only editors delete FooBars")
                .reason(DenialReason::Forbidden),
        )
        .validation(
            Validation::new("!(variables.secret in variables.forbidden)")
                .message_expression("'the Secret ' + variables.secret + ' is not for FooBars'"),
        )
        .audit("secret", "variables.secret == '' ? null : variables.secret")
}

// ANCHOR_END: policy

// ANCHOR: mutating
/// FooBars without a Secret use that of the namespace's settings, and what marks a FooBar as a draft is removed.
pub fn mutating() -> Policy<Mutating> {
    Policy::mutating::<FooBar>("foobar-defaults")
        .params(Params::named::<ConfigMap>("foobar-settings").allow_missing())
        .variable("secret", "params.?data.?secret.orValue('')")
        .apply_configuration(
            "has(object.spec.secretName) || variables.secret == '' ? Object{} : \
             Object{spec: Object.spec{secretName: variables.secret}}",
        )
        .variable("annotations", "object.metadata.?annotations.orValue({})")
        .json_patch(
            "!('example.com/draft' in variables.annotations) ? [] : \
             [JSONPatch{op: 'remove', path: '/metadata/annotations/' + jsonpatch.escapeKey('example.com/draft')}]",
        )
}
// ANCHOR_END: mutating

pub fn register(manager: &Manager) -> Result<()> {
    policy().register(manager)?;
    mutating().register(manager)
}
