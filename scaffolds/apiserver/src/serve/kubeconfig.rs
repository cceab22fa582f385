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

/// The administrator's kubeconfig: with the token, or else with a client certificate. Never with both, because a client that cannot read
/// the key of the certificate does not try the token: fabric8's reads no key of an elliptic curve.
pub(super) fn of_admin(listener: &Listener) -> String {
    let user = match &listener.token {
        Some(token) => json!({"token": token}),
        None => json!({
            "client-certificate-data": pem("CERTIFICATE", &listener.admin.certificate),
            "client-key-data": pem("PRIVATE KEY", &listener.admin.key),
        }),
    };
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

/// Whether there is nothing to lose at a path: no file, an empty one, or a kubeconfig that names nothing but this program's cluster.
pub(super) fn may_replace(path: &Path) -> bool {
    let found = match fs::read_to_string(path) {
        Ok(found) => found,
        Err(error) => return error.kind() == io::ErrorKind::NotFound,
    };
    found.trim().is_empty() || is_ours(&found)
}

fn is_ours(text: &str) -> bool {
    let documents = kubewright_schema::yaml::documents(text).unwrap_or_default();
    let [config] = documents.as_slice() else {
        return false;
    };
    let only_ours = |list: &str| {
        let names = config[list]
            .as_array()
            .map(|items| items.iter().map(|item| &item["name"]));
        names.is_some_and(|names| names.collect::<Vec<_>>() == [&json!(NAME)])
    };
    ["clusters", "users", "contexts"].into_iter().all(only_ours)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_kubeconfig_of_this_program_may_be_replaced() {
        let list = |names: &[&str]| json!(names.iter().map(|name| json!({"name": name})).collect::<Vec<_>>());
        let config = |clusters: &[&str], users: &[&str]| {
            json!({"kind": "Config", "clusters": list(clusters), "users": list(users), "contexts": list(&[NAME])})
                .to_string()
        };
        assert!(is_ours(&config(&[NAME], &[NAME])));
        for other in [
            config(&[NAME, "production"], &[NAME]),
            config(&[NAME], &["me", NAME]),
            config(&["production"], &[NAME]),
            config(&[], &[NAME]),
            "my notes".to_owned(),
            "a: [".to_owned(),
            "---\n---\n".to_owned(),
        ] {
            assert!(!is_ours(&other), "{other}");
        }
    }

    #[test]
    fn a_missing_and_an_empty_file_may_be_replaced_and_a_folder_may_not() {
        let folder = private::TemporaryFolder::new().unwrap();
        let file = folder.path().join("kubeconfig");
        assert!(may_replace(&file));
        fs::write(&file, "\n").unwrap();
        assert!(may_replace(&file));
        fs::write(&file, "notes").unwrap();
        assert!(!may_replace(&file));
        assert!(!may_replace(folder.path()));
    }
}
