//! The key that signs tokens of service accounts, and its public half as other programs read it.

use std::{fmt, sync::Arc};

use kubewright_machinery::{
    base64::{self, Encoding},
    der::{EXPLICIT_0, INTEGER, OCTET_STRING, OID, SEQUENCE, bits, each, encode, read},
};
use ring::{
    digest,
    rand::SystemRandom,
    rsa::PublicKeyComponents,
    signature::{
        ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair, RSA_PKCS1_2048_8192_SHA256,
        RSA_PKCS1_SHA256, RsaKeyPair, UnparsedPublicKey,
    },
};
use serde_json::{Value, json};

use crate::pem;

/// The algorithm of a P-256 key (RFC 5480): `id-ecPublicKey` and `prime256v1`.
const P256: &[u8] = b"\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07";
/// `rsaEncryption` (RFC 8017, appendix C).
const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
/// NULL, the parameters of `rsaEncryption`.
const NULL: &[u8] = &[5, 0];
/// The length of a coordinate of a point on P-256.
const COORDINATE: usize = 32;

/// A private key that signs tokens of service accounts: of the curve P-256 (ES256), or RSA of 2048 to 4096 bits (RS256).
#[derive(Clone)]
pub struct SigningKey(Arc<Pair>);

enum Pair {
    P256(EcdsaKeyPair),
    Rsa(RsaKeyPair),
}

/// The reason that a text gives no [`SigningKey`].
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The text has no PEM block of a private key.
    #[error("it has no private key in PEM")]
    Absent,
    /// The key is damaged, or of another curve or size.
    #[error("its key is neither one of the curve P-256 nor an RSA key of 2048 to 4096 bits: {0}")]
    Unusable(String),
}

impl SigningKey {
    /// A new key of the curve P-256; `None` without random numbers of the system.
    pub(super) fn generate() -> Option<Self> {
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new()).ok()?;
        p256(pkcs8.as_ref()).ok()
    }

    /// The first private key of a text in PEM: `PRIVATE KEY` (PKCS #8), `RSA PRIVATE KEY` or `EC PRIVATE KEY`.
    ///
    /// # Errors
    /// [`KeyError`]
    pub fn from_pem(text: &str) -> Result<Self, KeyError> {
        let found = pem::blocks(text).find_map(|block| match block.label {
            "PRIVATE KEY" => Some(p256(&block.bytes).or_else(|_| rsa(RsaKeyPair::from_pkcs8(&block.bytes)))),
            "RSA PRIVATE KEY" => Some(rsa(RsaKeyPair::from_der(&block.bytes))),
            "EC PRIVATE KEY" => Some(p256(&in_pkcs8(&block.bytes))),
            _ => None,
        });
        found.unwrap_or(Err(KeyError::Absent))
    }

    /// Whether a text in PEM has the public half of this key: as a public key, in a certificate, or with the private one.
    pub fn is_of(&self, text: &str) -> bool {
        let own = self.public();
        pem::blocks(text).any(|block| match block.label {
            "PUBLIC KEY" => block.bytes == own,
            "RSA PUBLIC KEY" => rsa_public(&block.bytes) == own,
            "CERTIFICATE" => certified(&block.bytes).as_ref() == Some(&own),
            _ => false,
        }) || Self::from_pem(text).is_ok_and(|key| key.public() == own)
    }

    /// The public key as SubjectPublicKeyInfo (RFC 5280, 4.1).
    fn public(&self) -> Vec<u8> {
        match &*self.0 {
            Pair::P256(pair) => encode(SEQUENCE, &[P256, &bits(pair.public_key().as_ref())]),
            Pair::Rsa(pair) => rsa_public(pair.public_key().as_ref()),
        }
    }

    /// The identifier of the key, as upstream computes it.
    pub(super) fn id(&self) -> String {
        encoded(digest::digest(&digest::SHA256, &self.public()).as_ref())
    }

    /// The name of the algorithm in tokens.
    pub(super) fn algorithm(&self) -> &'static str {
        match &*self.0 {
            Pair::P256(_) => "ES256",
            Pair::Rsa(_) => "RS256",
        }
    }

    /// Signs a text; `None` without random numbers of the system.
    pub(super) fn sign(&self, text: &str) -> Option<String> {
        let random = SystemRandom::new();
        match &*self.0 {
            Pair::P256(pair) => Some(encoded(pair.sign(&random, text.as_bytes()).ok()?.as_ref())),
            Pair::Rsa(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &random, text.as_bytes(), &mut signature)
                    .ok()?;
                Some(encoded(&signature))
            }
        }
    }

    /// Whether this key has signed the text.
    pub(super) fn verify(&self, text: &str, signature: &[u8]) -> bool {
        let text = text.as_bytes();
        let verified = match &*self.0 {
            Pair::P256(pair) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, pair.public_key()).verify(text, signature)
            }
            Pair::Rsa(pair) => {
                UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, pair.public_key()).verify(text, signature)
            }
        };
        verified.is_ok()
    }

    /// The public key as a JSON Web Key.
    pub(super) fn jwk(&self) -> Value {
        let mut key = json!({"use": "sig", "kid": self.id(), "alg": self.algorithm()});
        let own = match &*self.0 {
            Pair::P256(pair) => {
                // The first byte says that both coordinates follow.
                let point = pair.public_key().as_ref().get(1..).unwrap_or_default();
                let (x, y) = point.split_at_checked(COORDINATE).unwrap_or_default();
                json!({"kty": "EC", "crv": "P-256", "x": encoded(x), "y": encoded(y)})
            }
            Pair::Rsa(pair) => {
                let numbers = PublicKeyComponents::<Vec<u8>>::from(pair.public_key());
                json!({"kty": "RSA", "n": encoded(&numbers.n), "e": encoded(&numbers.e)})
            }
        };
        if let (Some(key), Value::Object(own)) = (key.as_object_mut(), own) {
            key.extend(own);
        }
        key
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", self.id())
    }
}

