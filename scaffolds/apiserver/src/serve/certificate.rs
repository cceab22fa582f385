//! The certificates that the server uses: an authority's, its own and a client's.

use std::{net::Ipv4Addr, time::SystemTime};

use kubewright_machinery::x509::{
    self, CLIENT_AUTH, COMMON_NAME, Certificate, ORGANIZATION, SERVER_AUTH, alternative_names, name,
};
use ring::{
    digest,
    rand::{SecureRandom, SystemRandom},
    signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair},
};

/// The names in the server's certificate: those that a real cluster's server has.
const SERVER_NAMES: [&str; 5] = [
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
];
/// The time that certificates are valid, in seconds. They end with the process, which may run long.
const VALID: i64 = 365 * 86_400;
/// The number of seconds before their creation at which certificates become valid, for clients whose clocks are behind.
const SLACK: i64 = 3_600;

/// A certificate and its private key.
pub struct Issued {
    /// DER.
    pub certificate: Vec<u8>,
    /// PKCS #8, DER.
    pub key: Vec<u8>,
}

/// A certificate authority: signs certificates, beginning with its own.
pub struct Authority {
    /// DER, self-signed.
    pub certificate: Vec<u8>,
    pair: EcdsaKeyPair,
    name: Vec<u8>,
    random: SystemRandom,
}

type Made<T> = Result<T, String>;

impl Authority {
    /// Creates an authority; its key is never written to a file.
    pub fn new() -> Made<Self> {
        let random = SystemRandom::new();
        let (pair, _) = key(&random)?;
        let name = name(&[(COMMON_NAME, "kubewright-apiserver-ca")]);
        let mut authority = Self {
            certificate: Vec::new(),
            pair,
            name,
            random,
        };
        let public = authority.pair.public_key().as_ref().to_vec();
        authority.certificate = authority.sign(&authority.name, &public, &x509::authority())?;
        Ok(authority)
    }

    /// A certificate for a server on these addresses.
    pub fn server(&self, addresses: &[Ipv4Addr]) -> Made<Issued> {
        let addresses: Vec<[u8; 4]> = addresses.iter().map(Ipv4Addr::octets).collect();
        self.issue(
            &name(&[(COMMON_NAME, "kube-apiserver")]),
            &alternative_names(&SERVER_NAMES, &addresses),
            SERVER_AUTH,
        )
    }

    /// A certificate for a user of this name in these groups.
    pub fn client(&self, user: &str, groups: &[&str]) -> Made<Issued> {
        let mut attributes: Vec<_> = groups.iter().map(|group| (ORGANIZATION, *group)).collect();
        attributes.push((COMMON_NAME, user));
        self.issue(&name(&attributes), &[], CLIENT_AUTH)
    }

    fn issue(&self, subject: &[u8], extensions: &[u8], purpose: &[u8]) -> Made<Issued> {
        let (pair, pkcs8) = key(&self.random)?;
        let extensions = [extensions, &x509::signs(), &x509::purpose(purpose)].concat();
        let certificate = self.sign(subject, pair.public_key().as_ref(), &extensions)?;
        Ok(Issued {
            certificate,
            key: pkcs8,
        })
    }

    fn sign(&self, subject: &[u8], public: &[u8], extensions: &[u8]) -> Made<Vec<u8>> {
        let issuer = key_identifier(self.pair.public_key().as_ref());
        let extensions = [extensions, &x509::keys(&key_identifier(public), &issuer)].concat();
        let mut serial = [0; 16];
        self.random
            .fill(&mut serial)
            .map_err(|_| "the system has no randomness")?;
        let certificate = Certificate {
            serial,
            issuer: &self.name,
            subject,
            validity: validity(),
            public_key: public,
            extensions: &extensions,
        };
        certificate.sign(|body| {
            let signature = self.pair.sign(&self.random, body);
            Ok(signature.map_err(|_| "a signature failed")?.as_ref().to_vec())
        })
    }
}

fn key(random: &SystemRandom) -> Made<(EcdsaKeyPair, Vec<u8>)> {
    let algorithm = &ECDSA_P256_SHA256_ASN1_SIGNING;
    let pkcs8 = EcdsaKeyPair::generate_pkcs8(algorithm, random).map_err(|_| "a key could not be made")?;
    let pair = EcdsaKeyPair::from_pkcs8(algorithm, pkcs8.as_ref(), random).map_err(|error| error.to_string())?;
    Ok((pair, pkcs8.as_ref().to_vec()))
}

/// RFC 7093, 2: the leftmost 160 bits of the SHA-256 of the key.
fn key_identifier(public: &[u8]) -> Vec<u8> {
    digest::digest(&digest::SHA256, public)
        .as_ref()
        .iter()
        .take(20)
        .copied()
        .collect()
}

fn validity() -> [i64; 2] {
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    let now = i64::try_from(now.as_secs()).unwrap_or_default();
    [now - SLACK, now + VALID]
}
