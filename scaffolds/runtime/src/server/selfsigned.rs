//! Makes a self-signed certificate of the operator's own servers.

use std::time::{Duration, SystemTime};

use kubewright_machinery::x509::{COMMON_NAME, Certificate, SERVER_AUTH, alternative_names, name, purpose};
use ring::{
    rand::{SecureRandom, SystemRandom},
    signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair},
};
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

/// The validity of a certificate, as in Go's `GenerateSelfSignedCertKey`.
pub(super) const VALID: Duration = Duration::from_secs(365 * 86_400);
/// For clients whose clocks are behind.
const SLACK: Duration = Duration::from_secs(3_600);

/// A new P-256 key, and a certificate for these DNS names (at least one) signed with it.
pub(crate) fn make(names: &[&str]) -> Result<(Vec<u8>, PrivateKeyDer<'static>), String> {
    let random = SystemRandom::new();
    let failed = |_| "the key could not be generated".to_owned();
    let algorithm = &ECDSA_P256_SHA256_ASN1_SIGNING;
    let pkcs8 = EcdsaKeyPair::generate_pkcs8(algorithm, &random).map_err(failed)?;
    let key = EcdsaKeyPair::from_pkcs8(algorithm, pkcs8.as_ref(), &random).map_err(|error| error.to_string())?;
    let mut serial = [0; 16];
    random.fill(&mut serial).map_err(failed)?;
    let now = SystemTime::UNIX_EPOCH.elapsed().map_err(|error| error.to_string())?;
    let seconds = |time: Duration| i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    let name = name(&[(COMMON_NAME, names.first().copied().unwrap_or_default())]);
    let certificate = Certificate {
        serial,
        issuer: &name,
        subject: &name,
        validity: [seconds(now.saturating_sub(SLACK)), seconds(now + VALID)],
        public_key: key.public_key().as_ref(),
        extensions: &[alternative_names(names, &[]), purpose(SERVER_AUTH)].concat(),
    };
    let certificate = certificate.sign(|body| {
        let signature = key.sign(&random, body).map_err(failed)?;
        Ok::<_, String>(signature.as_ref().to_vec())
    })?;
    Ok((certificate, PrivatePkcs8KeyDer::from(pkcs8.as_ref().to_vec()).into()))
}
