//! Finds the API server and its credentials, and connects to it: kubeconfigs, in-cluster, proxies. The command line compiles
//! this module too, so the module imports nothing of its crate.

mod authorization;
mod connector;
mod credentials;
mod fields;
mod kubeconfig;
mod plugin;
pub(crate) mod pod;
mod proxy;
mod renewal;
mod socks;

use std::{sync::Arc, time::Duration};

use http::{HeaderValue, Request, Response, Uri, header::PROXY_AUTHORIZATION};
use http_body_util::BodyExt as _;
use hyper::rt::{Read, Write};
use hyper_rustls::{FixedServerNameResolver, HttpsConnector};
use hyper_util::{
    client::legacy::{
        self,
        connect::{Connection, HttpConnector},
    },
    rt::TokioExecutor,
};
use kube::{
    Config,
    client::{Body, ClientBuilder, ConfigExt as _, DynBody, retry::RetryPolicy},
};
use tokio::time::timeout;
use tower::{
    BoxError, Layer as _, Service, ServiceExt as _,
    retry::RetryLayer,
    service_fn,
    util::{BoxService, option_layer},
};

use self::{connector::Connector, credentials::Credentials, proxy::Proxy};

pub(crate) use self::kubeconfig::config;

/// Sends requests to the API server.
type Transport = BoxService<Request<Body>, Response<Box<DynBody>>, BoxError>;

/// The limit of a connection over TCP, which the addresses of a name share: if the first of two does not answer, the second is tried
/// within the five seconds of a request for the lease.
const CONNECT: Duration = Duration::from_secs(8);
/// The silence after which the other side is asked whether it is there (Go's `net.Dialer`, and client-go's HTTP/2 connections).
const KEEPALIVE: Duration = Duration::from_secs(30);
/// The time after which a packet that nobody acknowledges ends its connection: client-go's `ReadIdleTimeout` and `PingTimeout`.
#[cfg(target_os = "linux")]
const UNACKNOWLEDGED: Duration = Duration::from_secs(45);

/// Prints what the process waits for.
pub(crate) type Note = fn(&str);

/// A client of the API server of `config`, through the proxy of `config` if it has one. It reads token files, and the files of
/// certificates, again once per minute. A credential plugin runs now, and again when its credentials have ended or were
/// refused; `note` gets who has to be waited for.
///
/// # Errors
/// If credentials, certificates or the proxy cannot be used.
pub(crate) fn builder(config: Config, note: Note) -> Result<ClientBuilder<Credentials>, String> {
    let namespace = config.default_namespace.clone();
    Ok(ClientBuilder::new(Credentials::new(config, note)?, namespace))
}

/// The connections to the API server of `config`, without credentials but the client certificate. Unlike kube's own, they notice
/// that the other side is gone.
fn transport(config: &Config) -> Result<Transport, String> {
    let Some(proxy) = &config.proxy_url else {
        return requests(config, tcp(), None);
    };
    let proxy = Proxy::new(proxy)?;
    // A tunnel needs the user of the proxy once; a proxy that forwards requests needs it in each.
    let forwards = !proxy.is_socks && config.cluster_url.scheme_str() == Some("http");
    let authorization = proxy.authorization().filter(|_| forwards);
    let tls = config.rustls_client_config().map_err(|error| error.to_string())?;
    let dial = HttpsConnector::from((tcp(), tls));
    let connector = Connector::new(dial, proxy, config.connect_timeout);
    requests(config, connector, authorization)
}

/// Connections that end when the other side has acknowledged nothing for 45 s, as those of client-go do: a balancer or a node that
/// is gone resets nothing. Where the kernel has no `TCP_USER_TIMEOUT`, they have to be idle.
fn tcp() -> HttpConnector {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_connect_timeout(Some(CONNECT));
    tcp.set_keepalive(Some(KEEPALIVE));
    tcp.set_keepalive_interval(Some(Duration::from_secs(5)));
    tcp.set_keepalive_retries(Some(3));
    #[cfg(target_os = "linux")]
    tcp.set_tcp_user_timeout(Some(UNACKNOWLEDGED));
    tcp
}

/// The host of `tls-server-name`, in the place of the server's host.
fn server_name(config: &Config) -> Result<Option<FixedServerNameResolver>, String> {
    let resolver = |name: &String| {
        let server = name.clone().try_into();
        let server = server.map_err(|error| format!("`tls-server-name` `{name}`: {error}"))?;
        Ok(FixedServerNameResolver::new(server))
    };
    config.tls_server_name.as_ref().map(resolver).transpose()
}

/// Sends requests over connections of `connector`, with TLS if the server has it.
fn requests<C>(config: &Config, connector: C, authorization: Option<HeaderValue>) -> Result<Transport, String>
where
    C: Service<Uri> + Clone + Send + Sync + 'static,
    C::Response: Connection + Read + Write + Send + Unpin + 'static,
    C::Future: Send,
    C::Error: Into<BoxError>,
{
    let tls = config.rustls_client_config().map_err(|error| error.to_string())?;
    let https = match server_name(config)? {
        None => HttpsConnector::from((connector, tls)),
        Some(name) => HttpsConnector::new(connector, tls, false, Arc::new(name)),
    };
    // A proxy has the limit itself, and names itself in its error.
    let of_proxy = config
        .proxy_url
        .as_ref()
        .map_or(Duration::ZERO, |_| Duration::from_secs(1));
    let limit = config.connect_timeout.map(|limit| limit + of_proxy);
    let connected = service_fn(move |server: Uri| {
        let connecting = https.clone().oneshot(server);
        Box::pin(async move {
            let Some(limit) = limit else {
                return connecting.await;
            };
            let connected = timeout(limit, connecting).await;
            connected.unwrap_or_else(|_| Err(format!("no connection within {} s", limit.as_secs()).into()))
        })
    });
    let client: legacy::Client<_, Body> = legacy::Client::builder(TokioExecutor::new()).build(connected);
    let requests = service_fn(move |mut request: Request<Body>| {
        if let Some(authorization) = &authorization {
            request.headers_mut().insert(PROXY_AUTHORIZATION, authorization.clone());
        }
        client.request(request)
    });
    let boxed = requests
        .map_err(BoxError::from)
        .map_response(|response| response.map(|body| Box::new(body.map_err(BoxError::from)) as Box<DynBody>));
    let headed = config.extra_headers_layer().map_err(|error| error.to_string())?;
    // An operator's own client has none, see `client::build`.
    let retries = config
        .default_retry
        .then(|| RetryLayer::new(RetryPolicy::server_retry()));
    let retried = option_layer(retries).layer(headed.layer(boxed));
    Ok(BoxService::new(config.base_uri_layer().layer(retried)))
}

#[cfg(test)]
mod tests;
