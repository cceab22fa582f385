//! Objects that the API server accepts and refuses.

use anyhow::{Result, ensure};
use control_plane::foobar::FooBar;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api,
    api::{ApiResource, DynamicObject, PostParams},
};
use serde_json::{Value, json};

use crate::stage::case;

#[test]
fn config_default_is_accepted_strictly_and_without_a_warning() -> Result<()> {
    case(async |case| {
        let printed = case.stage.deployment();
        ensure!(!printed.to_lowercase().contains("warning"), "{printed}");
        for kind in [
            "customresourcedefinition",
            "deployment",
            "clusterrole",
            "serviceaccount",
            "namespace",
        ] {
            ensure!(printed.contains(kind), "no {kind} in:\n{printed}");
        }
        Ok(())
    })
}

#[test]
fn dist_install_yaml_is_accepted_and_changes_nothing() -> Result<()> {
    case(async |case| {
        control_plane::run(
            case.stage
                .project
                .make()
                .args(["build-installer", "KUBECTL=kubectl"])
                .env("PATH", path_with(case.stage.plane.assets().kubectl().parent())),
        )?;
        let file = case.stage.project.folder().join("dist/install.yaml");
        let mut kubectl = case.stage.plane.kubectl();
        kubectl
            .args(["apply", "--server-side", "--validate=strict", "-f"])
            .arg(&file);
        let output = kubectl.output()?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success() && stderr.is_empty(), "{stderr}");
        let difference = control_plane::run(
            case.stage
                .plane
                .kubectl()
                .args(["diff", "--server-side", "-f"])
                .arg(&file),
        )?;
        ensure!(difference.is_empty(), "{difference}");
        Ok(())
    })
}

#[test]
fn make_chart_writes_the_chart_of_the_project_with_its_image_and_version() -> Result<()> {
    case(async |case| {
        let chart = |more: &[&str]| -> Result<[String; 2]> {
            let mut make = case.stage.project.make();
            make.args(["chart", "KUBECTL=kubectl", "IMG=registry.example.com/operator:v7"])
                .args(more)
                .env("PATH", path_with(case.stage.plane.assets().kubectl().parent()));
            let said = control_plane::run(&mut make)?;
            ensure!(said == "dist/chart\n", "{said}");
            let folder = case.stage.project.folder().join("dist/chart");
            Ok([
                std::fs::read_to_string(folder.join("Chart.yaml"))?,
                std::fs::read_to_string(folder.join("values.yaml"))?,
            ])
        };
        let [about, values] = chart(&[])?;
        ensure!(
            about.contains("name: conformance-operator\n") && about.contains("version: '0.1.0'\n"),
            "{about}"
        );
        ensure!(
            values.contains("  repository: registry.example.com/operator\n  tag: v7\n"),
            "{values}"
        );
        let [about, _] = chart(&["CHART_VERSION=1.2.3-rc.1"])?;
        ensure!(about.contains("version: '1.2.3-rc.1'\n"), "{about}");
        Ok(())
    })
}

#[test]
fn the_crd_is_established_structural_and_serves_a_status() -> Result<()> {
    case(async |case| {
        let crds: Api<CustomResourceDefinition> = Api::all(case.client.clone());
        let crd = crds.get("foobars.test.example.com").await?;
        let conditions = crd.status.and_then(|status| status.conditions).unwrap_or_default();
        let is = |type_: &str, status: &str| conditions.iter().any(|it| it.type_ == type_ && it.status == status);
        ensure!(
            is("Established", "True") && is("NamesAccepted", "True"),
            "{conditions:#?}"
        );
        ensure!(!is("NonStructuralSchema", "True"), "{conditions:#?}");
        let version = &crd.spec.versions[0];
        ensure!(
            version
                .subresources
                .as_ref()
                .is_some_and(|subresources| subresources.status.is_some()),
            "no status"
        );
        Ok(())
    })
}

#[test]
fn invalid_foobars_are_refused_before_they_are_stored() -> Result<()> {
    case(async |case| {
        let kind = ApiResource::erase::<FooBar>(&());
        let objects: Api<DynamicObject> = Api::namespaced_with(case.client.clone(), &case.namespace, &kind);
        let cases: [(Value, &str); 6] = [
            (json!({}), "spec.target: Required value"),
            (json!({"type": "a"}), "spec.target: Required value"),
            (json!({"target": ""}), "spec.target"),
            (json!({"target": 1}), "must be of type string"),
            (json!({"target": ["a"]}), "must be of type string"),
            (json!({"target": "a", "type": {"b": "c"}}), "must be of type string"),
        ];
        for (spec, message) in cases {
            let mut object = DynamicObject::new("invalid", &kind);
            object.data = json!({"spec": spec});
            match objects.create(&PostParams::default(), &object).await {
                Err(kube::Error::Api(status)) if status.code == 422 && status.message.contains(message) => {}
                other => anyhow::bail!("{spec}: not refused with `{message}` but {other:?}"),
            }
        }
        // Unknown fields are refused if the client requests strict validation, as kubectl does.
        let misspelt = case.stage.plane.folder().join("misspelt.json");
        let mut object = DynamicObject::new("invalid", &kind);
        object.data = json!({"spec": {"target": "a", "traget": "b"}});
        std::fs::write(&misspelt, serde_json::to_string(&object)?)?;
        let refused = case.kubectl(&["apply", "--server-side", "-f", &misspelt.display().to_string()]);
        ensure!(
            refused.is_err_and(|error| format!("{error:#}").contains("unknown field \"spec.traget\"")
                || format!("{error:#}").contains("field not declared in schema"))
        );
        ensure!(objects.get_opt("invalid").await?.is_none(), "it is stored");
        Ok(())
    })
}

#[test]
fn the_samples_are_accepted_and_become_ready() -> Result<()> {
    case(async |case| {
        let _operator = case.operator(&[]).await?;
        let samples = case.stage.project.folder().join("config/samples").display().to_string();
        case.kubectl(&["apply", "--server-side", "--validate=strict", "-k", &samples])?;
        case.kubectl(&["wait", "--for=condition=Ready", "--timeout=60s", "foobars", "--all"])?;
        let shown = case.kubectl(&["get", "foobars", "-o", "wide"])?;
        ensure!(shown.contains("foobar-sample"), "{shown}");
        Ok(())
    })
}

/// This process's PATH with a folder in front: the project's Makefile calls `kubectl`.
pub fn path_with(folder: Option<&std::path::Path>) -> std::ffi::OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = folder
        .map(std::path::Path::to_owned)
        .into_iter()
        .chain(std::env::split_paths(&path));
    // It was split at exactly the characters that must not be in it.
    std::env::join_paths(folders).unwrap_or(path)
}
