//! The users of the API server, and their kubeconfigs.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, anyhow};
use ring::{
    rand::{SecureRandom, SystemRandom},
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair},
};
use serde_json::json;

/// Sixteen random bytes in hexadecimal.
pub(crate) fn random() -> Result<String> {
    let mut bytes = [0; 16];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| anyhow!("no random bytes"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The bytes before the point of a P-256 public key in its DER form (RFC 5480).
const P256_PUBLIC_KEY: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce,
    0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];

/// The key pair for service account tokens, as PEM: the key that signs them, and the key that verifies them.
pub(crate) fn service_account_keys() -> Result<(String, String)> {
    let random = SystemRandom::new();
    let private = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random);
    let private = private.map_err(|_| anyhow!("no key"))?;
    let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, private.as_ref(), &random);
    let pair = pair.map_err(|error| anyhow!("no key: {error}"))?;
    let public = [&P256_PUBLIC_KEY, pair.public_key().as_ref()].concat();
    Ok((pem("PRIVATE KEY", private.as_ref())?, pem("PUBLIC KEY", &public)?))
}

fn pem(label: &str, der: &[u8]) -> Result<String> {
    // Kubernetes encodes bytes as base64 too.
    let base64 = serde_json::to_value(k8s_openapi::ByteString(der.to_vec()))?;
    let base64 = base64.as_str().context("a ByteString is a string")?;
    Ok(format!("-----BEGIN {label}-----\n{base64}\n-----END {label}-----\n"))
}

/// The file of static tokens: one line per user, as `token,name,uid,"group,group"`.
pub(crate) fn token_file<'a>(users: impl IntoIterator<Item = (&'a str, &'a str, &'a [String])>) -> String {
    let line =
        |(token, name, groups): (&str, &str, &[String])| format!("{token},{name},{name},\"{}\"\n", groups.join(","));
    users.into_iter().map(line).collect()
}

/// Writes a kubeconfig for the user of `token`; only this user can read the folder.
pub(crate) fn kubeconfig(folder: &Path, port: u16, name: &str, token: &str, namespace: &str) -> Result<PathBuf> {
    let path = folder.join(format!("{}.kubeconfig", name.replace(':', "_")));
    let config = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "test", "cluster": {
            "server": format!("https://127.0.0.1:{port}"),
            "certificate-authority": folder.join("certificates/apiserver.crt"),
        }}],
        "users": [{"name": name, "user": {"token": token}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": name, "namespace": namespace}}],
        "current-context": "test",
    });
    fs::write(&path, config.to_string()).with_context(|| format!("cannot write `{}`", path.display()))?;
    Ok(path)
}
