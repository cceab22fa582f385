//! Least privilege: a life of the operator with all granted permissions, and lives without each single verb.

use std::{fs, path::Path, time::Duration};

use anyhow::{Context, Result, bail, ensure};
use base64::{Engine, engine::general_purpose::STANDARD};
use control_plane::{
    Operator, eventually,
    foobar::{FooBar, child_of},
    free_ports, make_namespace,
};
use futures::{StreamExt, TryStreamExt, stream};
use k8s_openapi::api::{
    core::v1::{ConfigMap, Secret},
    events::v1::Event,
};
use kube::{
    Api, Client, Config,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
    config::{AuthInfo, KubeConfigOptions, Kubeconfig},
};
use serde_json::json;

use crate::{
    account::{Account, CERTIFICATE, Grant},
    stage::{Case, PATIENCE, case, say},
};

/// Concurrent lives.
const LIVES: usize = 4;
/// Permissions that the generated operator has and does not use: verb and resource. The book gives the reasons, under
/// permissions.
const UNUSED: [(&str, &str); 3] = [
    ("get", "foobars"),
    ("get", "foobars/status"),
    ("update", "foobars/status"),
];

/// One operator in a namespace of its own, and the steps of its life.
struct Life<'a> {
    operator: &'a Operator,
    /// The expected message in its log if a permission is missing.
    words: Option<String>,
    foobars: Api<FooBar>,
    children: Api<ConfigMap>,
    events: Api<Event>,
    scraped: Scraped,
}

/// The metrics of an operator.
struct Scraped {
    /// The name of the project, and the operator's namespace.
    place: [String; 2],
    /// Its user is the administrator.
    kubeconfig: Kubeconfig,
}

/// The reason that a life ends early.
enum End {
    /// The log names the missing permission.
    Named,
    Failed(anyhow::Error),
}

impl From<kube::Error> for End {
    fn from(error: kube::Error) -> Self {
        Self::Failed(error.into())
    }
}

impl Life<'_> {
    /// Waits for a step of the life, or for the message.
    async fn step(&self, what: &str, mut done: impl AsyncFnMut() -> Result<bool>) -> Result<(), End> {
        let reached = eventually(what, PATIENCE, async || {
            if self.is_named() {
                return Ok(Some(false));
            }
            Ok(done().await?.then_some(true))
        });
        match reached.await {
            Ok(true) => Ok(()),
            Ok(false) => Err(End::Named),
            Err(error) => Err(End::Failed(error)),
        }
    }

    fn is_named(&self) -> bool {
        let words = self.words.as_deref();
        words.is_some_and(|words| log_contains(&self.operator.log(), words))
    }

    async fn run(&self) -> Result<(), End> {
        self.step("readiness", async || Ok(self.operator.probe("/readyz").await))
            .await?;
        let mut foobar = FooBar::named("a");
        foobar.spec.r#type = Some("planet".to_owned());
        self.foobars.create(&PostParams::default(), &foobar).await?;
        let ready = async || Ok(self.foobars.get("a").await?.is_ready());
        self.step("the FooBar to be Ready", ready).await?;
        self.change_child("mars").await?;
        let merge = Patch::Merge(json!({"spec": {"type": null}}));
        self.foobars.patch("a", &PatchParams::default(), &merge).await?;
        self.step("the dropped field", async || self.child_has_no_type().await)
            .await?;
        self.children.delete(&child_of("a"), &DeleteParams::default()).await?;
        self.step("a new child", async || self.child_has("a").await).await?;
        let merge = Patch::Merge(json!({"spec": {"target": "moon"}}));
        self.foobars.patch("a", &PatchParams::default(), &merge).await?;
        self.step("the new target", async || self.child_has("moon").await)
            .await?;
        self.step("an event that counts", async || self.is_counted().await)
            .await?;
        self.step("the metrics", async || self.is_measured().await).await?;
        self.foobars.delete("a", &DeleteParams::default()).await?;
        let gone = async || Ok(self.foobars.get_opt("a").await?.is_none());
        self.step("the FooBar to go", gone).await
    }

    /// A user changes the child, adding a field, and the operator repairs it.
    async fn change_child(&self, target: &str) -> Result<(), End> {
        let merge = Patch::Merge(json!({"data": {"target": target, "theirs": "1"}}));
        self.children
            .patch(&child_of("a"), &PatchParams::default(), &merge)
            .await?;
        self.step("the repair", async || self.child_has("a").await).await
    }

    async fn child_has_no_type(&self) -> Result<bool> {
        let child = self.children.get(&child_of("a")).await?;
        Ok(!child.data.unwrap_or_default().contains_key("type"))
    }

    async fn child_has(&self, target: &str) -> Result<bool> {
        let child = self.children.get(&child_of("a")).await?;
        Ok(child
            .data
            .unwrap_or_default()
            .get("target")
            .is_some_and(|it| it == target))
    }

    async fn is_counted(&self) -> Result<bool> {
        let events = self.events.list(&ListParams::default()).await?.items;
        Ok(events.iter().any(|event| event.series.is_some()))
    }

    /// Whether the metrics are served as Prometheus reads them: with a token, by a certificate that the published
    /// authorities verify. Without a token they are not.
    async fn is_measured(&self) -> Result<bool> {
        let [project, _] = &self.scraped.place;
        let published = self.children.get(&format!("{project}-metrics-server-ca")).await?;
        let Some(authorities) = published.data.unwrap_or_default().remove("ca.crt") else {
            return Ok(false);
        };
        let request = || http::Request::get("/metrics").body(Vec::new());
        let stranger = self.scraped.client(&authorities, false).await?;
        let refused = stranger.request_text(request()?).await;
        ensure!(
            matches!(&refused, Err(kube::Error::Api(status)) if status.code == 401),
            "without a token: {refused:?}"
        );
        let known = self.scraped.client(&authorities, true).await?;
        Ok(known.request_text(request()?).await?.contains("kubewright_"))
    }
}

