//! `make sim`: runs the controllers on an API server in this process, with faults, on a clock of its own.

use std::future::pending;
use std::process::ExitCode;

use clap::Parser;
use kube::Client;
use kubewright_apiserver::dev::sim::{Connection, Simulation};
use kubewright_runtime::{Clock, Manager, Result, testing};
use operator::{app, controllers};

/// The flags of `app`, with their defaults.
#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    app: app::Flags,
}

// `.volatile("/status/lastBackup")` names what may differ from run to run; `.invariant(name, rule)` adds a rule of yours.
fn main() -> ExitCode {
    Simulation::new(run).run()
}

/// One process of the operator. It is started again after each crash.
async fn run(connection: Connection) -> Result<()> {
    testing::seed_delays(connection.seed());
    let manager = Manager::builder(Client::new(connection.clone(), "default"))
        .name("foobar-operator")
        .namespace("default")
        .clock(Clock::started_at(connection.now()))
        .build();
    let app = app::App::new(&manager, Cli::parse_from(["sim"]).app).await?;
    controllers::register(&manager, &app)?;
    manager.run(pending(), None).await
}
