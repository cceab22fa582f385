//! The processes of a run: another one after each death, and beside one that does not notice that it has lost its lease.

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
    task::AbortHandle,
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
    /// The number of the process; without one, the present process.
    pub process: Option<usize>,
    /// The successor gets lists of this version.
    pub past: Option<u64>,
    /// The seconds by which the successor's clock is ahead.
    pub skew: i64,
    /// How long the process works on beside its successor.
    pub lingers: Duration,
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
            next = end_of(number, &mut killed) => {
                end = next;
                let stopping = stop(world.clone(), process, task.abort_handle(), end.lingers);
                if end.lingers.is_zero() {
                    stopping.await;
                } else {
                    tokio::spawn(stopping);
                }
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

/// The next end of this process. A process that has lost its lease ends by itself.
async fn end_of(number: usize, killed: &mut mpsc::UnboundedReceiver<End>) -> End {
    loop {
        match killed.recv().await {
            Some(end) if end.process.is_some_and(|other| other != number) => {}
            end => return end.unwrap_or_default(),
        }
    }
}

/// Ends a process, which may work on beside its successor before.
async fn stop(world: Arc<World>, process: Arc<Process>, task: AbortHandle, lingers: Duration) {
    if !lingers.is_zero() {
        sleep(RESTART + lingers).await;
        world.tell(
            &format!("operator {}", process.number),
            "notices that it has lost its lease, and ends",
        );
        world.stir();
        // What failed in it is tried again by its successor.
        reconciles::forget_failing();
    }
    process.dead.store(true, Ordering::Relaxed);
    task.abort();
}
