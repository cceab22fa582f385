//! The policy that changes FooBar objects: expressions that the API server evaluates before it stores one. Prefer
//! defaults in the type itself for values that are always the same.

use api::test::v1::FooBar;
use kubewright_runtime::{Manager, Result};
use kubewright_webhooks::{Mutating, Policy};

/// The label of a namespace that is copied to its objects.
const TEAM: &str = "test.example.com/team";

pub fn register(manager: &Manager) -> Result<()> {
    policy().register(manager)
}

/// An object belongs to the team of its namespace.
fn policy() -> Policy<Mutating> {
    // kustomize adds the operator's name as a prefix.
    const NAME: &str = "foobar-teams";
    Policy::mutating::<FooBar>(NAME)
        .variable(
            "team",
            format!("namespaceObject.metadata.?labels[?'{TEAM}'].orValue('')"),
        )
        .apply_configuration(format!(
            "variables.team == '' ? Object{{}} : \
             Object{{metadata: Object.metadata{{labels: {{'{TEAM}': variables.team}}}}}}"
        ))
}

#[cfg(test)]
mod tests {
    use kubewright_runtime::testing::from_yaml;
    use kubewright_webhooks::testing::{Mutated, Trial};

    use super::*;

    /// The sample.
    fn object() -> FooBar {
        let sample = include_str!("../../config/samples/test_v1_foobar.yaml");
        from_yaml("sample", sample)
    }

    fn create() -> Trial {
        let write = Trial::create(&object());
        write.schema_of::<FooBar>()
    }

    #[test]
    fn an_object_belongs_to_the_team_of_its_namespace() {
        let write = create().namespace_labels([(TEAM, "a")]);
        let made: FooBar = write.mutate(&policy()).object();
        assert_eq!(made.metadata.labels.unwrap_or_default()[TEAM], "a");
    }

    #[test]
    fn objects_in_a_namespace_without_the_label_stay_unchanged() {
        assert_eq!(create().mutate(&policy()), Mutated::Unchanged);
    }
}
