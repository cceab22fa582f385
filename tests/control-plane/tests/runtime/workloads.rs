//! Deployments on the in-process API server and on kube-apiserver with kube-controller-manager, with the same kubelet: each
//! step of a life ends in the same state. So do other workloads, in files of their own.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use control_plane::{ControlPlane, eventually};
use futures::future::BoxFuture;
use kube::Client;
use kubewright_apiserver::{
    ApiServer, Controllers, Options,
    testing::kubelet::{Written, play},
};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::{controlled_with, lost_nodes, stateful_sets};

const DEPLOYMENT: &str = "/apis/apps/v1/namespaces/default/deployments/web";
const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const SETS: &str = "/apis/apps/v1/namespaces/default/replicasets";
pub(super) const PODS: &str = "/api/v1/namespaces/default/pods";
/// A state that lasts that long is an end state: containers become ready after one second.
const SETTLED: Duration = Duration::from_millis(2500);
/// kube-controller-manager retries with delays, and both controllers of autoscalers and of nodes wait.
const PATIENCE: Duration = Duration::from_secs(180);

/// Sends a request with a JSON body; a merge patch, if it patches.
pub(super) async fn send(client: &Client, method: &str, path: &str, body: &Value) -> Result<Value> {
    let media = if method == "PATCH" {
        "application/merge-patch+json"
    } else {
        "application/json"
    };
    let body = if body.is_null() {
        Vec::new()
    } else {
        body.to_string().into_bytes()
    };
    let request = http::Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", media)
        .body(body)?;
    let answer = client.request::<Value>(request).await;
    answer.with_context(|| format!("{method} {path}"))
}

pub(super) async fn items(client: &Client, path: &str) -> Result<Vec<Value>> {
    let list = send(client, "GET", path, &Value::Null).await?;
    Ok(list["items"].as_array().cloned().unwrap_or_default())
}

/// Plays the kubelet, the scheduler and the provisioner for all Pods of a server, until the task is dropped.
pub async fn kubelet(client: Client) {
    loop {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_secs();
        let lost = lost_nodes::names(&client).await;
        let mut pods = items(&client, PODS).await.unwrap_or_default();
        pods.retain(|pod| !lost.contains(&pod["spec"]["nodeName"]));
        for mut pod in pods {
            pod["apiVersion"] = json!("v1");
            pod["kind"] = json!("Pod");
            let path = format!("{PODS}/{}", pod["metadata"]["name"].as_str().unwrap_or_default());
            for write in play(&pod, i64::try_from(now).unwrap_or_default()).writes {
                let sent = match &write {
                    Written::Bind(pod) => {
                        let target = json!({"kind": "Node", "name": pod["spec"]["nodeName"]});
                        let binding = json!({"metadata": {"name": pod["metadata"]["name"]}, "target": target});
                        send(&client, "POST", &format!("{path}/binding"), &binding).await
                    }
                    Written::Status(pod) => send(&client, "PUT", &format!("{path}/status"), pod).await,
                    Written::Delete(..) => send(&client, "DELETE", &path, &json!({"gracePeriodSeconds": 0})).await,
                    other => panic!("a kubelet sends no {other:?}"),
                };
                // Conflicts: the next round sees the new state.
                drop(sent);
            }
        }
        stateful_sets::provision(&client).await;
        sleep(Duration::from_millis(100)).await;
    }
}

/// Reads the state of a server that is compared.
pub(super) type Look = fn(&Client) -> BoxFuture<'_, Result<Value>>;

/// The state of all objects without names, times and hashes.
pub(super) fn state(client: &Client) -> BoxFuture<'_, Result<Value>> {
    Box::pin(deployed(client))
}

