//! The body of an answer, independent of any HTTP server.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures::Stream;
use http_body::{Frame, SizeHint};

/// A body: either complete, or a stream that the client ends by dropping it.
pub struct Body(BodyContent);

enum BodyContent {
    Whole(Option<Bytes>),
    Stream(Pin<Box<dyn Stream<Item = Bytes> + Send>>),
}

impl Body {
    /// A body that arrives in pieces: a watch.
    pub fn stream(pieces: impl Stream<Item = Bytes> + Send + 'static) -> Self {
        Self(BodyContent::Stream(Box::pin(pieces)))
    }

    /// The same body; a stream also ends when `end` is ready.
    #[cfg(feature = "serve")]
    pub(crate) fn until(self, end: impl Future<Output = ()> + Send + 'static) -> Self {
        match self.0 {
            BodyContent::Stream(pieces) => Self::stream(futures::StreamExt::take_until(pieces, end)),
            whole => Self(whole),
        }
    }

    /// Whether it arrives in pieces.
    #[cfg(feature = "serve")]
    pub(crate) fn is_stream(&self) -> bool {
        matches!(self.0, BodyContent::Stream(_))
    }

    /// The bytes of a complete body, so that they can be examined before they are sent.
    pub fn whole(&self) -> Option<&Bytes> {
        match &self.0 {
            BodyContent::Whole(bytes) => bytes.as_ref(),
            BodyContent::Stream(_) => None,
        }
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        Self(BodyContent::Whole((!bytes.is_empty()).then_some(bytes)))
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut self.0 {
            BodyContent::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            BodyContent::Stream(pieces) => pieces
                .as_mut()
                .poll_next(cx)
                .map(|piece| piece.map(|piece| Ok(Frame::data(piece)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.0, BodyContent::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            BodyContent::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, Bytes::len) as u64),
            BodyContent::Stream(_) => SizeHint::default(),
        }
    }
}
