//! What users do to the samples and their children. Their requests meet no faults.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use http::Method;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::{
    call, change,
    fault::UserAction,
    setup::{Sample, Setup, Specs},
    state::{self, Live, MARK},
    world::{UserRequest, World},
};

/// How long a user waits for a deleted object to be gone.
const PATIENCE: Duration = Duration::from_secs(600);

/// Everybody but the operator.
#[derive(Clone)]
pub(super) struct Users {
    pub world: Arc<World>,
    pub setup: Arc<Setup>,
    /// The objects that existed before the samples.
    pub before: Arc<BTreeSet<String>>,
    /// The version at which nothing else existed.
    pub since: u64,
    pub taken: Arc<Mutex<Taken>>,
}

/// The beginning of the labels that the runtime writes.
const OF_THE_RUNTIME: &str = "/metadata/labels/kubewright.dev~1";

/// What users took from the operator.
#[derive(Default)]
pub(super) struct Taken {
    /// The uids of objects whose labels they changed, and that had an owner.
    pub relabelled: BTreeSet<String>,
    /// The keys of Jobs that they deleted after their end: these need not run again.
    pub ended: BTreeSet<String>,
}

/// The uids of objects that others have marked.
#[derive(Default)]
pub(super) struct Marked {
    /// With an annotation and a label.
    pub annotated: BTreeSet<String>,
    /// With a condition.
    pub conditioned: BTreeSet<String>,
    /// With a finalizer.
    pub held: BTreeSet<String>,
}

impl Users {
    /// Acts once, at any time.
    pub(super) async fn act(&self, action: UserAction) {
        match action {
            UserAction::ChangeAndBack => {
                let specs = self
                    .samples()
                    .into_iter()
                    .map(|live| (live.path(), live.object))
                    .collect::<Vec<_>>();
                self.change(Specs::Changed, true).await;
                sleep(Duration::from_millis(50)).await;
                for (path, object) in specs {
                    let back = json!({"spec": null_others(&object["spec"], &self.spec(&path))});
                    self.send("changes the spec back of", UserRequest::merge(&path, back))
                        .await;
                }
            }
            UserAction::Recreate => self.recreate().await,
            UserAction::DeleteChildren => self.delete_children().await,
            UserAction::EditChildren => self.edit_children().await,
            UserAction::RelabelChildren => self.relabel_children().await,
            UserAction::WipeStatus => self.wipe_status().await,
        }
    }

    /// The samples that exist.
    pub(super) fn samples(&self) -> Vec<Live> {
        let mut lives = state::since(&self.world.server, self.since);
        lives.retain(|live| self.setup.is_sample(&live.key()));
        lives
    }

    /// The objects that are neither samples nor older.
    pub(super) fn children(&self) -> Vec<Live> {
        let mut lives = self.new_objects();
        lives.retain(|live| !self.setup.is_sample(&live.key()));
        lives
    }

    /// The samples, and what the operator keeps for them: an object without an owner, which had one before a user changed its
    /// labels, was released to that user.
    pub(super) fn new_objects(&self) -> Vec<Live> {
        let mut lives = state::since(&self.world.server, self.since);
        let taken = self.taken();
        let is_released =
            |live: &Live| taken.relabelled.contains(live.uid()) && live.object["metadata"]["ownerReferences"].is_null();
        lives.retain(|live| !self.before.contains(&live.key()) && !is_released(live));
        lives
    }

    pub(super) fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the operator itself has sent this value of the object: defaults and the values of others may change.
    fn was_sent(&self, live: &Live, pointer: &str) -> bool {
        let (object, plural) = (&live.object, &live.resource.names.plural);
        let metadata = &object["metadata"];
        let place = format!(
            "{}/{}",
            state::text(&metadata["namespace"]),
            state::text(&metadata["name"])
        );
        let book = self.world.book();
        change::is_managed(object, pointer)
            && book.requests.iter().any(|request| {
                let mut words = request.text.split(' ').skip(1);
                let is_kind = words.next() == Some(plural.as_str());
                let is_named = words.next().is_some_and(|named| named == place.trim_start_matches('/'));
                let body = || serde_json::from_slice::<Value>(&request.body).unwrap_or_default();
                let is_of = |body: &Value| {
                    let [named, generated] = ["name", "generateName"].map(|field| &body["metadata"][field]);
                    is_named
                        || *named == metadata["name"]
                        || (generated.is_string() && *generated == metadata["generateName"])
                };
                is_kind
                    && Some(body())
                        .filter(is_of)
                        .is_some_and(|body| body.pointer(pointer).is_some())
            })
    }

