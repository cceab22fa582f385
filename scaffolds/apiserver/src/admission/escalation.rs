//! Roles and bindings: nobody grants rights that they do not have.

use super::{Attributes, Objects};
use crate::{
    authorize::{GROUP, Write},
    state::Core,
    status::Status,
};

/// # Errors
/// 403 for rights that the sender does not have, 404 for a role that is bound and not there.
pub(super) fn admit(core: &Core, attributes: &Attributes<'_>, objects: &Objects<'_>) -> Result<(), Status> {
    let call = attributes.call;
    let Some(new) = objects.new.as_deref().filter(|_| call.resource.group == GROUP) else {
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
    match call.resource.names.plural.as_str() {
        "roles" | "clusterroles" => write.role(new, objects.old),
        _ => write.binding(new, objects.old),
    }
}
