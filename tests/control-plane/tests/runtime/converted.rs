//! A kind that a webhook converts, while that webhook is down: what a real cluster can delete then, and what not.

use std::{
    env,
    process::{Child, Command, Stdio},
};

use anyhow::{Context, Result, ensure};
use clap::Parser;
use control_plane::{ControlPlane, free_ports, make_namespace};
use k8s_openapi::{
    api::core::v1::{Namespace, Secret},
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, Client, CustomResource,
    api::{DeleteParams, ObjectMeta, Patch, PatchParams, PostParams},
};
use kubewright_runtime::{Manager, Operator, Options};
use kubewright_webhooks::Hub;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{PATIENCE, controlled, eventually, install};

const NAME: &str = "widgets.other.example.com";
/// Kubeconfig and port of the child process.
const CHILD: &str = "KUBEWRIGHT_TEST_CONVERTER";
const OPERATOR: &str = "widgets";
/// The patch of `make undeploy` once the operator is gone, in a project with a conversion.
const WITHOUT_CONVERTER: &str = r#"{"spec":{"conversion":{"strategy":"None","webhook":null}}}"#;
/// The source of `make undeploy`.
const REMOVAL: &str = include_str!("../../../../scaffolds/manifests/src/removal/mod.rs");

mod v1 {
    use super::*;

    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "other.example.com", version = "v1", kind = "Widget", namespaced)]
    pub struct WidgetSpec {
        pub target: String,
    }
}

mod v2 {
    use super::*;

    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "other.example.com", version = "v2", kind = "Widget", namespaced)]
    pub struct WidgetSpec {
        pub host: String,
        pub port: u16,
    }
}

fn to_v1(v2::Widget { metadata, spec }: v2::Widget) -> Result<v1::Widget, String> {
    let v2::WidgetSpec { host, port } = spec;
    let spec = v1::WidgetSpec {
        target: format!("{host}:{port}"),
    };
    Ok(v1::Widget { metadata, spec })
}

fn to_v2(v1::Widget { metadata, spec }: v1::Widget) -> Result<v2::Widget, String> {
    let v1::WidgetSpec { target } = spec;
    let (host, port) = target.split_once(':').ok_or("spec.target: no port")?;
    let spec = v2::WidgetSpec {
        host: host.to_owned(),
        port: port.parse().map_err(|error| format!("spec.target: {error}"))?,
    };
    Ok(v2::Widget { metadata, spec })
}

/// The kind, stored as v1.
fn definition() -> Result<CustomResourceDefinition> {
    let version = |name: &str, spec: Value| {
        json!({"name": name, "served": true, "storage": name == "v1", "schema": {"openAPIV3Schema": {
            "type": "object", "properties": {"spec": {"type": "object", "properties": spec}}}}})
    };
    let versions = [
        version("v1", json!({"target": {"type": "string"}})),
        version("v2", json!({"host": {"type": "string"}, "port": {"type": "integer"}})),
    ];
    Ok(serde_json::from_value(
        json!({"metadata": {"name": NAME}, "spec": {"group": "other.example.com",
        "scope": "Namespaced", "names": {"kind": "Widget", "plural": "widgets"}, "versions": versions}}),
    )?)
}

#[derive(Parser)]
struct Flags {
    #[command(flatten)]
    operator: Options,
}

/// The operator, which is killed.
#[test]
#[ignore = "a part of the test below"]
fn operate_as_a_process_of_its_own() {
    let Ok(given) = env::var(CHILD) else { return };
    let (port, kubeconfig) = given.split_once(' ').expect("a port and a path");
    let address = format!("127.0.0.1:{port}");
    let flags = Flags::parse_from([
        "operator".to_owned(),
        format!("--kubeconfig={kubeconfig}"),
        format!("--webhook-bind-address={address}"),
        format!("--webhook-url=https://{address}"),
        "--health-probe-bind-address=0".to_owned(),
    ]);
    Operator::new(OPERATOR, flags.operator)
        .run(async |manager: &Manager| Hub::<v1::Widget>::new().spoke(to_v1, to_v2).register(manager));
}

/// The process, killed on drop.
struct Running(Child);

