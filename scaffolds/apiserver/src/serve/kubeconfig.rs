//! Kubeconfigs: the administrator's, and those of users with a token.

use std::{
    fs,
    io::{self, Write},
    path::Path,
};

use kubewright_machinery::base64::{self, Encoding};
use serde_json::{Value, json};

use super::{Listener, private};

/// The name of the cluster, the user and the context.
const NAME: &str = "kubewright";

/// The administrator's kubeconfig.
pub(super) fn of_admin(listener: &Listener) -> String {
    let mut user = json!({
        "client-certificate-data": pem("CERTIFICATE", &listener.admin.certificate),
        "client-key-data": pem("PRIVATE KEY", &listener.admin.key),
    });
    if let Some(token) = &listener.token {
        user["token"] = token.as_str().into();
    }
    text(listener, &user)
}

/// The kubeconfig of the user with this token.
pub(super) fn of_token(listener: &Listener, token: &str) -> String {
    text(listener, &json!({"token": token}))
}

/// A kubeconfig as YAML, with all certificates and keys embedded.
fn text(listener: &Listener, user: &Value) -> String {
    let cluster = json!({
        "server": format!("https://{}", listener.address),
        "certificate-authority-data": pem("CERTIFICATE", &listener.authority.certificate),
    });
    kubewright_schema::yaml::to_string(&json!({
        "apiVersion": "v1", "kind": "Config", "current-context": NAME,
        "clusters": [{"name": NAME, "cluster": cluster}],
        "users": [{"name": NAME, "user": user}],
        "contexts": [{"name": NAME, "context": {"cluster": NAME, "user": NAME, "namespace": "default"}}],
    }))
}

/// Writes to a temporary file and renames it, so that no reader sees an incomplete kubeconfig.
pub(super) fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder)?;
    }
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}", std::process::id()));
    // A left-over, or a file that somebody else created: never write through it.
    let _ = fs::remove_file(&beside);
    let mut file = private::new_file(Path::new(&beside))?;
    file.write_all(text.as_bytes())?;
    fs::rename(&beside, path)
}

/// PEM (RFC 7468) in base64, as kubeconfigs embed it.
pub fn pem(label: &str, der: &[u8]) -> String {
    base64::encode(crate::pem::text(label, der).as_bytes(), Encoding::Standard)
}
