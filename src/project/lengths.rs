//! The limits of Kubernetes for names that contain the project's name, a group or a kind. Other modules check the parts alone.

use super::{Kind, Project, ProjectName};
use anyhow::{Result, bail};
use kubewright_machinery::names::{LONGEST_LABEL, LONGEST_SUBDOMAIN};

/// The longest one of the generated names that are DNS labels, without the project's name: that of a Service. Kustomize puts the
/// project's name and a hyphen before each.
const LONGEST_SERVICE: &str = "controller-manager-metrics-service";
/// The longest name of a project whose names of objects Kubernetes accepts.
pub const LONGEST_PROJECT: usize = LONGEST_LABEL - LONGEST_SERVICE.len() - 1;

impl ProjectName {
    /// Refuses the name for a new project if a name of an object would be too long. Projects of earlier releases may have such names.
    ///
    /// # Errors
    /// The error names the object.
    pub fn fits_objects(&self) -> Result<()> {
        let length = self.as_str().len();
        if length > LONGEST_PROJECT {
            bail!(
                "`{self}` is too long for a project: it has {length} characters, and the name of the Service \
                 `{self}-{LONGEST_SERVICE}` would have {}; Kubernetes allows {LONGEST_LABEL}\n\n\
                 hint: choose a name of at most {LONGEST_PROJECT} characters with `--project-name`; the folder may have another one",
                length + 1 + LONGEST_SERVICE.len()
            );
        }
        Ok(())
    }
}

impl Project {
    /// Refuses a kind with a name that is too long: of its CRD, or of its webhooks.
    pub(super) fn check_lengths(&self, kind: &Kind) -> Result<()> {
        let group = self.group_of(kind);
        let lower = kind.name.as_str().to_ascii_lowercase();
        let mut names = vec![("CRD", format!("{}.{group}", kind.plural))];
        if let Some(webhooks) = &kind.webhooks {
            let version = &webhooks.version;
            // The name of the webhook has the same parts, and is shorter.
            let verb = if webhooks.validation { "validate" } else { "mutate" };
            let path = format!("{verb}-{}-{version}-{lower}", group.replace('.', "-"));
            names.push(("path of the webhook", path));
        }
        if kind.conversion.is_some() {
            let path = format!("convert-{}-{lower}", group.replace('.', "-"));
            names.push(("path of the conversion webhook", path));
        }
        for (of, name) in names {
            if name.len() > LONGEST_SUBDOMAIN {
                bail!(
                    "the {of} of `{}` would be `{name}`, which has {} characters; Kubernetes takes at most {LONGEST_SUBDOMAIN}\n\n\
                     hint: choose a shorter `--group`, `--kind` or `--plural`: {} characters less",
                    kind.name,
                    name.len(),
                    name.len() - LONGEST_SUBDOMAIN
                );
            }
        }
        Ok(())
    }
}
