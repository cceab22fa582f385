//! `kubewright apiserver`: its output, and the state after it is killed.
#![cfg(unix)]

use crate::cli;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, ServiceAccount};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{Api, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};

/// A server that is stopped at the end of the test.
struct Server {
    child: Child,
    ready: String,
}

impl Server {
    fn start(dir: &Path, args: &[&str]) -> Self {
        let mut child = cli::command(dir, &["apiserver"])
            .args(args)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut ready = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut ready)
            .unwrap();
        Self { child, ready }
    }

    fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(
            std::process::Command::new("kill")
                .args([name, &pid])
                .status()
                .unwrap()
                .success()
        );
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn config_maps(kubeconfig: &Path) -> Api<ConfigMap> {
    let kubeconfig = Kubeconfig::read_from(kubeconfig).unwrap();
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
        .await
        .unwrap();
    Api::default_namespaced(Client::try_from(config).unwrap())
}

fn on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(work)
}

#[test]
fn acknowledged_writes_survive_sigkill() {
    let dir = tempfile::tempdir().unwrap();
    let kubeconfig = dir.path().join("kubeconfig");
    let data = dir.path().join("data");
    let args = [
        "--kubeconfig",
        kubeconfig.to_str().unwrap(),
        "--data-dir",
        data.to_str().unwrap(),
    ];
    let server = Server::start(dir.path(), &args);
    assert!(server.ready.starts_with("https://127.0.0.1:"), "{}", server.ready);
    assert!(
        server
            .ready
            .ends_with(&format!(" is ready: export KUBECONFIG={}\n", kubeconfig.display()))
    );

    // Clients differ in the private keys that they can read: fabric8's fails at one of an elliptic curve.
    let text = std::fs::read_to_string(&kubeconfig).unwrap();
    assert!(text.contains("token: ") && !text.contains("client-key"), "{text}");

    // A second server would write to the same files.
    let second = cli::command(dir.path(), &["apiserver"]).args(args).output().unwrap();
    cli::Run::of(second).refuses(1, &["is in use by another process", "hint: stop the other"]);

    let made: Vec<ConfigMap> = on(async {
        let api = config_maps(&kubeconfig).await;
        let mut made = Vec::new();
        for number in 0..50 {
            let object = serde_json::json!({"metadata": {"name": format!("n{number}")}});
            let object = serde_json::from_value(object).unwrap();
            made.push(api.create(&PostParams::default(), &object).await.unwrap());
        }
        made
    });
    server.signal("-KILL");
    drop(server);

    let _server = Server::start(dir.path(), &args);
    let found = on(async {
        config_maps(&kubeconfig)
            .await
            .list(&Default::default())
            .await
            .unwrap()
            .items
    });
    let of = |list: &[ConfigMap]| {
        let mut names: Vec<_> = list
            .iter()
            .map(|it| (it.metadata.name.clone(), it.metadata.resource_version.clone()))
            .collect();
        names.sort();
        names
    };
    assert_eq!(of(&found), of(&made));
}

