//! Whether somebody may do what they ask for.

use crate::{request::Info, status::Status};

use super::User;

/// What the roles that every cluster has let everybody read (`system:public-info-viewer`).
const PUBLIC: [&str; 5] = ["/healthz", "/livez", "/readyz", "/version", "/version/"];
/// What they let everybody with credentials read besides (`system:discovery`).
const DISCOVERY: [&str; 6] = ["/api", "/apis", "/openapi", "/api/", "/apis/", "/openapi/"];
/// What they may create (`system:basic-user`).
const BASIC: [(&str, &str); 3] = [
    ("authentication.k8s.io", "selfsubjectreviews"),
    ("authorization.k8s.io", "selfsubjectaccessreviews"),
    ("authorization.k8s.io", "selfsubjectrulesreviews"),
];

/// Lets a request through.
///
/// # Errors
/// 403 in the words of the real server for those without credentials; 501 for somebody known whose rights only RBAC
/// could tell.
pub fn authorize(user: &User, info: &Info) -> Result<(), Status> {
    if user.is_master() || is_for_everybody(user, info) {
        return Ok(());
    }
    if !user.is_anonymous() {
        return Err(Status::not_implemented(
            "RBAC for users that are not in the group system:masters",
        ));
    }
    let who = kubewright_schema::go::quote(&user.name);
    if !info.is_resource {
        let path = kubewright_schema::go::quote(&info.path);
        return Err(Status::forbidden(
            ("", ""),
            "",
            &format!("User {who} cannot {} path {path}", info.verb),
        ));
    }
    let resource = kubewright_schema::go::quote(&info.qualified_resource());
    let place = match info.namespace.as_str() {
        "" => "at the cluster scope".to_owned(),
        namespace => format!("in the namespace {}", kubewright_schema::go::quote(namespace)),
    };
    let group = kubewright_schema::go::quote(&info.group);
    let why = format!(
        "User {who} cannot {} resource {resource} in API group {group} {place}",
        info.verb
    );
    Err(Status::forbidden((&info.group, &info.resource), &info.name, &why))
}

fn is_for_everybody(user: &User, info: &Info) -> bool {
    if info.is_resource {
        let resource = (info.group.as_str(), info.resource.as_str());
        return !user.is_anonymous() && info.verb == "create" && BASIC.contains(&resource);
    }
    let path = info.path.as_str();
    let is_discovery = || {
        DISCOVERY
            .iter()
            .any(|it| path == *it || it.ends_with('/') && path.starts_with(it))
    };
    info.verb == "get" && (PUBLIC.contains(&path) || !user.is_anonymous() && is_discovery())
}

#[cfg(test)]
mod tests {
    use http::Method;

    use super::*;
    use crate::request::Query;

    fn ask(user: &User, method: Method, path: &str) -> Result<(), Status> {
        authorize(user, &Info::read(&method, path, &Query::default()).unwrap())
    }

    #[test]
    fn those_without_credentials_read_what_is_public() {
        let anonymous = User::anonymous();
        for path in ["/healthz", "/livez", "/readyz", "/version"] {
            assert!(ask(&anonymous, Method::GET, path).is_ok());
        }
        let said = |method, path| ask(&anonymous, method, path).unwrap_err().message;
        assert_eq!(
            said(Method::GET, "/api"),
            "forbidden: User \"system:anonymous\" cannot get path \"/api\""
        );
        assert_eq!(
            said(Method::DELETE, "/apis/apps/v1/namespaces/default/deployments/foo"),
            "deployments.apps \"foo\" is forbidden: User \"system:anonymous\" cannot delete resource \"deployments\" in \
             API group \"apps\" in the namespace \"default\""
        );
        assert_eq!(
            said(Method::POST, "/api/v1/namespaces"),
            "namespaces is forbidden: User \"system:anonymous\" cannot create resource \"namespaces\" in API group \"\" \
             at the cluster scope"
        );
    }

    #[test]
    fn those_with_credentials_discover_and_for_the_rest_rbac_is_missing() {
        let bob = User::new("bob", ["devs"]);
        assert!(ask(&bob, Method::GET, "/apis/apps/v1").is_ok());
        assert!(
            ask(
                &bob,
                Method::POST,
                "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
            )
            .is_ok()
        );
        let status = ask(&bob, Method::GET, "/api/v1/pods").unwrap_err();
        assert!(status.code == 501 && status.message.starts_with("RBAC"));
        assert!(ask(&User::admin(), Method::GET, "/api/v1/pods").is_ok());
    }
}