    /// Creates the samples with these specs.
    pub(super) async fn create(&self, specs: Specs) {
        for sample in &self.setup.samples {
            let mut request = UserRequest::new(Method::POST, &sample.collection);
            request.body = sample.object.clone();
            if let Some(patch) = sample.patch(specs, true) {
                change::merge(&mut request.body, patch);
            }
            self.send("creates", request).await;
        }
    }

    /// Creates siblings of the samples, which the API server may refuse.
    pub(super) async fn create_siblings(&self) {
        for (collection, object) in self.setup.samples.iter().flat_map(Sample::siblings) {
            let mut request = UserRequest::new(Method::POST, &collection);
            request.body = object;
            self.send("creates", request).await;
        }
    }

    /// Deletes the siblings of the samples.
    pub(super) async fn delete_siblings(&self) {
        for (collection, object) in self.setup.samples.iter().flat_map(Sample::siblings) {
            let path = format!("{collection}/{}", state::text(&object["metadata"]["name"]));
            self.send("deletes", UserRequest::new(Method::DELETE, &path)).await;
        }
    }

    /// Changes the specs of the samples to these, or changes them back.
    pub(super) async fn change(&self, specs: Specs, forth: bool) {
        for sample in &self.setup.samples {
            let Some(patch) = sample.patch(specs, forth) else {
                continue;
            };
            let verb = if forth { "changes" } else { "changes back" };
            self.send(verb, UserRequest::merge(&sample.path, patch)).await;
        }
    }

    /// Adds an annotation and a label to every sample and child, and a finalizer and a condition to the samples, as other
    /// controllers do.
    pub(super) async fn mark(&self) -> Marked {
        let samples = self.samples();
        let all: Vec<_> = samples.iter().cloned().chain(self.children()).collect();
        let mut marked = Marked::default();
        for live in &all {
            let body = json!({"metadata": {"annotations": {MARK: "kept"}, "labels": {MARK: "kept"}}});
            if self
                .send("annotates and labels", UserRequest::merge(&live.path(), body))
                .await
            {
                marked.annotated.insert(live.uid().to_owned());
            }
        }
        for live in samples.iter().filter(|live| live.is_custom()) {
            let mut finalizers = finalizers(live);
            finalizers.push(json!(MARK));
            let body = json!({"metadata": {"finalizers": finalizers}});
            let path = live.path();
            let request = UserRequest::merge(&path, body);
            if self.send("adds a finalizer of another controller to", request).await {
                marked.held.insert(live.uid().to_owned());
            }
        }
        for live in samples.iter().filter(|live| self.setup.shares_conditions(live)) {
            let mut conditions = live.object["status"]["conditions"]
                .as_array()
                .cloned()
                .unwrap_or_default();
            conditions.push(json!({
                "type": MARK, "status": "True", "reason": "Foreign", "message": "of another writer",
                "lastTransitionTime": "2026-01-01T00:00:00Z",
            }));
            let path = format!("{}/status", live.path());
            let body = json!({"status": {"conditions": conditions}});
            if self
                .send("adds a condition of another writer to", UserRequest::merge(&path, body))
                .await
            {
                marked.conditioned.insert(live.uid().to_owned());
            }
        }
        marked
    }

    /// Removes the finalizers that [`Self::mark`] has added.
    pub(super) async fn remove_finalizers(&self) {
        for live in self.samples() {
            let mut finalizers = finalizers(&live);
            if finalizers.iter().any(|finalizer| finalizer == MARK) {
                finalizers.retain(|finalizer| finalizer != MARK);
                let body = json!({"metadata": {"finalizers": finalizers}});
                let path = live.path();
                let request = UserRequest::merge(&path, body);
                self.send("removes a finalizer of another controller from", request)
                    .await;
            }
        }
    }

    pub(super) async fn edit_children(&self) {
        for live in self.children() {
            let is_content = |pointer: &String| {
                let part = pointer.split('/').nth(1).unwrap_or_default();
                !matches!(part, "metadata" | "status" | "apiVersion" | "kind" | "type")
            };
            let leaves = change::leaves(&live.object, "");
            let sent = |pointer: &String| self.was_sent(&live, pointer);
            for pointer in leaves.into_iter().filter(is_content).filter(sent) {
                if self.edit(&live, &pointer).await {
                    break;
                }
            }
        }
    }

