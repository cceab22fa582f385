//! The webhooks of an operator under test: its configurations, at a URL of this machine.

use std::{env, path::Path};

use kubewright_schema::{files, webhook::SECRET};
use serde_json::{Value, json};

use super::{TestCluster, account::owner, converters::Converters, fixtures::apply_one};
use crate::{
    certificates::CONFIGURATIONS,
    error::{Error, Result},
    options::LocalAddress,
};

/// The folder that `make manifests` writes.
const FOLDER: &str = "config/webhook";
/// The variable with the address of this machine for a user's own cluster.
const VARIABLE: &str = "WEBHOOK_URL";
/// Its value if it reaches it nowhere.
const NOWHERE: &str = "0";

/// Whether tests on a user's own cluster do without webhooks.
pub(super) fn is_nowhere() -> bool {
    env::var(VARIABLE).is_ok_and(|value| value == NOWHERE)
}

/// The error of a test that is about webhooks, where none is called.
pub(super) fn without() -> String {
    format!(
        "{VARIABLE}={NOWHERE} turns webhooks off, and this test is about them\n\nhint: leave it out with \
         `cargo test -- --skip` and its name, or set {VARIABLE}=https://HOST"
    )
}

/// The webhooks of one operator, with the namespace's name as a prefix of their names, as in a deployment.
pub(super) struct Webhooks {
    objects: Vec<Value>,
    namespace: String,
    /// The address on which the server listens.
    address: String,
    /// The URL of the server for API servers.
    url: String,
    /// Whether the objects are to be deleted with the namespace.
    is_owned: bool,
}

impl Webhooks {
    /// Reads `config/webhook`, for a server at this port, or at that of `WEBHOOK_URL`; `None` if there is none, and if a
    /// user's own cluster calls no webhooks.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] if there are webhooks, and the cluster is the user's own: it has to be said where it reaches this
    /// machine.
    pub(super) fn read(cluster: &TestCluster, port: u16) -> Result<Option<Self>> {
        let mut objects = files::documents(Path::new(FOLDER)).map_err(Error::Setup)?;
        objects.retain(|object| is_configuration(object) || object["kind"] == "Secret");
        if objects.is_empty() || !cluster.calls_webhooks() {
            return Ok(None);
        }
        let is_owned = cluster.is_existing();
        let [address, url] = match is_owned {
            true => reached(&env::var(VARIABLE).unwrap_or_default(), port)?,
            false => [format!("127.0.0.1:{port}"), format!("https://127.0.0.1:{port}")],
        };
        let namespace = cluster.namespace().to_owned();
        let objects = objects.iter().map(|object| placed(object, &namespace, &url)).collect();
        Ok(Some(Self {
            objects,
            namespace,
            address,
            url,
            is_owned,
        }))
    }

    /// The flags with which the operator serves them.
    pub(super) fn flags(&self) -> [String; 4] {
        [
            format!("--webhook-bind-address={}", self.address),
            format!("--webhook-name-prefix={}-", self.namespace),
            "--webhook-host=127.0.0.1".to_owned(),
            format!("--webhook-url={}", self.url),
        ]
    }

    /// Applies them. A user's own cluster gets back what its definitions say of conversion when the returned value is
    /// dropped.
    pub(super) async fn deploy(&self, cluster: &TestCluster) -> Result<Option<Converters>> {
        let owner = match self.is_owned {
            true => Some(owner(cluster).await?),
            false => None,
        };
        for mut object in self.objects.iter().cloned() {
            if let Some(owner) = owner.as_ref().filter(|_| is_configuration(&object)) {
                object["metadata"]["ownerReferences"] = json!([owner]);
            }
            apply_one(&cluster.client, &self.namespace, object).await?;
        }
        match owner {
            Some(_) => Converters::before(cluster).await.map(Some),
            None => Ok(None),
        }
    }
}

/// The address to listen at, and the URL, of a value of `WEBHOOK_URL`: at its port, or at this one if it has none, so that
/// operators of several tests have one each.
fn reached(given: &str, port: u16) -> Result<[String; 2]> {
    if given.is_empty() {
        let text = "the operator has webhooks, and the cluster of your kubeconfig cannot call them on this machine";
        let hint = format!(
            "set {VARIABLE}=https://HOST, with an address of this machine that the cluster reaches, or {VARIABLE}={NOWHERE} to \
             run operators without webhooks, where tests about webhooks fail"
        );
        return Err(Error::Setup(format!("{text}\n\nhint: {hint}")));
    }
    let place = given.parse::<LocalAddress>();
    let place = place.map_err(|why| Error::Setup(format!("{VARIABLE}={given}: {why}")))?;
    let port = place.port.unwrap_or(port);
    Ok([format!(":{port}"), format!("https://{}:{port}", place.host)])
}

fn is_configuration(object: &Value) -> bool {
    CONFIGURATIONS.iter().any(|it| object["kind"] == it.kind)
}

/// Whether kustomize puts its prefix before this name in a role.
pub(super) fn is_prefixed(name: &str) -> bool {
    name == SECRET || CONFIGURATIONS.iter().any(|it| name == it.name)
}

/// The object for a test in this namespace: a configuration names a URL in place of the Service, and other namespaces are
/// none of its business.
fn placed(object: &Value, namespace: &str, url: &str) -> Value {
    let mut placed = object.clone();
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    placed["metadata"] = json!({"name": format!("{namespace}-{name}")});
    let hooks = placed.get_mut("webhooks").and_then(Value::as_array_mut);
    for hook in hooks.into_iter().flatten() {
        let path = hook["clientConfig"]["service"]["path"].as_str().unwrap_or_default();
        hook["clientConfig"] = json!({"url": format!("{url}{path}")});
        if hook["rules"][0]["scope"] == "Namespaced" {
            hook["namespaceSelector"]["matchLabels"]["kubernetes.io/metadata.name"] = json!(namespace);
        }
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_names_the_program_under_test() {
        let service = json!({"name": "webhook-service", "namespace": "system", "path": "/validate-x"});
        let hook = json!({"name": "a", "clientConfig": {"service": service}, "rules": [{"scope": "Namespaced"}]});
        let object = json!({"kind": "ValidatingWebhookConfiguration", "metadata": {"name": "v"}, "webhooks": [hook]});
        assert!(is_configuration(&object));
        let placed = placed(&object, "test-1", "https://127.0.0.1:4000");
        assert_eq!(placed["metadata"], json!({"name": "test-1-v"}));
        assert_eq!(
            placed["webhooks"][0]["clientConfig"],
            json!({"url": "https://127.0.0.1:4000/validate-x"})
        );
        let only_here = json!({"matchLabels": {"kubernetes.io/metadata.name": "test-1"}});
        assert_eq!(placed["webhooks"][0]["namespaceSelector"], only_here);
    }

    #[test]
    fn an_existing_cluster_is_told_where_this_machine_is() {
        let said = |given: &str| reached(given, 4000).map_err(|error| error.to_string());
        let at = |port: &str| Ok([format!(":{port}"), format!("https://10.0.0.1:{port}")]);
        assert_eq!(said("https://10.0.0.1"), at("4000"));
        assert_eq!(said("https://10.0.0.1:9443"), at("9443"));
        let unsaid = said("").unwrap_err();
        assert!(unsaid.contains("hint: set WEBHOOK_URL=https://HOST,"), "{unsaid}");
        for wrong in ["http://10.0.0.1", "https://10.0.0.1/hooks", "10.0.0.1:9443"] {
            let why = said(wrong).unwrap_err();
            assert!(why.starts_with(&format!("WEBHOOK_URL={wrong}: write https, ")), "{why}");
        }
    }
}
