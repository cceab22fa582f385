//! The answer to a watch: passes its frames on, or delays them, or ends with 410 Gone.

use std::time::Duration;

use bytes::Bytes;
use http_body::Frame;
use http_body_util::{BodyExt, combinators::UnsyncBoxBody};
use serde_json::json;
use tokio::time::{Instant, timeout};
use tower::BoxError;

use super::world::Watches;

/// The delay of watches in a phase of late events.
const LATE: Duration = Duration::from_secs(20);
/// The delay of the watches of one kind. A longer one would find no more, and cost time: as long as an operator does not see that
/// an owner is gone, it creates its children again, and the garbage collector deletes them.
const LATE_KIND: Duration = Duration::from_secs(5);

/// The answer to a watch, while it is sent.
pub(super) struct OpenWatch {
    pub body: UnsyncBoxBody<Bytes, BoxError>,
    /// The plural of its kind.
    pub plural: String,
    pub watches: tokio::sync::watch::Receiver<Watches>,
    /// The number of ends before it began.
    pub ends: u64,
    pub is_over: bool,
    /// The event that is delivered once more.
    pub again: Option<Bytes>,
}

impl OpenWatch {
    pub(super) async fn next(mut self) -> Option<(Result<Frame<Bytes>, BoxError>, Self)> {
        if self.is_over {
            return None;
        }
        let (mut ending, ends) = (self.watches.clone(), self.ends);
        let frame = tokio::select! {
            biased;
            // The world outlives its watches.
            _ = ending.wait_for(|watches| watches.ends > ends) => {
                self.is_over = true;
                Some(Ok(Frame::data(expired())))
            }
            frame = self.frame() => frame,
        };
        Some((frame?, self))
    }

    async fn frame(&mut self) -> Option<Result<Frame<Bytes>, BoxError>> {
        if let Some(again) = self.again.take() {
            return Some(Ok(Frame::data(again)));
        }
        let asked = Instant::now();
        let frame = self.body.frame().await;
        // A frame that was there has waited with the one before.
        let most = delay(&self.watches.borrow(), &self.plural).filter(|_| asked.elapsed() > Duration::ZERO);
        _ = self.watches.wait_for(|watches| !watches.muted).await;
        if let Some(most) = most {
            // A frame that comes at the end of the fault would be late in the next phase, too.
            let ended = self.watches.wait_for(|watches| delay(watches, &self.plural).is_none());
            _ = timeout(most, ended).await;
        }
        if self.watches.borrow().doubled
            && let Some(Ok(frame)) = &frame
        {
            self.again = frame.data_ref().cloned();
        }
        frame
    }
}

fn delay(watches: &Watches, plural: &str) -> Option<Duration> {
    let is_late = watches.late_kinds.contains(plural);
    watches.late.then_some(LATE).or(is_late.then_some(LATE_KIND))
}

fn expired() -> Bytes {
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": "too old resource version", "reason": "Expired", "code": 410,
    });
    format!("{}\n", json!({"type": "ERROR", "object": status})).into()
}
