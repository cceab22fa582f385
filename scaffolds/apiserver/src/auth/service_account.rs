//! Service accounts: their user names, and the tokens that the server issues to them and verifies.
//!
//! A token is a JWT with the same claims as the real server's. Unless the options name a key for
//! signing, the server generates one when it starts, and does not store it.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use kubewright_machinery::base64::{self, Encoding};
use kubewright_machinery::names;
use serde_json::{Value, json};

use super::{CREDENTIAL, User, issuer::Issuer, token::LONGEST};
use crate::{
    meta::{self, generate},
    store::{Key, Store},
};

const PREFIX: &str = "system:serviceaccount:";
/// The allowed difference of clocks, in seconds: a minute, as in the real server's library.
const LEEWAY: i64 = 60;
/// The number of verified tokens that are cached.
const REMEMBERED: usize = 1024;

/// The kinds of objects to which a token can be bound: the name of the claim (and of the user's extra), the kind, and
/// the store's resource.
const BOUND: [(&str, &str, &str); 3] = [
    ("pod", "Pod", "/pods"),
    ("secret", "Secret", "/secrets"),
    ("node", "Node", "/nodes"),
];

/// Issues and verifies tokens.
#[derive(Default)]
pub struct Tokens {
    issuer: Issuer,
    /// The claims of tokens whose signature was verified, which takes longer than all else about them.
    verified: Mutex<HashMap<String, Arc<Value>>>,
}

/// The claims of a token.
pub struct Claims<'a> {
    /// The stored ServiceAccount.
    pub account: &'a Value,
    /// The token's audiences.
    pub audiences: &'a [&'a str],
    /// When the token is issued and when it expires, in seconds since 1970.
    pub times: (i64, i64),
    /// The kind and object to which the token is bound.
    pub bound: Option<(&'a str, &'a Value)>,
}

/// A token that was issued here and is still valid.
pub struct Known {
    /// The service account.
    pub user: User,
    /// The token's audiences.
    pub audiences: Vec<String>,
}

impl Tokens {
    /// Tokens of this issuer.
    pub fn of(issuer: Issuer) -> Self {
        Self {
            issuer,
            verified: Mutex::default(),
        }
    }

    /// The audiences of this server.
    pub fn audiences(&self) -> &[String] {
        self.issuer.audiences()
    }

    /// Issues a token; `None` if the system has no random numbers.
    pub fn issue(&self, claims: &Claims) -> Option<String> {
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
            "aud": claims.audiences, "exp": now.saturating_add(lifetime), "iat": now, "nbf": now, "iss": self.issuer.name(),
            "jti": generate::uid(), "sub": username(namespace, name), "kubernetes.io": own,
        });
        let base64 = |value: &Value| base64::encode(value.to_string().as_bytes(), Encoding::RawUrl);
        let key = self.issuer.key.as_ref()?;
        let header = json!({"alg": key.algorithm(), "kid": key.id()});
        let signed = format!("{}.{}", base64(&header), base64(&claims));
        Some(format!("{signed}.{}", key.sign(&signed)?))
    }

    /// Issues a token for this server to a Secret, without which it is not valid.
    pub fn issue_for(&self, account: &Value, secret: &Value, now: i64) -> Option<String> {
        let audiences: Vec<&str> = self.audiences().iter().map(String::as_str).collect();
        self.issue(&Claims {
            account,
            audiences: &audiences,
            times: (now, LONGEST),
            bound: Some(("Secret", secret)),
        })
    }

    /// The document at a path with which other programs verify tokens, and its media type.
    pub fn document(&self, path: &str) -> Option<(Value, &'static str)> {
        self.issuer.document(path)
    }

    /// Verifies a token at `now`; `None` for a token that was not issued here.
    ///
    /// # Errors
    /// The reason that a token that was issued here is no longer valid.
    pub fn know(&self, token: &str, store: &Store, now: i64) -> Option<Result<Known, &'static str>> {
        let claims = self.claims(token)?;
        Some(valid(&claims, store, now).map(|()| known(&claims)))
    }

    fn claims(&self, token: &str) -> Option<Arc<Value>> {
        if let Some(claims) = self.verified().get(token) {
            return Some(Arc::clone(claims));
        }
        let (signed, signature) = token.rsplit_once('.')?;
        let bytes = base64::decode(signature, Encoding::RawUrl).ok()?;
        // No other text of the same bytes is this token.
        if base64::encode(&bytes, Encoding::RawUrl) != signature || !self.is_signed(signed, &bytes) {
            return None;
        }
        let (_, claims) = signed.split_once('.')?;
        let claims: Value = serde_json::from_slice(&base64::decode(claims, Encoding::RawUrl).ok()?).ok()?;
        let claims = Arc::new(claims);
        let mut verified = self.verified();
        if verified.len() >= REMEMBERED {
            verified.clear();
        }
        verified.insert(token.to_owned(), Arc::clone(&claims));
        Some(claims)
    }

    fn is_signed(&self, text: &str, signature: &[u8]) -> bool {
        self.issuer.key.as_ref().is_some_and(|key| key.verify(text, signature))
    }

    fn verified(&self) -> MutexGuard<'_, HashMap<String, Arc<Value>>> {
        self.verified.lock().unwrap_or_else(PoisonError::into_inner)
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
        record.is_some_and(|record| record.value()["metadata"]["uid"] == claim["uid"])
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

/// The user of a service account, with its groups.
pub fn user(namespace: &str, name: &str) -> User {
    User::new(&username(namespace, name), groups(namespace))
}

/// The groups of all service accounts of a namespace.
pub fn groups(namespace: &str) -> [String; 2] {
    [
        "system:serviceaccounts".to_owned(),
        format!("system:serviceaccounts:{namespace}"),
    ]
}

/// Namespace and name of the service account to which a user name belongs, if it is one.
pub fn split(username: &str) -> Option<(&str, &str)> {
    let (namespace, name) = username.strip_prefix(PREFIX)?.split_once(':')?;
    let is_namespace = names::is_label(namespace);
    (is_namespace && names::is_subdomain(name)).then_some((namespace, name))
}

fn username(namespace: &str, name: &str) -> String {
    format!("{PREFIX}{namespace}:{name}")
}
