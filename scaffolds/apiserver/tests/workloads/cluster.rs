//! A server with workloads, and requests about Deployments and their Pods.

use std::time::{Duration, SystemTime};

use kubewright_apiserver::{ApiServer, Clock, Controllers, Options};
use serde_json::{Value, json};

use crate::common::{Wire, to};

pub const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
pub const SETS: &str = "/apis/apps/v1/namespaces/default/replicasets";
pub const PODS: &str = "/api/v1/namespaces/default/pods";

/// A server with all controllers.
pub fn cluster() -> Wire {
    cluster_at(SystemTime::now())
}

/// The same with a clock that starts at this time.
pub fn cluster_at(time: SystemTime) -> Wire {
    to(ApiServer::new(Options {
        clock: Clock::starting_at(time),
        controllers: Controllers {
            workloads: true,
            ..Controllers::default()
        },
        ..Options::default()
    }))
}

/// A Deployment of this name, with an annotation of its Pods for the kubelet.
pub fn deployment(name: &str, replicas: i64, behaviour: &str) -> Value {
    json!({
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": template(name, behaviour),
        },
    })
}

pub fn template(name: &str, behaviour: &str) -> Value {
    json!({
        "metadata": {"labels": {"app": name}, "annotations": {"kubewright.dev/kubelet": behaviour}},
        "spec": {"containers": [{"name": "main", "image": "example.com/main:1"}]},
    })
}

impl Wire {
    pub async fn make(&self, collection: &str, object: &Value) -> Value {
        let answer = self.post(collection, object.to_string()).await;
        assert_eq!(answer.code, 201, "{}", answer.text);
        answer.json()
    }

    pub async fn change(&self, path: &str, patch: &Value) -> Value {
        let client = self.with("content-type", "application/merge-patch+json");
        let answer = client.send("PATCH", path, patch.to_string()).await;
        assert_eq!(answer.code, 200, "{}", answer.text);
        answer.json()
    }

    pub async fn object(&self, path: &str) -> Value {
        let answer = self.get(path).await;
        assert_eq!(answer.code, 200, "{}", answer.text);
        answer.json()
    }

    pub async fn items(&self, collection: &str) -> Vec<Value> {
        self.object(collection).await["items"].as_array().unwrap().clone()
    }

    /// Lets this time pass, on the paused clock, with everything that the controllers do meanwhile.
    pub async fn pass(&self, seconds: u64) {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
    }

    /// The counts of the ReplicaSets, by image: replicas of the spec and available ones.
    pub async fn sizes(&self) -> Vec<(String, i64, i64)> {
        let mut sizes: Vec<_> = self.items(SETS).await.iter().map(size).collect();
        sizes.sort();
        sizes
    }
}

fn size(set: &Value) -> (String, i64, i64) {
    let image = set.pointer("/spec/template/spec/containers/0/image").unwrap();
    let available = set["status"]["availableReplicas"].as_i64().unwrap_or_default();
    (
        image.as_str().unwrap().to_owned(),
        set["spec"]["replicas"].as_i64().unwrap(),
        available,
    )
}

/// Status and reason of a condition.
pub fn condition(object: &Value, name: &str) -> String {
    let conditions = object["status"]["conditions"].as_array().into_iter().flatten();
    let mut named = conditions.filter(|it| it["type"] == name);
    let found = named.next();
    found.map_or_else(String::new, |it| {
        let text = |field: &str| it[field].as_str().unwrap_or_default();
        format!("{} {}", text("status"), text("reason")).trim_end().to_owned()
    })
}

/// The image of a Deployment's container.
pub fn image(version: u32) -> Value {
    json!({"spec": {"template": {"spec": {"containers": [
        {"name": "main", "image": format!("example.com/main:{version}")},
    ]}}}})
}
