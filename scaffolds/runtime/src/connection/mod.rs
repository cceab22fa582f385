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

use std::sync::{Arc, Mutex, PoisonError};

use http::{Request, Response, header::PROXY_AUTHORIZATION};
use http_body_util::BodyExt as _;
use hyper_rustls::{FixedServerNameResolver, HttpsConnector};
use hyper_util::{
    client::legacy::{self, connect::HttpConnector},
    rt::TokioExecutor,
};
use kube::{
    Config,
    client::{Body, ClientBuilder, ConfigExt as _, DynBody},
};
use tower::{BoxError, Layer as _, ServiceExt as _, layer::layer_fn, service_fn, util::BoxService};

use self::{connector::Connector, credentials::Credentials, proxy::Proxy};

pub(crate) use self::kubeconfig::config;

/// Sends requests to the API server.
type Transport = BoxService<Request<Body>, Response<Box<DynBody>>, BoxError>;

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

/// The connections to the API server of `config`, with kube's layers, and without credentials but the client certificate.
fn transport(config: Config) -> Result<Transport, String> {
    let name = server_name(&config)?;
    match &config.proxy_url {
        Some(proxy) => proxied(Proxy::new(proxy)?, &config, name),
        None => direct(config),
    }
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

/// The service that kube makes.
fn direct(config: Config) -> Result<Transport, String> {
    let builder = ClientBuilder::try_from(config).map_err(|error| error.to_string())?;
    // The builder releases its service to layers alone.
    let made = Mutex::new(None);
    builder.with_layer(&layer_fn(|service| {
        *made.lock().unwrap_or_else(PoisonError::into_inner) = Some(service);
    }));
    let made = made.into_inner().unwrap_or_else(PoisonError::into_inner);
    made.ok_or_else(|| "kube made no client".to_owned())
}

/// The service that kube makes, without its spans and its retries, over a connection through a proxy.
fn proxied(proxy: Proxy, config: &Config, name: Option<FixedServerNameResolver>) -> Result<Transport, String> {
    let failed = |error: kube::Error| error.to_string();
    let tls = Arc::new(config.rustls_client_config().map_err(failed)?);
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    http.set_nodelay(true);
    let dial = HttpsConnector::from((http, tls.clone()));
    // A tunnel needs the user of the proxy once; a proxy that forwards requests needs it in each.
    let forwards = !proxy.is_socks && config.cluster_url.scheme_str() == Some("http");
    let authorization = proxy.authorization().filter(|_| forwards);
    let connector = Connector::new(dial, proxy, config.connect_timeout);
    let https = match name {
        None => HttpsConnector::from((connector, tls)),
        Some(name) => HttpsConnector::new(connector, tls, false, Arc::new(name)),
    };
    let client: legacy::Client<_, Body> = legacy::Client::builder(TokioExecutor::new()).build(https);
    let requests = service_fn(move |mut request: Request<Body>| {
        if let Some(authorization) = &authorization {
            request.headers_mut().insert(PROXY_AUTHORIZATION, authorization.clone());
        }
        client.request(request)
    });
    let boxed = requests
        .map_err(BoxError::from)
        .map_response(|response| response.map(|body| Box::new(body.map_err(BoxError::from)) as Box<DynBody>));
    let headed = config.extra_headers_layer().map_err(failed)?.layer(boxed);
    Ok(BoxService::new(config.base_uri_layer().layer(headed)))
}

#[cfg(test)]
mod tests;