async fn deployed(client: &Client) -> Result<Value> {
    let mut sets = items(client, SETS).await?;
    sets.iter_mut().for_each(plain);
    let mut pods = Vec::new();
    for pod in items(client, PODS).await? {
        let owner = &pod["metadata"]["ownerReferences"][0]["kind"];
        pods.push(json!([
            image(&pod["spec"]),
            owner,
            pod["status"]["phase"],
            pod["metadata"]["labels"]["app"]
        ]));
    }
    let mut deployments = items(client, DEPLOYMENTS).await?;
    deployments.iter_mut().for_each(plain);
    sets.sort_by_key(Value::to_string);
    pods.sort_by_key(Value::to_string);
    let stateful = stateful_sets::state(client).await?;
    Ok(json!({"deployments": deployments, "sets": sets, "pods": pods, "stateful": stateful}))
}

fn image(spec: &Value) -> Value {
    spec["containers"][0]["image"].clone()
}

fn plain(object: &mut Value) {
    let owner = object["metadata"]["ownerReferences"][0]["kind"].clone();
    let mut conditions: Vec<Value> = object["status"]["conditions"]
        .as_array()
        .into_iter()
        .flatten()
        .map(condition)
        .collect();
    conditions.sort_by_key(Value::to_string);
    let mut status = object["status"].clone();
    status["conditions"] = json!(conditions);
    let mut generation = object["metadata"]["generation"].clone();
    if object.pointer("/spec/selector/matchLabels/pod-template-hash").is_some() {
        // The number of steps of a rollout depends on when Pods become ready.
        status["observedGeneration"] = json!(status["observedGeneration"] == generation);
        generation = Value::Null;
    }
    let mut labels = object["spec"]["selector"]["matchLabels"].clone();
    if labels["pod-template-hash"].is_string() {
        labels["pod-template-hash"] = json!("hash");
    }
    *object = json!({
        "annotations": object["metadata"]["annotations"], "generation": generation, "owner": owner,
        "replicas": object["spec"]["replicas"], "image": image(&object["spec"]["template"]["spec"]), "selector": labels,
        "status": status,
    });
}

/// A condition without times and without the name of its ReplicaSet.
fn condition(condition: &Value) -> Value {
    let message = condition["message"].as_str().unwrap_or_default();
    let words = message
        .split(' ')
        .map(|word| if word.starts_with('"') { "NAME" } else { word });
    let message = words.collect::<Vec<_>>().join(" ");
    json!([condition["type"], condition["status"], condition["reason"], message])
}

/// The state once it has not changed for a while.
async fn settled(client: &Client, look: Look) -> Result<Value> {
    let (mut before, mut since) = (look(client).await?, Instant::now());
    while since.elapsed() < SETTLED {
        sleep(Duration::from_millis(100)).await;
        let now = look(client).await?;
        if now != before {
            (before, since) = (now, Instant::now());
        }
    }
    Ok(before)
}

/// Two servers, to which the same requests are sent.
pub(super) struct Both {
    pub ours: Client,
    pub real: Client,
    /// The state that is compared.
    look: Look,
    plane: ControlPlane,
}

impl Both {
    /// Starts both, with the same kubelet, and compares them; a note alone without the programs.
    pub async fn with<F: AsyncFnOnce(&Self) -> Result<()>>(look: Look, compare: F) -> Result<()> {
        Self::with_flags(&[], look, compare).await
    }

    /// The same with more flags of kube-controller-manager.
    pub async fn with_flags<F: AsyncFnOnce(&Self) -> Result<()>>(flags: &[&str], look: Look, compare: F) -> Result<()> {
        let Some(plane) = controlled_with(flags).await? else {
            return Ok(());
        };
        let controllers = Controllers {
            workloads: true,
            ..Controllers::default()
        };
        let server = ApiServer::new(Options {
            controllers,
            ..Options::default()
        });
        let real = plane.client().await?;
        let kubelet = tokio::spawn(kubelet(real.clone()));
        let ours = Client::new(server.service(), "default");
        let both = Self {
            ours,
            real,
            look,
            plane,
        };
        let done = compare(&both).await;
        kubelet.abort();
        done
    }

    /// Sends the request to both, and compares what it leads to.
    pub async fn step(&self, name: &str, request: [&str; 2], body: Value) -> Result<Value> {
        self.step_until(name, request, body, |_| true).await
    }

