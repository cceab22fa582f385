//! The probes and the metrics of the deployed operator, asked through forwarded ports.

use super::{Deployed, WORK};
use crate::tool::Tool;
use kubewright_schema::files::Streams;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Child;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// The limit for kubectl to forward a port.
const FORWARDED: Duration = Duration::from_secs(10);
/// The time until each API server applies a new binding.
const BOUND: Duration = Duration::from_secs(1);
/// An account that may read the metrics.
const READER: &str = "metrics-test";

pub(super) fn curl() -> Tool {
    Tool::new(vec!["curl".to_owned()], "PATH")
}

/// # Errors
/// A response is wrong.
pub(super) fn ask(deployed: &Deployed<'_>, role: &str, streams: &mut Streams<'_>) -> Result<(), String> {
    let probes = Forwarded::port(deployed, 8081)?;
    for path in ["healthz", "readyz"] {
        deployed.responds(200, &format!("http://127.0.0.1:{}/{path}", probes.port), "")?;
    }
    let metrics = Forwarded::port(deployed, 8443)?;
    let url = format!("https://127.0.0.1:{}/metrics", metrics.port);
    deployed.responds(401, &url, "")?;
    let token = |account: &str| deployed.in_namespace(|kubectl| kubectl.output(&["create", "token", account]));
    // The operator caches refusals, so another account than the reader is refused.
    deployed.responds(403, &url, &token("default")?)?;
    let reader = Reader::bind(deployed, role)?;
    thread::sleep(BOUND);
    let read = deployed.responds(200, &url, &token(READER)?)?;
    drop(reader);
    if !read.lines().any(|line| line.starts_with("kubewright_")) {
        return Err("the metrics lack the operator's own\n\nhint: see `make dashboards` for their names".to_owned());
    }
    _ = writeln!(streams.out, "probes answer; metrics need a token, and a permission");
    Ok(())
}

impl Deployed<'_> {
    /// The body of a response with this status.
    fn responds(&self, status: u16, url: &str, token: &str) -> Result<String, String> {
        let body = format!("{WORK}/body");
        let format = ["--silent", "--insecure", "--max-time", "10", "--output", &body];
        let more = ["--write-out", "%{http_code}", "--header", "@-", url];
        let header = match token.trim() {
            "" => String::new(),
            token => format!("Authorization: Bearer {token}\n"),
        };
        // Other users of this machine can read arguments, so the token comes through the standard input.
        let found = curl().answer(&[&format[..], &more].concat(), &header)?;
        if found != status.to_string() {
            return Err(self.failed(&format!("`{url}` responds {found} instead of {status}")));
        }
        fs::read_to_string(&body).map_err(|error| format!("cannot read `{body}`: {error}"))
    }
}

/// A port of this machine that kubectl forwards to the operator's Pod, until it is dropped.
struct Forwarded {
    port: String,
    kubectl: Child,
}

impl Forwarded {
    fn port(deployed: &Deployed<'_>, port: u16) -> Result<Self, String> {
        let port = format!(":{port}");
        let arguments = ["port-forward", "--address", "127.0.0.1", deployed.deployment, &port];
        let mut kubectl = deployed.in_namespace(|kubectl| kubectl.start_read(&arguments))?;
        let (send, receive) = mpsc::channel();
        // The thread reads to the end: without a reader kubectl dies of its next line.
        if let Some(lines) = kubectl.stdout.take() {
            thread::spawn(move || {
                for line in BufReader::new(lines).lines().map_while(Result::ok) {
                    let rest = line.strip_prefix("Forwarding from 127.0.0.1:");
                    if let Some((port, _)) = rest.and_then(|rest| rest.split_once(' ')) {
                        _ = send.send(port.to_owned());
                    }
                }
            });
        }
        let found = receive.recv_timeout(FORWARDED);
        let forwarded = Self {
            port: found.clone().unwrap_or_default(),
            kubectl,
        };
        match found {
            Ok(_) => Ok(forwarded),
            Err(_) => Err(format!(
                "port {port} of the Pod cannot be reached\n\nhint: see what `kubectl port-forward` prints"
            )),
        }
    }
}

impl Drop for Forwarded {
    fn drop(&mut self) {
        _ = self.kubectl.kill();
        _ = self.kubectl.wait();
    }
}

/// A ServiceAccount that may read the metrics, until it is dropped: `undeploy` leaves a namespace with objects of others.
struct Reader<'a> {
    deployed: &'a Deployed<'a>,
    binding: String,
}

impl<'a> Reader<'a> {
    fn bind(deployed: &'a Deployed<'a>, role: &str) -> Result<Self, String> {
        deployed.in_namespace(|kubectl| kubectl.run(&["create", "serviceaccount", READER]))?;
        let reader = Self {
            deployed,
            binding: format!("{role}-test"),
        };
        let account = format!("{}:{READER}", deployed.namespace);
        let bind = [
            "create",
            "clusterrolebinding",
            &reader.binding,
            "--clusterrole",
            role,
            "--serviceaccount",
            &account,
        ];
        deployed.kubectl.run(&bind)?;
        Ok(reader)
    }
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        // kubectl prints why it fails, and `undeploy` reports what is left.
        _ = self
            .deployed
            .kubectl
            .run(&["delete", "--ignore-not-found", "clusterrolebinding", &self.binding]);
        self.deployed
            .in_namespace(|kubectl| _ = kubectl.run(&["delete", "--ignore-not-found", "serviceaccount", READER]));
    }
}
