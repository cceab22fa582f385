//! Handles one request from its first byte to its answer: read, authenticate, authorise, route.

use std::{fmt::Display, panic::AssertUnwindSafe};

use bytes::Buf;
use futures::FutureExt;
use http::{HeaderName, HeaderValue, Request, header, request::Parts};
use http_body::Body;
use serde_json::Value;

use super::{ApiServer, discover, incoming::Incoming, probes};
use crate::{
    auth::{self, Peer, Requestor},
    authorize::Attributes,
    flow::{self, FlowIds},
    meta::generate,
    request::{Info, Query, accept, body, duration},
    response::{self, Answer},
    status::Status,
    user::User,
};

/// The audit log of a real server identifies an answer by this ID; clients quote it.
const AUDIT_ID: HeaderName = HeaderName::from_static("audit-id");

/// The media type of metrics.
const METRICS: &str = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores";

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
        let mut flow = None;
        let answering = self.answer(&parts, &query, body, &mut flow);
        let answered = AssertUnwindSafe(answering).catch_unwind().await;
        let mut answer = match answered {
            Ok(Ok(answer)) => answer,
            Ok(Err(status)) => response::failure(&status, format),
            Err(_) => response::failure(&Status::internal("the request caused a panic"), format),
        };
        let peer = parts.extensions.get::<Peer>().unwrap_or(&Peer::Process);
        if let Some(warning) = auth::space_warning(&parts.headers, peer) {
            response::warn(&mut answer, &[warning.to_owned()]);
        }
        if let Some(id) = id {
            answer.headers_mut().insert(AUDIT_ID, id);
        }
        if let Some(flow) = flow {
            flow.add(answer.headers_mut());
        }
        answer
    }

    async fn answer<B>(&self, parts: &Parts, query: &Query, body: B, flow: &mut Option<FlowIds>) -> Answered
    where
        B: Body<Data: Buf + Send, Error: Display> + Send,
    {
        let Ok(info) = Info::read(&parts.method, parts.uri.path(), query) else {
            return Ok(response::text(400, "400 Bad Request"));
        };
        let time = duration::timeout(query)?;
        let peer = parts.extensions.get::<Peer>().cloned().unwrap_or_default();
        let request = Incoming {
            parts,
            info: &info,
            query,
            format: accept::format(&parts.headers, query),
        };
        let user = self.sender(&request, &peer, flow)?;
        if !info.is_resource {
            return self.answer_path(&request);
        }
        let answer = async {
            let body = body::receive(body).await?;
            self.answer_resource(&request, user, body).await
        };
        if info.verb == "watch" {
            return answer.await;
        }
        let late = |_| Status::timeout("request did not complete within the allotted timeout", 0);
        tokio::time::timeout(time, answer).await.map_err(late)?
    }

    /// Authenticates the sender, impersonates the user whom the headers name, finds the flow of the request, and authorises it.
    fn sender(&self, request: &Incoming<'_>, peer: &Peer, flow: &mut Option<FlowIds>) -> Result<User, Status> {
        let (core, headers) = (self.shared.core(), &request.parts.headers);
        let authenticator = &self.shared.authenticator;
        let user = authenticator.authenticate(headers, peer, &core.store, core.now())?;
        let asked = Attributes::of(request.info, request.query);
        let requestor = Requestor {
            authorizer: &core.authorizer,
            store: &core.store,
            user: &user,
        };
        let user = auth::impersonate(&requestor, headers, &asked)?.unwrap_or(user);
        *flow = core.flow.classify(&core.store, &user, request.info);
        core.authorizer.authorize(&core.store, &user, &asked)?;
        Ok(user)
    }

    fn answer_path(&self, request: &Incoming<'_>) -> Answered {
        let Incoming { parts, info, query, .. } = *request;
        if let Some(answer) = probes::answer(request, self.shared.core()) {
            return Ok(answer);
        }
        if info.path == "/metrics" && info.verb == "get" {
            return Ok(response::bytes(200, METRICS, flow::metrics(&self.shared.core().store)));
        }
        if let Some((document, media_type)) = self.shared.authenticator.issued.document(&info.path) {
            return keys(request, &document, media_type);
        }
        if let Some(answered) = self.shared.openapi.answer(&info.path, query, &parts.headers) {
            return Ok(answered);
        }
        Ok(discover::answer(self, request).unwrap_or_else(response::page_not_found))
    }
}

/// A document with which other programs verify tokens.
fn keys(request: &Incoming<'_>, document: &Value, media_type: &'static str) -> Answered {
    if request.info.verb != "get" {
        return Err(Status::method_not_allowed());
    }
    accept::preferred(&request.parts.headers, &[media_type]).ok_or_else(|| accept::unavailable(&[media_type]))?;
    let mut answer = response::bytes(200, media_type, document.to_string());
    let caching = HeaderValue::from_static("public, max-age=3600");
    answer.headers_mut().insert(header::CACHE_CONTROL, caching);
    Ok(answer)
}
