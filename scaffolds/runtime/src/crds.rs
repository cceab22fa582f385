//! Applies the operator's own CRDs, and waits until the API server serves their kinds.

use std::time::Duration;

use kube::{
    Api, Client, ResourceExt,
    api::{ApiResource, GroupVersionKind, Object, Patch, PatchParams},
};
use serde::Deserialize;
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout_at};
use tracing::{debug, info};

use crate::error::{Error, Result};

/// The time limit for all CRDs together. The API server needs about a second; if it takes longer, somebody has to look
/// at the cause.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The field manager, the same for all operators of this runtime, so that a renamed operator keeps its fields.
const MANAGER: &str = "kubewright-crds";
const FIRST_DELAY: Duration = Duration::from_millis(50);
const MAX_DELAY: Duration = Duration::from_secs(1);

/// Applies these CRDs server-side, with `force`, and waits until each is established and its versions are served, so
/// that an object can be created right after.
///
/// The API server refuses a CRD without a version that is still in `storedVersions`; no version is dropped.
///
/// # Errors
///
/// [`Error::Setup`], which names the CRD: it was refused, its names are taken, or it is not served within 60 s.
pub async fn install(client: &Client, crds: &[Value]) -> Result<()> {
    let deadline = Instant::now() + TIMEOUT;
    let mut applied = Vec::new();
    for crd in crds {
        let name = crd["metadata"]["name"].as_str().unwrap_or_default();
        if name.is_empty() {
            return Err(Error::Setup("a CRD to be installed has no name".to_owned()));
        }
        let install = Install { client, name };
        applied.push(install.patiently(deadline, || install.apply(crd)).await?);
    }
    for crd in &applied {
        let name = crd.name_any();
        let install = Install { client, name: &name };
        install.patiently(deadline, || install.established()).await?;
        for version in crd.spec.versions.iter().filter(|version| version.served) {
            install
                .patiently(deadline, || install.served(crd, &version.name))
                .await?;
        }
        info!(crd = name, "installed");
    }
    Ok(())
}

/// The fields that are read of a CRD. Kubernetes' own type contains every keyword of a schema, which is much code for
/// so few fields.
type Crd = Object<Spec, Status>;

#[derive(Clone, Debug, Deserialize)]
struct Spec {
    group: String,
    names: Names,
    versions: Vec<ServedVersion>,
}

#[derive(Clone, Debug, Deserialize)]
struct Names {
    plural: String,
}

#[derive(Clone, Debug, Deserialize)]
struct ServedVersion {
    name: String,
    served: bool,
}

#[derive(Clone, Debug, Default, Deserialize)]
struct Status {
    conditions: Option<Vec<Condition>>,
}

#[derive(Clone, Debug, Deserialize)]
struct Condition {
    #[serde(rename = "type")]
    type_: String,
    status: String,
    #[serde(default)]
    message: String,
}

/// The installation of one CRD.
struct Install<'a> {
    client: &'a Client,
    name: &'a str,
}

/// The reason that the CRD is not served.
enum Not {
    /// It may be served later.
    Yet(String),
    /// It will not be served.
    Ever(String),
}

impl Install<'_> {
    /// Repeats `step` until it succeeds, fails for good, or reaches the deadline.
    async fn patiently<T, F>(&self, deadline: Instant, step: impl Fn() -> F) -> Result<T>
    where
        F: Future<Output = Result<T, Not>>,
    {
        let name = self.name;
        let (mut delay, mut last) = (FIRST_DELAY, "no answer".to_owned());
        let patiently = timeout_at(deadline, async {
            loop {
                match step().await {
                    Ok(done) => return Ok(done),
                    Err(Not::Ever(reason)) => return Err(Error::Setup(format!("the CRD `{name}` {reason}"))),
                    Err(Not::Yet(reason)) => {
                        debug!(crd = name, "not installed yet: {reason}");
                        last = reason;
                    }
                }
                sleep(delay).await;
                delay = (delay * 2).min(MAX_DELAY);
            }
        });
        match patiently.await {
            Ok(done) => done,
            Err(_) => Err(Error::Setup(format!(
                "the CRD `{name}` is not served after {TIMEOUT:?}: {last}"
            ))),
        }
    }

    fn api(&self) -> Api<Crd> {
        let kind = GroupVersionKind::gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
        Api::all_with(self.client.clone(), &ApiResource::from_gvk(&kind))
    }

    async fn apply(&self, crd: &Value) -> Result<Crd, Not> {
        let params = PatchParams::apply(MANAGER).force();
        self.api().patch(self.name, &params, &Patch::Apply(crd)).await.map_err(|error| match error {
            kube::Error::Api(status) if matches!(status.code, 401 | 403) => Not::Ever(format!(
                "may not be applied: {}\n\nhint: run `make install` as an administrator, or allow the operator to create, \
                 get and patch customresourcedefinitions.apiextensions.k8s.io",
                status.message
            )),
            kube::Error::Api(status) if is_final(status.code) => Not::Ever(format!("is refused: {}", status.message)),
            error => Not::Yet(Error::from(error).to_string()),
        })
    }

    async fn established(&self) -> Result<(), Not> {
        let crd = self
            .api()
            .get(self.name)
            .await
            .map_err(|error| Not::Yet(Error::from(error).to_string()))?;
        let conditions = crd.status.and_then(|status| status.conditions).unwrap_or_default();
        let is = |type_: &str, status: &str| {
            conditions
                .iter()
                .find(|condition| condition.type_ == type_ && condition.status == status)
        };
        if let Some(taken) = is("NamesAccepted", "False") {
            // Perhaps only until another CRD is deleted.
            return Err(Not::Yet(format!("its names are taken: {}", taken.message)));
        }
        is("Established", "True")
            .map(|_| ())
            .ok_or_else(|| Not::Yet("it is not established".to_owned()))
    }

    /// A CRD is established before its objects can be reached: first discovery has to contain it, then the handler.
    async fn served(&self, crd: &Crd, version: &str) -> Result<(), Not> {
        let (group, plural) = (&crd.spec.group, &crd.spec.names.plural);
        let known = self
            .client
            .list_api_group_resources(&format!("{group}/{version}"))
            .await;
        let known = known.map_err(|error| Not::Yet(Error::from(error).to_string()))?;
        if !known.resources.iter().any(|resource| resource.name == *plural) {
            return Err(Not::Yet(format!("discovery does not show version {version}")));
        }
        let list = http::Request::get(format!("/apis/{group}/{version}/{plural}?limit=1")).body(Vec::new());
        let list = list.map_err(|error| Not::Ever(format!("has no valid path: {error}")))?;
        match self.client.request_text(list).await {
            Ok(_) => Ok(()),
            // Served, but forbidden: an operator of named namespaces may not list all of them.
            Err(kube::Error::Api(status)) if matches!(status.code, 401 | 403) => Ok(()),
            // Served, but this operator has the converter, which does not run yet.
            Err(kube::Error::Api(status)) if needs_converter(&status) => Ok(()),
            Err(error) => Err(Not::Yet(Error::from(error).to_string())),
        }
    }
}

/// Whether the API server could not reach the converter of stored objects.
fn needs_converter(status: &kube::core::Status) -> bool {
    status.code == 500 && status.message.contains("conversion webhook for ")
}

/// Whether the same request will get the same response again.
fn is_final(code: u16) -> bool {
    (400..500).contains(&code) && !matches!(code, 404 | 408 | 409 | 429)
}

#[cfg(test)]
#[path = "crds_tests.rs"]
mod tests;
