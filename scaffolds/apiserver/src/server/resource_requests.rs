//! Answers requests for resources: routes them, passes them to the registry, and gives the answer the shape that the
//! client asked for.

use std::sync::Arc;

use bytes::Bytes;
use futures::StreamExt;
use http::{HeaderMap, header, header::HeaderName};

use super::{ApiServer, incoming::Incoming, route};
use crate::{
    actions, auth,
    call::{Call, Verb, Warnings},
    registry,
    request::{
        Info,
        accept::{self, Negotiated, Offers},
    },
    response, state,
    status::Status,
    table::View,
    user::User,
};

/// An answer, or the Status to answer with.
type Answered = Result<response::Answer, Status>;

impl ApiServer {
    /// Answers a request for a resource.
    pub(super) async fn answer_resource(&self, request: &Incoming<'_>, user: User, body: Bytes) -> Answered {
        let Incoming {
            parts,
            info,
            query,
            format,
        } = *request;
        let resource = match route::route(request, &self.shared.core().catalogue.snapshot()) {
            Ok(resource) => resource,
            Err(answer) => return Ok(*answer),
        };
        let offers = Offers {
            messages: resource.is_typed(),
            tables: has_tables(info),
        };
        let wanted = accept::negotiate(&parts.headers, query, &info.verb, offers)?;
        route::check_names(info)?;
        let Some(verb) = verb(&info.verb) else {
            return Err(Status::method_not_allowed());
        };
        let call = Call {
            verb,
            resource,
            namespace: if info.is_namespace() {
                String::new()
            } else {
                info.namespace.clone()
            },
            name: info.name.clone(),
            subresource: info.subresource.clone(),
            query: query.pairs().to_vec(),
            content_type: text(&parts.headers, header::CONTENT_TYPE),
            user_agent: text(&parts.headers, header::USER_AGENT),
            body,
            user,
            warnings: Warnings::default(),
        };
        let mut warnings = Vec::new();
        let answered = match (auth::is_review(&info.group), auth::is_token(info)) {
            (true, _) => self.review(&call, wanted, &mut warnings),
            (_, true) => self.token(call, wanted, &mut warnings),
            _ => self.serve(call, wanted, &mut warnings).await,
        };
        let mut answer = answered.unwrap_or_else(|status| response::failure(&status, format));
        response::warn(&mut answer, &warnings);
        Ok(answer)
    }

    async fn serve(&self, call: Call, wanted: Negotiated, warnings: &mut Vec<String>) -> Answered {
        let view = View::new(wanted, &call, self.shared.core().clock);
        let resource = Arc::clone(&call.resource);
        let answer = match actions::of(&call) {
            Some(action) => action.run(&self.shared.cluster, call, warnings).await,
            None => self.shared.cluster.serve(call, warnings).await,
        };
        // A write is not reported while a crash could still undo it.
        if let Err(lost) = self.shared.core().store.settled().await {
            return Err(state::unwritable(&lost));
        }
        match (answer?, view?) {
            (registry::Answer::Object(reply), view) => {
                let shown = view.show(&resource, reply.object)?;
                Ok(response::encoded(reply.code, shown, wanted.format))
            }
            (registry::Answer::Nothing, _) => Ok(response::nothing()),
            (registry::Answer::Events(events), view) => {
                let events = view.events(&resource, events);
                let format = wanted.format;
                Ok(response::stream(events.map(move |event| event.encoded(format)), format))
            }
        }
    }

    fn review(&self, call: &Call, wanted: Negotiated, warnings: &mut Vec<String>) -> Answered {
        let object = registry::read_posted(self.shared.core(), call, warnings)?.object;
        let answer = auth::review(&self.asked(call), &call.resource.names.plural, object)?;
        Ok(response::object(201, &answer, wanted.format))
    }

    fn token(&self, mut call: Call, wanted: Negotiated, warnings: &mut Vec<String>) -> Answered {
        let account = call.key(&call.name);
        call.resource = auth::token_kind();
        let request = registry::read_posted(self.shared.core(), &call, warnings)?.object;
        let answer = auth::token(&self.asked(&call), &account, request)?;
        Ok(response::object(201, &answer, wanted.format))
    }

    /// The user of the request, and the answers to reviews of users and permissions.
    fn asked<'a>(&'a self, call: &'a Call) -> auth::Asked<'a> {
        let core = self.shared.core();
        auth::Asked {
            authenticator: &self.shared.authenticator,
            authorizer: &core.authorizer,
            store: &core.store,
            user: &call.user,
            now: core.now(),
        }
    }
}

/// Whether the answers to requests for this resource or subresource can be Tables. Upstream, the storage of each decides.
fn has_tables(info: &Info) -> bool {
    const SUBRESOURCES: [&str; 6] = [
        "approval",
        "binding",
        "ephemeralcontainers",
        "eviction",
        "finalize",
        "resize",
    ];
    let is_binding = info.group.is_empty() && info.resource == "bindings";
    !(is_binding
        || auth::is_review(&info.group)
        || auth::is_token(info)
        || SUBRESOURCES.contains(&info.subresource.as_str()))
}

fn verb(verb: &str) -> Option<Verb> {
    Some(match verb {
        "get" => Verb::Get,
        "list" => Verb::List,
        "watch" => Verb::Watch,
        "create" => Verb::Create,
        "update" => Verb::Update,
        "patch" => Verb::Patch,
        "delete" => Verb::Delete,
        "deletecollection" => Verb::DeleteCollection,
        _ => return None,
    })
}

fn text(headers: &HeaderMap, name: HeaderName) -> String {
    headers
        .get(name)
        .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
        .unwrap_or_default()
}
