//! Roles and bindings: users cannot grant permissions that they do not have.

use super::{Attributes, Objects};
use crate::{authorize::Write, state::Core, status::Status, strategy::Grants};

/// # Errors
/// 403 if the user lacks one of the granted permissions, 404 if the bound role does not exist.
pub(super) fn admit(core: &Core, attributes: &Attributes<'_>, objects: &Objects<'_>) -> Result<(), Status> {
    let call = attributes.call;
    let (Some(new), Some(grants)) = (objects.new.as_deref(), call.resource.rules().grants) else {
        return Ok(());
    };
    let write = Write {
        authorizer: &core.authorizer,
        store: &core.store,
        user: &call.user,
        resource: call.subject(),
        namespace: call.namespace(),
        name: &call.name,
    };
    match grants {
        Grants::Rules => write.role(new, objects.old),
        Grants::Role => write.binding(new, objects.old),
    }
}
