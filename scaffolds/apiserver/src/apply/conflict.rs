//! Conflicts: fields that an applier sets to values other than their owners', with the server's messages.

use kubewright_machinery::go::quote;

use kubewright_schema::typed::{Path, display};

use super::managed::{Manager, Operation};

/// A field that another manager owns.
#[derive(Clone, Debug)]
pub struct Conflict {
    pub(super) manager: Manager,
    pub(super) path: Path,
}

impl Conflict {
    /// Names the owner: `conflict with "kubectl" using apps/v1`.
    pub fn message(&self) -> String {
        format!("conflict with {}", owner(&self.manager))
    }

    /// Names the field: `.spec.replicas`.
    pub fn field(&self) -> String {
        display(&self.path)
    }
}

/// `Apply failed with 1 conflict: …`; several conflicts are grouped by owner.
pub(super) fn describe(conflicts: &[Conflict]) -> String {
    if let [only] = conflicts {
        return format!("Apply failed with 1 conflict: {}: {}", only.message(), only.field());
    }
    let mut lines = Vec::new();
    let mut current: Option<&Manager> = None;
    for conflict in conflicts {
        if current != Some(&conflict.manager) {
            lines.push(format!("conflicts with {}:", owner(&conflict.manager)));
            current = Some(&conflict.manager);
        }
        lines.push(format!("- {}", conflict.field()));
    }
    format!("Apply failed with {} conflicts: {}", conflicts.len(), lines.join("\n"))
}

fn owner(manager: &Manager) -> String {
    let mut out = quote(&manager.name);
    if !manager.subresource.is_empty() {
        out += &format!(" with subresource {}", quote(&manager.subresource));
    }
    if manager.operation == Operation::Update {
        out += &format!(" using {}", manager.api_version);
    }
    out
}
