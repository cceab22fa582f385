//! The client of the members.

use k8s_openapi::api::core::v1::Pod;
use kubewright_runtime::Result;

/// Questions and requests to members, by their host names. Set a timeout for each request.
pub trait Members: Send + Sync + 'static {
    /// The problem of an unhealthy member: it is down, does not answer, or lacks data that its peers have. Meanwhile no other
    /// member is restarted, added or removed.
    fn problem(&self, host: &str, pod: &Pod) -> impl Future<Output = Option<String>> + Send;

    /// Announces a new member to its peers, before it is started. It may be announced already.
    fn add(&self, host: &str) -> impl Future<Output = Result<()>> + Send;

    /// Moves the data of a member to its peers and makes them forget it, before it is stopped. It may be down, and they
    /// may have forgotten it already.
    fn remove(&self, host: &str) -> impl Future<Output = Result<()>> + Send;
}

/// Members that are healthy when their Pods are ready, and that find each other without help. Replace it by a client of
/// your database.
pub struct ReadyPods;

impl Members for ReadyPods {
    async fn problem(&self, _: &str, pod: &Pod) -> Option<String> {
        let status = pod.status.as_ref();
        let mut conditions = status.iter().flat_map(|it| it.conditions.iter().flatten());
        let ready = conditions.any(|it| it.type_ == "Ready" && it.status == "True");
        (!ready).then(|| "is not ready".to_owned())
    }

    async fn add(&self, _: &str) -> Result<()> {
        Ok(())
    }

    async fn remove(&self, _: &str) -> Result<()> {
        Ok(())
    }
}