    pub(super) async fn relabel_children(&self) {
        for live in self.children() {
            let labels = change::leaves(&live.object["metadata"]["labels"], "/metadata/labels");
            // The label by which the runtime finds its children is not for users.
            let is_free = |label: &&String| !label.starts_with(OF_THE_RUNTIME) && self.was_sent(&live, label);
            for label in labels.iter().filter(is_free) {
                let is_owned = !live.object["metadata"]["ownerReferences"].is_null();
                if self.edit(&live, label).await && is_owned {
                    self.taken().relabelled.insert(live.uid().to_owned());
                }
            }
        }
    }

    async fn edit(&self, live: &Live, pointer: &str) -> bool {
        let value = live.object.pointer(pointer).cloned().unwrap_or_default();
        for other in change::others(&value, &Value::Null) {
            let Some(patch) = change::patch(&live.object, pointer, other) else {
                return false;
            };
            if self
                .send(
                    &format!("edits `{pointer}` of"),
                    UserRequest::merge(&live.path(), patch),
                )
                .await
            {
                return true;
            }
        }
        false
    }

    pub(super) async fn delete_children(&self) {
        for live in self.children() {
            let path = live.path();
            let is_deleted = self.send("deletes", UserRequest::new(Method::DELETE, &path)).await;
            if is_deleted && live.has_ended() {
                self.taken().ended.insert(live.key());
            }
        }
    }

    pub(super) async fn wipe_status(&self) {
        for live in self.samples() {
            let path = format!("{}/status", live.path());
            self.send(
                "wipes the status of",
                UserRequest::merge(&path, json!({"status": null})),
            )
            .await;
        }
    }

    pub(super) async fn delete(&self) {
        for sample in &self.setup.samples {
            self.send("deletes", UserRequest::new(Method::DELETE, &sample.path))
                .await;
        }
    }

    /// Deletes the samples, and creates them again as soon as they are gone, with their present specs.
    pub(super) async fn recreate(&self) {
        let olds = self.samples();
        self.delete().await;
        let until = Instant::now() + PATIENCE;
        let is_there = |uids: &BTreeSet<String>| self.samples().iter().any(|live| uids.contains(live.uid()));
        let uids = olds.iter().map(|live| live.uid().to_owned()).collect();
        while is_there(&uids) && Instant::now() < until {
            let version = self.world.version();
            while self.world.version() == version && Instant::now() < until {
                sleep(Duration::from_millis(20)).await;
            }
        }
        for old in olds {
            let mut object = old.object.clone();
            object["metadata"] = json!({
                "name": object["metadata"]["name"], "namespace": object["metadata"]["namespace"],
                "labels": object["metadata"]["labels"],
            });
            if let Some(object) = object.as_object_mut() {
                object.remove("status");
            }
            let collection = old.collection();
            let mut request = UserRequest::new(Method::POST, &collection);
            request.body = object;
            self.send("creates", request).await;
        }
    }

    fn spec(&self, path: &str) -> Value {
        let now = self.samples().into_iter().find(|live| live.path() == path);
        now.map(|live| live.object["spec"].clone()).unwrap_or_default()
    }

    /// Sends a request, and tells it. Whether it was carried out.
    async fn send(&self, verb: &str, request: UserRequest<'_>) -> bool {
        let (path, name) = (request.path.to_owned(), text_of(&request.body));
        let (code, _) = self.world.ask(request).await;
        self.world.stir();
        if (200..300).contains(&code) {
            let target = format!("{}{name}", call::target(&path).0);
            self.world.tell_request("user", format!("{verb} {target}"), &target);
        }
        (200..300).contains(&code)
    }
}

fn finalizers(live: &Live) -> Vec<Value> {
    live.object["metadata"]["finalizers"]
        .as_array()
        .cloned()
        .unwrap_or_default()
}

/// A spec as a merge patch that also removes what the present one has in addition.
fn null_others(wanted: &Value, present: &Value) -> Value {
    let (Value::Object(wanted), Value::Object(present)) = (wanted, present) else {
        return wanted.clone();
    };
    let mut patch = wanted.clone();
    for (name, value) in present {
        let below = wanted
            .get(name)
            .map_or(Value::Null, |wanted| null_others(wanted, value));
        patch.insert(name.clone(), below);
    }
    patch.into()
}

/// The name in a body, for a create.
fn text_of(body: &Value) -> String {
    match state::text(&body["metadata"]["name"]) {
        "" => String::new(),
        name => format!("/{name}"),
    }
}
