//! The issuer of service accounts' tokens, and the documents with which other programs verify the tokens.

use serde_json::{Value, json};

use super::{AUDIENCE, key::SigningKey};

/// The path of the public keys.
const KEYS: &str = "/openid/v1/jwks";

/// The issuer of service accounts' tokens: the name and the key in a token, and its audience.
#[derive(Clone, Debug)]
pub struct Issuer {
    name: String,
    audiences: Vec<String>,
    keys_at: String,
    /// `None` if the system had no random numbers: then no token is issued.
    pub(super) key: Option<SigningKey>,
}

impl Default for Issuer {
    /// The name that kubeadm sets, and a key of this process.
    fn default() -> Self {
        Self {
            name: AUDIENCE.to_owned(),
            audiences: vec![AUDIENCE.to_owned()],
            keys_at: format!("{AUDIENCE}{KEYS}"),
            key: SigningKey::generate(),
        }
    }
}

impl Issuer {
    /// Issues tokens in this name (`--service-account-issuer`) with this key (`--service-account-signing-key-file`).
    /// `address` is where clients reach the server: host and port, from which they read the public key.
    ///
    /// Tokens of this server are for these audiences (`--api-audiences`) where a request names none; for the issuer if
    /// the list is empty, as upstream.
    pub fn new(name: &str, key: SigningKey, address: &str, audiences: Vec<String>) -> Self {
        let audiences = match audiences.is_empty() {
            true => vec![name.to_owned()],
            false => audiences,
        };
        Self {
            name: name.to_owned(),
            audiences,
            keys_at: format!("https://{address}{KEYS}"),
            key: Some(key),
        }
    }

    /// The name in tokens.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The audiences of this server.
    pub(super) fn audiences(&self) -> &[String] {
        &self.audiences
    }

    /// The document at a path with which other programs verify tokens, and its media type.
    pub(super) fn document(&self, path: &str) -> Option<(Value, &'static str)> {
        match path.strip_suffix('/').unwrap_or(path) {
            "/.well-known/openid-configuration" => Some((self.configuration(), "application/json")),
            KEYS => {
                let keys: Vec<Value> = self.key.iter().map(SigningKey::jwk).collect();
                Some((json!({ "keys": keys }), "application/jwk-set+json"))
            }
            _ => None,
        }
    }

    fn configuration(&self) -> Value {
        let algorithm = self.key.as_ref().map_or("ES256", SigningKey::algorithm);
        json!({
            "issuer": self.name,
            "jwks_uri": self.keys_at,
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": [algorithm],
        })
    }
}
