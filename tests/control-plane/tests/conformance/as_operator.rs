//! The operator's roles beyond `manager-role`, as `make deploy` places them; and `make run` as its service account.

use std::{
    fs::{self, File},
    process::{Child, Command, Stdio},
};

use anyhow::{Context, Result, ensure};
use control_plane::{
    eventually,
    foobar::{all_ready, create, names},
    run,
};

use crate::{
    accepted::path_with,
    stage::{Case, PATIENCE, case},
};

/// The output of `<operator> manifests` for
/// `.grant(Rule::new(&[""], &["services"], &["list"]).in_namespace("kube-system"))`; a unit test of the runtime has it too.
const ELSEWHERE: &str = r#"---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  annotations:
    kubewright.dev/namespace: kube-system
  name: manager-role-in-kube-system
  namespace: kube-system
rules:
- apiGroups:
  - ""
  resources:
  - services
  verbs:
  - list
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  annotations:
    kubewright.dev/namespace: kube-system
  name: manager-role-in-kube-system-binding
  namespace: kube-system
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: manager-role-in-kube-system
subjects:
- kind: ServiceAccount
  name: controller-manager
  namespace: system
"#;

#[test]
fn a_role_of_another_namespace_is_deployed_there_and_bound_to_the_operator() -> Result<()> {
    case(async |case| {
        let project = &case.stage.project;
        let account = format!(
            "system:serviceaccount:{}:{}",
            project.namespace(),
            project.service_account()
        );
        let config = project.folder().join("config");
        let copy = case.stage.plane.folder().join("elsewhere");
        run(Command::new("cp").arg("-r").arg(&config).arg(&copy))?;
        let role = copy.join("rbac/role.yaml");
        let written = fs::read_to_string(&role)?;
        fs::write(&role, written + ELSEWHERE)?;
        let overlay = copy.join("default");
        let overlay = overlay.to_str().context("the folder's path is a text")?;
        let kubectl = |arguments: &[&str]| run(case.stage.plane.kubectl().args(arguments));
        kubectl(&["apply", "--server-side", "--force-conflicts", "-k", overlay])?;
        let may = |namespace: &str| {
            let asked = ["auth", "can-i", "list", "services", "--as", &account, "-n", namespace];
            // `no` is also its exit status.
            kubectl(&asked).is_ok_and(|said| said.trim() == "yes")
        };
        let granted = async || Ok(may("kube-system").then_some(()));
        eventually("the role of kube-system", PATIENCE, granted).await?;
        for namespace in ["default", "kube-public"] {
            ensure!(!may(namespace), "it may list Services of {namespace}");
        }
        let kind = "role,rolebinding";
        let left = kubectl(&["get", kind, "-n", &case.stage.project.namespace(), "-o", "name"])?;
        ensure!(!left.contains("-in-kube-system"), "{left}");
        let name = format!("{}-manager-role-in-kube-system", case.stage.project.name());
        kubectl(&["delete", "role", &name, "-n", "kube-system"])?;
        kubectl(&["delete", "rolebinding", &format!("{name}-binding"), "-n", "kube-system"])?;
        Ok(())
    })
}

/// A process group that ends with the value: `timeout` passes the signal on to all processes that it started.
struct Group(Child);

impl Drop for Group {
    fn drop(&mut self) {
        _ = Command::new("kill").arg(self.0.id().to_string()).status();
        _ = self.0.wait();
    }
}

impl Case<'_> {
    fn run_as_operator(&self) -> Result<Group> {
        let kubectl = self.stage.plane.assets().kubectl();
        let log = self.log("make-run");
        let out = File::create(&log).with_context(|| format!("cannot write `{}`", log.display()))?;
        let mut run = Command::new("timeout");
        run.args(["600", "make", "run", "AS_OPERATOR=1", "KUBECTL=kubectl"])
            .arg("ARGS=--health-probe-bind-address=0");
        self.stage.project.inside(&mut run);
        run.env("PATH", path_with(kubectl.parent()))
            .env("KUBECONFIG", self.stage.plane.kubeconfig())
            .stdin(Stdio::null())
            .stdout(out.try_clone()?)
            .stderr(out);
        Ok(Group(run.spawn().context("cannot run `timeout`")?))
    }
}

#[test]
fn make_run_as_the_operator_has_the_permissions_of_the_deployed_one() -> Result<()> {
    case(async |case| {
        let mark = case.mark()?;
        create(&case.foobars, &names("run", 3)).await?;
        let running = case.run_as_operator()?;
        all_ready(&case.foobars, 3, PATIENCE * 5).await?;
        drop(running);
        // All requests for FooBars are the service account's.
        let asked = case.asked(mark)?;
        let written = asked.iter().filter(|request| request.resource == "foobars/status");
        ensure!(written.count() >= 3, "{asked:#?}");
        Ok(())
    })
}