impl Scraped {
    /// At this port, of a process in this namespace.
    fn new(kubeconfig: &Path, place: [String; 2], port: u16) -> Result<Self> {
        let mut kubeconfig = Kubeconfig::read_from(kubeconfig)?;
        for cluster in kubeconfig.clusters.iter_mut().filter_map(|it| it.cluster.as_mut()) {
            cluster.server = Some(format!("https://127.0.0.1:{port}"));
            cluster.insecure_skip_tls_verify = None;
            cluster.certificate_authority = None;
            let [project, namespace] = &place;
            // As `serverName` in the ServiceMonitor.
            let name = format!("{project}-controller-manager-metrics-service.{namespace}.svc");
            cluster.tls_server_name = Some(name);
        }
        Ok(Self { place, kubeconfig })
    }

    /// A client that trusts these authorities and no others; with the administrator's token, or with none.
    async fn client(&self, authorities: &str, has_token: bool) -> Result<Client> {
        let mut kubeconfig = self.kubeconfig.clone();
        for cluster in kubeconfig.clusters.iter_mut().filter_map(|it| it.cluster.as_mut()) {
            cluster.certificate_authority_data = Some(STANDARD.encode(authorities));
        }
        if !has_token {
            for user in &mut kubeconfig.auth_infos {
                user.auth_info = Some(AuthInfo::default());
            }
        }
        let mut config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
        config.read_timeout = Some(Duration::from_secs(15));
        Ok(Client::try_from(config)?)
    }
}

/// Whether a warning or an error in the log contains this text.
fn log_contains(log: &Path, words: &str) -> bool {
    let text = fs::read_to_string(log).unwrap_or_default();
    let mut lines = text.lines();
    lines.any(|line| (line.contains("WARN") || line.contains("ERROR")) && line.contains(words))
}

