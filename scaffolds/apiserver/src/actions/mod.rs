//! Create requests that store no object and act on a Pod instead: bindings and evictions.

mod binding;
mod budget;
mod eviction;
mod pod;

use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use serde_json::{Value, json};

use crate::{
    admission::{self, Attributes, Objects, Phase},
    call::{Call, Verb},
    effects::Cluster,
    kinds,
    registry::{self, Answer, Reply},
    resource::Resource,
    state::Core,
    status::{Status, Subject},
};

/// An action on a Pod.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Action {
    /// Binds it to a node.
    Bind,
    /// Deletes it if its disruption budget allows that.
    Evict,
}

/// The action that a request asks for.
pub fn of(call: &Call) -> Option<Action> {
    let Subject { group: "", name } = call.subject() else {
        return None;
    };
    match (call.verb, name, call.subresource.as_str()) {
        (Verb::Create, "pods", "binding") | (Verb::Create, "bindings", "") => Some(Action::Bind),
        (Verb::Create, "pods", "eviction") => Some(Action::Evict),
        _ => None,
    }
}

impl Action {
    /// Runs the action, and adds warnings for the client to `warnings`.
    ///
    /// # Errors
    /// The Status to answer with.
    pub async fn run(self, cluster: &Arc<Cluster>, call: Call, warnings: &mut Vec<String>) -> Result<Answer, Status> {
        let body = Call {
            resource: self.kind(),
            ..call.clone()
        };
        let posted = registry::read_posted(&cluster.core, &body, warnings)?;
        match self {
            Self::Bind => binding::bind(&cluster.core, &call, posted).await?,
            Self::Evict => eviction::evict(cluster, &call, posted).await?,
        }
        let done = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201});
        Ok(Answer::Object(Reply {
            code: 201,
            object: Bytes::from(done.to_string()),
        }))
    }

    /// The resource that the body is decoded as.
    fn kind(self) -> Arc<Resource> {
        static BINDING: LazyLock<Arc<Resource>> = LazyLock::new(|| Arc::new(kinds::binding()));
        static EVICTION: LazyLock<Arc<Resource>> = LazyLock::new(|| Arc::new(kinds::eviction()));
        Arc::clone(match self {
            Self::Bind => &BINDING,
            Self::Evict => &EVICTION,
        })
    }
}

/// Passes the object of a request through a phase of admission.
async fn admit(phase: Phase, core: &Core, attributes: &Attributes<'_>, object: &mut Value) -> Result<(), Status> {
    let mut objects = Objects {
        new: Some(object),
        old: None,
    };
    admission::admit(phase, core, attributes, &mut objects).await
}