fn p256(pkcs8: &[u8]) -> Result<SigningKey, KeyError> {
    let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8, &SystemRandom::new());
    let pair = pair.map_err(|error| KeyError::Unusable(error.to_string()))?;
    Ok(SigningKey(Arc::new(Pair::P256(pair))))
}

fn rsa(pair: Result<RsaKeyPair, ring::error::KeyRejected>) -> Result<SigningKey, KeyError> {
    let pair = pair.map_err(|error| KeyError::Unusable(error.to_string()))?;
    Ok(SigningKey(Arc::new(Pair::Rsa(pair))))
}

/// A key of P-256 in the form of RFC 5915, as PKCS #8.
fn in_pkcs8(key: &[u8]) -> Vec<u8> {
    encode(
        SEQUENCE,
        &[&encode(INTEGER, &[&[0]]), P256, &encode(OCTET_STRING, &[key])],
    )
}

/// An RSA key in the form of RFC 8017, as SubjectPublicKeyInfo.
fn rsa_public(key: &[u8]) -> Vec<u8> {
    let algorithm = encode(SEQUENCE, &[&encode(OID, &[RSA]), NULL]);
    encode(SEQUENCE, &[&algorithm, &bits(key)])
}

/// The SubjectPublicKeyInfo of a certificate. RFC 5280, 4.1: version, serial number, algorithm, issuer, validity and
/// subject precede it.
fn certified(certificate: &[u8]) -> Option<Vec<u8>> {
    let (_, certificate, _) = read(certificate)?;
    let (_, body, _) = read(certificate)?;
    let (_, key) = each(body).filter(|(tag, _)| *tag != EXPLICIT_0).nth(5)?;
    Some(encode(SEQUENCE, &[key]))
}

fn encoded(bytes: &[u8]) -> String {
    base64::encode(bytes, Encoding::RawUrl)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pem(label: &str, der: &[u8]) -> String {
        format!(
            "-----BEGIN {label}-----\n{}\n-----END {label}-----\n",
            base64::encode(der, Encoding::Standard)
        )
    }

    fn pkcs8() -> Vec<u8> {
        let pair = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new());
        pair.unwrap().as_ref().to_vec()
    }

    #[test]
    fn a_key_is_read_in_each_of_its_forms() {
        let pkcs8 = pkcs8();
        let (_, fields, _) = read(&pkcs8).unwrap();
        let (_, sec1) = each(fields).nth(2).unwrap();
        // The parameters of the key come first, as `openssl ecparam -genkey` writes them.
        let texts = [
            pem("PRIVATE KEY", &pkcs8),
            pem("EC PARAMETERS", P256) + &pem("EC PRIVATE KEY", sec1),
        ];
        let keys = texts.map(|text| SigningKey::from_pem(&text).unwrap());
        assert_eq!(keys[0].public(), keys[1].public());
        let signature = base64::decode(&keys[0].sign("text").unwrap(), Encoding::RawUrl).unwrap();
        assert!(keys[1].verify("text", &signature) && !keys[1].verify("other", &signature));
    }

    #[test]
    fn the_public_half_of_a_key_is_recognised() {
        let own = pem("PRIVATE KEY", &pkcs8());
        let key = SigningKey::from_pem(&own).unwrap();
        let other = SigningKey::generate().unwrap();
        let public = pem("PUBLIC KEY", &key.public());
        assert!(key.is_of(&own) && key.is_of(&public));
        assert!(!other.is_of(&own) && !other.is_of(&public) && !key.is_of("") && !key.is_of(&pem("CERTIFICATE", b"x")));
    }

    #[test]
    fn a_text_without_a_usable_key_is_refused() {
        let refused = |text: &str| SigningKey::from_pem(text).unwrap_err().to_string();
        assert_eq!(refused("nothing"), "it has no private key in PEM");
        for label in ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY"] {
            assert!(
                refused(&pem(label, b"\x30\x00")).starts_with("its key is neither"),
                "{label}"
            );
        }
    }
}
