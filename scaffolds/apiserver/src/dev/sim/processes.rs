//! The processes of a run: one at a time, and another one after each death.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::mpsc,
    time::{Instant, sleep},
};

use super::{
    connection::{Connection, Past, Process},
    reconciles,
    world::World,
};
use crate::user::User;

/// How long a process takes to start again.
pub(super) const RESTART: Duration = Duration::from_secs(2);
/// How long lists show the past.
const PAST: Duration = Duration::from_secs(30);

/// The end of a process, and what is peculiar about its successor.
#[derive(Clone, Copy, Default)]
pub(super) struct End {
    /// The successor gets lists of this version.
    pub past: Option<u64>,
    /// The seconds by which the successor's clock is ahead.
    pub skew: i64,
}

/// Runs one process of the operator, until it ends.
pub(super) type Start =
    Arc<dyn Fn(Connection) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send>> + Send + Sync>;

/// The operator.
pub(super) struct Program {
    pub start: Start,
    /// The user of its requests; without one it may do everything.
    pub user: Option<User>,
}

/// Starts a process, and another one after it died or ended.
pub(super) async fn keep_running(world: Arc<World>, program: Program, mut killed: mpsc::UnboundedReceiver<End>) {
    let Program { start, user } = program;
    let mut end = End::default();
    for number in 1.. {
        let process = Arc::new(Process {
            number,
            dead: AtomicBool::new(false),
            past: end.past.map(|version| Past {
                version,
                until: Instant::now() + PAST,
            }),
            skew: end.skew,
            user: user.clone(),
        });
        end = End::default();
        reconciles::forget_failing();
        world.tell(&format!("operator {number}"), "starts");
        let mut task = tokio::spawn(start(Connection::new(world.clone(), process.clone())));
        tokio::select! {
            biased;
            next = killed.recv() => {
                process.dead.store(true, Ordering::Relaxed);
                task.abort();
                end = next.unwrap_or_default();
            }
            ended = &mut task => {
                let outcome = match ended {
                    Ok(Ok(())) => "without an error".to_owned(),
                    Ok(Err(error)) => error,
                    Err(error) => error.to_string(),
                };
                world.tell(&format!("operator {number}"), format!("ends by itself: {outcome}"));
                process.dead.store(true, Ordering::Relaxed);
                world.book().ended.push(outcome);
            }
        }
        world.stir();
        sleep(RESTART).await;
        world.stir();
    }
}
