//! X.509 certificates (RFC 5280) of P-256 keys: their names, extensions and encoding. Not the crate `rcgen`, which every project would
//! compile for these few forms of certificates. The caller supplies keys and random numbers.

use crate::der::{
    BOOLEAN, DNS_NAME, EXPLICIT_0, EXPLICIT_3, GENERALIZED_TIME, INTEGER, IP_ADDRESS, KEY_IDENTIFIER, OCTET_STRING,
    OID, SEQUENCE, SET, UTC_TIME, UTF8_STRING, bits, encode,
};
use crate::time;

/// The attribute for the common name.
pub const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
/// The attribute for an organisation.
pub const ORGANIZATION: &[u8] = &[0x55, 0x04, 0x0a];
/// The extension with the purposes of a certificate.
pub const EXTENDED_KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x25];
/// The purpose of a server's certificate.
pub const SERVER_AUTH: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01];
/// The purpose of a client's certificate.
pub const CLIENT_AUTH: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x02];

// Object identifiers, encoded.
const EC_PUBLIC_KEY: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
const P256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
const ECDSA_WITH_SHA256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
const SUBJECT_KEY: &[u8] = &[0x55, 0x1d, 0x0e];
const KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x0f];
const SUBJECT_ALT_NAME: &[u8] = &[0x55, 0x1d, 0x11];
const BASIC_CONSTRAINTS: &[u8] = &[0x55, 0x1d, 0x13];
const AUTHORITY_KEY: &[u8] = &[0x55, 0x1d, 0x23];
// Key usages, as bit strings: digitalSignature; keyCertSign and digitalSignature.
const SIGNS: &[u8] = &[0x03, 0x02, 0x07, 0x80];
const SIGNS_CERTIFICATES: &[u8] = &[0x03, 0x02, 0x02, 0x84];

/// The contents of a certificate.
#[derive(Clone, Copy, Debug)]
pub struct Certificate<'a> {
    /// 16 random bytes.
    pub serial: [u8; 16],
    /// A [`name`].
    pub issuer: &'a [u8],
    /// A [`name`].
    pub subject: &'a [u8],
    /// The period of validity, in seconds since 1970.
    pub validity: [i64; 2],
    /// The subject's key: a point on the curve P-256.
    pub public_key: &'a [u8],
    /// The encoded extensions, concatenated.
    pub extensions: &'a [u8],
}

impl Certificate<'_> {
    /// The certificate in DER. `sign` is ECDSA with SHA-256 by the issuer's key, its signature in ASN.1.
    ///
    /// # Errors
    /// The error of `sign`.
    pub fn sign<E>(&self, sign: impl FnOnce(&[u8]) -> Result<Vec<u8>, E>) -> Result<Vec<u8>, E> {
        let mut serial = self.serial;
        // Positive, and without leading zeros.
        serial[0] = serial[0] & 0x7f | 0x40;
        let signed_with = encode(SEQUENCE, &[&encode(OID, &[ECDSA_WITH_SHA256])]);
        let body = encode(
            SEQUENCE,
            &[
                // Version 3.
                &encode(EXPLICIT_0, &[&encode(INTEGER, &[&[2]])]),
                &encode(INTEGER, &[&serial]),
                &signed_with,
                self.issuer,
                &encode(SEQUENCE, &self.validity.map(date).each_ref().map(Vec::as_slice)),
                self.subject,
                &public_key(self.public_key),
                &encode(EXPLICIT_3, &[&encode(SEQUENCE, &[self.extensions])]),
            ],
        );
        let signature = sign(&body)?;
        Ok(encode(SEQUENCE, &[&body, &signed_with, &bits(&signature)]))
    }
}

/// A name of attributes and their values.
pub fn name(attributes: &[(&[u8], &str)]) -> Vec<u8> {
    let attribute = |(id, value): &(&[u8], &str)| {
        let value = encode(UTF8_STRING, &[value.as_bytes()]);
        encode(SEQUENCE, &[&encode(OID, &[id]), &value])
    };
    let names: Vec<u8> = attributes
        .iter()
        .flat_map(|it| encode(SET, &[&attribute(it)]))
        .collect();
    encode(SEQUENCE, &[&names])
}