/// The limit of a file's size fails as a full disk does.
#[test]
fn a_full_disk_ends_the_server_with_its_reason() {
    let dir = tempfile::tempdir().unwrap();
    let kubeconfig = dir.path().join("kubeconfig");
    let server = cli::command(dir.path(), &["apiserver"]);
    let mut child = std::process::Command::new("bash")
        .args(["-c", r#"trap '' XFSZ; ulimit -f 8192; exec "$@""#, "bash"])
        .arg(server.get_program())
        .args(server.get_args())
        .args(["--data-dir", "data", "--kubeconfig", "kubeconfig"])
        .current_dir(dir.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut ready = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut ready)
        .unwrap();
    let refused = on(async {
        let api = config_maps(&kubeconfig).await;
        for number in 0..64 {
            let object =
                serde_json::json!({"metadata": {"name": format!("n{number}")}, "data": {"a": "x".repeat(900_000)}});
            let object = serde_json::from_value(object).unwrap();
            if let Err(error) = api.create(&PostParams::default(), &object).await {
                return error.to_string();
            }
        }
        String::new()
    });
    // The server may close the connection first.
    assert!(!refused.is_empty());
    let output = child.wait_with_output().unwrap();
    cli::Run::of(output).refuses(1, &["data is no longer writable: ", "hint: ", "`df -h data`"]);
}

#[test]
fn sigterm_stops_it_in_order() {
    for signal in ["-INT", "-TERM"] {
        let dir = tempfile::tempdir().unwrap();
        let kubeconfig = dir.path().join("kubeconfig");
        let mut server = Server::start(
            dir.path(),
            &["--kubeconfig", kubeconfig.to_str().unwrap(), "--token", "x"],
        );
        server.signal(signal);
        assert!(server.child.wait().unwrap().success(), "{signal}");
    }
}

/// The name and token of the server in a kubeconfig, and whether a new namespace gets a ServiceAccount and is deleted again.
async fn seen(kubeconfig: &Path) -> (String, String, bool, bool) {
    let text = std::fs::read_to_string(kubeconfig).unwrap();
    let value = |key: &str| text.lines().find_map(|line| line.trim().strip_prefix(key)).unwrap();
    let client = config_maps(kubeconfig).await.into_client();
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let name = ObjectMeta {
        name: Some("new".to_owned()),
        ..Default::default()
    };
    let object = Namespace {
        metadata: name,
        ..Default::default()
    };
    namespaces.create(&PostParams::default(), &object).await.unwrap();
    let accounts: Api<ServiceAccount> = Api::namespaced(client, "new");
    let mut has = [false, false];
    // As long as a controller may need.
    for step in 0..20 {
        has[0] |= accounts.get_opt("default").await.unwrap().is_some();
        if step == 10 {
            namespaces.delete("new", &Default::default()).await.unwrap();
        }
        has[1] = step > 10 && namespaces.get_opt("new").await.unwrap().is_none();
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    (
        value("server: ").to_owned(),
        value("token: ").to_owned(),
        has[0],
        has[1],
    )
}

#[test]
fn every_flag_of_the_server_has_its_effect() {
    let dir = tempfile::tempdir().unwrap();
    let kubeconfig = dir.path().join("kubeconfig");
    let token = dir.path().join("token");
    std::fs::write(&token, "of-file\n").unwrap();
    let written = ["--kubeconfig", kubeconfig.to_str().unwrap()];
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port().to_string();
    drop(free);
    let flags = ["--port", &port, "--token", "of-line"];
    let first = Server::start(dir.path(), &[&written[..], &flags].concat());
    let (server, name, has_account, is_gone) = on(seen(&kubeconfig));
    assert!(server.ends_with(&format!(":{port}")), "{server}");
    assert_eq!((name.as_str(), has_account, is_gone), ("of-line", false, true));
    drop(first);
    let flags = ["--token-file", token.to_str().unwrap()];
    let switches = ["--enable", "service-accounts", "--disable", "namespaces"];
    let _second = Server::start(dir.path(), &[&written[..], &flags, &switches].concat());
    let (_, name, has_account, is_gone) = on(seen(&kubeconfig));
    assert_eq!((name.as_str(), has_account, is_gone), ("of-file", true, false));
}

#[test]
fn impossible_flags_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| cli::Run::of(cli::command(dir.path(), &["apiserver"]).args(args).output().unwrap());
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    run(&["--port", &port]).refuses(1, &["cannot listen on 127.0.0.1", "hint: "]);
    run(&["--token", "two words"]).refuses(2, &["without blanks"]);
    let kubeconfig = dir.path().join("config");
    std::fs::write(&kubeconfig, "clusters: [{name: production}]\n").unwrap();
    run(&["--kubeconfig", kubeconfig.to_str().unwrap()]).refuses(
        1,
        &["exists, and is not a kubeconfig that kubewright has written", "hint: "],
    );
    let kept = std::fs::read_to_string(&kubeconfig).unwrap();
    assert_eq!(kept, "clusters: [{name: production}]\n");
    run(&["--disable", "nonsense"]).refuses(2, &["garbage-collector"]);
    run(&["--enable", "workloads", "--disable", "workloads"]).refuses(2, &["`workloads` is to be both enabled and"]);
}

/// Runs kubectl, which `PATH` or the folder of `KUBEBUILDER_ASSETS` contains, and returns its output. `None` without one.
fn kubectl(kubeconfig: &Path, words: &str) -> Option<String> {
    let own = std::env::var_os("KUBEBUILDER_ASSETS").map(|folder| Path::new(&folder).join("kubectl"));
    let program = own.filter(|path| path.exists()).unwrap_or_else(|| "kubectl".into());
    let mut command = std::process::Command::new(program);
    command.arg("--kubeconfig").arg(kubeconfig).args(words.split(' '));
    let run = match command.output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        run => run.unwrap(),
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(run.status.success(), "{words}: {}", text(&run.stderr));
    Some(text(&run.stdout))
}

#[test]
fn kubectl_rolls_out_scales_and_runs_jobs() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("kubeconfig");
    // As in `make dev`.
    let args = ["--kubeconfig", path.to_str().unwrap(), "--enable", "workloads"];
    let _server = Server::start(dir.path(), &args);
    let run = |words: &str| kubectl(&path, words);
    if run("create deployment web --image=example.com/web:1 --replicas=3").is_none() {
        eprintln!("skipped: no kubectl");
        return;
    }
    let ends = |words: &str, end: &str| {
        let output = run(words).unwrap();
        assert!(output.trim_end().ends_with(end), "{words}: {output}");
    };
    let status = "rollout status deployment/web --timeout=60s";
    ends(status, "successfully rolled out");
    run("set image deployment/web web=example.com/web:2");
    ends(status, "successfully rolled out");
    run("scale deployment/web --replicas=5");
    ends(status, "successfully rolled out");
    ends("get deployment/web --output=jsonpath={.status.availableReplicas}", "5");
    run("rollout undo deployment/web");
    ends(status, "successfully rolled out");
    ends("get deployment/web --output=jsonpath={..image}", "example.com/web:1");
    run("create cronjob tick --image=example.com/tick:1 --schedule=@yearly");
    run("create job once --from=cronjob/tick");
    ends("wait --for=condition=Complete job/once --timeout=60s", "condition met");
}
