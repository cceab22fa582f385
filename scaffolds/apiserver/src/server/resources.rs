//! A request for a resource: routed, handed to the registry, and its answer put in the shape that the client wants.

use bytes::Bytes;
use http::request::Parts;

use super::{ApiServer, route::route};
use crate::{
    auth::User,
    request::{Info, Query, accept},
    response::Answer,
    status::Status,
};

impl ApiServer {
    pub(super) async fn answer_resource(
        &self,
        parts: &Parts,
        (info, query): (&Info, &Query),
        (_user, _body): (&User, Bytes),
    ) -> Result<Answer, Status> {
        let format = accept::format(&parts.headers, query);
        let _resource = match route(info, &self.0.catalogue.snapshot(), format) {
            Ok(resource) => resource,
            Err(answer) => return Ok(*answer),
        };
        Err(Status::not_implemented("resources"))
    }
}
