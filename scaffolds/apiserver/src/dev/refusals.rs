//! Prints the permissions that no role grants the operator, with the declarations that grant them; for tests, writes
//! requests that are refused into a file.

use std::{
    collections::BTreeSet,
    fs::File,
    io::{self, Write},
};

use tokio::sync::broadcast::{Receiver, error::RecvError};

use super::{NAMESPACE, account};
use crate::{
    authorize::{Attributes, Refusal},
    user::User,
};

/// The file beside the kubeconfig of tests. The runtime's `testing` reads it.
pub(super) const FILE: &str = "refusals";

/// Prints each permission that the operator lacks, once, when a request is refused because of it. A `Role` applies to
/// the operator's own namespace only.
pub(super) async fn report(mut refusals: Receiver<Refusal>, is_namespaced: bool) {
    let mut known = BTreeSet::new();
    loop {
        match refusals.recv().await {
            Ok(refusal) => {
                if let Some(missing) = describe(&refusal, is_namespaced, "make dev", &mut known) {
                    eprintln!("{}", shown(&missing));
                }
            }
            // Lost refusals do not matter: an operator that is refused this often repeats the request.
            Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return,
        }
    }
}

/// Appends the message of each refused request to the file, of every user: one line for each, once. The server has one
/// thread, so every later response follows the line. Ends when the file cannot be written, with the error.
pub(super) async fn record(mut file: File, mut refusals: Receiver<Refusal>) -> io::Error {
    let mut known = BTreeSet::new();
    loop {
        match refusals.recv().await {
            Ok(refusal) => {
                let line = message(&refusal);
                if !known.contains(&line)
                    && let Err(error) = writeln!(file, "{line}")
                {
                    return error;
                }
                known.insert(line);
            }
            // An operator that is refused this often repeats the request.
            Err(RecvError::Lagged(_)) => {}
            // Its sender lives as long as the server.
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}

/// The message of the 403.
fn message(refusal: &Refusal) -> String {
    let user = User {
        name: refusal.user.clone(),
        ..User::default()
    };
    let message = refusal.asked.forbidden(&user, "").message;
    message.replace(char::is_control, " ")
}

/// The text for a terminal.
fn shown([error, hint]: &[String; 2]) -> String {
    format!("error: {error}\n\nhint: {hint}\n")
}

/// The error and its hint, to run `command` again; `None` for a refusal of another user's request, and for one whose hint is in
/// `known`.
pub(super) fn describe(
    refusal: &Refusal,
    is_namespaced: bool,
    command: &str,
    known: &mut BTreeSet<String>,
) -> Option<[String; 2]> {
    let Refusal { user, asked } = refusal;
    if *user != account::user_name() {
        return None;
    }
    let hint = hint(asked, is_namespaced, command);
    let error = format!("the operator may not `{}`{}", what(asked), place(asked));
    known.insert(hint.clone()).then_some([error, hint])
}

/// `list configmaps`, `patch foobars.test.example.com/status` or `get /metrics`.
fn what(asked: &Attributes) -> String {
    let mut what = asked.verb.clone();
    if !asked.is_resource {
        return format!("{what} {}", asked.path).escape_debug().to_string();
    }
    what.push(' ');
    what.push_str(&asked.resource);
    for (separator, part) in [('.', &asked.group), ('/', &asked.subresource)] {
        if !part.is_empty() {
            what.push(separator);
            what.push_str(part);
        }
    }
    what.escape_debug().to_string()
}

fn place(asked: &Attributes) -> String {
    match (asked.is_resource, asked.namespace.as_str()) {
        (false, _) => String::new(),
        (true, "") => " at the cluster scope".to_owned(),
        (true, namespace) => format!(" in the namespace `{}`", namespace.escape_debug()),
    }
}

fn hint(asked: &Attributes, is_namespaced: bool, command: &str) -> String {
    let (group, resource, verb) = (&asked.group, asked.qualified_resource(), &asked.verb);
    let words = format!("&[{group:?}], &[{resource:?}], &[{verb:?}]");
    let is_elsewhere = is_namespaced && asked.namespace != NAMESPACE;
    let declaration = match (asked.is_resource, asked.namespace.as_str()) {
        (false, _) if is_namespaced => {
            let path = &asked.path;
            return format!(
                "bind a ClusterRole with `nonResourceURLs: [{path:?}]` to the ServiceAccount, in `config/rbac`"
            );
        }
        (false, _) => format!(".grant(Rule::urls(&[{:?}], &[{verb:?}]))", asked.path),
        (true, "") if is_elsewhere => {
            let what = what(asked);
            return format!(
                "to `{what}` there, the operator needs a ClusterRole; its Role applies to the namespace `{NAMESPACE}` only"
            );
        }
        (true, namespace) if is_elsewhere => format!(".grant(Rule::new({words}).in_namespace({namespace:?}))"),
        (true, _) => format!(".rule({words})"),
    };
    format!("add `{declaration}` to the controller, and run `{command}` again: it writes `config/rbac/role.yaml`")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        dev::{
            account::{Account, tests::rbac},
            apply::send,
        },
        server::{ApiServer, Options},
    };
    use http::Request;
    use serde_json::Value;

    #[tokio::test]
    async fn each_missing_permission_is_reported_once_with_the_rule_that_grants_it() {
        let server = ApiServer::new(Options::default());
        let account = Account::make(&server, rbac("Role")).await.unwrap();
        let mut refusals = server.refusals();
        let maps = "/api/v1/namespaces/default/configmaps";
        for path in [
            "/api/v1/namespaces/default/configmaps/x",
            maps,
            &format!("{maps}?limit=1"),
            "/api/v1/namespaces/kube-system/configmaps/x",
            "/apis/apps/v1/deployments",
            "/metrics",
        ] {
            let request = Request::builder().uri(path);
            let request = request.header("authorization", format!("Bearer {}", account.token));
            let _ = send(&server, request, &Value::Null).await;
        }
        // A request of another user.
        let other = Request::builder().uri(maps).header("impersonate-user", "somebody");
        let _ = send(&server, other, &Value::Null).await;

        let mut known = BTreeSet::new();
        let mut said = Vec::new();
        while let Ok(refusal) = refusals.try_recv() {
            let missing = describe(&refusal, account.is_namespaced, "make dev", &mut known);
            said.extend(missing.as_ref().map(shown));
        }
        assert_eq!(
            said,
            [
                "error: the operator may not `list configmaps` in the namespace `default`\n\n\
                 hint: add `.rule(&[\"\"], &[\"configmaps\"], &[\"list\"])` to the controller, and run `make dev` again: it \
                 writes `config/rbac/role.yaml`\n",
                "error: the operator may not `get configmaps` in the namespace `kube-system`\n\n\
                 hint: add `.grant(Rule::new(&[\"\"], &[\"configmaps\"], &[\"get\"]).in_namespace(\"kube-system\"))` to the \
                 controller, and run `make dev` again: it writes `config/rbac/role.yaml`\n",
                "error: the operator may not `list deployments.apps` at the cluster scope\n\n\
                 hint: to `list deployments.apps` there, the operator needs a ClusterRole; its Role applies to the namespace \
                 `default` only\n",
                "error: the operator may not `get /metrics`\n\n\
                 hint: bind a ClusterRole with `nonResourceURLs: [\"/metrics\"]` to the ServiceAccount, in `config/rbac`\n",
            ]
        );
    }

    #[tokio::test]
    async fn refused_requests_of_all_users_are_written_once_each() {
        let server = ApiServer::new(Options::default());
        let account = Account::make(&server, rbac("Role")).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(FILE);
        let recording = tokio::spawn(record(File::create(&file).unwrap(), server.refusals()));
        for path in [
            "/api/v1/namespaces/default/secrets",
            "/api/v1/namespaces/default/secrets?limit=1",
            "/metrics",
        ] {
            let request = Request::builder().uri(path);
            let request = request.header("authorization", format!("Bearer {}", account.token));
            let _ = send(&server, request, &Value::Null).await;
        }
        let other = Request::builder()
            .uri("/api/v1/pods")
            .header("impersonate-user", "somebody");
        let _ = send(&server, other, &Value::Null).await;
        tokio::task::yield_now().await;
        recording.abort();
        let user = "User \"system:serviceaccount:default:controller-manager\"";
        assert_eq!(
            std::fs::read_to_string(&file).unwrap(),
            format!(
                "secrets is forbidden: {user} cannot list resource \"secrets\" in API group \"\" in the namespace \"default\"\n\
                 forbidden: {user} cannot get path \"/metrics\"\n\
                 pods is forbidden: User \"somebody\" cannot list resource \"pods\" in API group \"\" at the cluster scope\n"
            )
        );
    }
}
