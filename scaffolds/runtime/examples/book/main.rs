//! The Rust code in the book that is not part of generated projects: compiled, so that it stays correct. Pages include
//! the parts between `ANCHOR` lines.
#![allow(
    dead_code,
    reason = "each module shows one thing, and only one of them can be registered"
)]

mod absent;
mod added;
mod admission;
mod app;
mod bucket;
mod child;
mod cleanup;
mod conversion;
mod dynamic;
mod errors;
mod foobar;
mod leader;
mod metrics;
mod permissions;
mod policies;
mod replicas;
mod routes;
mod running;
mod schedule;
mod settings;
mod shared;
mod sources;
mod types;
mod unowned;
mod urgent;
mod watches;

use std::process::ExitCode;

use clap::Parser;
use kubewright_runtime::{Operator, Options};

#[derive(Parser)]
struct Flags {
    #[command(flatten)]
    operator: Options,
    #[command(flatten)]
    app: app::Flags,
}

fn main() -> ExitCode {
    let flags = Flags::parse();
    Operator::new("book", flags.operator).run(async |manager| {
        let _app = app::App::new(manager, flags.app).await?;
        metrics::measure(manager);
        routes::serve(manager)?;
        admission::register(manager)?;
        conversion::register(manager)?;
        policies::register(manager)?;
        watches::register(manager)
    })
}
