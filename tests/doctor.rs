//! `kubewright doctor`, for people and for programs.

mod cli;

use cli::project;
use std::fs;

#[test]
fn doctor_reports_each_check_also_as_json() {
    let dir = project();
    let run = |args: &[&str]| {
        cli::Run::of(
            cli::command(dir.path(), args)
                .env("KUBECONFIG", "/nonexistent")
                .env_remove("KUBERNETES_SERVICE_HOST")
                .output()
                .unwrap(),
        )
    };
    let text = run(&["doctor"]).succeeds().stdout;
    assert!(
        text.contains("ok       rust") && text.contains("warning  cluster   no kubeconfig"),
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

#[test]
fn doctor_names_the_version_of_the_cluster() {
    use std::io::{Read, Write};
    let dir = project();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let config = format!(
        "{{apiVersion: v1, kind: Config, current-context: c, contexts: [{{name: c, context: {{cluster: c, user: u}}}}], \
         clusters: [{{name: c, cluster: {{server: '{url}'}}}}], users: [{{name: u, user: {{}}}}]}}"
    );
    let kubeconfig = dir.path().join("kubeconfig");
    fs::write(&kubeconfig, config).unwrap();
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
    let run = cli::Run::of(
        cli::command(dir.path(), &["doctor"])
            .env("KUBECONFIG", kubeconfig)
            .output()
            .unwrap(),
    )
    .succeeds();
    assert!(
        run.stdout.contains("ok       cluster   v1.36.3 at http://127.0.0.1:"),
        "{}",
        run.stdout
    );
}
