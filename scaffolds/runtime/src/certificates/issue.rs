//! Makes certificates of P-256 keys: authorities, and what they sign.

use std::net::Ipv4Addr;

use k8s_openapi::ByteString;
use kubewright_machinery::{
    base64::{self, Encoding},
    x509::{self, COMMON_NAME, Certificate, SERVER_AUTH, alternative_names, purpose},
};
use ring::{
    digest,
    rand::{SecureRandom, SystemRandom},
    signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair},
};
use serde::{Deserialize, Serialize};

/// The seconds of validity before the issue of a certificate, for clocks that are behind.
pub(super) const SLACK: i64 = 3_600;

/// A certificate and its key.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Issued {
    /// DER.
    pub certificate: ByteString,
    /// PKCS #8 in DER; empty if it is not needed any more.
    pub key: ByteString,
    /// When it was issued, in seconds since 1970.
    pub from: i64,
    /// Its end, in seconds since 1970.
    pub until: i64,
}

impl Issued {
    /// The second at which two thirds of its life are over.
    pub(super) fn renewal(&self) -> i64 {
        self.from + (self.until - self.from) / 3 * 2
    }

    /// Whether it is not valid yet: the clock was ahead when it was issued, or is behind now.
    pub(super) fn is_early(&self, now: i64) -> bool {
        now < self.from - SLACK
    }

    /// The certificate as PEM.
    pub(super) fn pem(&self) -> String {
        pem("CERTIFICATE", &self.certificate.0)
    }

    /// The key as PEM.
    pub(super) fn key_pem(&self) -> String {
        pem("PRIVATE KEY", &self.key.0)
    }

    /// The same certificate, without its key.
    pub(super) fn without_key(self) -> Self {
        Self {
            key: ByteString(Vec::new()),
            ..self
        }
    }
}

/// The contents of a certificate.
struct Form<'a> {
    subject: &'a str,
    /// Concatenated.
    extensions: Vec<u8>,
    /// From when, until when.
    life: [i64; 2],
}

/// A key.
struct Key {
    pair: EcdsaKeyPair,
    /// PKCS #8 in DER.
    pkcs8: Vec<u8>,
}

impl Key {
    fn new() -> Result<Self, String> {
        let (algorithm, random) = (&ECDSA_P256_SHA256_ASN1_SIGNING, SystemRandom::new());
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(algorithm, &random);
        let pkcs8 = pkcs8.map_err(|_| "no key could be generated".to_owned())?;
        Ok(Self {
            pair: pair(pkcs8.as_ref())?,
            pkcs8: pkcs8.as_ref().to_vec(),
        })
    }
}

fn pair(pkcs8: &[u8]) -> Result<EcdsaKeyPair, String> {
    EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, pkcs8, &SystemRandom::new())
        .map_err(|error| error.to_string())
}

/// A new authority of this name, which signs its own certificate.
pub(super) fn authority(name: &str, life: [i64; 2]) -> Result<Issued, String> {
    let key = Key::new()?;
    let form = Form {
        subject: name,
        extensions: x509::authority(),
        life,
    };
    sign(&form, &key, &key.pair, name)
}

/// A new key and a certificate for these DNS names and IPv4 addresses, signed by an authority of this name. It does not
/// outlive the authority.
pub(super) fn leaf(authority: &Issued, issuer: &str, names: &[String], life: [i64; 2]) -> Result<Issued, String> {
    let (signer, key) = (pair(&authority.key.0)?, Key::new()?);
    let (mut addresses, mut dns) = (Vec::new(), Vec::new());
    for name in names {
        match name.parse::<Ipv4Addr>() {
            Ok(address) => addresses.push(address.octets()),
            Err(_) => dns.push(name.as_str()),
        }
    }
    let extensions = [
        alternative_names(&dns, &addresses),
        purpose(SERVER_AUTH),
        x509::signs(),
        x509::keys(&identifier(&key.pair), &identifier(&signer)),
    ];
    let form = Form {
        subject: dns.first().copied().unwrap_or_default(),
        extensions: extensions.concat(),
        life: [life[0], life[1].min(authority.until)],
    };
    sign(&form, &key, &signer, issuer)
}

/// RFC 5280, 4.2.1.2, with SHA-256 in place of SHA-1, cut to its length (RFC 7093).
fn identifier(pair: &EcdsaKeyPair) -> Vec<u8> {
    digest::digest(&digest::SHA256, pair.public_key().as_ref()).as_ref()[..20].to_vec()
}

/// Signs the certificate of a key, by the key of the issuer of this name.
fn sign(form: &Form<'_>, key: &Key, signer: &EcdsaKeyPair, issuer: &str) -> Result<Issued, String> {
    let random = SystemRandom::new();
    let failed = |_| "no random numbers".to_owned();
    let mut serial = [0; 16];
    random.fill(&mut serial).map_err(failed)?;
    let [from, until] = form.life;
    let certificate = Certificate {
        serial,
        issuer: &x509::name(&[(COMMON_NAME, issuer)]),
        subject: &x509::name(&[(COMMON_NAME, form.subject)]),
        validity: [from - SLACK, until],
        public_key: key.pair.public_key().as_ref(),
        extensions: &form.extensions,
    };
    let certificate = certificate.sign(|body| {
        let signature = signer.sign(&random, body).map_err(failed)?;
        Ok::<_, String>(signature.as_ref().to_vec())
    })?;
    Ok(Issued {
        certificate: ByteString(certificate),
        key: ByteString(key.pkcs8.clone()),
        from,
        until,
    })
}

/// RFC 7468: lines of 64 characters.
fn pem(label: &str, der: &[u8]) -> String {
    let text = base64::encode(der, Encoding::Standard);
    let mut lines = format!("-----BEGIN {label}-----\n");
    for (index, c) in text.chars().enumerate() {
        if index > 0 && index % 64 == 0 {
            lines.push('\n');
        }
        lines.push(c);
    }
    format!("{lines}\n-----END {label}-----\n")
}
