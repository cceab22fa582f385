//! An operator of one namespace, installed in two parts: by the administrator of the cluster, and by a user with no other right than the
//! ClusterRole `admin` in the namespace.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use control_plane::Settings;
use kubewright_manifests::parts;

use crate::{
    programs,
    project::{NAME, NAMESPACE, Project},
    release::Server,
};

const FOOBAR: &str = "apiVersion: test.example.com/v1\nkind: FooBar\nmetadata:\n  name: mine\nspec:\n  target: a\n";

/// The values of both parts. Two releases in one namespace have different names, and the same prefix.
const CLUSTER: [&str; 4] = ["--set", "install=cluster", "--set", "fullnameOverride=foobar-operator"];
const TENANT: [&str; 2] = ["--set", "install=namespace"];

/// A namespace with two users: `tenant` has the ClusterRole `admin`, `guest` has `view`.
struct Team<'a> {
    server: &'a Server,
    namespace: &'a str,
}

impl<'a> Team<'a> {
    fn new(server: &'a Server, namespace: &'a str) -> Result<Self> {
        server.kubectl(&["create", "namespace", namespace])?;
        let team = Self { server, namespace };
        for (user, role) in [("tenant", "admin"), ("guest", "view")] {
            let (role, account) = (
                format!("--clusterrole={role}"),
                format!("--serviceaccount={namespace}:{user}"),
            );
            server.kubectl(&["create", "serviceaccount", user, "--namespace", namespace])?;
            server.kubectl(&["create", "rolebinding", user, &role, &account, "--namespace", namespace])?;
        }
        // Its controller fills the role after the start of the API server.
        server.until("the tenant may create Deployments", || {
            team.may("tenant", "create", "deployments")
        })?;
        Ok(team)
    }

    fn user(&self, name: &str) -> String {
        format!("system:serviceaccount:{}:{name}", self.namespace)
    }

    fn may(&self, user: &str, verb: &str, resource: &str) -> Result<bool> {
        let flag = format!("--as={}", self.user(user));
        let answer = [
            "auth",
            "can-i",
            verb,
            resource,
            &flag,
            "--namespace",
            self.namespace,
            "--quiet",
        ];
        Ok(self.server.kubectl(&answer).is_ok())
    }

    /// `kubectl apply` as the tenant.
    fn apply(&self, text: &str) -> Result<String> {
        let user = format!("--as={}", self.user("tenant"));
        self.server.apply(text, &[&user, "--namespace", self.namespace])
    }

    /// `helm VERB foobar-operator [CHART]` as the tenant.
    fn helm(&self, verb: &str, chart: Option<&std::path::Path>, arguments: &[&str]) -> Result<String> {
        let user = ["--kube-as-user".to_owned(), self.user("tenant")];
        let user = user.each_ref().map(String::as_str);
        self.server
            .helm_of([NAME, self.namespace], verb, chart, &[&user, arguments].concat())
    }

    /// Both users use the kind as their roles say.
    fn use_kind(&self) -> Result<()> {
        self.server
            .until("the tenant creates a FooBar", || self.apply(FOOBAR).map(|_| true))?;
        self.server
            .until("the guest may read it", || self.may("guest", "get", "foobars"))?;
        ensure!(!self.may("guest", "create", "foobars")?, "the guest may create one");
        ensure!(!self.may("tenant", "create", "customresourcedefinitions")?);
        Ok(())
    }

    fn deployments(&self) -> Result<String> {
        self.server
            .kubectl(&["get", "deployments", "--output", "name", "--namespace", self.namespace])
    }
}

async fn server(programs: &crate::Programs) -> Result<Server> {
    let settings = Settings {
        controllers: true,
        ..Settings::default()
    };
    Server::started(programs, settings).await
}

/// The error of a command that is refused, and why a test needs that.
fn refused(result: Result<String>, what: &str) -> Result<String> {
    match result {
        Ok(said) => anyhow::bail!("{what} was not refused: {said}"),
        Err(error) => Ok(format!("{error:#}")),
    }
}

