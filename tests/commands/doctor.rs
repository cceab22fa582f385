//! `kubewright doctor`, for people and for programs.

use crate::cli::{self, project};
use std::fs;

#[test]
fn doctor_reports_each_check_also_as_json() {
    let dir = project();
    let run = |args: &[&str]| {
        cli::Run::of(
            cli::command(dir.path(), args)
                .env("KUBECONFIG", dir.path().join("missing"))
                .env_remove("KUBERNETES_SERVICE_HOST")
                .output()
                .unwrap(),
        )
    };
    let text = run(&["doctor"]).succeeds().stdout;
    assert!(
        text.contains("ok       rust") && text.contains("warning  cluster   KUBECONFIG: there is no file"),
        "{text}"
    );
    let findings: Vec<serde_json::Value> =
        serde_json::from_str(&run(&["doctor", "-o", "json"]).succeeds().stdout).unwrap();
    assert_eq!(
        findings
            .iter()
            .map(|finding| finding["check"].as_str().unwrap())
            .collect::<Vec<_>>(),
        ["rust", "project", "kubectl", "cluster"]
    );
    let registry = dir.path().join("src/controllers/mod.rs");
    fs::write(&registry, fs::read_to_string(&registry).unwrap() + "// mine\n").unwrap();
    assert!(
        run(&["doctor"])
            .succeeds()
            .stdout
            .contains("edited by hand: `src/controllers/mod.rs`")
    );
    fs::write(dir.path().join("PROJECT"), "nonsense").unwrap();
    run(&["doctor"]).refuses(1, &["the check of project failed"]);
}

#[cfg(unix)]
#[test]
fn doctor_fails_without_the_programs_that_build_a_project() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let install = |name: &str, line: &str| {
        let path = dir.path().join(name);
        fs::write(&path, format!("#!/bin/sh\necho '{line}'\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    let doctor = |compiler: &str| {
        let mut doctor = cli::command(dir.path(), &["doctor"]);
        doctor.env("PATH", dir.path()).env("CC", compiler);
        doctor.env("KUBECONFIG", dir.path().join("missing"));
        cli::Run::of(doctor.env_remove("KUBERNETES_SERVICE_HOST").output().unwrap())
    };
    install("cargo", "cargo 1.95.0");
    install("rustc", "rustc 1.95.0");
    let parts = ["`make` is not installed", "`cc` is not installed", "build-essential"];
    let run = doctor("").refuses(1, &["the check of make and compiler failed"]);
    assert!(parts.iter().all(|part| run.stdout.contains(part)), "{}", run.stdout);
    install("make", "GNU Make 4.3");
    doctor("").refuses(1, &["the check of compiler failed"]);
    let run = doctor("ccache clang").succeeds();
    assert!(run.stdout.contains("warning  compiler  `cc`"), "{}", run.stdout);
    install("cc", "cc 14");
    assert!(!doctor("").succeeds().stdout.contains("compiler"));
}

#[test]
fn doctor_names_the_version_of_the_cluster() {
    use std::io::{Read, Write};
    let dir = project();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let config = |url: &str| {
        format!(
            "{{apiVersion: v1, kind: Config, current-context: c, contexts: [{{name: c, context: {{cluster: c, user: u}}}}], \
             clusters: [{{name: c, cluster: {{server: '{url}'}}}}], users: [{{name: u, user: {{}}}}]}}"
        )
    };
    let kubeconfig = dir.path().join("kubeconfig");
    fs::write(&kubeconfig, config(&url)).unwrap();
    let fields = [
        "buildDate",
        "compiler",
        "gitCommit",
        "gitTreeState",
        "goVersion",
        "major",
        "minor",
        "platform",
    ];
    let mut version: serde_json::Map<String, serde_json::Value> =
        fields.map(|field| (field.to_owned(), "x".into())).into_iter().collect();
    version.insert("gitVersion".into(), "v1.36.3".into());
    let body = serde_json::Value::from(version).to_string();
    // Some builds of kubectl send requests to the cluster too.
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]).unwrap();
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n";
            let _ = write!(stream, "{head}content-length: {}\r\n\r\n{body}", body.len());
        }
    });
    let cluster = |kubeconfigs: &str, proxy: &str| {
        let mut doctor = cli::command(dir.path(), &["doctor"]);
        doctor
            .env("KUBECONFIG", kubeconfigs)
            .env_remove("NO_PROXY")
            .env_remove("no_proxy");
        doctor.env("HTTP_PROXY", proxy).env("HTTPS_PROXY", proxy);
        let text = cli::Run::of(doctor.output().unwrap()).succeeds().stdout;
        let line = text.lines().find(|line| line.contains(" cluster "));
        line.unwrap_or_default().to_owned()
    };
    let file = kubeconfig.to_str().unwrap();
    let found = "ok       cluster   v1.36.3 at http://";
    // Nothing listens on port 9, and loopback addresses are never proxied. A missing file of the list is skipped.
    let direct = cluster(&format!("{file}.missing:{file}"), "http://127.0.0.1:9");
    assert!(direct.starts_with(&format!("{found}127.0.0.1:")), "{direct}");
    // The server is the proxy.
    fs::write(&kubeconfig, config("http://foobar.invalid:8080")).unwrap();
    let proxied = cluster(file, &url);
    assert!(proxied.starts_with(&format!("{found}foobar.invalid:8080")), "{proxied}");
}