impl Case<'_> {
    /// Runs a life without one grant, or with all; returns the requests that the API server refused.
    async fn live(&self, number: usize, grants: &[Grant], missing: Option<&Grant>) -> Result<Vec<String>> {
        let namespace = format!("{}-{number}", self.namespace);
        make_namespace(&self.client, &namespace).await?;
        let others: Vec<_> = grants.iter().filter(|grant| Some(*grant) != missing).cloned().collect();
        let account = Account::make(&self.stage.plane, &namespace, &others).await?;
        self.deploy_certificate(&namespace).await?;
        let [port] = free_ports()?;
        let operator = self.start(
            &self.stage.project.operator(),
            &[
                "--namespace",
                &namespace,
                "--leader-elect",
                "--leader-elect-lease-duration=5s",
                "--leader-elect-renew-deadline=3s",
                "--leader-elect-retry-period=1s",
                &format!("--metrics-bind-address=127.0.0.1:{port}"),
                "--metrics-own-cert",
            ],
            &account.kubeconfig,
        )?;
        let life = Life {
            operator: &operator,
            words: missing.map(Grant::refusal),
            foobars: Api::namespaced(self.client.clone(), &namespace),
            children: Api::namespaced(self.client.clone(), &namespace),
            events: Api::namespaced(self.client.clone(), &namespace),
            scraped: Scraped::new(
                &self.stage.plane.kubeconfig(),
                [self.stage.project.name().to_owned(), namespace],
                port,
            )?,
        };
        let outcome = life.run().await;
        let log = operator.log();
        // Events and the lease are written until the end.
        operator.terminate(PATIENCE).await?;
        let user = account.user();
        account.remove().await?;
        if let Err(End::Failed(error)) = outcome {
            return Err(error.context(format!("without {missing:?}")));
        }
        let unused = missing.is_none_or(|it| UNUSED.contains(&(&it.verb, &it.resource)));
        if let Some(missing) = missing.filter(|_| !unused) {
            let words = missing.refusal();
            ensure!(log_contains(&log, &words), "the log does not say that it {words}");
        } else if let Err(End::Named) = outcome {
            bail!("{missing:?} is used");
        }
        self.refused(&user)
    }

    /// Creates what the operator keeps the certificate of its metrics in, as `make deploy` does.
    async fn deploy_certificate(&self, namespace: &str) -> Result<()> {
        let secrets: Api<Secret> = Api::namespaced(self.client.clone(), namespace);
        let maps: Api<ConfigMap> = Api::namespaced(self.client.clone(), namespace);
        for mut object in self.parsed(CERTIFICATE)? {
            let named = object["metadata"]["name"].as_str().context("no name")?;
            let named = format!("{}-{named}", self.stage.project.name());
            (object["metadata"]["name"], object["metadata"]["namespace"]) = (json!(named), json!(namespace));
            match object["kind"].as_str() {
                Some("Secret") => drop(
                    secrets
                        .create(&PostParams::default(), &serde_json::from_value(object)?)
                        .await?,
                ),
                Some("ConfigMap") => drop(
                    maps.create(&PostParams::default(), &serde_json::from_value(object)?)
                        .await?,
                ),
                // The account has the role.
                _ => {}
            }
        }
        Ok(())
    }

    fn refused(&self, user: &str) -> Result<Vec<String>> {
        let requests = self.stage.plane.audit().since(self.began())?.into_iter();
        let refused = requests.filter(|request| request.user == user && request.code == 403);
        Ok(refused
            .map(|request| format!("{} {}", request.verb, request.resource))
            .collect())
    }
}

#[test]
fn the_granted_permissions_are_sufficient_and_the_log_names_each_missing_verb() -> Result<()> {
    case(async |case| {
        let grants = case.granted().await?;
        let refused = case.live(0, &grants, None).await?;
        ensure!(refused.is_empty(), "with all that is granted it may not {refused:?}");
        let case = &*case;
        let lives = grants.iter().enumerate().map(|(at, missing)| {
            let grants = &grants;
            async move {
                let refused = case.live(at + 1, grants, Some(missing)).await?;
                let named = missing.refused();
                let others: Vec<_> = refused.iter().filter(|it| **it != named).collect();
                ensure!(others.is_empty(), "without {named} it may not {others:?}");
                let unused = UNUSED.contains(&(&missing.verb, &missing.resource));
                ensure!(refused.is_empty() == unused, "without {named}: {refused:?}");
                Ok(())
            }
        });
        stream::iter(lives.collect::<Vec<_>>())
            .buffer_unordered(LIVES)
            .try_collect::<()>()
            .await?;
        say(&format!("{} lives, each without one verb", grants.len()));
        Ok(())
    })
}
