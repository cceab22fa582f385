//! Parses requests for certificates (PKCS #10, RFC 2986) and verifies their signatures.

use ring::signature::{self, UnparsedPublicKey, VerificationAlgorithm};

use crate::pem;
use kubewright_machinery::der::{BIT_STRING, OID, SEQUENCE, each, read};

/// `organizationName`, 2.5.4.10.
const ORGANIZATION: &[u8] = &[0x55, 0x04, 0x0a];
/// `ecPublicKey` and `rsaEncryption`: the algorithms of keys.
const EC_KEY: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
const RSA_KEY: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
/// `secp224r1`, `prime256v1`, `secp384r1` and `secp521r1`.
const P224: &[u8] = &[0x2b, 0x81, 0x04, 0x00, 0x21];
const P256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
const P384: &[u8] = &[0x2b, 0x81, 0x04, 0x00, 0x22];
const P521: &[u8] = &[0x2b, 0x81, 0x04, 0x00, 0x23];

/// The signed data of a request, its signature, and the key that verifies it.
struct Signed<'b> {
    data: &'b [u8],
    signature: &'b [u8],
    algorithm: &'b [u8],
    /// The parameters of the key's algorithm: its curve.
    curve: &'b [u8],
    key: &'b [u8],
}

/// A signature algorithm that can be verified here.
struct Algorithm {
    id: &'static [u8],
    /// Empty if the key has none.
    curve: &'static [u8],
    verifies: &'static dyn VerificationAlgorithm,
    /// Go's error for an invalid signature.
    failure: &'static str,
}

const ECDSA: &str = "x509: ECDSA verification failure";
const ECDSA_SHA256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
const ECDSA_SHA384: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x03];
const RSA: &str = "crypto/rsa: verification error";
const RSA_SHA256: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0b];
const RSA_SHA384: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0c];
const RSA_SHA512: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0d];
const ED25519: &[u8] = &[0x2b, 0x65, 0x70];

static ALGORITHMS: [Algorithm; 8] = [
    Algorithm::new(ECDSA_SHA256, P256, &signature::ECDSA_P256_SHA256_ASN1, ECDSA),
    Algorithm::new(ECDSA_SHA384, P256, &signature::ECDSA_P256_SHA384_ASN1, ECDSA),
    Algorithm::new(ECDSA_SHA256, P384, &signature::ECDSA_P384_SHA256_ASN1, ECDSA),
    Algorithm::new(ECDSA_SHA384, P384, &signature::ECDSA_P384_SHA384_ASN1, ECDSA),
    Algorithm::new(RSA_SHA256, &[], &signature::RSA_PKCS1_2048_8192_SHA256, RSA),
    Algorithm::new(RSA_SHA384, &[], &signature::RSA_PKCS1_2048_8192_SHA384, RSA),
    Algorithm::new(RSA_SHA512, &[], &signature::RSA_PKCS1_2048_8192_SHA512, RSA),
    Algorithm::new(ED25519, &[], &signature::ED25519, "x509: Ed25519 verification failure"),
];

impl Algorithm {
    const fn new(
        id: &'static [u8],
        curve: &'static [u8],
        verifies: &'static dyn VerificationAlgorithm,
        failure: &'static str,
    ) -> Self {
        Self {
            id,
            curve,
            verifies,
            failure,
        }
    }
}

/// A request.
pub(super) struct Request {
    bytes: Vec<u8>,
}

impl Request {
    /// The first PEM block.
    ///
    /// # Errors
    /// Go's error if the request cannot be parsed.
    pub fn read(pem: &[u8]) -> Result<Self, String> {
        let text = String::from_utf8_lossy(pem);
        let block = pem::blocks(&text).next().filter(|it| it.label == "CERTIFICATE REQUEST");
        let Some(block) = block else {
            return Err("PEM block type must be CERTIFICATE REQUEST".to_owned());
        };
        Self::parse(block.bytes)
    }

    /// A request in DER.
    ///
    /// # Errors
    /// Go's error if the request cannot be parsed.
    pub fn parse(bytes: Vec<u8>) -> Result<Self, String> {
        let request = Self { bytes };
        let (_, _, rest) = read(&request.bytes).ok_or("asn1: syntax error: data truncated")?;
        if !rest.is_empty() {
            return Err("asn1: syntax error: trailing data".to_owned());
        }
        request
            .signed()
            .ok_or("asn1: structure error: this is no certificate request")?;
        Ok(request)
    }

