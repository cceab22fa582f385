//! `serviceaccounts/NAME/token`: issues a token to a service account. A kubelet requests one for every Pod.

use std::sync::{Arc, LazyLock};

use kubewright_machinery::cause::Path;
use kubewright_machinery::time;
use serde_json::{Value, json};

use super::{Asked, service_account::Claims};
use crate::{
    kinds, meta,
    request::Info,
    resource::Resource,
    status::{Status, Subject},
    store::{Key, Store},
};

const GROUP: &str = "authentication.k8s.io";
const KIND: Subject = Subject::new(GROUP, "TokenRequest");
/// The range of lifetimes, in seconds.
const SHORTEST: i64 = 600;
pub(super) const LONGEST: i64 = 1 << 32;

/// Whether a request asks for a token.
pub fn is_token(info: &Info) -> bool {
    (info.group.as_str(), info.resource.as_str(), info.subresource.as_str()) == ("", "serviceaccounts", "token")
}

/// The resource as which bodies of these requests are decoded.
pub fn kind() -> Arc<Resource> {
    static KIND: LazyLock<Arc<Resource>> = LazyLock::new(|| Arc::new(kinds::token_request()));
    Arc::clone(&KIND)
}

/// Answers a TokenRequest for the service account of this key.
///
/// # Errors
/// The errors of the real server.
pub fn token(asked: &Asked, account: &Key, mut request: Value) -> Result<Value, Status> {
    let Asked { store, now, .. } = *asked;
    check_place(account, &request)?;
    let found = read(store, account)?;
    let said = meta::text(&request, "uid");
    if !said.is_empty() && said != meta::text(&found, "uid") {
        let uid = meta::text(&found, "uid");
        let why =
            format!("the UID in the token request ({said}) does not match the UID of the service account ({uid})");
        return Err(Status::conflict(KIND, &account.name, &why));
    }
    for field in ["name", "namespace", "uid"] {
        meta::set_text(&mut request, field, meta::text(&found, field));
    }
    meta::set_text(&mut request, "creationTimestamp", &time::text(now));
    let (audiences, lifetime) = complete(&mut request, asked.authenticator.issued.audiences())?;
    let bound = bound(store, account, &request["spec"]["boundObjectRef"])?;
    let audiences: Vec<&str> = audiences.iter().map(String::as_str).collect();
    let claims = Claims {
        account: &found,
        audiences: &audiences,
        times: (now, lifetime),
        bound: bound.as_ref().map(|(kind, object)| (kind.as_str(), object)),
    };
    let token = asked.authenticator.issued.issue(&claims);
    let token = token.ok_or_else(|| Status::internal("the token cannot be signed"))?;
    request["status"] = json!({
        "token": token,
        "expirationTimestamp": time::text(now.saturating_add(lifetime)),
    });
    Ok(request)
}

fn read(store: &Store, key: &Key) -> Result<Value, Status> {
    let (group, plural) = key.resource.split_once('/').unwrap_or_default();
    let missing = || Status::not_found(Subject::new(group, plural), &key.name);
    let record = store.get(key).ok_or_else(missing)?;
    Ok(record.read()?)
}

fn check_place(account: &Key, request: &Value) -> Result<(), Status> {
    for (field, own) in [("name", &account.name), ("namespace", &account.namespace)] {
        let said = meta::text(request, field);
        if !said.is_empty() && said != own {
            let why = format!("must match the service account {field} if specified");
            let cause = Path::new("metadata").child(field).invalid(said, &why);
            return Err(Status::invalid(KIND, &account.name, &[cause]));
        }
    }
    Ok(())
}

/// Sets defaults, among them the audiences of the server, and returns audiences and lifetime.
fn complete(request: &mut Value, own: &[String]) -> Result<(Vec<String>, i64), Status> {
    let spec = &mut request["spec"];
    let texts = spec["audiences"].as_array().into_iter().flatten();
    let mut audiences: Vec<String> = texts.filter_map(Value::as_str).map(str::to_owned).collect();
    if audiences.is_empty() {
        audiences.extend_from_slice(own);
    }
    let lifetime = spec["expirationSeconds"].as_i64().unwrap_or_default();
    let refused = match lifetime {
        ..SHORTEST => Some("may not specify a duration less than 10 minutes"),
        SHORTEST..=LONGEST => None,
        _ => Some("may not specify a duration larger than 2^32 seconds"),
    };
    if let Some(why) = refused {
        let cause = Path::new("spec").child("expirationSeconds").invalid(lifetime, why);
        return Err(Status::invalid(KIND, "", &[cause]));
    }
    spec["audiences"] = json!(audiences);
    if spec.get("boundObjectRef").is_none() {
        spec["boundObjectRef"] = Value::Null;
    }
    Ok((audiences, lifetime))
}

/// The object to which the token is to be bound, with its kind.
fn bound(store: &Store, account: &Key, reference: &Value) -> Result<Option<(String, Value)>, Status> {
    if reference.is_null() {
        return Ok(None);
    }
    let text = |field: &str| reference[field].as_str().unwrap_or_default().to_owned();
    let (version, kind, name) = (text("apiVersion"), text("kind"), text("name"));
    let (group, version) = version.rsplit_once('/').unwrap_or(("", &version));
    let key = match (group, kind.as_str()) {
        ("", "Pod") => Key::new("/pods", &account.namespace, &name),
        ("", "Secret") => Key::new("/secrets", &account.namespace, &name),
        ("", "Node") => Key::new("/nodes", "", &name),
        _ => {
            let message = format!("cannot bind token to object of type {group}/{version}, Kind={kind}");
            return Err(Status::bad_request(message));
        }
    };
    let object = read(store, &key)?;
    if kind == "Pod" && object["spec"]["serviceAccountName"] != account.name.as_str() {
        let account = kubewright_machinery::go::quote(&account.name);
        return Err(Status::bad_request(format!(
            "cannot bind token for serviceaccount {account} to pod running with different serviceaccount name."
        )));
    }
    let (said, uid) = (text("uid"), meta::text(&object, "uid"));
    if !said.is_empty() && said != uid {
        let why = format!(
            "the UID in the bound object reference ({said}) does not match the UID in record. The object might have been \
             deleted and then recreated"
        );
        return Err(Status::conflict(Subject::new(group, &kind), &name, &why));
    }
    Ok(Some((kind, object)))
}