    /// The same where both wait before they act: compares once each has reached such a state.
    pub async fn step_until(
        &self,
        name: &str,
        [method, path]: [&str; 2],
        body: Value,
        is_reached: impl Fn(&Value) -> bool,
    ) -> Result<Value> {
        for client in [&self.ours, &self.real] {
            send(client, method, path, &body)
                .await
                .with_context(|| name.to_owned())?;
        }
        for client in [&self.ours, &self.real] {
            let reached = async || Ok(is_reached(&(self.look)(client).await?).then_some(()));
            if let Err(error) = eventually(name, PATIENCE, reached).await {
                let state = (self.look)(client).await?;
                return Err(error.context(format!("the state is {state}")));
            }
        }
        let mut ours = settled(&self.ours, self.look).await?;
        let deadline = Instant::now() + PATIENCE;
        let mut real = settled(&self.real, self.look).await?;
        while real != ours && Instant::now() < deadline {
            real = settled(&self.real, self.look).await?;
            // Both wait, and neither is always the first.
            ours = settled(&self.ours, self.look).await?;
        }
        let show = |state: &Value| serde_json::to_string_pretty(state);
        ensure!(
            ours == real,
            "{name}: here {}\n\nkube-controller-manager {}",
            show(&ours)?,
            show(&real)?
        );
        Ok(ours)
    }
}

fn template(image: u32, behaviour: &str) -> Value {
    json!({
        "metadata": {"labels": {"app": "web"}, "annotations": {"kubewright.dev/kubelet": behaviour}},
        "spec": {"containers": [{"name": "main", "image": format!("example.com/main:{image}")}]},
    })
}

fn rolled(image: u32, behaviour: &str) -> Value {
    json!({"spec": {"template": template(image, behaviour)}})
}

fn deployment(replicas: u32) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "annotations": {"team": "a"}},
        "spec": {
            "replicas": replicas, "revisionHistoryLimit": 2, "selector": {"matchLabels": {"app": "web"}},
            "template": template(1, "ready-after=1s"),
        },
    })
}

#[tokio::test]
async fn deployments_end_as_with_kube_controller_manager() -> Result<()> {
    let lives = async |both: &Both| {
        life(both).await?;
        owners(both).await
    };
    Both::with(state, lives).await
}

/// Rollouts, scaling, rollback, pause, deadlines.
async fn life(both: &Both) -> Result<()> {
    let ready = "ready-after=1s";
    let patch = ["PATCH", DEPLOYMENT];
    both.step("created", ["POST", DEPLOYMENTS], deployment(3)).await?;
    both.step("rolled out", patch, rolled(2, ready)).await?;
    both.step("scaled", patch, json!({"spec": {"replicas": 6}})).await?;
    let back = both.step("rolled back", patch, rolled(1, ready)).await?;
    assert_eq!(
        back["deployments"][0]["annotations"]["deployment.kubernetes.io/revision"],
        "3"
    );
    both.step("stuck", patch, rolled(3, "never-ready")).await?;
    both.step("scaled up while it is stuck", patch, json!({"spec": {"replicas": 11}}))
        .await?;
    both.step("scaled down while it is stuck", patch, json!({"spec": {"replicas": 4}}))
        .await?;
    let late = json!({"spec": {"progressDeadlineSeconds": 1, "template": template(4, "image-pull-fails")}});
    let late = both.step("late", patch, late).await?;
    assert!(late.to_string().contains("ProgressDeadlineExceeded"), "{late}");
    both.step("undone", patch, rolled(1, ready)).await?;
    both.step(
        "paused",
        patch,
        json!({"spec": {"paused": true, "progressDeadlineSeconds": 600}}),
    )
    .await?;
    both.step("changed while it is paused", patch, rolled(5, ready)).await?;
    both.step("scaled while it is paused", patch, json!({"spec": {"replicas": 2}}))
        .await?;
    both.step("resumed", patch, json!({"spec": {"paused": false}})).await?;
    let strategy =
        json!({"spec": {"strategy": {"type": "Recreate", "rollingUpdate": null}, "template": template(6, ready)}});
    both.step("recreated", patch, strategy).await?;
    both.step("emptied", patch, json!({"spec": {"replicas": 0}})).await?;
    both.step("refilled", patch, json!({"spec": {"replicas": 3}})).await?;
    Ok(())
}

