//! The operator's ServiceAccount, with the permissions from `config/rbac` and a token of its own.

use http::{Method, Request};
use serde_json::{Value, json};

use super::{
    NAMESPACE,
    apply::{apply, send},
    manifests::Manifest,
};
use crate::server::ApiServer;
#[cfg(feature = "sim")]
use crate::user::User;

/// The name in `config/rbac/service_account.yaml` and in the Deployment.
pub(super) const NAME: &str = "controller-manager";
/// The name that `make manifests` gives the role in `config/rbac/role.yaml`.
const ROLE: &str = "manager-role";
/// The annotation with the namespace of a role, and of its binding, in another namespace than the operator's.
const ELSEWHERE: &str = "kubewright.dev/namespace";
/// Seconds, the maximum for a TokenRequest. Tokens become invalid when the process ends, because the key that signs
/// them exists only in it.
const LIFETIME: u64 = 1 << 32;

/// The operator's credentials.
#[derive(Debug)]
pub(super) struct Account {
    pub token: String,
    /// Whether its role applies only to its own namespace.
    pub is_namespaced: bool,
}

impl Account {
    /// Grants what `config/rbac` grants, and requests a token.
    ///
    /// # Errors
    /// The object that is refused, with the server's message, or that the ServiceAccount is missing.
    pub(super) async fn make(server: &ApiServer, rbac: Vec<Manifest>) -> Result<Self, String> {
        let is_namespaced = grant(server, rbac).await?;
        let path = format!("/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{NAME}/token");
        let request = Request::builder().method(Method::POST).uri(path);
        let request = request.header("content-type", "application/json");
        let wanted = json!({
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"expirationSeconds": LIFETIME},
        });
        let answer = send(server, request, &wanted).await?;
        let token = answer["status"]["token"].as_str().unwrap_or_default().to_owned();
        Ok(Self { token, is_namespaced })
    }
}

/// Applies `config/rbac` as kustomize would for the namespace [`NAMESPACE`], without a name prefix. Other namespaces that
/// roles belong to are created. Returns whether the operator's role applies only to its own namespace.
///
/// # Errors
/// The object that is refused, with the server's message, or that the ServiceAccount is missing.
pub(super) async fn grant(server: &ApiServer, rbac: Vec<Manifest>) -> Result<bool, String> {
    let is_account = |object: &Value| object["kind"] == "ServiceAccount" && object["metadata"]["name"] == NAME;
    if !rbac.iter().any(|it| is_account(&it.object)) {
        return Err(format!(
            "`config/rbac` has no ServiceAccount `{NAME}`, which the operator runs as"
        ));
    }
    let is_namespaced = is_namespaced(&rbac);
    for manifest in placed(rbac) {
        if let Some(namespace) = elsewhere(&manifest.object) {
            let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
            let file = manifest.file.clone();
            apply(server, &Manifest { file, object }).await?;
        }
        apply(server, &manifest).await?;
    }
    Ok(is_namespaced)
}

/// Whether the operator has a Role, which is for its own namespace alone, in place of a ClusterRole.
pub(super) fn is_namespaced(rbac: &[Manifest]) -> bool {
    let is_role = |object: &Value| object["kind"] == "Role" && object["metadata"]["name"] == ROLE;
    rbac.iter().any(|it| is_role(&it.object))
}

/// The ServiceAccount as the user of a request.
#[cfg(feature = "sim")]
pub(super) fn user() -> User {
    let groups = [
        "system:serviceaccounts".to_owned(),
        format!("system:serviceaccounts:{NAMESPACE}"),
    ];
    User::new(&user_name(), groups)
}

/// The name of that user.
pub(super) fn user_name() -> String {
    format!("system:serviceaccount:{NAMESPACE}:{NAME}")
}

/// Moves the objects into the namespace [`NAMESPACE`], but for those of another one, and bindings to the ServiceAccounts
/// among them.
fn placed(mut rbac: Vec<Manifest>) -> Vec<Manifest> {
    let accounts = rbac.iter().filter(|it| it.object["kind"] == "ServiceAccount");
    let accounts: Vec<_> = accounts.map(|it| identity(&it.object["metadata"])).collect();
    for Manifest { object, .. } in &mut rbac {
        if elsewhere(object).is_none()
            && let Some(metadata) = object["metadata"].as_object_mut()
        {
            // Cluster-scoped objects have no namespace; all others move into that namespace.
            metadata.remove("namespace");
        }
        let subjects = object.get_mut("subjects").and_then(Value::as_array_mut);
        for subject in subjects.into_iter().flatten() {
            if subject["kind"] == "ServiceAccount" && accounts.contains(&identity(subject)) {
                subject["namespace"] = json!(NAMESPACE);
            }
        }
    }
    rbac
}

/// The namespace of an object that is in another one than the operator's.
fn elsewhere(object: &Value) -> Option<&str> {
    object["metadata"]["annotations"][ELSEWHERE].as_str()
}

