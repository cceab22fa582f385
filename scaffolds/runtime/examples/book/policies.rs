//! A policy of the kind FooBar, with what one can declare.

use k8s_openapi::api::core::v1::ConfigMap;
use kubewright_runtime::{DenialReason, Manager, Operation, Params, Policy, Result, Validating, Validation};

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

pub fn register(manager: &Manager) -> Result<()> {
    policy().register(manager)
}
// ANCHOR_END: policy
