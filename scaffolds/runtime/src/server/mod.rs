//! The HTTP servers of the process: probes for the kubelet, metrics for Prometheus, webhooks for API servers. They do not
//! depend on reconciles.

mod answer_body;
mod auth;
mod budget;
mod connections;
mod http1;
mod limits;
mod probes;
mod profile;
mod routes;
mod scrape;
pub(crate) mod selfsigned;
mod stall;
mod tls;

use std::{net::SocketAddr, sync::Arc, thread};

use kube::Config;
use tokio::{net::TcpListener, runtime, sync::oneshot};
use tracing::info;

pub use self::{
    answer_body::AnswerBody,
    budget::{Reserved, Share},
    http1::{Answer, Handler, Question, text},
    probes::{Checks, Probes},
    routes::{RouteRequest, RouteResponse, Routes},
    tls::{Held, Identity},
};
use self::{auth::Gatekeeper, limits::Limits, profile::Profiles, scrape::Scrape};
use crate::{
    client::{self, WriteGate},
    error::{Error, Result},
    metrics::Metrics,
    options::{BindAddress, Options},
};

/// The parts that the servers of one process serve, besides its metrics.
pub struct Served {
    pub(crate) probes: Probes,
    pub(crate) routes: Routes,
    /// The certificate of the metrics server, if the operator makes it.
    pub(crate) certificate: Option<Held>,
}

impl From<Probes> for Served {
    fn from(probes: Probes) -> Self {
        Self {
            probes,
            routes: Routes::default(),
            certificate: None,
        }
    }
}

/// The servers of one process. They end when this is dropped.
///
/// # Threads
///
/// All servers share one thread with a runtime of its own: they respond even if reconcilers use all of their threads. Metrics are
/// encoded on another one.
/// Leader election has another thread, because a renewal must not wait for a scrape of large metrics.
///
/// # Limits
///
/// Every client that can reach the Pod can connect, so each server has at most 128 connections, 16 of them from one
/// address. A new connection is always accepted: at a limit, the address with the most connections loses the one that has
/// been idle for longest. A probe's connection ends with its response, or after 5 s without a complete request; a scraper's
/// may be idle for 32 s.
pub struct Servers {
    /// The address of the probes; `None` if they are off.
    probes: Option<SocketAddr>,
    /// The address of the metrics; `None` if they are off.
    metrics: Option<SocketAddr>,
    _stop: oneshot::Sender<()>,
}

impl Servers {
    /// Starts the servers that the flags enable. They listen when this returns.
    ///
    /// Probes: `/healthz` and `/readyz` with these checks, in the form of Kubernetes' own: `?verbose`,
    /// `?exclude=CHECK`, `/readyz/CHECK`. Metrics: `/metrics`; with `--metrics-secure` over HTTPS and only for users
    /// whom the API server authorizes to `get` the URL `/metrics`. On the same server, under the same conditions for their
    /// own URLs: the author's routes, and with `--profiling` `/debug/pprof/profile`.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] if an address cannot be listened on, a certificate cannot be read, or `--profiling` is not
    /// possible; [`Error::Kube`] if the credentials cannot be used.
    pub async fn start(
        options: &Options,
        config: &Config,
        metrics: &Metrics,
        served: impl Into<Served>,
    ) -> Result<Self> {
        let Served {
            probes,
            routes,
            certificate,
        } = served.into();
        let scrape = Scrape::new(metrics.clone(), routes, profiles(options)?);
        let thread = |error| Error::Setup(format!("cannot start the servers' thread: {error}"));
        let runtime = runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(thread)?;
        let handler = Arc::new(probes);
        let open = || -> Result<_> {
            let _inside = runtime.enter();
            let probes = listen(
                "--health-probe-bind-address",
                &options.health_probe_bind_address,
                http1::Service {
                    tls: None,
                    handler,
                    limits: Limits::PROBES,
                },
            )?;
            let scraped = match &options.metrics_bind_address {
                BindAddress::Off => None,
                _ => scrapes(options, config, scrape, certificate.as_ref())?,
            };
            Ok((probes, scraped))
        };
        let (probes, scraped) = match open() {
            Ok(open) => open,
            Err(error) => {
                // Dropping a runtime inside another one panics.
                runtime.shutdown_background();
                return Err(error);
            }
        };
        let (stop, stopped) = oneshot::channel::<()>();
        let serve = move || {
            // An error means that the handle was dropped, which also stops the servers.
            let _ = runtime.block_on(stopped);
        };
        thread::Builder::new()
            .name("servers".to_owned())
            .spawn(serve)
            .map_err(thread)?;
        let servers = Self {
            probes,
            metrics: scraped,
            _stop: stop,
        };
        info!(
            probes = servers.probes.map(tracing::field::display),
            metrics = servers.metrics.map(tracing::field::display),
            "listening"
        );
        Ok(servers)
    }
}

