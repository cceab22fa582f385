//! The key that signs tokens of service accounts (ES256), and the documents with which other programs find it and verify
//! tokens.

use kubewright_machinery::base64::{self, Encoding};
use ring::{
    digest,
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair, UnparsedPublicKey},
};
use serde_json::{Value, json};

use super::AUDIENCE;

/// What precedes the point in the DER form of a public key of P-256 (RFC 5480).
const PREFIX: &[u8] =
    b"\x30\x59\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07\x03\x42\x00";
/// The length of a coordinate of the point.
const COORDINATE: usize = 32;

/// A key that was generated when the server started. Without random numbers of the system there is none.
pub(super) struct Key(Option<EcdsaKeyPair>);

impl Key {
    pub fn generate() -> Self {
        let (algorithm, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
        let generated = EcdsaKeyPair::generate_pkcs8(algorithm, &random).ok();
        Self(generated.and_then(|pkcs8| EcdsaKeyPair::from_pkcs8(algorithm, pkcs8.as_ref(), &random).ok()))
    }

    fn public(&self) -> &[u8] {
        self.0
            .as_ref()
            .map(|pair| pair.public_key().as_ref())
            .unwrap_or_default()
    }

    /// The identifier of the key, as upstream computes it.
    pub fn id(&self) -> String {
        let der = [PREFIX, self.public()].concat();
        encoded(digest::digest(&digest::SHA256, &der).as_ref())
    }

    /// Signs a text; `None` without a key or random numbers.
    pub fn sign(&self, text: &str) -> Option<String> {
        let signature = self.0.as_ref()?.sign(&SystemRandom::new(), text.as_bytes()).ok()?;
        Some(encoded(signature.as_ref()))
    }

    /// Whether this key has signed the text.
    pub fn verify(&self, text: &str, signature: &[u8]) -> bool {
        let public = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, self.public());
        public.verify(text.as_bytes(), signature).is_ok()
    }

    /// `/openid/v1/jwks`: the public key.
    pub fn jwks(&self) -> Value {
        // The first byte says that both coordinates follow.
        let point = self.public().get(1..).unwrap_or_default();
        let (x, y) = point.split_at_checked(COORDINATE).unwrap_or_default();
        json!({"keys": [{
            "use": "sig", "kty": "EC", "kid": self.id(), "crv": "P-256", "alg": "ES256", "x": encoded(x), "y": encoded(y),
        }]})
    }
}

/// `/.well-known/openid-configuration`: the issuer of tokens, and where its keys are.
pub(super) fn configuration() -> Value {
    json!({
        "issuer": AUDIENCE,
        "jwks_uri": format!("{AUDIENCE}/openid/v1/jwks"),
        "response_types_supported": ["id_token"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["ES256"],
    })
}

fn encoded(bytes: &[u8]) -> String {
    base64::encode(bytes, Encoding::RawUrl)
}
