//! An operator that uses much CPU: each FooBar keeps a thread of the runtime busy for as many milliseconds as its
//! target says, without an await. The tests check what continues to work meanwhile.

use std::{
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant},
};

use clap::Parser;
use control_plane::foobar::FooBar;
use kubewright_runtime::{Action, Conditions, Context, Controller, Error, Operator, Options, Reconciler, Result};

#[derive(Parser)]
struct Flags {
    #[command(flatten)]
    operator: Options,
}

struct Burner;

impl Reconciler<FooBar> for Burner {
    async fn reconcile(&self, cx: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        let burn = foobar.spec.target.parse().map(Duration::from_millis);
        let burn = burn.map_err(|error| Error::terminal("NoNumber", error.to_string()))?;
        let began = Instant::now();
        while began.elapsed() < burn {
            std::hint::spin_loop();
        }
        let ready = cx.condition("Ready", true, "Burnt", "");
        cx.patch_status(|status| {
            status.observed_generation = foobar.metadata.generation;
            status.conditions.set(ready);
        })
        .await?;
        Ok(Action::Done)
    }
}

fn main() -> ExitCode {
    Operator::new("burner", Flags::parse().operator)
        .run(async |manager| Controller::<FooBar>::new("foobar").register(manager, Burner))
}
