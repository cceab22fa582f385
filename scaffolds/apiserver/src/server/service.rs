//! The server as a tower service.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Buf;
use http::Request;

use super::ApiServer;
use crate::response::Answer;

/// Answers HTTP requests. It is always ready, and reports errors only as answers.
#[derive(Clone)]
pub struct Service {
    server: ApiServer,
}

impl Service {
    pub(super) fn new(server: ApiServer) -> Self {
        Self { server }
    }
}

impl<B> tower::Service<Request<B>> for Service
where
    B: http_body::Body<Data: Buf + Send, Error: std::fmt::Display> + Send + 'static,
{
    type Response = Answer;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Answer, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let server = self.server.clone();
        Box::pin(async move { Ok(server.handle(request).await) })
    }
}
