//! Handles one request from its first byte to its answer: read, authenticate, authorise, route.

use std::{fmt::Display, panic::AssertUnwindSafe};

use bytes::Buf;
use futures::FutureExt;
use http::{HeaderName, HeaderValue, Request, request::Parts};
use http_body::Body;

use super::{ApiServer, discover, probes};
use crate::{
    auth::{self, Peer},
    authorize::Attributes,
    meta::generate,
    request::{Info, Query, accept, body, duration},
    response::{self, Answer},
    status::Status,
    user::User,
};

/// The audit log of a real server identifies an answer by this ID; clients quote it.
const AUDIT_ID: HeaderName = HeaderName::from_static("audit-id");

/// An answer, or the Status to answer with, in the format of the request.
type Answered = Result<Answer, Status>;

impl ApiServer {
    pub(super) async fn handle<B>(&self, request: Request<B>) -> Answer
    where
        B: Body<Data: Buf + Send, Error: Display> + Send,
    {
        let (parts, body) = request.into_parts();
        let query = Query::read(parts.uri.query().unwrap_or_default());
        let format = accept::format(&parts.headers, &query);
        let id = parts
            .headers
            .get(AUDIT_ID)
            .cloned()
            .or_else(|| HeaderValue::from_str(&generate::uid()).ok());
        let answered = AssertUnwindSafe(self.answer(&parts, &query, body)).catch_unwind().await;
        let mut answer = match answered {
            Ok(Ok(answer)) => answer,
            Ok(Err(status)) => response::failure(&status, format),
            Err(_) => response::failure(&Status::internal("the request caused a panic"), format),
        };
        if let Some(id) = id {
            answer.headers_mut().insert(AUDIT_ID, id);
        }
        answer
    }

    async fn answer<B>(&self, parts: &Parts, query: &Query, body: B) -> Answered
    where
        B: Body<Data: Buf + Send, Error: Display> + Send,
    {
        let Ok(info) = Info::read(&parts.method, parts.uri.path(), query) else {
            return Ok(response::text(400, "400 Bad Request"));
        };
        let time = duration::timeout(query)?;
        let peer = parts.extensions.get::<Peer>().cloned().unwrap_or_default();
        let user = self.sender(parts, (&info, query), &peer)?;
        if !info.is_resource {
            return self.answer_path(parts, query, &info);
        }
        let answer = async {
            let body = body::receive(body).await?;
            self.answer_resource(parts, (&info, query), (&user, body)).await
        };
        if info.verb == "watch" {
            return answer.await;
        }
        let late = |_| Status::timeout("request did not complete within the allotted timeout", 0);
        tokio::time::timeout(time, answer).await.map_err(late)?
    }

    /// Authenticates the sender, impersonates the user whom the headers name, and authorises the request.
    fn sender(&self, parts: &Parts, (info, query): (&Info, &Query), peer: &Peer) -> Result<User, Status> {
        let (core, headers) = (self.shared.core(), &parts.headers);
        let user = self
            .shared
            .authenticator
            .authenticate(headers, peer, (&core.store, core.now()))?;
        let asked = Attributes::of(info, query);
        let user = auth::impersonate(headers, user, (&core.authorizer, &core.store), &asked)?;
        core.authorizer.authorize(&core.store, &user, &asked)?;
        Ok(user)
    }

    fn answer_path(&self, parts: &Parts, query: &Query, info: &Info) -> Answered {
        let format = accept::format(&parts.headers, query);
        if let Some(answer) = probes::answer(info, query, &self.shared.core().catalogue.snapshot(), format) {
            return Ok(answer);
        }
        if let Some(answered) = self.shared.openapi.answer(&info.path, query, &parts.headers) {
            return answered;
        }
        Ok(discover::answer(self, parts, (info, query)).unwrap_or_else(response::page_not_found))
    }
}
