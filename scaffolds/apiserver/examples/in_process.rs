//! A client on an API server in the same process, without a socket.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client,
    api::{ObjectMeta, PostParams},
};
use kubewright_apiserver::{ApiServer, Options};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), kube::Error> {
    let server = ApiServer::new(Options::default());
    let client = Client::new(server.service(), "default");

    let config_maps: Api<ConfigMap> = Api::default_namespaced(client);
    let config_map = ConfigMap {
        metadata: ObjectMeta {
            name: Some("sample".to_owned()),
            ..ObjectMeta::default()
        },
        ..ConfigMap::default()
    };
    let stored = config_maps.create(&PostParams::default(), &config_map).await?;
    assert_eq!(stored.metadata.namespace.as_deref(), Some("default"));
    Ok(())
}