fn identity(named: &Value) -> (Value, Value) {
    (named["name"].clone(), named["namespace"].clone())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::server::Options;
    use kubewright_machinery::base64::{self, Encoding};

    fn binding(kind: &str, account: &str) -> Value {
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": format!("{kind}Binding"),
            "metadata": {"name": "manager-rolebinding", "namespace": "system"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": ROLE},
            "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": "system"}]})
    }

    /// The objects of a project's `config/rbac`, with a role that grants reading ConfigMaps.
    pub(in crate::dev) fn rbac(kind: &str) -> Vec<Manifest> {
        let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind,
            "metadata": {"name": ROLE, "namespace": "system"},
            "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}]});
        let account = json!({"apiVersion": "v1", "kind": "ServiceAccount",
            "metadata": {"name": NAME, "namespace": "system"}});
        let objects = [account, role, binding(kind, NAME)];
        let manifest = |object| Manifest {
            file: "config/rbac/x.yaml".into(),
            object,
        };
        objects.map(manifest).into()
    }

    async fn ask(server: &ApiServer, account: &Account, path: &str) -> Result<Value, String> {
        let request = Request::builder().uri(path);
        let request = request.header("authorization", format!("Bearer {}", account.token));
        send(server, request, &Value::Null).await
    }

    async fn who(server: &ApiServer, account: &Account) -> Value {
        let request = Request::builder().method(Method::POST);
        let request = request.uri("/apis/authentication.k8s.io/v1/selfsubjectreviews");
        let request = request.header("content-type", "application/json");
        let request = request.header("authorization", format!("Bearer {}", account.token));
        let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
        send(server, request, &review).await.unwrap()
    }

    #[tokio::test]
    async fn the_operator_has_the_permissions_of_its_service_account() {
        for kind in ["ClusterRole", "Role"] {
            let server = ApiServer::new(Options::default());
            let account = Account::make(&server, rbac(kind)).await.unwrap();
            let user = who(&server, &account).await["status"]["userInfo"]["username"].clone();
            assert_eq!(user, "system:serviceaccount:default:controller-manager");
            assert_eq!(account.is_namespaced, kind == "Role");
            let of = |namespace: &str| format!("/api/v1/namespaces/{namespace}/configmaps/x");
            let missing = "configmaps \"x\" not found";
            assert_eq!(ask(&server, &account, &of("default")).await, Err(missing.to_owned()));
            let elsewhere = ask(&server, &account, &of("kube-system")).await.unwrap_err();
            assert_eq!(elsewhere == missing, kind == "ClusterRole", "{elsewhere}");
            let secrets = "/api/v1/namespaces/default/secrets";
            let refused = ask(&server, &account, secrets).await.unwrap_err();
            assert!(refused.contains("cannot list resource \"secrets\""), "{refused}");
        }
    }

    #[tokio::test]
    async fn the_token_does_not_expire_while_the_server_runs() {
        let server = ApiServer::new(Options::default());
        let account = Account::make(&server, rbac("Role")).await.unwrap();
        let claims = account.token.split('.').nth(1).unwrap();
        let claims = base64::decode(claims, Encoding::RawUrl).unwrap();
        let claims: Value = serde_json::from_slice(&claims).unwrap();
        let years = (claims["exp"].as_u64().unwrap() - claims["iat"].as_u64().unwrap()) / (365 * 24 * 3600);
        assert_eq!(years, 136);
    }

    #[tokio::test]
    async fn a_project_without_the_service_account_is_refused() {
        let server = ApiServer::new(Options::default());
        let rbac: Vec<_> = rbac("Role").split_off(1);
        let error = Account::make(&server, rbac).await.unwrap_err();
        assert!(error.contains("has no ServiceAccount `controller-manager`"), "{error}");
    }

    #[tokio::test]
    async fn a_role_of_another_namespace_applies_there_only() {
        let server = ApiServer::new(Options::default());
        let mut rbac = rbac("Role");
        for manifest in &mut rbac[1..] {
            manifest.object["metadata"]["namespace"] = json!("elsewhere");
            manifest.object["metadata"]["annotations"] = json!({ELSEWHERE: "elsewhere"});
        }
        let account = Account::make(&server, rbac).await.unwrap();
        let of = |namespace: &str| format!("/api/v1/namespaces/{namespace}/configmaps/x");
        let there = ask(&server, &account, &of("elsewhere")).await;
        assert_eq!(there, Err("configmaps \"x\" not found".to_owned()));
        let here = ask(&server, &account, &of("default")).await.unwrap_err();
        assert!(here.contains("cannot get resource \"configmaps\""), "{here}");
    }

    #[test]
    fn service_accounts_of_others_keep_their_namespace() {
        let mut rbac = rbac("Role");
        rbac[2] = Manifest {
            object: binding("Role", "prometheus"),
            ..rbac[2].clone()
        };
        let placed = placed(rbac);
        assert_eq!(placed[2].object["subjects"][0]["namespace"], "system");
        assert_eq!(placed[2].object["metadata"].get("namespace"), None);
    }
}