/// Orphans, adoption, release, deletion.
async fn owners(both: &Both) -> Result<()> {
    let orphan = ["DELETE", &format!("{DEPLOYMENT}?propagationPolicy=Orphan")];
    let left = both.step("orphaned", orphan, Value::Null).await?;
    assert_eq!(left["sets"][0]["owner"], Value::Null);
    let mut next = deployment(2);
    next["spec"]["template"] = template(6, "ready-after=1s");
    let adopted = both.step("adopted", ["POST", DEPLOYMENTS], next).await?;
    assert!(
        adopted["sets"]
            .as_array()
            .is_some_and(|sets| sets.iter().all(|set| set["owner"] == "Deployment"))
    );
    for client in [&both.ours, &both.real] {
        let pods = items(client, PODS).await?;
        let name = pods[0]["metadata"]["name"].as_str().context("a name")?;
        let labels = json!({"metadata": {"labels": {"app": "other"}}});
        send(client, "PATCH", &format!("{PODS}/{name}"), &labels).await?;
    }
    let mut pod = template(9, "");
    pod["metadata"] = json!({"name": "alone", "labels": {"app": "alone"}});
    both.step("released, and another Pod", ["POST", PODS], pod).await?;
    let set = json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "alone"},
        "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "alone"}}, "template": {
            "metadata": {"labels": {"app": "alone"}}, "spec": template(9, "")["spec"],
        }},
    });
    both.step("a Pod adopted by a ReplicaSet", ["POST", SETS], set).await?;
    let end = both.step("deleted", ["DELETE", DEPLOYMENT], Value::Null).await?;
    assert_eq!(end["deployments"], json!([]));
    Ok(())
}

/// Creates Deployments, and waits until all have their Pods.
async fn roll_out(client: &Client, count: usize) -> Result<()> {
    for number in 0..count {
        let mut one = deployment(3);
        one["metadata"] = json!({"name": format!("web-{number}")});
        let labels = json!({"app": format!("web-{number}")});
        one["spec"]["selector"]["matchLabels"] = labels.clone();
        one["spec"]["template"] = template(1, "");
        one["spec"]["template"]["metadata"]["labels"] = labels;
        send(client, "POST", DEPLOYMENTS, &one).await?;
    }
    let is_available = |it: &Value| it["status"]["availableReplicas"] == 3;
    loop {
        let all = items(client, DEPLOYMENTS).await?;
        if all.iter().filter(|it| is_available(it)).count() == count {
            return Ok(());
        }
        sleep(Duration::from_millis(50)).await;
    }
}

/// The CPU time of this process, in seconds: of the in-process API server with its controllers and kubelet, and of the client.
fn own_cpu() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

#[tokio::test]
#[ignore = "prints figures"]
async fn a_hundred_deployments_are_rolled_out() -> Result<()> {
    for round in 1..=3 {
        Both::with(state, async |both| {
            // kube-controller-manager starts, and has nothing to do yet.
            both.plane.calm().await?;
            let idle = both.plane.controllers_cpu()?;
            let (since, before) = (Instant::now(), own_cpu());
            roll_out(&both.ours, 100).await?;
            let (time, cpu) = (since.elapsed().as_secs_f64(), own_cpu() - before);
            println!("{round}: here {time:.2} s, CPU of all {cpu:.2} s");
            let (since, servers, before) = (Instant::now(), both.plane.cpu()?, both.plane.controllers_cpu()?);
            roll_out(&both.real, 100).await?;
            let time = since.elapsed().as_secs_f64();
            let (servers, controllers) = (both.plane.cpu()? - servers, both.plane.controllers_cpu()? - before);
            println!(
                "{round}: kube-controller-manager {time:.2} s, its CPU {controllers:.2} s (before: {idle:.2}), of kube-apiserver and etcd {servers:.2} s"
            );
            Ok(())
        })
        .await?;
    }
    Ok(())
}
