//! Service accounts: what they are called, and the tokens that the server gives out for them and knows again.
//!
//! A token is a JWT with the claims of the real server's. Nobody but this server can tell whether it is good: the key is
//! drawn when the server starts, and goes with it.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use kubewright_schema::meta::names;
use ring::{hmac, rand::SystemRandom};
use serde_json::{Value, json};

use super::{AUDIENCE, CREDENTIAL, User};
use crate::{
    meta::{self, generate},
    store::{Key, Store},
};

const PREFIX: &str = "system:serviceaccount:";
/// How much clocks may differ, as the real server's library has it: a minute.
const LEEWAY: i64 = 60;
const HEADER: &str = r#"{"alg":"HS256","typ":"JWT"}"#;

/// What a token can be bound to, as its claims and the user's extra call it, and where the store has it.
const BOUND: [(&str, &str, &str); 3] = [
    ("pod", "Pod", "/pods"),
    ("secret", "Secret", "/secrets"),
    ("node", "Node", "/nodes"),
];

/// Gives out tokens, and knows them again.
pub struct Tokens {
    key: hmac::Key,
}

impl Default for Tokens {
    fn default() -> Self {
        Self {
            key: hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new())
                .unwrap_or_else(|_| hmac::Key::new(hmac::HMAC_SHA256, generate::uid().as_bytes())),
        }
    }
}

/// What a token is to say.
pub struct Claims<'a> {
    /// The account, as the store has it.
    pub account: &'a Value,
    /// Whom it is for.
    pub audiences: &'a [&'a str],
    /// Seconds since 1970, and until the token is no good any more.
    pub times: (i64, i64),
    /// The kind and the object that it goes with.
    pub bound: Option<(&'a str, &'a Value)>,
}

/// A token that was given out, and is still good.
pub struct Known {
    /// The service account.
    pub user: User,
    /// Whom the token is for.
    pub audiences: Vec<String>,
}

impl Tokens {
    /// A new token.
    pub fn issue(&self, claims: &Claims) -> String {
        let (namespace, name) = (
            meta::text(claims.account, "namespace"),
            meta::text(claims.account, "name"),
        );
        let named = |object: &Value| json!({"name": meta::text(object, "name"), "uid": meta::text(object, "uid")});
        let mut own = json!({"namespace": namespace, "serviceaccount": named(claims.account)});
        if let Some((kind, object)) = claims.bound
            && let Some((claim, ..)) = BOUND.iter().find(|(_, other, _)| *other == kind)
        {
            own[*claim] = named(object);
        }
        let (now, lifetime) = claims.times;
        let claims = json!({
            "aud": claims.audiences, "exp": now.saturating_add(lifetime), "iat": now, "nbf": now, "iss": AUDIENCE,
            "jti": generate::uid(), "sub": username(namespace, name), "kubernetes.io": own,
        });
        let signed = format!("{}.{}", BASE64.encode(HEADER), BASE64.encode(claims.to_string()));
        let tag = hmac::sign(&self.key, signed.as_bytes());
        format!("{signed}.{}", BASE64.encode(tag.as_ref()))
    }

    /// Whose token this is at `now`; `None` for all others.
    ///
    /// # Errors
    /// Why a token of this server is not good any more.
    pub fn know(&self, token: &str, store: &Store, now: i64) -> Option<Result<Known, &'static str>> {
        let claims = self.claims(token)?;
        Some(valid(&claims, store, now).map(|()| known(&claims)))
    }

    fn claims(&self, token: &str) -> Option<Value> {
        let (signed, tag) = token.rsplit_once('.')?;
        let tag = BASE64.decode(tag).ok()?;
        hmac::verify(&self.key, signed.as_bytes(), &tag).ok()?;
        let (_, claims) = signed.split_once('.')?;
        serde_json::from_slice(&BASE64.decode(claims).ok()?).ok()
    }
}

fn valid(claims: &Value, store: &Store, now: i64) -> Result<(), &'static str> {
    if now > claims["exp"].as_i64().unwrap_or_default().saturating_add(LEEWAY) {
        return Err("service account token has expired");
    }
    let own = &claims["kubernetes.io"];
    let namespace = own["namespace"].as_str().unwrap_or_default();
    let is_there = |resource: &str, namespace: &str, claim: &Value| {
        let name = claim["name"].as_str().unwrap_or_default();
        let record = store.get(&Key::new(resource, namespace, name));
        let object = record.and_then(|record| serde_json::from_slice::<Value>(&record.object).ok());
        object.is_some_and(|object| object["metadata"]["uid"] == claim["uid"])
    };
    if !is_there("/serviceaccounts", namespace, &own["serviceaccount"]) {
        return Err("service account token has been invalidated");
    }
    let goes_on = BOUND.iter().all(|(claim, kind, resource)| {
        let namespace = if *kind == "Node" { "" } else { namespace };
        own.get(claim).is_none_or(|claim| is_there(resource, namespace, claim))
    });
    if goes_on {
        Ok(())
    } else {
        Err("service account token has been invalidated")
    }
}

fn known(claims: &Value) -> Known {
    let own = &claims["kubernetes.io"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut user = user(&text(&own["namespace"]), &text(&own["serviceaccount"]["name"]));
    user.uid = text(&own["serviceaccount"]["uid"]);
    user.extra
        .insert(CREDENTIAL.to_owned(), vec![format!("JTI={}", text(&claims["jti"]))]);
    for claim in ["pod", "node"] {
        for part in ["name", "uid"] {
            if let Some(value) = own.get(claim).and_then(|claim| claim[part].as_str()) {
                let key = format!("authentication.kubernetes.io/{claim}-{part}");
                user.extra.insert(key, vec![value.to_owned()]);
            }
        }
    }
    let audiences = claims["aud"].as_array().into_iter().flatten();
    Known {
        user,
        audiences: audiences.filter_map(Value::as_str).map(str::to_owned).collect(),
    }
}

/// The user that a service account is, with its groups.
pub fn user(namespace: &str, name: &str) -> User {
    User::new(&username(namespace, name), groups(namespace))
}

/// The groups of the service accounts of a namespace.
pub fn groups(namespace: &str) -> [String; 2] {
    [
        "system:serviceaccounts".to_owned(),
        format!("system:serviceaccounts:{namespace}"),
    ]
}

/// Namespace and name of the service account that a user is, if it is one.
pub fn split(username: &str) -> Option<(&str, &str)> {
    let (namespace, name) = username.strip_prefix(PREFIX)?.split_once(':')?;
    let is_namespace = names::is_label(namespace);
    (is_namespace && names::is_subdomain(name)).then_some((namespace, name))
}

fn username(namespace: &str, name: &str) -> String {
    format!("{PREFIX}{namespace}:{name}")
}
