//! The body of a response: parts in their order, which are not copied into one, with their reserved memory.

use std::{
    collections::VecDeque,
    convert::Infallible,
    pin::Pin,
    sync::{Arc, Weak},
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tokio::task::AbortHandle;

use super::budget::{Reserved, Share};

/// The longest part that is passed on at a time: hyper copies it.
const FRAME: usize = 64 << 10;
/// Shorter bodies are not counted, so that probes are answered in any case.
const SHORT: usize = 4 << 10;

/// The body of a response.
pub struct AnswerBody {
    parts: VecDeque<Bytes>,
    /// Given back once the body has been sent, or will not be.
    memory: Option<Arc<Vec<Reserved>>>,
    /// Ends the connection of a client that does not read.
    watch: Option<Watch>,
}

/// A task that is not needed any more once this is dropped.
struct Watch(AbortHandle);

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl AnswerBody {
    /// A body of one part.
    pub fn of(bytes: impl Into<Bytes>) -> Self {
        Self::reserved(vec![bytes.into()], Vec::new())
    }

    /// A body of these parts, for which memory has been reserved.
    pub fn reserved(parts: Vec<Bytes>, memory: Vec<Reserved>) -> Self {
        Self {
            parts: parts.into_iter().filter(|part| !part.is_empty()).collect(),
            memory: (!memory.is_empty()).then(|| Arc::new(memory)),
            watch: None,
        }
    }

    fn len(&self) -> usize {
        self.parts.iter().map(Bytes::len).sum()
    }

    /// Whether it is long, and nothing has been reserved for it.
    fn is_uncounted(&self) -> bool {
        self.memory.is_none() && self.len() > SHORT
    }

    /// Reserves memory unless that has been done. Waits for it.
    ///
    /// # Errors
    ///
    /// As for [`Share::answer`].
    pub async fn reserve(&mut self, share: &Arc<Share>) -> Result<(), String> {
        if self.is_uncounted() {
            self.memory = Some(Arc::new(vec![share.answer(self.len()).await?]));
        }
        Ok(())
    }

    /// As [`reserve`](Self::reserve), without waiting. Whether there is enough.
    pub(super) fn try_reserve(&mut self, share: &Arc<Share>) -> bool {
        if self.is_uncounted() {
            let reserved = share.try_answer(self.len());
            self.memory = reserved.map(|reserved| Arc::new(vec![reserved]));
        }
        !self.is_uncounted()
    }

    /// Lives as long as the memory is in use; `None` if none is reserved.
    pub(super) fn in_use(&self) -> Option<Weak<Vec<Reserved>>> {
        self.memory.as_ref().map(Arc::downgrade)
    }

    /// Aborts this task when the body is dropped.
    pub(super) fn watched_by(&mut self, task: AbortHandle) {
        self.watch = Some(Watch(task));
    }

    /// The whole body.
    #[cfg(any(test, feature = "testing"))]
    pub fn bytes(&self) -> Vec<u8> {
        self.parts.iter().flatten().copied().collect()
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let Some(part) = self.parts.front_mut() else {
            return Poll::Ready(None);
        };
        let next = part.split_to(part.len().min(FRAME));
        if part.is_empty() {
            self.parts.pop_front();
        }
        Poll::Ready(Some(Ok(Frame::data(next))))
    }

    fn is_end_stream(&self) -> bool {
        self.parts.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(u64::try_from(self.len()).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use http_body_util::BodyExt;

    use super::*;
    use crate::server::budget::Budget;

    const PEER: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    #[tokio::test]
    async fn a_body_is_sent_in_frames_and_gives_its_memory_back() {
        let share = Budget::of(128 << 20).share(PEER);
        let parts = vec![Bytes::from(vec![1; 100_000]), Bytes::new(), Bytes::from_static(b"end")];
        let mut body = AnswerBody::reserved(parts, Vec::new());
        assert!(body.try_reserve(&share));
        assert_eq!(body.size_hint().exact(), Some(100_003));
        let in_use = body.in_use().unwrap();
        let mut lengths = Vec::new();
        while let Some(frame) = body.frame().await {
            lengths.push(frame.unwrap().into_data().unwrap().len());
        }
        assert_eq!(lengths, [65_536, 34_464, 3]);
        assert!(in_use.upgrade().is_some() && body.is_end_stream());
        drop(body);
        assert!(in_use.upgrade().is_none());
    }

    #[tokio::test]
    async fn short_bodies_need_no_memory_and_long_ones_are_refused_without() {
        let share = Budget::of(0).share(PEER);
        for (length, fits) in [(0, true), (SHORT, true), (SHORT + 1, false)] {
            let mut body = AnswerBody::of(vec![0; length]);
            assert_eq!(body.try_reserve(&share), fits, "{length}");
            assert_eq!(body.reserve(&share).await.is_ok(), fits, "{length}");
        }
    }
}
