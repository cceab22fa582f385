//! One operator with very many objects, on the in-process API server: the memory of a cached object, the duration of a
//! restart, and whether the cost of a key is independent of their number.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use control_plane::{
    Operator, eventually,
    foobar::{FooBar, names},
    free_ports, get, root,
};
use kube::{
    Api, Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};

use crate::{
    load::{self, all_at_once},
    stats::{Row, Table},
};

/// Longer than a run with a hundred thousand objects has ever taken on two busy cores.
const PATIENCE: Duration = Duration::from_secs(3600);
const NAMESPACE: &str = "default";

/// The cost of a restart with many objects.
struct Restart {
    /// Seconds until the caches are filled.
    synced: f64,
    /// Seconds until every object has been reconciled once.
    done: f64,
    /// Microseconds of CPU per object, after the caches are filled.
    key: f64,
    /// MiB.
    resident: f64,
}

/// A server in a process of its own, which is killed on drop.
struct Server {
    process: Child,
    folder: PathBuf,
}

/// Restarts the operator with a tenth of `most` FooBars, each with its ConfigMap, and with all of them.
pub async fn measure(binary: &Path, most: usize) -> Result<Table> {
    let server = Server::start().await?;
    let client = server.client().await?;
    let idle = restart(&server, binary, 0).await?;
    let (mut there, mut restarts) = (0, Vec::new());
    let amounts = [most / 10, most];
    for amount in amounts {
        grow(&server, (binary, &client), (there, amount)).await?;
        there = amount;
        restarts.push(restart(&server, binary, amount).await?);
    }
    let of = |what: &str, value: &dyn Fn(&Restart, f64) -> f64| {
        let columns = restarts.iter().zip(amounts);
        Row::new(
            what,
            columns.map(|(restart, amount)| vec![value(restart, amount as f64)]),
        )
    };
    Ok(Table {
        title: format!(
            "A restart with many FooBars, each with a ConfigMap; {:.1} MiB without any",
            idle.resident
        ),
        columns: amounts.iter().map(usize::to_string).collect(),
        reference: Some(0),
        rows: vec![
            of("caches filled, s", &|it, _| it.synced),
            of("all reconciled, s", &|it, _| it.done),
            of("CPU for each key, µs", &|it, _| it.key),
            of("memory, MiB", &|it, _| it.resident),
            of("memory for each cached object, KiB", &|it, amount| {
                (it.resident - idle.resident) * 1024.0 / (2.0 * amount)
            }),
        ],
    })
}

/// Creates FooBars until there are so many, and waits until all are Ready.
async fn grow(server: &Server, (binary, client): (&Path, &Client), (from, to): (usize, usize)) -> Result<()> {
    let foobars: Api<FooBar> = Api::namespaced(client.clone(), NAMESPACE);
    let mut operator = Operator::start(
        binary,
        &["--max-concurrent-reconciles=8"],
        &server.kubeconfig(),
        &server.folder,
    )?;
    operator.ready(PATIENCE).await?;
    let mut ready = load::watch(foobars.clone()).await?;
    all_at_once(&foobars, &names("many", to)[from..], &mut ready).await?;
    operator.terminate(PATIENCE).await?;
    Ok(())
}

async fn restart(server: &Server, binary: &Path, objects: usize) -> Result<Restart> {
    let [metrics] = free_ports()?;
    let address = format!("--metrics-bind-address=127.0.0.1:{metrics}");
    let arguments = [
        "--install-crds",
        "--metrics-secure=false",
        &address,
        "--max-concurrent-reconciles=8",
    ];
    let began = Instant::now();
    let mut operator = Operator::start(binary, &arguments, &server.kubeconfig(), &server.folder)?;
    operator.ready(PATIENCE).await?;
    let (synced, cpu) = (began.elapsed(), operator.usage()?.cpu);
    eventually("all objects to be reconciled", PATIENCE, async || {
        let looked = reconciles(&get(metrics, "/metrics").await?);
        Ok((looked >= objects as f64).then_some(()))
    })
    .await?;
    let done = began.elapsed();
    let used = operator.usage()?;
    // By then freed memory is returned to the system.
    tokio::time::sleep(Duration::from_secs(2)).await;
    let resident = operator.usage()?.resident;
    operator.terminate(PATIENCE).await?;
    Ok(Restart {
        synced: synced.as_secs_f64(),
        done: done.as_secs_f64(),
        key: (used.cpu - cpu) * 1e6 / objects.max(1) as f64,
        resident,
    })
}

fn reconciles(page: &str) -> f64 {
    let lines = page
        .lines()
        .filter(|line| line.starts_with("controller_runtime_reconcile_total{"));
    lines
        .filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok())
        .sum()
}

impl Server {
    async fn start() -> Result<Self> {
        let kubewright =
            std::env::var_os("KUBEWRIGHT_BIN").context("KUBEWRIGHT_BIN is not set\n\nhint: run `make bench`")?;
        let folder = root().join("target/bench/scale");
        fs::create_dir_all(&folder)?;
        let kubeconfig = folder.join("kubeconfig");
        if kubeconfig.exists() {
            fs::remove_file(&kubeconfig)?;
        }
        let mut command = Command::new(kubewright);
        command.arg("apiserver").arg("--kubeconfig").arg(&kubeconfig);
        let process = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?;
        let server = Self { process, folder };
        eventually("the in-process API server", Duration::from_secs(60), async || {
            server.client().await?.apiserver_version().await?;
            Ok(Some(()))
        })
        .await?;
        Ok(server)
    }

    fn kubeconfig(&self) -> PathBuf {
        self.folder.join("kubeconfig")
    }

    async fn client(&self) -> Result<Client> {
        let kubeconfig = Kubeconfig::read_from(self.kubeconfig())?;
        let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
        Ok(Client::try_from(config)?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Fails only if the process has ended already.
        _ = self.process.kill();
        _ = self.process.wait();
    }
}
