//! Runs the operator, with the flags of the other two that the benchmark needs.

mod foobar;
mod probes;
mod reconciler;

use clap::Parser;
use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client, CustomResourceExt,
    runtime::{Controller, controller::Config, events::Recorder, watcher},
};
use std::sync::Arc;

use foobar::FooBar;
use reconciler::{Context, on_error, reconcile};

#[derive(Parser)]
struct Flags {
    #[arg(long, default_value = "0.0.0.0:8081")]
    health_probe_bind_address: String,
    #[arg(long, default_value_t = 1)]
    max_concurrent_reconciles: u16,
    /// Print the CRD and exit
    #[arg(long)]
    crd: bool,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let flags = Flags::parse();
    if flags.crd {
        println!("{}", serde_json::to_string_pretty(&FooBar::crd())?);
        return Ok(());
    }
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let client = Client::try_default().await?;
    let context = Arc::new(Context {
        client: client.clone(),
        recorder: Recorder::new(client.clone(), "foobar".into()),
    });
    let controller = Controller::new(Api::<FooBar>::all(client.clone()), watcher::Config::default());
    probes::serve(&flags.health_probe_bind_address).await?;
    controller
        .owns(Api::<ConfigMap>::all(client), watcher::Config::default())
        .with_config(Config::default().concurrency(flags.max_concurrent_reconciles))
        .shutdown_on_signal()
        .run(reconcile, on_error, context)
        .for_each(|_| async {})
        .await;
    Ok(())
}
