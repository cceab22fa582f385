//! Repeats requests that may succeed later. Each request of a migration may be repeated, because it changes nothing the
//! second time.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::{
    error::{Class, Result},
    jitter::Jitter,
};

/// The time for which a request is repeated: an API server or a conversion webhook that is replaced is back by then.
const PATIENCE: Duration = Duration::from_secs(60);
const FIRST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(5);

/// Repeats a request that fails as one that may succeed later, for a minute.
///
/// # Errors
/// The last failure, or at once one that another try would not change.
pub(super) async fn patiently<T>(request: impl AsyncFn() -> Result<T>) -> Result<T> {
    let (began, mut delay, mut jitter) = (Instant::now(), FIRST, Jitter::random());
    loop {
        let error = match request().await {
            Ok(done) => return Ok(done),
            Err(error) => error,
        };
        let pause = match error.class() {
            Class::Conflict | Class::Retry => jitter.scale(delay, 1.0, 1.1),
            Class::RetryAfter(after) => after,
            Class::Forbidden | Class::Rejected | Class::Terminal | Class::NotLeader => return Err(error),
        };
        if began.elapsed() + pause >= PATIENCE {
            return Err(error);
        }
        sleep(pause).await;
        delay = (delay * 2).min(LONGEST);
    }
}
