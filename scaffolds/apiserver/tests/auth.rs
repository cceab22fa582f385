//! Who may do what, over HTTPS and within the process.
#![cfg(feature = "serve")]

use http::{Request, header};
use http_body_util::{BodyExt, Full};
use k8s_openapi::api::{
    authentication::v1::{SelfSubjectReview, TokenReview, TokenReviewSpec},
    authorization::v1::{ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec},
    core::v1::Namespace,
};
use kube::{
    Api, Client, Config,
    api::PostParams,
    config::{KubeConfigOptions, Kubeconfig},
};
use kubewright_apiserver::{
    ApiServer, Options,
    auth::{Peer, User},
    serve::{Listener, Running},
};
use serde_json::{Value, json};
use tower::ServiceExt;

const TOKEN: &str = "sekret";

fn options() -> Options {
    Options {
        tokens: vec![(TOKEN.to_owned(), User::admin())],
        ..Options::default()
    }
}

async fn running() -> (Running, Kubeconfig) {
    let listener = Listener::bind(0, Some(TOKEN.to_owned())).await.unwrap();
    let kubeconfig = Kubeconfig::from_yaml(&listener.kubeconfig()).unwrap();
    (listener.serve(ApiServer::new(options())).unwrap(), kubeconfig)
}

async fn client(kubeconfig: Kubeconfig) -> Client {
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
        .await
        .unwrap();
    Client::try_from(config).unwrap()
}

#[tokio::test]
async fn the_certificate_of_the_kubeconfig_is_the_administrator() {
    let (running, mut kubeconfig) = running().await;
    kubeconfig.auth_infos[0].auth_info.as_mut().unwrap().token = None;
    let client = client(kubeconfig).await;
    let namespaces: Api<Namespace> = Api::all(client.clone());
    assert_eq!(namespaces.list(&Default::default()).await.unwrap().items.len(), 4);
    let review = Api::all(client)
        .create(&PostParams::default(), &SelfSubjectReview::default())
        .await
        .unwrap();
    let user = review.status.unwrap().user_info.unwrap();
    assert_eq!(
        (user.username.as_deref(), user.groups.unwrap().concat()),
        (Some("admin"), "system:masterssystem:authenticated".into())
    );
    running.shutdown().await;
}

#[tokio::test]
async fn the_token_alone_is_enough() {
    let (_running, mut kubeconfig) = running().await;
    let user = kubeconfig.auth_infos[0].auth_info.as_mut().unwrap();
    (user.client_certificate_data, user.client_key_data) = (None, None);
    let client = client(kubeconfig).await;
    assert_eq!(client.apiserver_version().await.unwrap().minor, "36");
    let spec = TokenReviewSpec {
        token: TOKEN.to_owned(),
        audiences: None,
    };
    let review = TokenReview {
        spec,
        ..TokenReview::default()
    };
    let status = Api::all(client.clone())
        .create(&PostParams::default(), &review)
        .await
        .unwrap()
        .status
        .unwrap();
    assert_eq!(status.authenticated, Some(true));
    let attributes = ResourceAttributes {
        verb: Some("get".into()),
        resource: Some("pods".into()),
        ..Default::default()
    };
    let spec = SelfSubjectAccessReviewSpec {
        resource_attributes: Some(attributes),
        ..Default::default()
    };
    let review = SelfSubjectAccessReview {
        spec,
        ..Default::default()
    };
    let review = Api::all(client).create(&PostParams::default(), &review).await.unwrap();
    assert!(review.status.unwrap().allowed);
}

#[tokio::test]
async fn nobody_and_liars_are_kept_out() {
    let (_running, mut kubeconfig) = running().await;
    let user = kubeconfig.auth_infos[0].auth_info.as_mut().unwrap();
    (user.client_certificate_data, user.client_key_data, user.token) = (None, None, None);
    let anonymous = client(kubeconfig.clone()).await;
    assert_eq!(anonymous.apiserver_version().await.unwrap().minor, "36");
    let refused = Api::<Namespace>::all(anonymous)
        .list(&Default::default())
        .await
        .unwrap_err();
    let kube::Error::Api(status) = refused else {
        panic!("{refused}")
    };
    let said = "namespaces is forbidden: User \"system:anonymous\" cannot list resource \"namespaces\" in API group \"\" at \
                the cluster scope";
    assert_eq!((status.code, status.message.as_str()), (403, said));
    kubeconfig.auth_infos[0].auth_info.as_mut().unwrap().token = Some("nope".to_owned().into());
    let refused = client(kubeconfig).await.apiserver_version().await.unwrap_err();
    let kube::Error::Api(status) = refused else {
        panic!("{refused}")
    };
    assert_eq!((status.code, status.message.as_str()), (401, "Unauthorized"));
}

/// The code and body of a request within the process, from `peer`.
async fn ask(peer: Peer, authorization: &str, path: &str) -> (u16, Value) {
    let mut request = Request::get(path)
        .extension(peer)
        .body(Full::<bytes::Bytes>::default())
        .unwrap();
    if !authorization.is_empty() {
        request
            .headers_mut()
            .insert(header::AUTHORIZATION, authorization.parse().unwrap());
    }
    let (parts, body) = ApiServer::new(options())
        .service()
        .oneshot(request)
        .await
        .unwrap()
        .into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    (parts.status.as_u16(), serde_json::from_slice(&body).unwrap_or_default())
}

#[tokio::test]
async fn somebody_known_without_rights_is_told_that_rbac_is_missing() {
    let bob = || Peer::Certified(User::new("bob", ["devs"]));
    assert_eq!(ask(bob(), "", "/apis").await.0, 200);
    let (code, status) = ask(bob(), "", "/api/v1/pods").await;
    assert!(
        code == 501 && status["message"].as_str().unwrap().starts_with("RBAC"),
        "{status}"
    );
}

#[tokio::test]
async fn a_bad_token_is_refused_even_where_everybody_may_read() {
    let unauthorized = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": "Unauthorized",
        "reason": "Unauthorized", "code": 401,
    });
    assert_eq!(ask(Peer::Unknown, "Bearer nope", "/healthz").await, (401, unauthorized));
    assert_eq!(ask(Peer::Unknown, "Basic Zm9vOmJhcg==", "/healthz").await.0, 200);
    assert_eq!(ask(Peer::Unknown, "Basic Zm9vOmJhcg==", "/api").await.0, 403);
}

#[cfg(unix)]
#[tokio::test]
async fn the_kubeconfig_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt;

    let path = std::env::temp_dir().join(format!("kubewright-apiserver-test-{}/kubeconfig", std::process::id()));
    let listener = Listener::bind(0, None).await.unwrap();
    listener.write_kubeconfig(&path).unwrap();
    listener.write_kubeconfig(&path).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    std::fs::remove_dir_all(path.parent().unwrap()).unwrap();
}
