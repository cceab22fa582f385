//! X.509 certificates (RFC 5280): an authority's, a server's and a client's. Encoded here, because three certificates
//! of fixed forms cost less build time in every project than a library for all of X.509.

use std::time::SystemTime;

use ring::{
    digest,
    rand::{SecureRandom, SystemRandom},
    signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair},
};

use super::der::{
    BOOLEAN, DNS_NAME, EXPLICIT_0, EXPLICIT_3, GENERALIZED_TIME, INTEGER, IP_ADDRESS, KEY_IDENTIFIER, OCTET_STRING,
    OID, SEQUENCE, SET, UTC_TIME, UTF8_STRING, bits, der,
};
use crate::meta;

/// The names in the server's certificate: those that a real cluster's server has.
const SERVER_NAMES: [&str; 5] = [
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
];
const LOOPBACK: [u8; 4] = [127, 0, 0, 1];
/// How long certificates are valid, in seconds. They end with the process, which may run long.
const VALID: i64 = 365 * 86_400;
/// How many seconds before their creation certificates become valid, for clients whose clocks are behind.
const SLACK: i64 = 3_600;

// Object identifiers, DER-encoded.
const EC_PUBLIC_KEY: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
const P256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
const ECDSA_WITH_SHA256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
pub(super) const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
pub(super) const ORGANIZATION: &[u8] = &[0x55, 0x04, 0x0a];
const SUBJECT_KEY: &[u8] = &[0x55, 0x1d, 0x0e];
const KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x0f];
const SUBJECT_ALT_NAME: &[u8] = &[0x55, 0x1d, 0x11];
const BASIC_CONSTRAINTS: &[u8] = &[0x55, 0x1d, 0x13];
const AUTHORITY_KEY: &[u8] = &[0x55, 0x1d, 0x23];
const EXTENDED_KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x25];
const SERVER_AUTH: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01];
const CLIENT_AUTH: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x02];
// Key usages, as bit strings: digitalSignature; keyCertSign and digitalSignature.
const SIGNS: &[u8] = &[0x03, 0x02, 0x07, 0x80];
const SIGNS_CERTIFICATES: &[u8] = &[0x03, 0x02, 0x02, 0x84];

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
        let constraints = der(SEQUENCE, &[&der(BOOLEAN, &[&[0xff]])]);
        let extensions = [
            critical(BASIC_CONSTRAINTS, &constraints),
            critical(KEY_USAGE, SIGNS_CERTIFICATES),
        ]
        .concat();
        authority.certificate = authority.sign(&authority.name, &public, &extensions)?;
        Ok(authority)
    }

    /// A certificate for a server on loopback.
    pub fn server(&self) -> Made<Issued> {
        let names: Vec<u8> = SERVER_NAMES
            .iter()
            .flat_map(|name| der(DNS_NAME, &[name.as_bytes()]))
            .collect();
        let names = der(SEQUENCE, &[&names, &der(IP_ADDRESS, &[&LOOPBACK])]);
        self.issue(
            &name(&[(COMMON_NAME, "kube-apiserver")]),
            &extension(SUBJECT_ALT_NAME, &names),
            SERVER_AUTH,
        )
    }

    /// A certificate for a user of this name in these groups.
    pub fn client(&self, user: &str, groups: &[&str]) -> Made<Issued> {
        let mut attributes: Vec<_> = groups.iter().map(|group| (ORGANIZATION, *group)).collect();
        attributes.push((COMMON_NAME, user));
        self.issue(&name(&attributes), &[], CLIENT_AUTH)
    }

    fn issue(&self, subject: &[u8], extensions: &[u8], usage: &[u8]) -> Made<Issued> {
        let (pair, pkcs8) = key(&self.random)?;
        let usage = der(SEQUENCE, &[&der(OID, &[usage])]);
        let extensions = [
            extensions,
            &critical(KEY_USAGE, SIGNS),
            &extension(EXTENDED_KEY_USAGE, &usage),
        ]
        .concat();
        let certificate = self.sign(subject, pair.public_key().as_ref(), &extensions)?;
        Ok(Issued {
            certificate,
            key: pkcs8,
        })
    }

    fn sign(&self, subject: &[u8], public: &[u8], extensions: &[u8]) -> Made<Vec<u8>> {
        let signed_with = der(SEQUENCE, &[&der(OID, &[ECDSA_WITH_SHA256])]);
        let identifier = key_identifier(self.pair.public_key().as_ref());
        let authority_key = der(SEQUENCE, &[&der(KEY_IDENTIFIER, &[&identifier])]);
        let extensions = [
            extensions,
            &extension(SUBJECT_KEY, &der(OCTET_STRING, &[&key_identifier(public)])),
            &extension(AUTHORITY_KEY, &authority_key),
        ]
        .concat();
        let body = der(
            SEQUENCE,
            &[
                // Version 3.
                &der(EXPLICIT_0, &[&der(INTEGER, &[&[2]])]),
                &der(INTEGER, &[&self.serial()?]),
                &signed_with,
                &self.name,
                &validity(),
                subject,
                &public_key(public),
                &der(EXPLICIT_3, &[&der(SEQUENCE, &[&extensions])]),
            ],
        );
        let signature = self.pair.sign(&self.random, &body).map_err(|_| "a signature failed")?;
        Ok(der(SEQUENCE, &[&body, &signed_with, &bits(signature.as_ref())]))
    }

    /// A serial number: positive, without leading zeros.
    fn serial(&self) -> Made<[u8; 16]> {
        let mut serial = [0; 16];
        self.random
            .fill(&mut serial)
            .map_err(|_| "the system has no randomness")?;
        serial[0] = serial[0] & 0x7f | 0x40;
        Ok(serial)
    }
}

