//! Authentication and authorization, over HTTPS and within the process.
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
    ApiServer, Authorization, Options, PROGRAM_VERSION, Peer, User,
    serve::{Listener, Running},
};
use serde_json::{Value, json};
use tower::ServiceExt;

const TOKEN: &str = "sekret";

/// The minor version that the server reports.
fn minor() -> &'static str {
    PROGRAM_VERSION.split('.').nth(1).unwrap()
}

fn options() -> Options {
    Options {
        tokens: vec![(TOKEN.to_owned(), User::admin())],
        ..Options::default()
    }
}

async fn running(token: Option<&str>) -> (Running, Kubeconfig) {
    let listener = Listener::bind(0, token.map(str::to_owned)).await.unwrap();
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
async fn the_kubeconfigs_certificate_authenticates_the_administrator() {
    let (running, kubeconfig) = running(None).await;
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
async fn a_token_authenticates_without_a_certificate() {
    let (_running, kubeconfig) = running(Some(TOKEN)).await;
    // A client that cannot read a key refuses the whole kubeconfig.
    let user = kubeconfig.auth_infos[0].auth_info.as_ref().unwrap();
    assert!(user.client_certificate_data.is_none() && user.client_key_data.is_none());
    let client = client(kubeconfig).await;
    assert_eq!(client.apiserver_version().await.unwrap().minor, minor());
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
async fn requests_without_or_with_wrong_credentials_are_refused() {
    let (_running, mut kubeconfig) = running(Some(TOKEN)).await;
    kubeconfig.auth_infos[0].auth_info.as_mut().unwrap().token = None;
    let anonymous = client(kubeconfig.clone()).await;
    assert_eq!(anonymous.apiserver_version().await.unwrap().minor, minor());
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
async fn a_user_without_roles_reads_only_what_every_user_may() {
    let bob = || Peer::Certified(User::new("bob", ["devs"]));
    assert_eq!(ask(bob(), "", "/apis").await.0, 200);
    let (code, status) = ask(bob(), "", "/api/v1/pods").await;
    let said = "pods is forbidden: User \"bob\" cannot list resource \"pods\" in API group \"\" at the cluster scope";
    assert_eq!((code, &status["message"]), (403, &json!(said)));
}

/// The answer to a request with this token, or without one.
async fn send(server: &ApiServer, token: &str, (method, path): (&str, &str), body: &Value) -> (u16, Value) {
    let mut request = Request::builder().method(method).uri(path);
    if !token.is_empty() {
        request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
    }
    let request = request.body(Full::<bytes::Bytes>::from(body.to_string())).unwrap();
    let (parts, body) = server.service().oneshot(request).await.unwrap().into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    (parts.status.as_u16(), serde_json::from_slice(&body).unwrap_or_default())
}

#[tokio::test(start_paused = true)]
async fn a_service_account_token_is_valid_until_it_expires_and_only_on_its_own_server() {
    const ACCOUNTS: &str = "/api/v1/namespaces/default/serviceaccounts";
    let [server, other] = [ApiServer::new(options()), ApiServer::new(options())];
    let account = json!({"metadata": {"name": "robot"}});
    for server in [&server, &other] {
        assert_eq!(send(server, "", ("POST", ACCOUNTS), &account).await.0, 201);
    }
    let path = format!("{ACCOUNTS}/robot/token");
    let (_, request) = send(
        &server,
        "",
        ("POST", &path),
        &json!({"spec": {"expirationSeconds": 600}}),
    )
    .await;
    let token = request["status"]["token"].as_str().unwrap();
    assert_eq!(send(&server, token, ("GET", "/apis"), &Value::Null).await.0, 200);
    assert_eq!(send(&other, token, ("GET", "/apis"), &Value::Null).await.0, 401);
    let forged = token.replacen('.', "A.", 1);
    assert_eq!(send(&server, &forged, ("GET", "/apis"), &Value::Null).await.0, 401);
    // One minute more than its lifetime, because clocks may differ.
    tokio::time::advance(std::time::Duration::from_secs(659)).await;
    assert_eq!(send(&server, token, ("GET", "/apis"), &Value::Null).await.0, 200);
    tokio::time::advance(std::time::Duration::from_secs(2)).await;
    assert_eq!(send(&server, token, ("GET", "/apis"), &Value::Null).await.0, 401);
}

#[tokio::test]
async fn a_changed_role_takes_effect_at_once() {
    const ROLE: &str = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles";
    let server = ApiServer::new(Options {
        tokens: vec![("bobs".to_owned(), User::new("bob", ["devs"]))],
        ..Options::default()
    });
    let role = |verb: &str| json!({"metadata": {"name": "reader"}, "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": [verb]}]});
    let binding = json!({
        "metadata": {"name": "readers"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "devs"}],
    });
    let bindings = ROLE.replace("/roles", "/rolebindings");
    let pods = ("GET", "/api/v1/namespaces/default/pods");
    assert_eq!(send(&server, "bobs", pods, &Value::Null).await.0, 403);
    assert_eq!(send(&server, "", ("POST", &bindings), &binding).await.0, 201);
    assert_eq!(send(&server, "", ("POST", ROLE), &role("list")).await.0, 201);
    assert_eq!(send(&server, "bobs", pods, &Value::Null).await.0, 200);
    assert_eq!(
        send(&server, "", ("PUT", &format!("{ROLE}/reader")), &role("get"))
            .await
            .0,
        200
    );
    assert_eq!(send(&server, "bobs", pods, &Value::Null).await.0, 403);
}

#[tokio::test]
async fn an_invalid_token_is_refused_even_for_public_paths() {
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
async fn only_its_owner_can_read_the_kubeconfig() {
    use std::os::unix::fs::PermissionsExt;

    let path = std::env::temp_dir().join(format!("kubewright-apiserver-test-{}/kubeconfig", std::process::id()));
    let listener = Listener::bind(0, None).await.unwrap();
    listener.write_kubeconfig(&path).unwrap();
    listener.write_kubeconfig(&path).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    std::fs::remove_dir_all(path.parent().unwrap()).unwrap();
}

#[tokio::test]
async fn a_shutdown_ends_watches_without_an_error() {
    use futures::StreamExt;

    let (running, kubeconfig) = running(Some(TOKEN)).await;
    let namespaces: Api<Namespace> = Api::all(client(kubeconfig).await);
    let watch = namespaces.watch(&Default::default(), "0").await.unwrap();
    let mut watch = std::pin::pin!(watch);
    for _ in 0..4 {
        watch.next().await.unwrap().unwrap();
    }
    let rest = async {
        while let Some(event) = watch.next().await {
            event.unwrap();
        }
    };
    tokio::join!(rest, running.shutdown());
}

/// The answers to GET requests over a socket: without credentials, and with a token.
async fn answers(options: Options, path: &str) -> [u16; 2] {
    let server = ApiServer::new(Options {
        tokens: vec![("bobs".to_owned(), User::new("bob", ["devs"]))],
        ..options
    });
    let get = async |token: &str| {
        let request = Request::get(path).extension(Peer::Unknown);
        let request = match token {
            "" => request,
            token => request.header(header::AUTHORIZATION, format!("Bearer {token}")),
        };
        let request = request.body(Full::<bytes::Bytes>::default()).unwrap();
        server.service().oneshot(request).await.unwrap().status().as_u16()
    };
    [get("").await, get("bobs").await]
}

#[tokio::test]
async fn requests_without_credentials_are_refused_if_the_options_say_so() {
    let refusing = Options {
        refuses_anonymous: true,
        ..Options::default()
    };
    assert_eq!(answers(refusing, "/healthz").await, [401, 200]);
    assert_eq!(answers(Options::default(), "/healthz").await, [200, 200]);
}

#[tokio::test]
async fn everybody_may_do_everything_if_the_options_say_so() {
    let open = Options {
        authorization: Authorization::AlwaysAllow,
        ..Options::default()
    };
    let secrets = "/api/v1/namespaces/kube-system/secrets";
    assert_eq!(answers(open, secrets).await, [200, 200]);
    assert_eq!(answers(Options::default(), secrets).await, [403, 403]);
}