/// A server that is stopped at the end of the test.
struct Server(std::process::Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The CRD of FooBars in these versions, the last of which is stored.
fn definition(versions: &[&str]) -> serde_json::Value {
    let version = |name: &&str| {
        let schema = serde_json::json!({"openAPIV3Schema": {"type": "object"}});
        let storage = Some(name) == versions.last();
        serde_json::json!({"name": name, "served": true, "storage": storage, "schema": schema})
    };
    serde_json::json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "foobars.test.example.com"},
        "spec": {
            "group": "test.example.com",
            "names": {"kind": "FooBar", "plural": "foobars", "singular": "foobar", "listKind": "FooBarList"},
            "scope": "Namespaced",
            "versions": versions.iter().map(version).collect::<Vec<_>>(),
        },
    })
}

#[test]
fn doctor_says_which_objects_are_left_to_migrate() {
    use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams};
    use std::io::{BufRead, BufReader};
    let dir = project();
    let api = |verb: &str, version: &str, more: &[&str]| {
        let of = [verb, "api", "--group", "test", "--kind", "FooBar", "--version", version];
        cli::kubewright(dir.path(), &[&of[..], more].concat()).succeeds();
    };
    let kubeconfig = dir.path().join("kubeconfig");
    let doctor = || {
        let output = cli::command(dir.path(), &["doctor"])
            .env("KUBECONFIG", &kubeconfig)
            .env_remove("KUBERNETES_SERVICE_HOST")
            .output();
        let text = cli::Run::of(output.unwrap()).succeeds().stdout;
        let mut lines = text.lines().skip_while(|line| !line.contains(" storage "));
        lines.next().unwrap_or_default().to_owned()
    };
    api("create", "v1", &[]);
    assert_eq!(doctor(), "", "it was always stored in one version");
    api("create", "v2", &["--storage"]);
    let offline = "warning  storage   objects of `foobars.test.example.com` are stored as v2, and were stored as v1: a cluster may still have objects of that version";
    assert_eq!(doctor(), offline);

    let mut server = cli::command(dir.path(), &["apiserver", "--kubeconfig"]);
    let server = server.arg(&kubeconfig).stdout(std::process::Stdio::piped()).spawn();
    let mut server = Server(server.unwrap());
    let mut ready = String::new();
    BufReader::new(server.0.stdout.take().unwrap())
        .read_line(&mut ready)
        .unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let definitions = runtime.block_on(async {
        let kubeconfig = kube::config::Kubeconfig::read_from(&kubeconfig).unwrap();
        let config = kube::Config::from_custom_kubeconfig(kubeconfig, &Default::default()).await;
        let client = kube::Client::try_from(config.unwrap()).unwrap();
        let kind = GroupVersionKind::gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
        Api::<DynamicObject>::all_with(client, &ApiResource::from_gvk(&kind))
    });
    let install = |versions: &[&str]| {
        let patch = Patch::Apply(definition(versions));
        let params = PatchParams::apply("test").force();
        runtime
            .block_on(definitions.patch("foobars.test.example.com", &params, &patch))
            .unwrap();
    };
    assert_eq!(doctor(), offline, "it is not installed");
    install(&["v1"]);
    assert_eq!(
        doctor(),
        "warning  storage   `foobars.test.example.com` of the cluster stores objects as v1, and that of the project as v2"
    );
    install(&["v1", "v2"]);
    assert_eq!(
        doctor(),
        "warning  storage   `foobars.test.example.com` of the cluster stores v2, and may have objects stored as v1"
    );
    cli::kubewright(dir.path(), &["edit", "controller", "foobar", "--version", "v2"]).succeeds();
    api("delete", "v1", &["--migrated"]);
    assert_eq!(
        doctor(),
        "warning  storage   `foobars.test.example.com` of the cluster may have objects stored as v1, which the project no longer has"
    );
    let migrated = Patch::Merge(serde_json::json!({"status": {"storedVersions": ["v2"]}}));
    let params = PatchParams::default();
    let patched = definitions.patch_status("foobars.test.example.com", &params, &migrated);
    runtime.block_on(patched).unwrap();
    assert_eq!(doctor(), "", "nothing is left");
}
