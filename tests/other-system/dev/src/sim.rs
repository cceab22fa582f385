//! `make sim`: runs the controllers on an API server in this process, with faults, on a clock of its own.

use std::future::pending;
use std::process::ExitCode;

use clap::Parser;
use kube::Client;
use kubewright_apiserver::dev::sim::{Connection, Simulation, documents};
use kubewright_runtime::{Clock, Manager, Result, testing};
use operator::dns::Dns;
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

// ANCHOR: process
/// One process of the operator. It is started again after each crash.
async fn run(connection: Connection) -> Result<()> {
    testing::seed_delays(connection.seed());
    let manager = Manager::builder(Client::new(connection.clone(), "default"))
        .name("foobar-operator")
        .namespace("default")
        .clock(Clock::started_at(connection.now()))
        .build();
    let mut app = app::App::new(&manager, Cli::parse_from(["sim"]).app).await?;
    // A service that keeps a JSON document at each path, with the faults of the API server.
    let dns = connection.external("dns", documents);
    app.dns = Dns::over(Client::new(dns, "default"));
    controllers::register(&manager, &app)?;
    manager.run(pending(), None).await
}
// ANCHOR_END: process
