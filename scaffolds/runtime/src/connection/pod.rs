//! The configuration of the client in a pod: the variables that kubelet sets, and the files of the service account, as
//! `rest.InClusterConfig` of client-go reads them.

use std::{fs, net::IpAddr, path::Path};

use http::Uri;
use kube::Config;

use super::{fields, proxy::Environment};

/// The folder in which the kubelet mounts the files of the service account.
pub(super) const ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// The configuration of the pod with these variables and this folder of its service account, whose token and certificate
/// authority may rotate. The proxy is from the variables, unless `NO_PROXY` lists the address of the API server.
///
/// # Errors
/// If a variable or a file is missing, or names a proxy that cannot be used.
pub(crate) fn config(account: &Path, get: impl Fn(&str) -> Option<String>) -> Result<Config, String> {
    let variable = |name: &str| {
        let value = get(name).filter(|value| !value.is_empty());
        value.ok_or_else(|| format!("`{name}` is not set"))
    };
    let (host, port) = (
        variable("KUBERNETES_SERVICE_HOST")?,
        variable("KUBERNETES_SERVICE_PORT")?,
    );
    let host = match host.parse() {
        Ok(IpAddr::V6(address)) => format!("[{address}]"),
        _ => host,
    };
    let server = format!("https://{host}:{port}");
    let url: Uri = server.parse().map_err(|error| format!("`{server}`: {error}"))?;
    let file = |name: &str| account.join(name).to_string_lossy().into_owned();
    let read = |name: &str| fs::read_to_string(file(name)).map_err(|error| format!("`{}`: {error}", file(name)));
    let mut config = Config::new(url);
    // As client-go does: the variable first. A projected volume of the author's may lack the file.
    let namespace = match variable("POD_NAMESPACE") {
        Ok(named) => named,
        Err(unset) => read("namespace").map_err(|why| format!("{why}, and {unset}"))?,
    };
    config.default_namespace = namespace.trim().to_owned();
    let authorities = fields::certificates(&read("ca.crt")?);
    if authorities.is_empty() {
        return Err(format!("`{}` contains no certificate", file("ca.crt")));
    }
    config.root_cert = Some(authorities);
    config.root_cert_file = Some(file("ca.crt").into());
    read("token")?;
    config.auth_info.token_file = Some(file("token"));
    config.proxy_url = Environment::of(get).proxy_of(&config.cluster_url)?;
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_namespace_is_in_a_variable_or_a_file() {
        let error = |named: Option<&str>| {
            let get = |name: &str| match name {
                "POD_NAMESPACE" => named.map(str::to_owned),
                _ => Some("1".to_owned()),
            };
            config(Path::new("/missing"), get).unwrap_err()
        };
        let unnamed = error(None);
        assert!(unnamed.starts_with("`/missing/namespace`: ") && unnamed.ends_with(", and `POD_NAMESPACE` is not set"));
        assert!(error(Some("here")).starts_with("`/missing/ca.crt`: "));
    }
}
