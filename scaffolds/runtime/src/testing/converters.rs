//! The conversion of definitions in a user's own cluster: the operator under test adds itself there, and no server would
//! answer after the test.

use std::path::Path;

use kube::{
    Api, Client, Config,
    api::{ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams},
};
use kubewright_schema::files;
use serde_json::{Value, json};

use super::{TestCluster, client_of};
use crate::{
    certificates::REVISION,
    error::{Error, Result},
};

/// The conversions of the project's definitions before the test. They are restored on drop.
pub(super) struct Converters {
    config: Config,
    /// The names of the definitions, and the patches that restore them.
    before: Vec<(String, Value)>,
}

impl Converters {
    /// Remembers the conversions of the definitions of `config/crd/bases` in the cluster. Definitions that it lacks are left
    /// without a conversion.
    ///
    /// # Errors
    ///
    /// If they cannot be read.
    pub(super) async fn before(cluster: &TestCluster) -> Result<Self> {
        let mut documents = files::documents(Path::new("config/crd/bases")).map_err(Error::Setup)?;
        // One version needs no conversion.
        documents.retain(|document| document["spec"]["versions"].as_array().is_some_and(|all| all.len() > 1));
        let definitions = definitions(cluster.client.clone());
        let mut before = Vec::new();
        for document in documents {
            let name = document["metadata"]["name"].as_str().unwrap_or_default();
            let found = definitions.get_opt(name).await?;
            before.push((name.to_owned(), restored(found.as_ref())));
        }
        Ok(Self {
            config: cluster.config.clone(),
            before,
        })
    }
}

impl Drop for Converters {
    fn drop(&mut self) {
        let (config, before) = (self.config.clone(), std::mem::take(&mut self.before));
        // As for the namespace of a test: a client needs the runtime that created it.
        let restored = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(async {
                let definitions = definitions(client_of(config).map_err(std::io::Error::other)?);
                for (name, patch) in before {
                    let patched = definitions
                        .patch(&name, &PatchParams::default(), &Patch::Merge(patch))
                        .await;
                    patched.map_err(|error| std::io::Error::other(format!("`{name}`: {error}")))?;
                }
                std::io::Result::Ok(())
            })
        });
        let why = match restored.join() {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error.to_string(),
            Err(_) => "the thread panicked".to_owned(),
        };
        eprintln!("warning: a CustomResourceDefinition still names the converter of this test: {why}");
    }
}

/// The patch that restores the conversion of a definition.
fn restored(found: Option<&DynamicObject>) -> Value {
    let conversion = found.map_or(&Value::Null, |found| &found.data["spec"]["conversion"]);
    // One with a URL is that of another test, or of `make run`: nobody may answer there any more.
    let is_deployed = conversion["webhook"]["clientConfig"]["url"].is_null();
    let conversion = match conversion["strategy"] == "Webhook" && is_deployed {
        true => conversion.clone(),
        false => json!({"strategy": "None", "webhook": null}),
    };
    let annotations = found.and_then(|found| found.metadata.annotations.as_ref());
    let revision = annotations.and_then(|annotations| annotations.get(REVISION));
    json!({"metadata": {"annotations": {REVISION: revision}}, "spec": {"conversion": conversion}})
}

fn definitions(client: Client) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
    Api::all_with(client, &ApiResource::from_gvk(&kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_gets_back_the_converter_that_it_had() {
        let none = json!({"strategy": "None", "webhook": null});
        assert_eq!(restored(None)["spec"]["conversion"], none);
        let service = json!({"strategy": "Webhook", "webhook": {"clientConfig": {"service": {"name": "a"}}}});
        let found = json!({
            "metadata": {"annotations": {REVISION: "7", "other": "stays"}},
            "spec": {"conversion": service, "versions": []},
        });
        let found: DynamicObject = serde_json::from_value(found).unwrap();
        let expected = json!({"metadata": {"annotations": {REVISION: "7"}}, "spec": {"conversion": service}});
        assert_eq!(restored(Some(&found)), expected);
        let of_a_test = json!({"strategy": "Webhook", "webhook": {"clientConfig": {"url": "https://127.0.0.1:9443"}}});
        let of_a_test = json!({"metadata": {}, "spec": {"conversion": of_a_test}});
        let of_a_test: DynamicObject = serde_json::from_value(of_a_test).unwrap();
        assert_eq!(restored(Some(&of_a_test))["spec"]["conversion"], none);
        let plain: DynamicObject =
            serde_json::from_value(json!({"metadata": {}, "spec": {"conversion": {"strategy": "None"}}})).unwrap();
        assert_eq!(
            restored(Some(&plain))["metadata"]["annotations"],
            json!({REVISION: null})
        );
        assert_eq!(restored(Some(&plain))["spec"]["conversion"], none);
    }
}