/// The extension with the DNS names and IPv4 addresses of a server.
pub fn alternative_names(names: &[&str], addresses: &[[u8; 4]]) -> Vec<u8> {
    let names = names.iter().map(|name| encode(DNS_NAME, &[name.as_bytes()]));
    let addresses = addresses.iter().map(|address| encode(IP_ADDRESS, &[address]));
    let all: Vec<u8> = names.chain(addresses).flatten().collect();
    extension(SUBJECT_ALT_NAME, &encode(SEQUENCE, &[&all]))
}

/// The extension with the purpose of a certificate.
pub fn purpose(purpose: &[u8]) -> Vec<u8> {
    extension(EXTENDED_KEY_USAGE, &encode(SEQUENCE, &[&encode(OID, &[purpose])]))
}

/// The extension for a key that signs data, but no certificates.
pub fn signs() -> Vec<u8> {
    critical(KEY_USAGE, SIGNS)
}

/// The extensions of a certificate authority.
pub fn authority() -> Vec<u8> {
    let constraints = encode(SEQUENCE, &[&encode(BOOLEAN, &[&[0xff]])]);
    [
        critical(BASIC_CONSTRAINTS, &constraints),
        critical(KEY_USAGE, SIGNS_CERTIFICATES),
    ]
    .concat()
}

/// The extensions that name the subject's and the issuer's key by their identifiers.
pub fn keys(subject: &[u8], issuer: &[u8]) -> Vec<u8> {
    let issuer = encode(SEQUENCE, &[&encode(KEY_IDENTIFIER, &[issuer])]);
    [
        extension(SUBJECT_KEY, &encode(OCTET_STRING, &[subject])),
        extension(AUTHORITY_KEY, &issuer),
    ]
    .concat()
}

fn extension(id: &[u8], value: &[u8]) -> Vec<u8> {
    encode(SEQUENCE, &[&encode(OID, &[id]), &encode(OCTET_STRING, &[value])])
}

fn critical(id: &[u8], value: &[u8]) -> Vec<u8> {
    let parts = [
        encode(OID, &[id]),
        encode(BOOLEAN, &[&[0xff]]),
        encode(OCTET_STRING, &[value]),
    ];
    encode(SEQUENCE, &parts.each_ref().map(Vec::as_slice))
}

fn public_key(point: &[u8]) -> Vec<u8> {
    let algorithm = encode(SEQUENCE, &[&encode(OID, &[EC_PUBLIC_KEY]), &encode(OID, &[P256])]);
    encode(SEQUENCE, &[&algorithm, &bits(point)])
}

/// RFC 5280, 4.1.2.5: two digits of the year until 2049, four from then on.
fn date(seconds: i64) -> Vec<u8> {
    let digits: String = time::text(seconds)
        .chars()
        .filter(|c| c.is_ascii_digit() || *c == 'Z')
        .collect();
    match digits.strip_prefix("20").filter(|short| *short < "50") {
        Some(short) => encode(UTC_TIME, &[short.as_bytes()]),
        None => encode(GENERALIZED_TIME, &[digits.as_bytes()]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn years_have_four_digits_from_2050_on() {
        for (seconds, tag, text) in [
            (2_524_607_999, UTC_TIME, "491231235959Z"),
            (2_524_608_000, GENERALIZED_TIME, "20500101000000Z"),
        ] {
            assert_eq!(date(seconds), encode(tag, &[text.as_bytes()]));
        }
    }

    #[test]
    fn a_certificate_is_what_is_signed_then_how_then_the_signature() {
        let name = name(&[(COMMON_NAME, "a")]);
        let certificate = Certificate {
            serial: [0xff; 16],
            issuer: &name,
            subject: &name,
            validity: [0, 1],
            public_key: &[4; 65],
            extensions: &signs(),
        };
        let mut signed = Vec::new();
        let bytes = certificate.sign(|body| {
            signed = body.to_vec();
            Ok::<_, ()>(vec![7])
        });
        let algorithm = encode(SEQUENCE, &[&encode(OID, &[ECDSA_WITH_SHA256])]);
        assert_eq!(bytes, Ok(encode(SEQUENCE, &[&signed, &algorithm, &bits(&[7])])));
        assert!(certificate.sign(|_| Err(1)).is_err());
    }
}
