//! Starts the operator. Its controllers are in `controllers`, their shared state is in `app`.

use std::process::ExitCode;

use clap::Parser;
use kubewright_runtime::{Operator, Options};
use operator::{app, controllers, conversions, policies, webhooks};

#[derive(Parser)]
#[command(version, about)]
struct Cli {
    #[command(flatten)]
    operator: Options,
    #[command(flatten)]
    app: app::Flags,
}

fn main() -> ExitCode {
    let cli: Cli = Operator::flags();
    Operator::new(env!("CARGO_PKG_NAME"), cli.operator)
        .crds(manifests::crds())
        .run(async |manager| {
            let app = app::App::new(manager, cli.app).await?;
            conversions::register(manager)?;
            policies::register(manager)?;
            webhooks::register(manager, &app)?;
            controllers::register(manager, &app)
        })
}
