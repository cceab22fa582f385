//! Requests that store no object and act on a Pod instead: bindings, evictions, and connections to its containers.

mod binding;
mod budget;
mod connection;
mod eviction;
mod options;
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

/// The resources that the bodies are decoded as.
static BINDING: LazyLock<Arc<Resource>> = LazyLock::new(|| Arc::new(kinds::binding()));
static EVICTION: LazyLock<Arc<Resource>> = LazyLock::new(|| Arc::new(kinds::eviction()));

/// An action on a Pod.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Action {
    /// Binds it to a node.
    Bind,
    /// Deletes it if its disruption budget allows that.
    Evict,
    /// Reads a container's log.
    Log,
    /// Connects to a container: `exec` or `attach`.
    Stream,
    /// Connects to ports.
    Forward,
}

/// The action that a request asks for.
pub fn of(call: &Call) -> Option<Action> {
    let Subject { group: "", name } = call.subject() else {
        return None;
    };
    match (call.verb, name, call.subresource.as_str()) {
        (Verb::Create, "pods", "binding") | (Verb::Create, "bindings", "") => Some(Action::Bind),
        (Verb::Create, "pods", "eviction") => Some(Action::Evict),
        (Verb::Get, "pods", "log") => Some(Action::Log),
        (Verb::Get | Verb::Create, "pods", "exec" | "attach") => Some(Action::Stream),
        (Verb::Get | Verb::Create, "pods", "portforward") => Some(Action::Forward),
        _ => None,
    }
}

impl Action {
    /// Runs the action, and adds warnings for the client to `warnings`.
    ///
    /// # Errors
    /// The Status to answer with.
    pub async fn run(self, cluster: &Arc<Cluster>, call: Call, warnings: &mut Vec<String>) -> Result<Answer, Status> {
        let posted = |kind: &Arc<Resource>, warnings: &mut Vec<String>| {
            let body = Call {
                resource: Arc::clone(kind),
                ..call.clone()
            };
            registry::read_posted(&cluster.core, &body, warnings)
        };
        match self {
            Self::Bind => binding::bind(&cluster.core, &call, posted(&BINDING, warnings)?).await?,
            Self::Evict => eviction::evict(cluster, &call, posted(&EVICTION, warnings)?).await?,
            Self::Log => return connection::log(&cluster.core, &call),
            Self::Stream => return connection::stream(&cluster.core, &call).await,
            Self::Forward => return connection::forward(&cluster.core, &call).await,
        }
        let done = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201});
        Ok(Answer::Object(Reply {
            code: 201,
            object: Bytes::from(done.to_string()),
        }))
    }
}

/// Passes the object of a request through a phase of admission.
async fn admit(phase: Phase, core: &Core, attributes: &Attributes<'_>, object: &mut Value) -> Result<(), Status> {
    let mut objects = Objects {
        new: Some(object),
        old: None,
    };
    admission::admit(phase, core, attributes, &mut objects).await?;
    Ok(())
}
