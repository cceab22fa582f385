//! The policy of FooBar: expressions that the API server evaluates before it stores an object. Prefer rules in the
//! type itself if they need the object alone.

use api::test::v1::FooBar;
use kubewright_runtime::{Manager, Result};
use kubewright_webhooks::{Policy, Validating, Validation};

/// The label of a namespace with the prefix of the names of its objects.
const PREFIX: &str = "test.example.com/name-prefix";

pub fn register(manager: &Manager) -> Result<()> {
    policy().register(manager)
}

/// The names of objects begin with the prefix of their namespace.
fn policy() -> Policy<Validating> {
    // kustomize adds the operator's name as a prefix.
    const NAME: &str = "foobar-names";
    Policy::validating::<FooBar>(NAME)
        .variable(
            "prefix",
            format!("namespaceObject.metadata.?labels[?'{PREFIX}'].orValue('')"),
        )
        .validation(
            Validation::new("object.metadata.name.startsWith(variables.prefix)")
                .message_expression("'names begin with ' + variables.prefix"),
        )
}

#[cfg(test)]
mod tests {
    use kubewright_runtime::testing::from_yaml;
    use kubewright_webhooks::testing::Trial;

    use super::*;

    /// The sample under this name.
    fn object(name: &str) -> FooBar {
        let sample = include_str!("../../config/samples/test_v1_foobar.yaml");
        from_yaml(name, sample)
    }

    #[test]
    fn names_begin_with_the_prefix_of_their_namespace() {
        let create = |name| {
            let write = Trial::create(&object(name));
            write.namespace_labels([(PREFIX, "team-a")])
        };
        let refused = create("sample").refusals(&policy());
        assert_eq!(refused, ["names begin with team-a"]);
        assert!(create("team-a-sample").refusals(&policy()).is_empty());
    }

    #[test]
    fn any_name_is_allowed_in_a_namespace_without_the_label() {
        let create = Trial::create(&object("sample"));
        assert!(create.refusals(&policy()).is_empty());
    }
}
