//! A server that runs programs, whichever way it is reached.

use anyhow::{Context, Result, ensure};
use http::Request;
use http_body_util::BodyExt;
use kube::{
    Client, Config,
    client::Body,
    config::{AuthInfo, KubeConfigOptions, Kubeconfig},
};
use kubewright_apiserver::{ApiServer, Controllers, Options};
use serde_json::Value;
use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};
use tokio::time::{Instant, sleep, timeout};

use crate::{Answer, Program, Step, answer::HEADERS};

/// The time limit of an answer: watches end earlier.
const PATIENCE: Duration = Duration::from_secs(30);

/// The time for which a step with `until` is repeated.
const SETTLING: Duration = Duration::from_secs(5);

/// A server, with administrator access.
#[derive(Clone)]
pub struct Target {
    client: Client,
    /// A client without credentials.
    bare: Client,
    tally: Arc<Tally>,
}

/// The numbers of answers.
#[derive(Debug, Default)]
struct Tally {
    all: AtomicUsize,
    successful: AtomicUsize,
}

impl Target {
    /// The server of a kubeconfig.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub async fn of_kubeconfig(path: &Path) -> Result<Self> {
        let kubeconfig = Kubeconfig::read_from(path)?;
        let mut config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
        // A refusal counts as an answer.
        config.default_retry = false;
        let client = Client::try_from(config.clone())?;
        config.auth_info = AuthInfo::default();
        Ok(Self {
            client,
            bare: Client::try_from(config)?,
            tally: Arc::default(),
        })
    }

    /// A new in-process server without controllers, because the real server is compared without them too.
    pub fn in_process() -> Self {
        let server = ApiServer::new(Options {
            controllers: Controllers::NONE,
            ..Options::default()
        });
        let client = Client::new(server.service(), "default");
        Self {
            bare: client.clone(),
            tally: Arc::default(),
            client,
        }
    }

    /// The answer to one request of the administrator's, outside of any program.
    ///
    /// # Errors
    /// When it cannot be sent. A refusal is an answer.
    pub async fn send(&self, step: &Step) -> Result<Answer> {
        self.ask(step, "", &[]).await
    }

    /// Makes the namespace and runs the program in it, answer after answer. The namespace stays.
    ///
    /// # Errors
    /// When a request cannot be sent, or the program refers to a missing value. Refusals are answers.
    pub async fn run(&self, program: &Program, namespace: &str) -> Result<Vec<Answer>> {
        let body = serde_json::json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
        let made = self
            .ask(
                &Step {
                    r#do: "POST /api/v1/namespaces".to_owned(),
                    body: Some(body),
                    ..Step::default()
                },
                namespace,
                &[],
            )
            .await?;
        ensure!(made.code == 201, "no namespace for `{}`: {}", program.name, made.body);
        let answers = self.answers(program, namespace).await;
        for step in &program.after {
            self.ask(step, namespace, &[]).await?;
        }
        answers
    }

    /// The number of answers so far, and how many of them were successful.
    pub fn tally(&self) -> [usize; 2] {
        [&self.tally.all, &self.tally.successful].map(|count| count.load(Relaxed))
    }

    /// The answer to a step of a program after the answers to the earlier ones.
    ///
    /// # Errors
    /// When it cannot be sent, or refers to a missing value.
    pub async fn answer(&self, step: &Step, namespace: &str, earlier: &[Answer]) -> Result<Answer> {
        self.settled(step, namespace, earlier).await
    }

    async fn answers(&self, program: &Program, namespace: &str) -> Result<Vec<Answer>> {
        let mut answers = Vec::new();
        for step in &program.steps {
            let answer = self.settled(step, namespace, &answers).await;
            answers.push(answer.with_context(|| format!("`{}`, step {}", program.name, answers.len()))?);
        }
        Ok(answers)
    }

    async fn settled(&self, step: &Step, namespace: &str, earlier: &[Answer]) -> Result<Answer> {
        // If the first answer was a refusal, repeating does not help.
        let refused = earlier.first().is_some_and(|first| first.code >= 400);
        let deadline = Instant::now() + if refused { Duration::ZERO } else { SETTLING };
        loop {
            let answer = self.ask(step, namespace, earlier).await?;
            let settled = step.until.iter().all(|(pointer, wanted)| {
                answer.body.pointer(pointer).unwrap_or(&Value::Null) == &filled(wanted, namespace)
            });
            if settled || Instant::now() > deadline {
                return Ok(answer);
            }
            sleep(Duration::from_millis(20)).await;
        }
    }

    async fn ask(&self, step: &Step, namespace: &str, earlier: &[Answer]) -> Result<Answer> {
        let (method, path, watch) = step.line(namespace, earlier)?;
        let mut request = Request::builder().method(method.as_str()).uri(&path);
        let body = step.bytes(namespace, earlier)?;
        let content_type = step.r#as.as_deref().unwrap_or("application/json");
        if !body.is_empty() && !content_type.is_empty() {
            request = request.header("content-type", content_type);
        }
        request = request.header("accept", step.accept.as_deref().unwrap_or("application/json"));
        let headers = step.headers(namespace, earlier)?;
        let client = match headers.iter().any(|(name, _)| name == "authorization") {
            true => &self.bare,
            false => &self.client,
        };
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let request = request.header("user-agent", "fidelity/1").body(Body::from(body))?;
        let exchange = async {
            let response = client.send(request).await?;
            let (head, body) = response.into_parts();
            anyhow::Ok((head, read(body, step.first).await?))
        };
        let (head, body) = timeout(PATIENCE, exchange)
            .await
            .with_context(|| format!("no end of the answer to `{}`", step.r#do))??;
        let media_type = head.headers.get("content-type").and_then(|value| value.to_str().ok());
        let mut answer = Answer {
            code: head.status.as_u16(),
            body: Answer::body(&body, media_type.unwrap_or_default(), watch && head.status.is_success()),
            ..Answer::default()
        };
        self.tally.all.fetch_add(1, Relaxed);
        self.tally
            .successful
            .fetch_add(usize::from(head.status.is_success()), Relaxed);
        for name in HEADERS {
            let values = head.headers.get_all(name).iter();
            let values: Vec<_> = values
                .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
                .collect();
            if !values.is_empty() {
                answer.headers.insert(name.to_owned(), values);
            }
        }
        Ok(answer)
    }
}

/// The body, or its first lines.
async fn read(mut body: Body, lines: Option<usize>) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let is_enough = |bytes: &[u8]| lines.is_some_and(|lines| bytes.split(|byte| *byte == b'\n').count() > lines);
    while !is_enough(&bytes)
        && let Some(frame) = body.frame().await
    {
        if let Ok(data) = frame?.into_data() {
            bytes.extend_from_slice(&data);
        }
    }
    let lines = lines.unwrap_or(usize::MAX);
    Ok(bytes
        .split_inclusive(|byte| *byte == b'\n')
        .take(lines)
        .flatten()
        .copied()
        .collect())
}

/// The expected part of an answer, with the namespace filled in.
fn filled(wanted: &Value, namespace: &str) -> Value {
    match wanted {
        Value::String(text) => text.replace("$ns", namespace).into(),
        other => other.clone(),
    }
}
