//! The configuration of the client: which kubeconfigs are read and merged, and what they and the environment mean for it.

use std::{
    env, fs,
    io::{ErrorKind, IsTerminal as _, stdin},
    path::{Path, PathBuf},
};

use http::Uri;
use kube::{
    Config,
    config::{AuthInfo, Cluster, KubeConfigOptions, Kubeconfig, KubeconfigError, NamedAuthInfo},
};

use super::{
    fields, plugin, pod,
    proxy::{self, Environment},
};

/// The configuration of the client, from the first of these that exists: `kubeconfig` (the flag `--kubeconfig`), the files of
/// the environment variable `KUBECONFIG`, the pod's service account, `~/.kube/config`. This is controller-runtime's order
/// (`pkg/client/config/config.go`).
///
/// # Errors
/// If the first one that exists cannot be read or has a field that cannot be used, or none exists.
pub(crate) async fn config(kubeconfig: Option<&Path>) -> Result<Config, String> {
    if let Some(path) = kubeconfig {
        return from_files(&[path.to_owned()], &format!("--kubeconfig `{}`", path.display())).await;
    }
    let listed = env::var_os("KUBECONFIG").unwrap_or_default();
    let listed: Vec<_> = env::split_paths(&listed)
        .filter(|path| !path.as_os_str().is_empty())
        .collect();
    if !listed.is_empty() {
        return from_files(&existing(listed)?, "KUBECONFIG").await;
    }
    let in_cluster = match pod::config(Path::new(pod::ACCOUNT), |name| env::var(name).ok()) {
        Ok(config) => return Ok(config),
        Err(why) => why,
    };
    let home = env::home_dir().map(|home| home.join(".kube").join("config"));
    match home.filter(|path| path.exists()) {
        Some(path) => from_files(std::slice::from_ref(&path), &format!("`{}`", path.display())).await,
        None => Err(format!(
            "no API server to talk to: not in a pod ({in_cluster}), and there is no `~/.kube/config`\n\n\
             hint: set KUBECONFIG"
        )),
    }
}

/// The files of the list that exist: kubectl skips the others.
pub(super) fn existing(listed: Vec<PathBuf>) -> Result<Vec<PathBuf>, String> {
    let is_missing = |path: &PathBuf| fs::metadata(path).is_err_and(|error| error.kind() == ErrorKind::NotFound);
    let (missing, existing): (Vec<_>, Vec<_>) = listed.into_iter().partition(is_missing);
    if existing.is_empty() {
        let names: Vec<_> = missing.iter().map(|path| format!("`{}`", path.display())).collect();
        return Err(format!(
            "KUBECONFIG: there is no file {}\n\nhint: correct KUBECONFIG, or unset it to use the pod's service account or \
             ~/.kube/config",
            names.join(" or ")
        ));
    }
    Ok(existing)
}

/// The configuration of the merged files: of each name, and of the current context, the first one counts.
async fn from_files(paths: &[PathBuf], source: &str) -> Result<Config, String> {
    let mut merged = Kubeconfig::default();
    for path in paths {
        let read = Kubeconfig::read_from(path).and_then(|mut file| {
            file.current_context.take_if(|name| name.is_empty());
            without_empty_paths(&mut file, path);
            merged.clone().merge(file)
        });
        // kube's error contains the path only if the file cannot be opened. Below its first line it quotes the file, with tokens
        // and keys.
        let why = |error: KubeconfigError| error.to_string().lines().next().unwrap_or_default().to_owned();
        merged = read.map_err(|error| match paths {
            [_] => format!("{source}: {}", why(error)),
            _ => format!("{source}: `{}`: {}", path.display(), why(error)),
        })?;
    }
    from_merged(merged, &Environment::read())
        .await
        .map_err(|why| format!("{source}: {why}"))
}

/// Removes the paths that were empty in the file, which kube has made paths of the file's folder.
fn without_empty_paths(file: &mut Kubeconfig, path: &Path) {
    let empty = path.parent().map(|folder| folder.join(""));
    let is_empty = |field: &mut String| empty.as_ref().is_some_and(|empty| empty.as_os_str() == field.as_str());
    for cluster in file.clusters.iter_mut().filter_map(|named| named.cluster.as_mut()) {
        cluster.certificate_authority.take_if(is_empty);
    }
    for user in file.auth_infos.iter_mut().filter_map(|named| named.auth_info.as_mut()) {
        for field in [&mut user.client_certificate, &mut user.client_key, &mut user.token_file] {
            field.take_if(is_empty);
        }
    }
}

/// The configuration of the current context, whose fields are checked as client-go checks them.
pub(super) async fn from_merged(mut file: Kubeconfig, environment: &Environment) -> Result<Config, String> {
    let (mut named, mut authority) = (None, None);
    // Without a current context, or its cluster, kube's error names what is missing.
    if let Some((cluster, user)) = current(&mut file) {
        fields::check(cluster, user)?;
        authority = cluster.certificate_authority.clone();
        named = cluster.proxy_url.take();
        // kube reads HTTPS_PROXY, for every server and with other rules, if a cluster names no proxy.
        cluster.proxy_url = Some("http://unused.invalid".to_owned());
    }
    let mut config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default())
        .await
        .map_err(|error| error.to_string())?;
    config.proxy_url = match &named {
        Some(named) => Some(proxy_url(named)?),
        None => environment.proxy_of(&config.cluster_url)?,
    };
    if let Some(cluster) = config.auth_info.exec.as_mut().and_then(|exec| exec.cluster.as_mut()) {
        cluster.proxy_url = named;
    }
    if config.root_cert.as_ref().is_some_and(Vec::is_empty) {
        let name = if authority.is_some() { "" } else { "-data" };
        return Err(format!("`certificate-authority{name}` contains no certificate"));
    }
    config.root_cert_file = authority.map(PathBuf::from);
    if config.default_namespace.is_empty() {
        config.default_namespace = "default".to_owned();
    }
    plugin::check(&mut config.auth_info, stdin().is_terminal())?;
    Ok(config)
}

/// The cluster and the user of the current context. A context may name no user, or one that the file does not have.
fn current(file: &mut Kubeconfig) -> Option<(&mut Cluster, &mut AuthInfo)> {
    let name = file.current_context.as_ref()?;
    let context = file.contexts.iter_mut().find(|context| context.name == *name)?;
    let context = context.context.as_mut()?;
    let cluster = file.clusters.iter_mut().find(|named| named.name == context.cluster)?;
    let cluster = cluster.cluster.as_mut()?;
    let user = context.user.get_or_insert_default();
    if !file.auth_infos.iter().any(|named| named.name == *user) {
        let name = user.clone();
        file.auth_infos.push(NamedAuthInfo {
            name,
            ..NamedAuthInfo::default()
        });
    }
    let user = file.auth_infos.iter_mut().find(|named| named.name == *user)?;
    Some((cluster, user.auth_info.get_or_insert_default()))
}

/// The URL of `proxy-url`, which must name its scheme, as in client-go.
fn proxy_url(text: &str) -> Result<Uri, String> {
    let checked = match text.contains("://") {
        true => proxy::url(text),
        false => Err(format!("`{text}` has no scheme")),
    };
    checked.map_err(|why| format!("`proxy-url`: {why}\n\nhint: set proxy-url: http://HOST:PORT in the kubeconfig"))
}