    /// Verifies the signature if its algorithm is supported here.
    ///
    /// # Errors
    /// Go's error if the signature is invalid.
    pub fn verify(&self) -> Result<(), String> {
        let Some(signed) = self.signed() else { return Ok(()) };
        let is_it = |it: &&Algorithm| it.id == signed.algorithm && (it.curve.is_empty() || it.curve == signed.curve);
        let Some(algorithm) = ALGORITHMS.iter().find(is_it) else {
            return Ok(());
        };
        let key = UnparsedPublicKey::new(algorithm.verifies, signed.key);
        key.verify(signed.data, signed.signature)
            .map_err(|_| algorithm.failure.to_owned())
    }

    /// The key of the subject with its algorithm.
    pub fn key(&self) -> &[u8] {
        let key = self.info().and_then(|info| each(info).nth(2));
        key.map_or(&[], |(_, key)| key)
    }

    /// The reason that certificates of Pods cannot have the key, with the value that Go's error shows.
    pub fn key_fault(&self) -> Option<(Option<String>, &'static str)> {
        let parts: Vec<&[u8]> = each(self.key()).map(|(_, part)| part).collect();
        let [algorithm, key] = parts[..] else { return None };
        let ids: Vec<&[u8]> = each(algorithm).map(|(_, id)| id).collect();
        match ids[..] {
            [ED25519] => None,
            [EC_KEY, P256 | P384 | P521] => None,
            [EC_KEY, P224] => Some((
                Some("curve P-224".to_owned()),
                "elliptic public keys must use curve P256, P384, or P521",
            )),
            [RSA_KEY, ..] => {
                let modulus = key.get(1..).and_then(read).and_then(|(_, key, _)| read(key));
                let digits = modulus.map_or(&[][..], |(_, digits, _)| digits);
                let bits = 8 * digits.iter().skip_while(|byte| **byte == 0).count();
                let detail = "RSA keys must have modulus size 3072 or 4096";
                (![3072, 4096].contains(&bits)).then(|| (Some(format!("{bits}-bit modulus")), detail))
            }
            _ => Some((
                None,
                "unknown public key type; supported types are Ed25519, ECDSA, and RSA",
            )),
        }
    }

    /// The organisations of the subject.
    pub fn organizations(&self) -> Vec<String> {
        let attributes = self.info().into_iter().flat_map(|info| each(info).nth(1));
        let attributes = attributes
            .flat_map(|(_, subject)| each(subject))
            .flat_map(|(_, set)| each(set));
        let values = attributes.filter_map(|(_, attribute)| match read(attribute) {
            Some((OID, ORGANIZATION, value)) => read(value),
            _ => None,
        });
        values
            .map(|(_, value, _)| String::from_utf8_lossy(value).into_owned())
            .collect()
    }

    /// The signed part: version, subject, key and attributes.
    fn info(&self) -> Option<&[u8]> {
        let (SEQUENCE, request, _) = read(&self.bytes)? else {
            return None;
        };
        match read(request)? {
            (SEQUENCE, info, _) => Some(info),
            _ => None,
        }
    }

    fn signed(&self) -> Option<Signed<'_>> {
        let (_, request, _) = read(&self.bytes)?;
        let (_, _, behind) = read(request)?;
        let data = &request[..request.len() - behind.len()];
        let (SEQUENCE, algorithm, behind) = read(behind)? else {
            return None;
        };
        let (_, algorithm, _) = read(algorithm)?;
        let (BIT_STRING, signature, _) = read(behind)? else {
            return None;
        };
        let (SEQUENCE, key) = each(self.info()?).nth(2)? else {
            return None;
        };
        let (SEQUENCE, kind, key) = read(key)? else { return None };
        let (_, _, parameters) = read(kind)?;
        let curve = read(parameters).filter(|(tag, _, _)| *tag == OID);
        let (BIT_STRING, key, _) = read(key)? else { return None };
        Some(Signed {
            data,
            // The first byte is the number of unused bits in the last byte.
            signature: signature.get(1..)?,
            algorithm,
            curve: curve.map_or(&[], |(_, curve, _)| curve),
            key: key.get(1..)?,
        })
    }
}
