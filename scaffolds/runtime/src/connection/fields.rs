//! The fields of a kubeconfig's cluster and user. What client-go refuses is refused (`tools/clientcmd/validation.go`, and
//! `TLSConfigFor` of `transport`), with the name of the field. An empty text counts as absent.

use std::fs;

use kube::config::{AuthInfo, Cluster};
use kubewright_machinery::base64::{Encoding, decode};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

/// The fields that are set, by name.
pub(super) struct Fields(Map<String, Value>);

impl Fields {
    pub(super) fn of(part: &impl Serialize) -> Self {
        let mut fields = match serde_json::to_value(part) {
            Ok(Value::Object(fields)) => fields,
            _ => Map::new(),
        };
        fields.retain(|_, value| !(value.is_null() || *value == "" || value.as_array().is_some_and(Vec::is_empty)));
        Self(fields)
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// The first of these fields that is set.
    fn first<'a>(&self, names: &[&'a str]) -> Option<&'a str> {
        names.iter().copied().find(|name| self.has(name))
    }

    /// Refuses a field of the one list beside a field of the other.
    fn not_both(&self, one: &[&str], other: &[&str]) -> Result<(), String> {
        match (self.first(one), self.first(other)) {
            (Some(one), Some(other)) => Err(format!(
                "`{one}` and `{other}` are both set\n\nhint: remove one of them from the kubeconfig"
            )),
            _ => Ok(()),
        }
    }

    /// Refuses a field of the list without the other field.
    fn not_without(&self, names: &[&str], other: &str) -> Result<(), String> {
        match self.first(names).filter(|_| !self.has(other)) {
            Some(name) => Err(format!("`{name}` is set, and `{other}` is not")),
            None => Ok(()),
        }
    }

    /// Refuses files that cannot be read, and data that is not Base64.
    fn are_readable(&self, files: &[&str]) -> Result<(), String> {
        for name in files {
            if let Some(file) = self.text(name) {
                fs::read(file).map_err(|error| format!("`{name}` `{file}`: {error}"))?;
            }
            let data = format!("{name}-data");
            if let Some(text) = self.text(&data) {
                let decoded = decode(text, Encoding::Standard);
                decoded.map_err(|at| format!("`{data}` is not Base64 (at its character {})", at + 1))?;
            }
        }
        Ok(())
    }

    fn back<T: DeserializeOwned>(self) -> Result<T, String> {
        serde_json::from_value(Value::Object(self.0)).map_err(|error| error.to_string())
    }
}

const AUTHORITY: [&str; 2] = ["certificate-authority", "certificate-authority-data"];
const CERTIFICATE: [&str; 2] = ["client-certificate", "client-certificate-data"];
const KEY: [&str; 2] = ["client-key", "client-key-data"];

/// Checks a cluster and its user. The scheme of a `server` without one is `https` if certificates are configured, else
/// `http`.
///
/// # Errors
/// The first field that cannot be used, and why.
pub(super) fn check(cluster: &mut Cluster, user: &mut AuthInfo) -> Result<(), String> {
    let (mut of_cluster, of_user) = (Fields::of(cluster), Fields::of(user));
    let is_insecure = of_cluster.0.get("insecure-skip-tls-verify") == Some(&Value::Bool(true));
    of_cluster.not_both(&AUTHORITY[..1], &AUTHORITY[1..])?;
    if is_insecure {
        of_cluster.not_both(&["insecure-skip-tls-verify"], &AUTHORITY)?;
    }
    of_cluster.are_readable(&AUTHORITY[..1])?;
    check_user(&of_user)?;
    let is_secure = is_insecure || of_cluster.first(&AUTHORITY).is_some() || of_user.first(&CERTIFICATE).is_some();
    let server = server(of_cluster.text("server").unwrap_or_default(), is_secure)?;
    of_cluster.0.insert("server".to_owned(), server.into());
    (*cluster, *user) = (of_cluster.back()?, of_user.back()?);
    Ok(())
}

fn check_user(user: &Fields) -> Result<(), String> {
    for [file, data] in [CERTIFICATE, KEY] {
        user.not_both(&[file], &[data])?;
    }
    if user.first(&KEY).is_none() {
        user.not_without(&CERTIFICATE, "client-key")?;
    }
    if user.first(&CERTIFICATE).is_none() {
        user.not_without(&KEY, "client-certificate")?;
    }
    user.are_readable(&["client-certificate", "client-key"])?;
    user.not_both(&["token", "tokenFile"], &["username", "password"])?;
    user.not_without(&["password"], "username")?;
    user.not_without(&["as-uid", "as-groups", "as-user-extra"], "as")?;
    user.not_both(&["auth-provider"], &["exec"])?;
    if user.has("auth-provider") {
        return Err(no_provider());
    }
    match user.0.get("exec") {
        Some(exec) => check_plugin(&Fields::of(exec)),
        None => Ok(()),
    }
}

/// The error for `auth-provider`, whose plugins are gone from client-go but for `oidc`.
pub(super) fn no_provider() -> String {
    "`auth-provider` is not supported\n\nhint: use a credential plugin (`exec`), such as kubelogin for OpenID Connect"
        .to_owned()
}

fn check_plugin(exec: &Fields) -> Result<(), String> {
    const VERSIONS: [&str; 2] = [
        "client.authentication.k8s.io/v1",
        "client.authentication.k8s.io/v1beta1",
    ];
    if !exec.has("command") {
        return Err("`command` of `exec` is missing".to_owned());
    }
    let version = exec.text("apiVersion").unwrap_or_default();
    if !VERSIONS.contains(&version) {
        return Err(format!(
            "`apiVersion` of `exec` must be `{}` or `{}`, and is `{version}`",
            VERSIONS[0], VERSIONS[1]
        ));
    }
    if version == VERSIONS[0] && !exec.has("interactiveMode") {
        return Err(format!(
            "`interactiveMode` of `exec` is missing, which `{version}` requires\n\n\
             hint: set interactiveMode: Never, IfAvailable or Always in the kubeconfig"
        ));
    }
    Ok(())
}

/// The URL of the API server.
fn server(text: &str, is_secure: bool) -> Result<String, String> {
    let failed = |why: &str| {
        Err(format!(
            "`server` `{text}` {why}\n\nhint: set server: https://HOST:PORT in the kubeconfig"
        ))
    };
    let url = match text.contains("://") {
        true => text.to_owned(),
        false => format!("{}://{text}", if is_secure { "https" } else { "http" }),
    };
    let parsed = url.parse::<http::Uri>();
    match (text, &parsed) {
        ("", _) => Err("`server` is missing".to_owned()),
        (_, Err(error)) => failed(&format!("is not a URL: {error}")),
        (_, Ok(parsed)) if !matches!(parsed.scheme_str(), Some("https" | "http")) => {
            failed("has another scheme than https and http")
        }
        (_, Ok(parsed)) if parsed.host().is_none_or(str::is_empty) => failed("has no host"),
        (_, Ok(parsed)) if !text.contains("://") && parsed.path() != "/" => failed("has a path, and no scheme"),
        _ => Ok(url),
    }
}

/// The certificates of a PEM, as DER.
pub(super) fn certificates(pem: &str) -> Vec<Vec<u8>> {
    let blocks = pem.split("-----BEGIN CERTIFICATE-----").skip(1);
    let ended = blocks.filter_map(|block| block.split_once("-----END CERTIFICATE-----"));
    ended
        .filter_map(|(text, _)| {
            let text: String = text.split_whitespace().collect();
            decode(&text, Encoding::Standard).ok()
        })
        .collect()
}