impl Running {
    /// Starts it, and waits until the definition names its converter.
    async fn start(plane: &ControlPlane, definitions: &Api<CustomResourceDefinition>) -> Result<Self> {
        let [port] = free_ports()?;
        let child = Command::new(env::current_exe()?)
            .args(["--ignored", "--exact", "converted::operate_as_a_process_of_its_own"])
            .env(CHILD, format!("{port} {}", plane.kubeconfig().display()))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let running = Self(child);
        eventually("the definition names the converter", PATIENCE, async || {
            let conversion = definitions.get(NAME).await?.spec.conversion;
            Ok(conversion.filter(|it| it.strategy == "Webhook").map(drop))
        })
        .await?;
        Ok(running)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // These fail only if the process has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Creates an object of v1 in a namespace.
async fn create(client: &Client, namespace: &str) -> Result<()> {
    let widgets: Api<v1::Widget> = Api::namespaced(client.clone(), namespace);
    let target = "a:1".to_owned();
    eventually("a Widget is created", PATIENCE, async || {
        let widget = v1::Widget::new("one", v1::WidgetSpec { target: target.clone() });
        Ok(widgets.create(&PostParams::default(), &widget).await.ok())
    })
    .await?;
    Ok(())
}

#[tokio::test]
async fn while_its_converter_is_down_a_definition_goes_and_a_namespace_waits_for_what_undeploy_does() -> Result<()> {
    let Some(plane) = controlled().await? else {
        return Ok(());
    };
    let client = plane.client().await?;
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let widgets: Api<v2::Widget> = Api::namespaced(client.clone(), "team");
    make_namespace(&client, "team").await?;
    install(&client, &definition()?).await?;
    for namespace in ["team", "default"] {
        create(&client, namespace).await?;
    }
    let secret = Secret {
        metadata: ObjectMeta {
            name: Some(format!("{OPERATOR}-webhook-server-cert")),
            ..ObjectMeta::default()
        },
        ..Secret::default()
    };
    let secrets: Api<Secret> = Api::namespaced(client.clone(), "default");
    secrets.create(&PostParams::default(), &secret).await?;
    let operator = Running::start(&plane, &definitions).await?;
    let converted = eventually("a converted Widget", PATIENCE, async || {
        Ok(widgets.get("one").await.ok())
    })
    .await?;
    ensure!((converted.spec.host.as_str(), converted.spec.port) == ("a", 1));

    drop(operator);
    // Not a list, which may not answer for minutes.
    let unread = widgets.get("one").await.err().context("a Widget without a converter")?;
    ensure!(
        unread
            .to_string()
            .contains("conversion webhook for other.example.com/v1, Kind=Widget failed"),
        "{unread}"
    );
    // The namespace controller lists objects in the version that discovery prefers: v2.
    namespaces.delete("team", &DeleteParams::default()).await?;
    let why = eventually("why the namespace stays", PATIENCE, async || stuck(&namespaces).await).await?;
    ensure!(why.contains("conversion webhook"), "{why}");
    ensure!(
        REMOVAL.contains(WITHOUT_CONVERTER),
        "`make undeploy` does something else"
    );
    let conversion = definitions.get(NAME).await?.spec.conversion;
    let patch: Value = serde_json::from_str(WITHOUT_CONVERTER)?;
    definitions
        .patch(NAME, &PatchParams::default(), &Patch::Merge(patch))
        .await?;
    let gone = async || Ok(namespaces.get_opt("team").await?.is_none().then_some(()));
    eventually("the namespace is gone", PATIENCE, gone).await?;

    // A definition does not even need that: its objects are deleted as they are stored.
    let patch = json!({"spec": {"conversion": conversion}});
    definitions
        .patch(NAME, &PatchParams::default(), &Patch::Merge(patch))
        .await?;
    ensure!(plane.stored("other.example.com/widgets").await?.len() == 1);
    definitions.delete(NAME, &DeleteParams::default()).await?;
    let gone = async || Ok(definitions.get_opt(NAME).await?.is_none().then_some(()));
    eventually("the definition is gone", PATIENCE, gone).await?;
    ensure!(plane.stored("other.example.com/widgets").await?.is_empty());
    Ok(())
}

/// The reason that the namespace controller cannot empty the namespace.
async fn stuck(namespaces: &Api<Namespace>) -> Result<Option<String>> {
    let status = namespaces.get("team").await?.status.unwrap_or_default();
    let mut conditions = status.conditions.into_iter().flatten();
    let failed = conditions.find(|it| it.type_ == "NamespaceDeletionContentFailure" && it.status == "True");
    Ok(failed.and_then(|it| it.message))
}
