//! Flags that change the operator's requests to the API server.

use anyhow::{Result, ensure};
use control_plane::{
    eventually,
    foobar::{FooBar, becomes},
};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api,
    api::{DeleteParams, PostParams},
};

use crate::stage::{OPERATOR, PATIENCE, case};

#[test]
fn install_crds_makes_a_cluster_without_crds_serve_foobars() -> Result<()> {
    case(async |case| {
        // The deployed role has no permissions on CRDs, and should not: this flag is for development, as an
        // administrator.
        case.stage.spoil();
        let crds: Api<CustomResourceDefinition> = Api::all(case.client.clone());
        let name = "foobars.test.example.com";
        crds.delete(name, &DeleteParams::default()).await?;
        eventually("the CRD to go", PATIENCE, async || {
            Ok(crds.get_opt(name).await?.is_none().then_some(()))
        })
        .await?;
        let kubeconfig = case.stage.plane.kubeconfig_of(OPERATOR)?;
        let binary = case.stage.project.operator();
        for round in ["made", "kept"] {
            let mut operator = case.start(&binary, &["--install-crds"], &kubeconfig)?;
            operator.ready(PATIENCE).await?;
            case.one_ready(round).await?;
            operator.kill()?;
        }
        Ok(())
    })
}

#[test]
fn unnamed_namespaces_are_not_watched() -> Result<()> {
    case(async |case| {
        let namespaces = ["one", "two", "other"].map(|name| format!("{}-{name}", case.namespace));
        for namespace in &namespaces {
            case.make_namespace(namespace).await?;
        }
        let mark = case.mark()?;
        let list = format!("{},{}", namespaces[0], namespaces[1]);
        let _operator = case.operator(&["--namespace", &list]).await?;
        let [one, two, other] = namespaces
            .each_ref()
            .map(|name| Api::<FooBar>::namespaced(case.client.clone(), name));
        for foobars in [&other, &one, &two] {
            foobars.create(&PostParams::default(), &FooBar::named("here")).await?;
        }
        becomes(&one, "here", "Ready", PATIENCE, FooBar::is_ready).await?;
        becomes(&two, "here", "Ready", PATIENCE, FooBar::is_ready).await?;
        case.stays_quiet().await?;
        ensure!(
            other.get("here").await?.status.is_none(),
            "a FooBar of another namespace was served"
        );
        let mut asked = case.asked(mark)?;
        asked.retain(|request| matches!(request.resource.as_str(), "foobars" | "configmaps"));
        let beyond = asked
            .iter()
            .find(|request| !namespaces[..2].contains(&request.namespace));
        ensure!(beyond.is_none(), "requested more than its namespaces: {beyond:#?}");
        Ok(())
    })
}
