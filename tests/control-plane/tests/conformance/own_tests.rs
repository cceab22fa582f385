//! Runs the tests of a user's project on an existing cluster.

use anyhow::{Result, ensure};
use control_plane::{eventually, run};

use crate::stage::{PATIENCE, case, say};

#[test]
fn the_projects_own_tests_pass_on_an_existing_cluster_and_leave_no_objects() -> Result<()> {
    case(async |case| {
        let mut tests = case.stage.project.make();
        tests
            .args(["test-e2e", "USE_EXISTING_CLUSTER=true"])
            .env_remove("KUBEBUILDER_ASSETS")
            .env("KUBECONFIG", case.stage.plane.kubeconfig());
        let said = run(&mut tests)?;
        let passed = "an_object_is_reconciled_from_creation_to_deletion ... ok";
        ensure!(said.contains(passed), "{said}");
        if !case.stage.plane.has_controllers() {
            say("SKIPPED: no kube-controller-manager, so namespaces are not deleted");
            return Ok(());
        }
        eventually("the test's namespace to be gone", PATIENCE, async || {
            let namespaces = case.kubectl(&["get", "namespaces", "-o", "name"])?;
            Ok((!namespaces.contains("namespace/test-")).then_some(()))
        })
        .await
    })
}
