//! An operator that sends requests beyond what its controller declares, as ConfigMaps and the environment ask for. Its
//! tests show how the testing kit of operators reports requests that are refused.

use std::{process::ExitCode, sync::Arc};

use clap::Parser;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{
    Api, ResourceExt,
    api::{ListParams, Patch, PatchParams},
};
use kubewright_runtime::{Action, Context, Controller, Error, Manager, Operator, Options, Reconciler, Result, Rule};
use serde_json::json;

/// What a ConfigMap asks for: `secrets` lists Secrets, which no role grants.
const LIST: &str = "list";
/// Whether the operator ignores that it may not: `yes`.
const SWALLOW: &str = "swallow";
/// How often the operator has looked at the ConfigMap, written by it.
const LOOKED: &str = "looked";
/// The time at which the operator writes its own into the ConfigMap.
const WAKE_AT: &str = "wakeAt";
/// The time of the operator's clock.
const WOKEN: &str = "woken";
/// Further reconciles are not counted, because each count causes one.
const ENOUGH: usize = 3;

#[derive(Parser)]
#[command(version, about)]
struct Cli {
    #[command(flatten)]
    operator: Options,
    /// Declares a permission in this namespace.
    #[arg(long, env = "KIT_GRANT_IN")]
    grant_in: Option<String>,
    /// Watches Secrets, without the permission.
    #[arg(long, env = "KIT_WATCH_SECRETS")]
    watch_secrets: bool,
    /// Owns Secrets.
    #[arg(long, env = "KIT_OWN_SECRETS")]
    own_secrets: bool,
}

fn main() -> ExitCode {
    let cli: Cli = Operator::flags();
    Operator::new(env!("CARGO_PKG_NAME"), cli.operator).run(async |manager| {
        if let Some(namespace) = &cli.grant_in {
            manager.grant(Rule::new(&[""], &["services"], &["get"]).in_namespace(namespace));
        }
        if cli.watch_secrets {
            // The cache stays in the manager.
            let _ = manager.informer::<Secret>();
        }
        register(manager, cli.own_secrets)
    })
}

fn register(manager: &Manager, owns_secrets: bool) -> Result<()> {
    let mut controller = Controller::<ConfigMap>::new("maps")
        .foreign()
        .rule(&[""], &["configmaps"], &["patch"]);
    if owns_secrets {
        controller = controller.owns::<Secret>();
    }
    controller.register(manager, Maps)
}

struct Maps;

impl Reconciler<ConfigMap> for Maps {
    async fn reconcile(&self, cx: &Context<ConfigMap>, map: Arc<ConfigMap>) -> Result<Action> {
        let value = |key: &str| map.data.as_ref().and_then(|data| data.get(key)).map(String::as_str);
        if let Some(time) = value(WAKE_AT) {
            return wake(cx, &map, time).await;
        }
        let Some(wanted) = value(LIST) else {
            return Ok(Action::Done);
        };
        let namespace = map.namespace().unwrap_or_default();
        let mut listed = Ok(());
        if wanted == "secrets" {
            let secrets: Api<Secret> = Api::namespaced(cx.client().clone(), &namespace);
            listed = secrets.list(&ListParams::default()).await.map(|_| ());
        }
        let looked = value(LOOKED).and_then(|looked| looked.parse().ok()).unwrap_or(0);
        if looked < ENOUGH {
            let patch = json!({"data": {LOOKED: (looked + 1).to_string()}});
            let maps: Api<ConfigMap> = Api::namespaced(cx.client().clone(), &namespace);
            maps.patch(&map.name_any(), &PatchParams::default(), &Patch::Merge(patch))
                .await?;
        }
        if value(SWALLOW) != Some("yes") {
            listed?;
        }
        Ok(Action::Done)
    }
}

/// Waits for the time, and then writes the clock's.
async fn wake(cx: &Context<ConfigMap>, map: &ConfigMap, time: &str) -> Result<Action> {
    let time = time
        .parse()
        .map_err(|error| Error::terminal("BadTime", format!("{error}")))?;
    if cx.now() < time {
        return Ok(Action::At(time));
    }
    let maps: Api<ConfigMap> = Api::namespaced(cx.client().clone(), &map.namespace().unwrap_or_default());
    let patch = json!({"data": {WAKE_AT: null, WOKEN: cx.now()}});
    maps.patch(&map.name_any(), &PatchParams::default(), &Patch::Merge(patch))
        .await?;
    Ok(Action::Done)
}
