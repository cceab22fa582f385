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
    world::World,
};

/// How long a process takes to start again.
pub(super) const RESTART: Duration = Duration::from_secs(2);
/// How long lists show the past.
const PAST: Duration = Duration::from_secs(30);

/// Runs one process of the operator, until it ends.
pub(super) type Start =
    Arc<dyn Fn(Connection) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send>> + Send + Sync>;

/// Starts a process, and another one after it died or ended.
pub(super) async fn keep_running(world: Arc<World>, start: Start, mut killed: mpsc::UnboundedReceiver<Option<u64>>) {
    let mut past = None;
    for number in 1.. {
        let process = Arc::new(Process {
            number,
            dead: AtomicBool::new(false),
            past: past.take().map(|version| Past {
                version,
                until: Instant::now() + PAST,
            }),
        });
        world.tell(&format!("operator {number}"), "starts");
        let mut task = tokio::spawn(start(Connection::new(world.clone(), process.clone())));
        tokio::select! {
            biased;
            version = killed.recv() => {
                process.dead.store(true, Ordering::Relaxed);
                task.abort();
                past = version.flatten();
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