fn key(random: &SystemRandom) -> Made<(EcdsaKeyPair, Vec<u8>)> {
    let algorithm = &ECDSA_P256_SHA256_ASN1_SIGNING;
    let pkcs8 = EcdsaKeyPair::generate_pkcs8(algorithm, random).map_err(|_| "a key could not be made")?;
    let pair = EcdsaKeyPair::from_pkcs8(algorithm, pkcs8.as_ref(), random).map_err(|error| error.to_string())?;
    Ok((pair, pkcs8.as_ref().to_vec()))
}

fn name(attributes: &[(&[u8], &str)]) -> Vec<u8> {
    let attribute =
        |(id, value): &(&[u8], &str)| der(SEQUENCE, &[&der(OID, &[id]), &der(UTF8_STRING, &[value.as_bytes()])]);
    let names: Vec<u8> = attributes.iter().flat_map(|it| der(SET, &[&attribute(it)])).collect();
    der(SEQUENCE, &[&names])
}

fn public_key(point: &[u8]) -> Vec<u8> {
    let algorithm = der(SEQUENCE, &[&der(OID, &[EC_PUBLIC_KEY]), &der(OID, &[P256])]);
    der(SEQUENCE, &[&algorithm, &bits(point)])
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

fn extension(id: &[u8], value: &[u8]) -> Vec<u8> {
    der(SEQUENCE, &[&der(OID, &[id]), &der(OCTET_STRING, &[value])])
}

fn critical(id: &[u8], value: &[u8]) -> Vec<u8> {
    der(
        SEQUENCE,
        &[
            &der(OID, &[id]),
            &der(BOOLEAN, &[&[0xff]]),
            &der(OCTET_STRING, &[value]),
        ],
    )
}

fn validity() -> Vec<u8> {
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    let now = i64::try_from(now.as_secs()).unwrap_or_default();
    der(SEQUENCE, &[&time(now - SLACK), &time(now + VALID)])
}

/// RFC 5280, 4.1.2.5: years have two digits until 2049, then four.
fn time(seconds: i64) -> Vec<u8> {
    let digits: String = meta::time::text(seconds)
        .chars()
        .filter(|c| c.is_ascii_digit() || *c == 'Z')
        .collect();
    match digits.strip_prefix("20").filter(|short| short < &"50") {
        Some(short) => der(UTC_TIME, &[short.as_bytes()]),
        None => der(GENERALIZED_TIME, &[digits.as_bytes()]),
    }
}
