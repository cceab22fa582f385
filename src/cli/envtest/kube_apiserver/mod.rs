//! The program `kube-apiserver` that envtest starts: `kubewright apiserver` with the flags of the real one.

mod files;
mod plugins;
mod table;

use super::flags::Given;
use crate::cli::{apiserver, ask::Usage, report};
use anyhow::{Context, Result};
use kubewright_apiserver::serve::Endpoint;
#[cfg(feature = "http2")]
use kubewright_apiserver::serve::STREAMS;
use kubewright_apiserver::{ApiServer, Authorization, Controllers, Issuer, Options};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use table::KUBE_APISERVER;

/// The port unless another one is given.
const PORT: u16 = 6443;

/// Serves until it is stopped.
pub fn run(arguments: Vec<String>) -> Result<()> {
    let given = KUBE_APISERVER.read(arguments)?;
    if let Some(text) = KUBE_APISERVER.information(&given)? {
        return report::result(&text);
    }
    plugins::check(&given)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.context("cannot start threads")?.block_on(serve(&given))
}

async fn serve(given: &Given) -> Result<()> {
    let stop = apiserver::stop_signal()?;
    let address = address(given)?;
    let certificates = files::certificates(given, address.ip())?;
    let options = Options {
        certificate_authority: certificates.authority(),
        ..options(given, address)?
    };
    #[cfg(feature = "http2")]
    let http2 = streams(given)?;
    let endpoint = Endpoint::bind(address, certificates).await?;
    #[cfg(feature = "http2")]
    let endpoint = endpoint.with_http2(http2);
    let server = ApiServer::new(options);
    let running = endpoint.serve(server);
    report::note(&format!(
        "kubewright in the place of kube-apiserver: https://{address} is ready"
    ));
    stop.await;
    running.shutdown().await;
    Ok(())
}

fn options(given: &Given, address: SocketAddr) -> Result<Options> {
    let host = match given.last("external-hostname") {
        Some(host) => host.to_owned(),
        None => ip(given, "advertise-address")?.unwrap_or(address.ip()).to_string(),
    };
    let reached = match host.contains(':') {
        true => format!("[{host}]:{}", address.port()),
        false => format!("{host}:{}", address.port()),
    };
    let authorization = authorization(given)?;
    Ok(Options {
        tokens: files::tokens(given)?,
        controllers: controllers(given)?,
        authorization,
        issuer: issuer(given, &reached)?,
        // As in the real server, where everything is allowed at least somebody has to ask.
        refuses_anonymous: authorization == Authorization::AlwaysAllow || !given.is_set("anonymous-auth", true)?,
        address: reached,
        ..Options::default()
    })
}

fn address(given: &Given) -> Result<SocketAddr> {
    let ip = ip(given, "bind-address")?.unwrap_or(Ipv4Addr::LOCALHOST.into());
    let port = match given.last("secure-port") {
        None => PORT,
        Some(text) => text.parse().ok().filter(|port| *port != 0).ok_or_else(|| {
            Usage::error(format!(
                "`--secure-port={text}`: must be between 1 and 65535, inclusive. It cannot be turned off with 0"
            ))
        })?,
    };
    Ok(SocketAddr::new(ip, port))
}

/// The maximum of requests in progress on a connection of HTTP/2; `None` if HTTP/2 is turned off.
#[cfg(feature = "http2")]
fn streams(given: &Given) -> Result<Option<u32>> {
    const NAME: &str = "http2-max-streams-per-connection";
    let streams = match given.last(NAME) {
        None => 0,
        Some(text) => text
            .parse()
            .map_err(|_| Usage::error(format!("`--{NAME}={text}`: not a number of requests")))?,
    };
    // Zero is the default in the real server, too.
    let streams = if streams == 0 { STREAMS } else { streams };
    let off = given.is_set("disable-http2-serving", false)?;
    Ok((!off).then_some(streams))
}

fn ip(given: &Given, name: &str) -> Result<Option<IpAddr>> {
    let refused = |text: &str| Usage::error(format!("`--{name}={text}`: not an IP address"));
    given
        .last(name)
        .map(|text| text.parse().map_err(|_| refused(text)))
        .transpose()
}

/// As in the real server, one of the modes has to allow a request; without a mode everything is allowed.
fn authorization(given: &Given) -> Result<Authorization> {
    let modes = given.list("authorization-mode");
    if let Some(other) = modes.iter().find(|mode| !["RBAC", "AlwaysAllow"].contains(*mode)) {
        return Err(KUBE_APISERVER.refuse(&format!("`--authorization-mode={other}` cannot be honoured")));
    }
    Ok(match modes.is_empty() || modes.contains(&"AlwaysAllow") {
        true => Authorization::AlwaysAllow,
        false => Authorization::Rbac,
    })
}

/// The real server runs no controllers, so this one runs a controller only if a flag enables it.
fn controllers(given: &Given) -> Result<Controllers> {
    let mut controllers = Controllers::NONE;
    for name in given.list("enable-controllers") {
        *match name {
            "garbage-collector" => &mut controllers.garbage_collector,
            "namespaces" => &mut controllers.namespaces,
            "cluster-roles" => &mut controllers.cluster_roles,
            "resource-quotas" => &mut controllers.resource_quotas,
            "policy-types" => &mut controllers.policy_types,
            "service-accounts" => &mut controllers.service_accounts,
            "workloads" => &mut controllers.workloads,
            _ => {
                return Err(Usage::error(format!(
                    "`--enable-controllers={name}`: not garbage-collector, namespaces, cluster-roles, resource-quotas, policy-types, \
                     service-accounts or workloads"
                )));
            }
        } = true;
    }
    Ok(controllers)
}

/// The issuer of service accounts' tokens: all of its flags are set, or no flag.
fn issuer(given: &Given, reached: &str) -> Result<Option<Issuer>> {
    const NEEDED: [&str; 2] = ["service-account-issuer", "service-account-signing-key-file"];
    const ALL: [&str; 4] = [NEEDED[0], NEEDED[1], "service-account-key-file", "api-audiences"];
    let key = files::signing_key(given)?;
    let (Some(name), Some(key)) = (given.all(NEEDED[0]).first(), key) else {
        return match ALL.iter().find(|name| !given.all(name).is_empty()) {
            None => Ok(None),
            Some(name) => Err(Usage::error(format!(
                "`--{name}` needs `--{}` and `--{}`",
                NEEDED[0], NEEDED[1]
            ))),
        };
    };
    let audiences = given.list("api-audiences").into_iter().map(str::to_owned);
    Ok(Some(Issuer::new(name, key, reached, audiences.collect())))
}
