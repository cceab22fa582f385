//! The metrics of two replicas, read as Prometheus does: by a client that trusts only the published authorities, and shows a
//! token, through two rotations of the authority.

use std::{io, net::SocketAddr, sync::Arc};

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{Api, Config};
use kubewright_apiserver::{ApiServer, Controllers, Options as ServerOptions};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tokio_rustls::{
    TlsConnector,
    client::TlsStream,
    rustls::{
        ClientConfig, RootCertStore,
        crypto::ring::default_provider,
        pki_types::{CertificateDer, pem::PemObject},
    },
};

use super::{super::plan::State, *};
use crate::server::{Probes, Served, Servers, tests::reviewer};

const SECRET: &str = "foobar-operator-metrics-server-cert";
const AUTHORITIES: &str = "foobar-operator-metrics-server-ca";
/// As `serverName` in the ServiceMonitor.
const SERVICE: &str = "foobar-operator-controller-manager-metrics-service";
/// The name by which Pods of other namespaces reach it.
const HOST: &str = "foobar-operator-controller-manager-metrics-service.default.svc";
/// A rotation of the authority each six seconds.
const PACE: RenewalTiming = RenewalTiming {
    lives: Lifetimes { authority: 9, leaf: 6 },
    settle: Duration::from_millis(1_500),
    look: Duration::from_millis(200),
};
/// The age up to which a client uses authorities that it has read.
const LAG: Duration = Duration::from_millis(500);

/// A replica of an operator without webhooks: its metrics server, and the task that keeps its certificate.
async fn replica(client: &Client, api_server: SocketAddr) -> Servers {
    let (held, metrics) = (Held::default(), Metrics::new());
    let settings = Settings {
        identity: ServerIdentity::METRICS,
        client: client.clone(),
        operator: OPERATOR.to_owned(),
        namespace: "default".to_owned(),
        affixes: Affixes::prefix(PREFIX),
        configuration_affixes: Affixes::prefix(PREFIX),
        hosts: Vec::new(),
        configured: Vec::new(),
        converting: Vec::new(),
        reach: WebhookAddress::default(),
        pace: PACE,
    };
    tokio::spawn(Keeper::new(settings, held.shared(), &metrics).keep(pending));
    let mut served = Served::from(Probes::default());
    served.certificate = Some(held);
    let flags = [
        "operator",
        "--metrics-bind-address=127.0.0.1:0",
        "--health-probe-bind-address=0",
    ];
    let config = Config::new(format!("http://{api_server}").parse().unwrap());
    let options = Flags::parse_from(flags).operator;
    Servers::start(&options, &config, &metrics, served).await.unwrap()
}

/// Connects to a server that these authorities verify, and that has this name.
async fn connect(address: SocketAddr, authorities: &str, name: &'static str) -> io::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    for authority in CertificateDer::pem_slice_iter(authorities.as_bytes()) {
        roots.add(authority.unwrap()).unwrap();
    }
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()));
    let config = config.with_safe_default_protocol_versions().unwrap();
    let config = config.with_root_certificates(roots).with_no_client_auth();
    let connector = TlsConnector::from(Arc::new(config));
    let stream = TcpStream::connect(address).await?;
    connector.connect(name.try_into().unwrap(), stream).await
}

/// The status of the response to a request for metrics with this token.
async fn scrape(address: SocketAddr, authorities: &str, token: &str) -> Result<u16, String> {
    let asked = async {
        connect(address, authorities, HOST).await?;
        let mut stream = connect(address, authorities, SERVICE).await?;
        let request = format!(
            "GET /metrics HTTP/1.1\r\nhost: {HOST}\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await?;
        let mut response = Vec::new();
        // The server closes the connection.
        _ = stream.read_to_end(&mut response).await;
        io::Result::Ok(String::from_utf8_lossy(&response).into_owned())
    };
    let response = asked.await.map_err(|error| error.to_string())?;
    let status = response.split(' ').nth(1).and_then(|status| status.parse().ok());
    status.ok_or(response)
}

/// Applies the Secret and the ConfigMap of `config/prometheus` as `make deploy` does.
async fn deploy(client: &Client) {
    for (kind, name) in [("Secret", SECRET), ("ConfigMap", AUTHORITIES)] {
        let collection = format!("/api/v1/namespaces/default/{}s", kind.to_lowercase());
        let object = json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": name}});
        let (code, answer) = apply(client, &collection, &object).await;
        assert!(code < 300, "{answer}");
    }
}

/// The state in the Secret.
async fn kept(client: &Client) -> Option<State> {
    let secrets: Api<Secret> = Api::default_namespaced(client.clone());
    secret::read(&secrets.get(SECRET).await.unwrap())
}

/// The data of the ConfigMap that the ServiceMonitor names: the authorities and nothing else.
async fn published(client: &Client) -> String {
    let maps: Api<ConfigMap> = Api::default_namespaced(client.clone());
    let mut data = maps.get(AUTHORITIES).await.unwrap().data.unwrap_or_default();
    let authorities = data.remove("ca.crt").unwrap_or_default();
    assert!(data.is_empty() && !authorities.contains("KEY"), "{data:?}");
    authorities
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_of_two_replicas_are_read_by_who_trusts_the_published_authorities_through_two_rotations() {
    let server = ApiServer::new(ServerOptions {
        controllers: Controllers::NONE,
        ..ServerOptions::default()
    });
    let (client, (api_server, _)) = (Client::new(server.service(), "default"), reviewer());
    let servers = [replica(&client, api_server).await, replica(&client, api_server).await];
    let addresses = servers.each_ref().map(|server| server.metrics().unwrap());
    let both = async |authorities: &str, token: &str| {
        [
            scrape(addresses[0], authorities, token).await,
            scrape(addresses[1], authorities, token).await,
        ]
    };
    assert!(
        scrape(addresses[0], "", "scraper").await.is_err(),
        "nothing is deployed yet"
    );
    deploy(&client).await;
    until("a published certificate on both", async || {
        both(&published(&client).await, "scraper").await == [Ok(200), Ok(200)]
    })
    .await;

    let (mut leaves, mut most) = (Vec::new(), 0);
    let mut read = (published(&client).await, Instant::now());
    // A rotation announces an authority and forgets one: revisions 2 and 3, and then 4 and 5.
    until("two rotations", async || {
        if read.1.elapsed() > LAG {
            read = (published(&client).await, Instant::now());
            most = most.max(read.0.matches("BEGIN CERTIFICATE").count());
            deploy(&client).await;
        }
        assert_eq!(both(&read.0, "scraper").await, [Ok(200), Ok(200)]);
        assert_eq!(both(&read.0, "guessed").await, [Ok(401), Ok(401)]);
        assert_eq!(both(&read.0, "poor").await, [Ok(403), Ok(403)]);
        let state = kept(&client).await.unwrap();
        if leaves.last() != Some(&state.leaf) {
            leaves.push(state.leaf);
        }
        state.revision >= 5
    })
    .await;
    assert!(
        leaves.len() >= 3 && most == 2,
        "{} leaves, {most} authorities",
        leaves.len()
    );
    let lives = PACE.lives;
    let strangers = State::new(vec![SERVICE.to_owned()], 1, now(), lives).unwrap().bundle();
    let [one, other] = both(&strangers, "scraper").await;
    assert!(one.is_err() && other.is_err(), "{one:?}, {other:?}");
}