#[cfg(feature = "testing")]
impl Servers {
    /// The address of the probes; `None` if they are off.
    pub fn probes(&self) -> Option<SocketAddr> {
        self.probes
    }

    /// The address of the metrics; `None` if they are off.
    pub fn metrics(&self) -> Option<SocketAddr> {
        self.metrics
    }
}

/// Whether profiles are taken.
fn profiles(options: &Options) -> Result<Option<Profiles>> {
    match (options.profiling, &options.metrics_bind_address) {
        (false, _) => Ok(None),
        (true, BindAddress::Off) => Err(Error::Setup(
            "--profiling needs the metrics server, which is off\n\nhint: pass --metrics-bind-address=:8443".to_owned(),
        )),
        (true, _) => Ok(Some(Profiles::default())),
    }
}

fn scrapes(
    options: &Options,
    config: &Config,
    scrape: Scrape,
    certificate: Option<&Held>,
) -> Result<Option<SocketAddr>> {
    const FLAG: &str = "--metrics-bind-address";
    let address = &options.metrics_bind_address;
    let service = |identity: Option<Identity>, handler: Scrape| http1::Service {
        tls: identity.map(|identity| identity.acceptor()),
        handler: Arc::new(handler),
        limits: Limits::METRICS,
    };
    if !options.metrics_secure {
        return listen(FLAG, address, service(None, scrape));
    }
    const SERVER: &str = "the metrics server";
    let identity = match (&options.metrics_cert_path, certificate) {
        (Some(folder), _) => {
            let files = [&options.metrics_cert_name, &options.metrics_cert_key].map(|name| folder.join(name));
            Identity::files(SERVER, files, scrape.metrics())?
        }
        (None, Some(held)) => Identity::held(SERVER, held),
        (None, None) => Identity::self_signed(SERVER)?,
    };
    let agent = concat!("kubewright-runtime/", env!("CARGO_PKG_VERSION"), " metrics-server");
    // Not limited by --kube-api-qps: at most four reviews run at a time, and a scraper does not wait behind reconciles.
    let client = client::build(config.clone(), agent, scrape.metrics(), WriteGate::open())?;
    let handler = scrape.guarded(Gatekeeper::new(client));
    listen(FLAG, address, service(Some(identity), handler))
}

/// Serves API servers over HTTPS, as a task of the current tokio runtime. An API server may have 512 connections at a time.
///
/// # Errors
///
/// [`Error::Setup`] if the address, which this flag sets, cannot be listened on.
pub fn serve_api_servers(
    flag: &str,
    address: &BindAddress,
    identity: Identity,
    handler: Arc<dyn Handler>,
) -> Result<Option<SocketAddr>> {
    let service = http1::Service {
        tls: Some(identity.acceptor()),
        handler,
        limits: Limits::WEBHOOKS,
    };
    listen(flag, address, service)
}

/// As [`serve_api_servers`] without TLS, forever.
#[cfg(feature = "testing")]
pub async fn serve_without_tls(listener: TcpListener, handler: Arc<dyn Handler>) {
    let service = http1::Service {
        tls: None,
        handler,
        limits: Limits::WEBHOOKS,
    };
    http1::serve(listener, service).await;
}

/// Listens and serves as a task of the current runtime.
fn listen(flag: &str, address: &BindAddress, service: http1::Service) -> Result<Option<SocketAddr>> {
    let failed = |error| Error::Setup(format!("{flag} `{address}` cannot be listened on: {error}"));
    let Some(listener) = address.listen().map_err(failed)? else {
        return Ok(None);
    };
    listener.set_nonblocking(true).map_err(failed)?;
    let listener = TcpListener::from_std(listener).map_err(failed)?;
    let local = listener.local_addr().map_err(failed)?;
    tokio::spawn(http1::serve(listener, service));
    Ok(Some(local))
}

#[cfg(test)]
pub(crate) mod tests;