#[tokio::test]
async fn each_manifest_is_applied_by_its_user_alone() -> Result<()> {
    let Some(programs) = programs() else { return Ok(()) };
    let project = Project::golden("namespaced", &["metrics", "network-policy"])?;
    let files: BTreeMap<String, String> = parts::files(&project.kustomized(&programs)?)?;
    let server = server(&programs).await?;
    let team = Team::new(&server, NAMESPACE)?;

    let error = refused(
        team.apply(&files["namespace.yaml"]),
        "the Role without the cluster's part",
    )?;
    ensure!(
        error.contains("attempting to grant RBAC permissions not currently held"),
        "{error}"
    );
    refused(team.apply(&files["cluster.yaml"]), "the cluster's part by the tenant")?;

    server.apply(&files["cluster.yaml"], &["--force-conflicts"])?;
    server.until("the tenant applies the namespace's part", || {
        team.apply(&files["namespace.yaml"]).map(|_| true)
    })?;
    ensure!(team.deployments()?.contains("foobar-operator-controller-manager"));
    team.use_kind()?;

    // The ServiceAccount of the operator has what its Role grants.
    let account = format!("system:serviceaccount:{NAMESPACE}:foobar-operator-controller-manager");
    let may = format!("--as={account}");
    let question = [
        "auth",
        "can-i",
        "update",
        "foobars.test.example.com",
        "--subresource=status",
        &may,
    ];
    server.kubectl(&[&question[..], &["--namespace", NAMESPACE]].concat())?;
    Ok(())
}

#[tokio::test]
async fn each_part_of_a_chart_is_installed_by_its_user_alone() -> Result<()> {
    let Some(programs) = programs() else { return Ok(()) };
    let project = Project::golden("namespaced", &["metrics", "network-policy"])?;
    project.write_chart(&project.kustomized(&programs)?, "0.1.0")?;
    let chart = project.chart();
    let server = server(&programs).await?;
    let team = Team::new(&server, "team-a")?;

    refused(team.helm("install", Some(&chart), &[]), "the whole chart by the tenant")?;
    let error = refused(
        team.helm("install", Some(&chart), &TENANT),
        "the Role without the cluster's part",
    )?;
    ensure!(
        error.contains("attempting to grant RBAC permissions not currently held"),
        "{error}"
    );
    // A failed installation is a release, too.
    _ = team.helm("uninstall", None, &[]);

    server.helm_of(["the-cluster", "team-a"], "install", Some(&chart), &CLUSTER)?;
    ensure!(team.deployments()?.is_empty());
    let resources = ["foobars.test.example.com/finalizers", "foobars.test.example.com/status"];
    for resource in resources {
        server.until("the tenant has the operator's permissions", || {
            team.may("tenant", "update", resource)
        })?;
    }
    team.helm("install", Some(&chart), &TENANT)?;
    ensure!(team.deployments()?.contains("foobar-operator-controller-manager"));
    team.use_kind()?;
    team.helm(
        "upgrade",
        Some(&chart),
        &["--set", "install=namespace,extraArgs[0]=--x"],
    )?;
    team.helm("rollback", None, &["1"])?;
    team.helm("uninstall", None, &[])?;
    ensure!(team.deployments()?.is_empty());

    // The bindings of the cluster's part are for the ServiceAccount of the other.
    let path = "jsonpath={.subjects[0].name}/{.subjects[0].namespace}";
    let binding = "team-a.foobar-operator-metrics-auth-rolebinding";
    let subject = server.kubectl(&["get", "clusterrolebinding", binding, "--output", path])?;
    ensure!(subject == "foobar-operator-controller-manager/team-a", "{subject}");
    Ok(())
}

#[test]
fn both_parts_of_a_chart_are_the_whole_and_a_role_for_tenants() -> Result<()> {
    let Some(programs) = programs() else { return Ok(()) };
    for case in Project::cases()? {
        let project = Project::golden(&case, &["metrics", "prometheus", "network-policy"])?;
        project.write_chart(&project.kustomized(&programs)?, "0.1.0")?;
        let rendered = |install: &str| {
            let install = format!("install={install},serviceMonitor.enabled=true,prometheusRule.enabled=true");
            project.rendered(&programs, [NAME, NAMESPACE], &["--set", &install])
        };
        let (all, mut cluster, namespace) = (rendered("all")?, rendered("cluster")?, rendered("namespace")?);
        let role = cluster.remove("ClusterRole//foobar-operator-tenant-role");
        let grants = role.map(|role| role["rules"].to_string()).unwrap_or_default();
        if case == "namespaced" {
            ensure!(
                grants.contains("foobars/finalizers") && grants.contains("foobars/status"),
                "{grants}"
            );
        }
        ensure!(!grants.contains("\"deployments\""), "{case}: {grants}");
        ensure!(
            namespace.keys().all(|name| !cluster.contains_key(name)),
            "{case}: an object is in both"
        );
        cluster.extend(namespace);
        ensure!(cluster == all, "{case}: the parts differ from the whole");
    }
    Ok(())
}
