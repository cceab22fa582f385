//! `speed start`: the time until the first answer of an in-process server, without and with HTTPS.
//! `speed serve KUBECONFIG [FOLDER]`: an in-process server with its controllers over HTTPS, until it is killed. Its
//! objects are in memory, or in the folder.
//! `speed load KUBECONFIG NAME PID…`: creates, status patches and watch fan-out of a running server, over HTTPS, and
//! the CPU time that they cost the server's processes and this one.
//! `speed fill KUBECONFIG COUNT`: creates this number of objects.
//! `speed life KUBECONFIG NAME SIZE,… PID…`: each request in an object's life, one at a time, with these numbers of
//! other objects.
//! `speed watchers …`, `speed definitions …`, `speed collections …`: the same for a write with these numbers of
//! watchers, for discovery and OpenAPI with these numbers of CustomResourceDefinitions, and for collections of these
//! sizes.
//! Prints lines of the form `NAME<tab>WHAT<tab>MIN<tab>MEDIAN<tab>MAX`.

mod collections;
mod cpu;
mod definitions;
mod life;
mod load;
mod meter;
mod things;
mod watchers;
mod wire;

use anyhow::{Result, bail};
use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use kubewright_apiserver::{ApiServer, Options, serve::Listener};
use std::{env, path::Path, time::Instant};

use life::Life;
use load::Load;

/// The number of measured starts.
const STARTS: usize = 20;

fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let mut runtime = match arguments.first().map(String::as_str) {
        // The same runtime as in `kubewright apiserver`.
        Some("serve") => tokio::runtime::Builder::new_multi_thread(),
        // One thread: the client must leave CPU time to the server.
        _ => tokio::runtime::Builder::new_current_thread(),
    };
    runtime.enable_all().build()?.block_on(run(arguments))
}

async fn run(arguments: Vec<String>) -> Result<()> {
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["start"] => start().await,
        ["serve", kubeconfig, ref folder @ ..] => serve(Path::new(kubeconfig), folder.first().map(Path::new)).await,
        ["load", kubeconfig, name, ref pids @ ..] => {
            Load::on(&config(kubeconfig).await?)
                .await?
                .measure(name, &numbers(pids)?)
                .await
        }
        [what, kubeconfig, name, sizes, ref pids @ ..] => {
            let (config, pids) = (config(kubeconfig).await?, numbers(pids)?);
            let sizes = numbers(&sizes.split(',').collect::<Vec<_>>())?;
            match what {
                "life" => Life::on(&config, &pids).await?.measure(name, &sizes).await,
                "watchers" => watchers::measure(&config, name, &sizes, &pids).await,
                "definitions" => definitions::measure(&config, name, &sizes, &pids).await,
                "collections" => collections::measure(&config, name, &sizes, &pids).await,
                _ => bail!("{USAGE}"),
            }
        }
        ["fill", kubeconfig, count] => Load::on(&config(kubeconfig).await?).await?.fill(count.parse()?).await,
        _ => bail!("{USAGE}"),
    }
}

const USAGE: &str = "speed start | speed serve KUBECONFIG [FOLDER] | speed load KUBECONFIG NAME PID… | speed fill KUBECONFIG COUNT | \
                     speed life|watchers|definitions|collections KUBECONFIG NAME SIZE,… PID…";

fn numbers<T>(texts: &[&str]) -> Result<Vec<T>>
where
    T: std::str::FromStr<Err: std::error::Error + Send + Sync + 'static>,
{
    Ok(texts.iter().map(|text| text.parse()).collect::<Result<_, _>>()?)
}

/// Runs the server alone, so that the process's CPU time is the server's. The kubeconfig is written once it listens.
async fn serve(kubeconfig: &Path, folder: Option<&Path>) -> Result<()> {
    let listener = Listener::bind(0, None).await?;
    let text = listener.kubeconfig();
    let server = match folder {
        Some(folder) => ApiServer::open(folder, Options::default())?,
        None => ApiServer::new(Options::default()),
    };
    let _running = listener.serve(server)?;
    std::fs::write(kubeconfig, text)?;
    std::future::pending().await
}

async fn config(kubeconfig: &str) -> Result<Config> {
    let kubeconfig = Kubeconfig::read_from(Path::new(kubeconfig))?;
    Ok(Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?)
}

fn report(name: &str, what: &str, mut values: Vec<f64>) {
    values.sort_by(f64::total_cmp);
    let (first, middle, last) = (values[0], values[values.len() / 2], values[values.len() - 1]);
    println!("{name}\t{what}\t{first:.2}\t{middle:.2}\t{last:.2}");
}

async fn start() -> Result<()> {
    let (mut plain, mut https) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        let began = Instant::now();
        let server = ApiServer::new(Options::default());
        Client::new(server.service(), "default").apiserver_version().await?;
        plain.push(began.elapsed().as_secs_f64() * 1000.0);

        let began = Instant::now();
        let listener = Listener::bind(0, None).await?;
        let kubeconfig = Kubeconfig::from_yaml(&listener.kubeconfig())?;
        let _running = listener.serve(ApiServer::new(Options::default()))?;
        let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
        Client::try_from(config)?.apiserver_version().await?;
        https.push(began.elapsed().as_secs_f64() * 1000.0);
    }
    report("in process", "start to first answer, ms", plain);
    report("over HTTPS", "start to first answer, ms", https);
    Ok(())
}
