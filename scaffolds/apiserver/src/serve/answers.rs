//! Answers the requests of a connection: by the server, as the user of the connection, until the server stops.

use std::convert::Infallible;

use hyper::{Request, body::Incoming};
use tokio::sync::watch;
use tower::Service;

use super::compress;
use crate::{auth::Peer, response::Answer, server::ApiServer};

/// The answers of one connection, in any protocol.
#[derive(Clone)]
pub struct Answers {
    pub server: ApiServer,
    /// Whom the client's certificate names.
    pub peer: Peer,
    /// Changes when the server stops, which ends watches: they never end by themselves.
    pub stop: watch::Receiver<()>,
}

impl Answers {
    /// Answers a request; compresses the answer if it is large and the client accepts that.
    pub fn to(&self, mut request: Request<Incoming>) -> impl Future<Output = Result<Answer, Infallible>> + use<> {
        request.extensions_mut().insert(self.peer.clone());
        let gzip = compress::accepts(request.headers());
        let answer = self.server.service().call(request);
        let mut stop = self.stop.clone();
        async move {
            let answer = answer.await?;
            let answer = if gzip { compress::compress(answer) } else { answer };
            let end = async move { _ = stop.changed().await };
            Ok(answer.map(|body| body.until(end)))
        }
    }
}
