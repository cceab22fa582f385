//! Tests of the control-plane crate itself, on which all other tests here rely.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use control_plane::{Assets, ControlPlane, Settings, eventually};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, ServiceAccount};
use kube::{
    Api, Client, Config,
    api::{DeleteParams, ListParams, PostParams},
    config::{KubeConfigOptions, Kubeconfig},
};
use serde_json::json;

const PATIENCE: Duration = Duration::from_secs(180);

/// The programs, or `None` and a note.
fn config_map(name: &str) -> ConfigMap {
    serde_json::from_value(json!({"metadata": {"name": name}})).unwrap()
}

async fn client_of(kubeconfig: &Path) -> Result<Client> {
    let kubeconfig = Kubeconfig::read_from(kubeconfig)?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    Ok(Client::try_from(config)?)
}

#[tokio::test]
async fn a_control_plane_keeps_its_data_when_it_is_killed_and_restarted() -> Result<()> {
    let Some(assets) = Assets::or_skip() else { return Ok(()) };
    let settings = Settings {
        audit: true,
        ..Settings::default()
    };
    let mut plane = ControlPlane::start(&assets, settings).await?;
    let maps: Api<ConfigMap> = Api::namespaced(plane.client().await?, "default");
    maps.create(&PostParams::default(), &config_map("kept")).await?;

    plane.kill_api_server()?;
    assert!(maps.get("kept").await.is_err());
    plane.restart_api_server().await?;
    maps.get("kept").await?;

    let mark = plane.audit().mark()?;
    maps.list(&ListParams::default()).await?;
    let lists = async || {
        let requests = plane.audit().since(mark)?;
        Ok(requests
            .into_iter()
            .find(|request| request.verb == "list" && request.resource == "configmaps" && request.user == "admin"))
    };
    let list = eventually("the LIST in the audit log", PATIENCE, lists).await?;
    assert_eq!(
        (list.code, list.namespace.as_str(), list.is_write()),
        (200, "default", false)
    );

    plane.pause_etcd()?;
    let write = tokio::time::timeout(
        Duration::from_secs(1),
        maps.create(&PostParams::default(), &config_map("late")),
    )
    .await;
    plane.resume_etcd()?;
    assert!(write.is_err(), "a write succeeded without etcd: {write:?}");
    eventually("writes to succeed again", PATIENCE, async || {
        Ok(maps
            .create(&PostParams::default(), &config_map("later"))
            .await
            .is_ok()
            .then_some(()))
    })
    .await
}

#[tokio::test]
async fn rbac_applies_to_users_and_service_accounts_and_namespaces_are_deleted() -> Result<()> {
    let Some(assets) = Assets::or_skip() else { return Ok(()) };
    let settings = Settings {
        controllers: true,
        users: vec![("alice".to_owned(), vec![])],
        ..Settings::default()
    };
    let plane = ControlPlane::start(&assets, settings).await?;
    let admin = plane.client().await?;
    let namespace = serde_json::from_value(json!({"metadata": {"name": "team"}}))?;
    Api::<Namespace>::all(admin.clone())
        .create(&PostParams::default(), &namespace)
        .await?;
    let account: ServiceAccount = serde_json::from_value(json!({"metadata": {"name": "robot"}}))?;
    Api::namespaced(admin.clone(), "team")
        .create(&PostParams::default(), &account)
        .await?;

    for kubeconfig in [
        plane.kubeconfig_of("alice")?,
        plane.kubeconfig_of_service_account("team", "robot").await?,
    ] {
        let maps: Api<ConfigMap> = Api::namespaced(client_of(&kubeconfig).await?, "team");
        let refused = maps.list(&ListParams::default()).await;
        assert!(
            matches!(&refused, Err(kube::Error::Api(status)) if status.code == 403),
            "{refused:?}"
        );
    }
    let role = [
        "create",
        "role",
        "reader",
        "-n",
        "team",
        "--verb=list",
        "--resource=configmaps",
    ];
    control_plane::run(plane.kubectl().args(role))?;
    control_plane::run(plane.kubectl().args([
        "create",
        "rolebinding",
        "view",
        "-n",
        "team",
        "--role=reader",
        "--serviceaccount=team:robot",
    ]))?;
    let robot = client_of(&plane.kubeconfig_of_service_account("team", "robot").await?).await?;
    Api::<ConfigMap>::namespaced(robot, "team")
        .list(&ListParams::default())
        .await?;

    if plane.has_controllers() {
        let namespaces: Api<Namespace> = Api::all(admin);
        namespaces.delete("team", &DeleteParams::default()).await?;
        eventually("the namespace to go", PATIENCE, async || {
            Ok(namespaces.get_opt("team").await?.is_none().then_some(()))
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn no_process_outlives_a_killed_test() -> Result<()> {
    if Assets::or_skip().is_none() {
        return Ok(());
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_control-plane"));
    let mut holder = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut kubeconfig = String::new();
    BufReader::new(holder.stdout.take().context("no stdout")?).read_line(&mut kubeconfig)?;
    let folder = Path::new(kubeconfig.trim()).parent().context("no folder")?.to_owned();
    ensure!(
        folder.is_dir() && alive(&folder) == 2,
        "{} programs of {}",
        alive(&folder),
        folder.display()
    );

    holder.kill()?;
    holder.wait()?;
    eventually("the programs and their folder to go", PATIENCE, async || {
        Ok((alive(&folder) == 0 && !folder.exists()).then_some(()))
    })
    .await
}

#[tokio::test]
async fn a_program_that_cannot_start_shows_the_end_of_its_log() -> Result<()> {
    let Some(assets) = Assets::or_skip() else { return Ok(()) };
    // A quote makes the file of tokens invalid.
    let settings = Settings {
        users: vec![("bad\"user".to_owned(), vec![])],
        ..Settings::default()
    };
    let error = ControlPlane::start(&assets, settings)
        .await
        .err()
        .context("it has started")?;
    let text = format!("{error:#}");
    assert!(
        text.contains("`kube-apiserver` ended with") && text.contains("parse error"),
        "{text}"
    );
    Ok(())
}

/// The number of processes with the folder in their command line.
fn alive(folder: &Path) -> usize {
    let folder = folder.display().to_string();
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    lines
        .filter(|line| String::from_utf8_lossy(line).contains(&folder))
        .count()
}
