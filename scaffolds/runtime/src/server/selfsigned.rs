//! Creates a self-signed X.509 certificate (RFC 5280, DER). Hand-written because a library for all forms of
//! certificates adds more to every operator's build than this one form needs.

use std::time::Duration;

use k8s_openapi::jiff::{Timestamp, tz::TimeZone};
use ring::{
    rand::{SecureRandom, SystemRandom},
    signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair},
};
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

/// How long a certificate is valid, as in Go's `GenerateSelfSignedCertKey`.
pub(super) const VALID: Duration = Duration::from_secs(365 * 86_400);

// Object identifiers, encoded.
const EC_PUBLIC_KEY: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
const P256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
const ECDSA_WITH_SHA256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
const SUBJECT_ALT_NAME: &[u8] = &[0x55, 0x1d, 0x11];
const EXTENDED_KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x25];
const SERVER_AUTH: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01];

// Tags.
const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const OCTET_STRING: u8 = 0x04;
const OID: u8 = 0x06;
const UTF8_STRING: u8 = 0x0c;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const DNS_NAME: u8 = 0x82;
const EXPLICIT_0: u8 = 0xa0;
const EXPLICIT_3: u8 = 0xa3;

/// A new P-256 key, and a certificate for these DNS names (at least one) signed with it.
pub(crate) fn make(names: &[&str]) -> Result<(Vec<u8>, PrivateKeyDer<'static>), String> {
    let random = SystemRandom::new();
    let failed = |_| "the key could not be generated".to_owned();
    let algorithm = &ECDSA_P256_SHA256_ASN1_SIGNING;
    let pkcs8 = EcdsaKeyPair::generate_pkcs8(algorithm, &random).map_err(failed)?;
    let key = EcdsaKeyPair::from_pkcs8(algorithm, pkcs8.as_ref(), &random).map_err(|error| error.to_string())?;
    let mut serial = [0; 16];
    random.fill(&mut serial).map_err(failed)?;
    // Positive, and without leading zeros.
    serial[0] = serial[0] & 0x7f | 0x40;

    let now = Timestamp::now();
    // An hour ago, for clients whose clocks are late.
    let from = now
        .checked_sub(Duration::from_secs(3600))
        .map_err(|error| error.to_string())?;
    let until = now.checked_add(VALID).map_err(|error| error.to_string())?;
    let signed_with = der(SEQUENCE, &[&der(OID, &[ECDSA_WITH_SHA256])]);
    let name = name(names.first().copied().unwrap_or_default());
    let body = der(
        SEQUENCE,
        &[
            // Version 3.
            &der(EXPLICIT_0, &[&der(INTEGER, &[&[2]])]),
            &der(INTEGER, &[&serial]),
            &signed_with,
            &name,
            &der(SEQUENCE, &[&time(from), &time(until)]),
            &name,
            &public_key(key.public_key().as_ref()),
            &der(EXPLICIT_3, &[&extensions(names)]),
        ],
    );
    let signature = key.sign(&random, &body).map_err(failed)?;
    let certificate = der(SEQUENCE, &[&body, &signed_with, &bits(signature.as_ref())]);
    Ok((certificate, PrivatePkcs8KeyDer::from(pkcs8.as_ref().to_vec()).into()))
}

fn name(common_name: &str) -> Vec<u8> {
    let attribute = der(
        SEQUENCE,
        &[&der(OID, &[COMMON_NAME]), &der(UTF8_STRING, &[common_name.as_bytes()])],
    );
    der(SEQUENCE, &[&der(SET, &[&attribute])])
}

fn public_key(point: &[u8]) -> Vec<u8> {
    let algorithm = der(SEQUENCE, &[&der(OID, &[EC_PUBLIC_KEY]), &der(OID, &[P256])]);
    der(SEQUENCE, &[&algorithm, &bits(point)])
}

fn extensions(names: &[&str]) -> Vec<u8> {
    let names: Vec<_> = names.iter().map(|name| der(DNS_NAME, &[name.as_bytes()])).collect();
    let names = der(SEQUENCE, &[&names.concat()]);
    let usage = der(SEQUENCE, &[&der(OID, &[SERVER_AUTH])]);
    let extension = |id, value: &[u8]| der(SEQUENCE, &[&der(OID, &[id]), &der(OCTET_STRING, &[value])]);
    der(
        SEQUENCE,
        &[
            &extension(SUBJECT_ALT_NAME, &names),
            &extension(EXTENDED_KEY_USAGE, &usage),
        ],
    )
}

/// RFC 5280, 4.1.2.5: two digits of the year until 2049, four from then on.
fn time(time: Timestamp) -> Vec<u8> {
    let time = time.to_zoned(TimeZone::UTC);
    let (tag, format) = if time.year() < 2050 {
        (UTC_TIME, "%y%m%d%H%M%SZ")
    } else {
        (GENERALIZED_TIME, "%Y%m%d%H%M%SZ")
    };
    der(tag, &[time.strftime(format).to_string().as_bytes()])
}

/// A bit string without unused bits.
fn bits(bytes: &[u8]) -> Vec<u8> {
    der(BIT_STRING, &[&[0], bytes])
}

/// Tag, length and contents.
fn der(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let contents = parts.concat();
    let mut encoded = vec![tag];
    match contents.len() {
        short @ 0..=0x7f => encoded.push(short as u8),
        long => {
            let length = long.to_be_bytes();
            let digits = &length[length.iter().position(|byte| *byte != 0).unwrap_or_default()..];
            encoded.push(0x80 | digits.len() as u8);
            encoded.extend_from_slice(digits);
        }
    }
    encoded.extend_from_slice(&contents);
    encoded
}
