//! What every run begins with: the definitions, the samples, and other valid specs for them, which a server without an
//! operator has accepted.

use std::{
    collections::BTreeSet,
    path::Path,
    time::{Duration, UNIX_EPOCH},
};

use http::Method;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::{
    Invariant, change,
    fault::Schedule,
    state::{self, Live},
    world::{Channels, UserRequest, World},
};
use crate::{
    clock::Clock,
    controllers::Controllers,
    dev::{
        account, apply,
        manifests::{self, Manifest},
    },
    server::{ApiServer, Options},
};

/// 1 January 2026, when each run begins.
const BEGIN: Duration = Duration::from_secs(1_767_225_600);

/// The suffix of the names of bystanders, which are objects that the operator must not touch.
pub(super) const BYSTANDER: &str = "-bystander";

/// How many of the properties that a sample lacks are set: the schema of a Pod has hundreds.
const MOST_ADDED: usize = 12;

/// The namespace of objects that have the names of samples. It exists in each cluster.
const OTHER_NAMESPACE: &str = "kube-public";

/// What every run begins with.
#[derive(Clone)]
pub(super) struct Setup {
    pub definitions: Vec<Manifest>,
    /// The objects of `config/rbac`. Without them, the operator may do everything.
    pub roles: Vec<Manifest>,
    pub samples: Vec<Sample>,
    pub volatile: Vec<String>,
    pub invariants: Vec<(String, Invariant)>,
}

/// An object that users create.
#[derive(Clone)]
pub(super) struct Sample {
    pub object: Value,
    /// Kind, namespace and name.
    pub key: String,
    pub path: String,
    pub collection: String,
    /// The changes to another valid spec.
    pub changes: Vec<SpecChange>,
    /// Removals of optional values.
    pub removals: Vec<SpecChange>,
}

/// Valid specs of the samples.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Specs {
    First,
    Changed,
    /// Without optional values.
    Reduced,
    /// With this one of the changes alone.
    Only(usize),
}

/// A change of one value of a spec, which can be undone.
#[derive(Clone)]
pub(super) struct SpecChange {
    pub pointer: String,
    /// Merge patches of the spec.
    pub forth: Value,
    pub back: Value,
}

/// Values to try in one place of a spec.
struct ChangeAttempt<'a> {
    specs: Specs,
    pointer: &'a str,
    values: Vec<Value>,
}

impl Sample {
    /// Namespace and name, as in the span of a reconcile.
    pub(super) fn place(&self) -> &str {
        self.key.split_once(' ').map_or("", |(_, place)| place)
    }

    /// The namespace, or an empty text.
    pub(super) fn namespace(&self) -> &str {
        self.place().split_once('/').map_or("", |(namespace, _)| namespace)
    }

    /// The kind, which has its group if it belongs to a CRD.
    pub(super) fn kind(&self) -> &str {
        self.key.split_once(' ').map_or("", |(kind, _)| kind)
    }

    /// Siblings of it: one with other values beside it, and one of its name in another namespace, with the collections.
    pub(super) fn siblings(&self) -> Vec<(String, Value)> {
        let mut beside = self.object.clone();
        let name = format!("{}-sibling", state::text(&beside["metadata"]["name"]));
        beside["metadata"]["name"] = json!(name);
        if let Some(patch) = self.patch(Specs::Changed, true) {
            change::merge(&mut beside, patch);
        }
        let mut siblings = vec![(self.collection.clone(), beside)];
        let namespaces = format!("/namespaces/{}/", self.namespace());
        if !self.namespace().is_empty() && self.namespace() != OTHER_NAMESPACE {
            let mut namesake = self.object.clone();
            namesake["metadata"]["namespace"] = json!(OTHER_NAMESPACE);
            let other = format!("/namespaces/{OTHER_NAMESPACE}/");
            siblings.push((self.collection.replace(&namespaces, &other), namesake));
        }
        siblings
    }

    /// The changes to these specs as one merge patch, forth or back.
    pub(super) fn patch(&self, specs: Specs, forth: bool) -> Option<Value> {
        let changes = self.changes(specs);
        let mut spec = json!({});
        for change in changes {
            change::merge(&mut spec, if forth { &change.forth } else { &change.back }.clone());
        }
        (!changes.is_empty()).then(|| json!({"spec": spec}))
    }

    /// The changes to these specs.
    pub(super) fn changes(&self, specs: Specs) -> &[SpecChange] {
        match specs {
            Specs::First => &[],
            Specs::Changed => &self.changes,
            Specs::Reduced => &self.removals,
            Specs::Only(n) => self.changes.get(n..=n).unwrap_or_default(),
        }
    }

    fn changes_to(&mut self, specs: Specs) -> &mut Vec<SpecChange> {
        match specs {
            Specs::Reduced => &mut self.removals,
            _ => &mut self.changes,
        }
    }
}

impl Setup {
    /// Reads `config` in this folder.
    ///
    /// # Errors
    /// What is missing, or refused by the API server.
    pub(super) async fn read(folder: &Path) -> Result<Self, String> {
        let config = folder.join("config");
        if !config.is_dir() {
            return Err("there is no folder `config`\n\nhint: run `make sim` in the project's folder".to_owned());
        }
        // What a kustomization does not apply is told by `make dev`.
        let mut definitions = manifests::of_kustomization(&config.join("crd"), &mut |_| {})?;
        definitions.extend(manifests::in_folder(&config.join("crd/external"))?);
        let samples = manifests::in_folder(&config.join("samples"))?;
        let rbac = config.join("rbac");
        let roles = match rbac.is_dir() {
            true => manifests::of_kustomization(&rbac, &mut |_| {})?,
            false => Vec::new(),
        };
        let samples = samples.into_iter().map(|it| it.object).collect();
        Self::of(definitions, roles, samples).await
    }

    /// From these definitions, roles and objects.
    pub(super) async fn of(
        definitions: Vec<Manifest>,
        roles: Vec<Manifest>,
        objects: Vec<Value>,
    ) -> Result<Self, String> {
        if objects.is_empty() {
            return Err("there are no samples\n\nhint: write one for each kind into config/samples".to_owned());
        }
        let mut setup = Self {
            definitions,
            roles,
            samples: Vec::new(),
            volatile: Vec::new(),
            invariants: Vec::new(),
        };
        let world = setup.scratch().await?;
        for object in objects {
            let sample = setup.sample(&world, object).await?;
            setup.samples.push(sample);
        }
        Ok(setup)
    }

    /// A server with the definitions.
    pub(super) async fn server(&self) -> Result<ApiServer, String> {
        let server = ApiServer::new(Options {
            controllers: Controllers {
                workloads: true,
                ..Controllers::default()
            },
            clock: Clock::starting_at(UNIX_EPOCH + BEGIN),
            ..Options::default()
        });
        for definition in &self.definitions {
            apply::apply(&server, definition).await?;
        }
        if !self.roles.is_empty() {
            account::grant(&server, self.roles.clone()).await?;
        }
        Ok(server)
    }

    /// Creates bystanders: ConfigMaps and Secrets whose names begin with the names of samples.
    pub(super) async fn add_bystanders(&self, world: &World) {
        for sample in &self.samples {
            let name = format!("{}{BYSTANDER}", state::text(&sample.object["metadata"]["name"]));
            let namespace = state::text(&sample.object["metadata"]["namespace"]);
            let namespace = if namespace.is_empty() { "default" } else { namespace };
            for (plural, kind) in [("configmaps", "ConfigMap"), ("secrets", "Secret")] {
                let path = format!("/api/v1/namespaces/{namespace}/{plural}");
                let mut request = UserRequest::new(Method::POST, &path);
                request.body = json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": name}});
                world.ask(request).await;
            }
        }
    }

    /// Specs but the first and the changed ones: without optional values, and with each change alone if there are several.
    pub(super) fn alterations(&self) -> Vec<Specs> {
        let removals = self.samples.iter().any(|sample| !sample.removals.is_empty());
        let changes = self.samples.iter().map(|sample| sample.changes.len()).max();
        let mut alterations = Vec::from_iter(removals.then_some(Specs::Reduced));
        alterations.extend((0..changes.filter(|&changes| changes > 1).unwrap_or(0)).map(Specs::Only));
        alterations
    }

    /// The values that differ in these specs, for a heading; none in the phase 0, which creates the samples.
    pub(super) fn values(&self, specs: Specs, phase: usize) -> String {
        let changes = self.samples.iter().flat_map(|sample| sample.changes(specs));
        let pointers: BTreeSet<_> = changes.map(|change| format!("`{}`", change.pointer)).collect();
        match phase {
            0 => String::new(),
            _ => format!(": {}", Vec::from_iter(pointers).join(", ")),
        }
    }

    /// Whether a definition of the project describes this object.
    pub(super) fn is_defined(&self, object: &Value) -> bool {
        !self.version(object).is_null()
    }

    pub(super) fn is_sample(&self, key: &str) -> bool {
        self.samples.iter().any(|sample| sample.key == key)
    }

    /// The key of the object of the same name in the other namespace of siblings, if its namespace is a sample's.
    pub(super) fn in_other_namespace(&self, key: &str) -> Option<String> {
        let (kind, place) = key.split_once(' ')?;
        let (namespace, name) = place.split_once('/')?;
        let of = |sample: &&Sample| sample.namespace() == namespace;
        let is_of_sample = namespace != OTHER_NAMESPACE && self.samples.iter().any(|sample| of(&sample));
        is_of_sample.then(|| format!("{kind} {OTHER_NAMESPACE}/{name}"))
    }

    /// Whether the schema lets several writers share the conditions of a status.
    pub(super) fn shares_conditions(&self, live: &Live) -> bool {
        let version = self.version(&live.object);
        let conditions = change::schema_at(&version["schema"]["openAPIV3Schema"], "/status/conditions");
        version["subresources"]["status"].is_object() && conditions["x-kubernetes-list-type"] == "map"
    }

    /// The version of the definition of an object.
    fn version(&self, object: &Value) -> &Value {
        let api_version = state::text(&object["apiVersion"]);
        let (group, name) = api_version.split_once('/').unwrap_or(("", api_version));
        let is_its = |spec: &&Value| spec["group"] == group && spec["names"]["kind"] == object["kind"];
        let mut specs = self.definitions.iter().map(|it| &it.object["spec"]);
        let versions = specs.find(is_its).and_then(|spec| spec["versions"].as_array());
        let version = versions.into_iter().flatten().find(|version| version["name"] == name);
        version.unwrap_or(&Value::Null)
    }

    async fn scratch(&self) -> Result<World, String> {
        let channels = Channels {
            kill: mpsc::unbounded_channel().0,
            interfere: mpsc::unbounded_channel().0,
        };
        Ok(World::new(self.server().await?, 0, Schedule::default(), channels))
    }

    async fn sample(&self, world: &World, object: Value) -> Result<Sample, String> {
        let name = state::key(&object);
        let collection = apply::collection(&world.server, &object).await?;
        let mut create = UserRequest::new(Method::POST, &collection);
        create.body = object.clone();
        let (code, created) = world.ask(create).await;
        if code != 201 {
            let message = state::text(&created["message"]);
            return Err(format!("the API server refuses the sample `{name}`: {message}"));
        }
        let path = format!("{collection}/{}", state::text(&created["metadata"]["name"]));
        let mut sample = Sample {
            key: state::key(&created),
            object,
            path,
            collection,
            changes: Vec::new(),
            removals: Vec::new(),
        };
        self.find_changes(world, &mut sample, &created).await;
        Ok(sample)
    }

    /// Finds as many changes of values of the spec as the API server accepts together, forth and back: values that the sample
    /// has, and optional ones that it lacks.
    async fn find_changes(&self, world: &World, sample: &mut Sample, created: &Value) {
        let schema = &self.version(created)["schema"]["openAPIV3Schema"]["properties"]["spec"];
        let spec = &created["spec"];
        for pointer in change::leaves(spec, "") {
            let value = spec.pointer(&pointer).cloned().unwrap_or_default();
            let others = change::others(&value, change::schema_at(schema, &pointer));
            for (specs, values) in [(Specs::Changed, others), (Specs::Reduced, vec![Value::Null])] {
                let attempt = ChangeAttempt {
                    specs,
                    pointer: &pointer,
                    values,
                };
                self.find_change(world, sample, spec, attempt).await;
            }
        }
        for (pointer, schema) in change::lacking(spec, schema).into_iter().take(MOST_ADDED) {
            let attempt = ChangeAttempt {
                specs: Specs::Changed,
                pointer: &pointer,
                values: change::valid(schema),
            };
            self.find_change(world, sample, spec, attempt).await;
        }
    }

    /// Adds the first of these values that the API server accepts to the changes to specs.
    async fn find_change(&self, world: &World, sample: &mut Sample, spec: &Value, attempt: ChangeAttempt<'_>) {
        let ChangeAttempt { specs, pointer, values } = attempt;
        if change::is_pause(pointer) {
            return;
        }
        for other in values {
            let value = spec.pointer(pointer).cloned().unwrap_or_default();
            let patches = [other, value].map(|value| change::patch_whole(spec, pointer, value));
            let [Some(forth), Some(back)] = patches else { return };
            let pointer = pointer.to_owned();
            sample.changes_to(specs).push(SpecChange { pointer, forth, back });
            if self.is_accepted(world, sample, specs, spec).await {
                return;
            }
            sample.changes_to(specs).pop();
        }
    }

    /// Whether the API server accepts the changes, keeps the last one, and accepts that all are undone. The object has its
    /// first spec before and after.
    async fn is_accepted(&self, world: &World, sample: &mut Sample, specs: Specs, spec: &Value) -> bool {
        let [forth, back] = [true, false].map(|forth| sample.patch(specs, forth));
        let last = sample.changes_to(specs).last().map(|change| change.pointer.clone());
        let (Some(forth), Some(back), Some(last)) = (forth, back, last) else {
            return false;
        };
        let dry = format!("{}?dryRun=All", sample.path);
        let (code, answer) = world.ask(UserRequest::merge(&dry, forth.clone())).await;
        if code != 200 || answer["spec"].pointer(&last) == spec.pointer(&last) {
            return false;
        }
        world.ask(UserRequest::merge(&sample.path, forth)).await;
        let (code, answer) = world.ask(UserRequest::merge(&sample.path, back)).await;
        if code == 200 && answer["spec"] == *spec {
            return true;
        }
        world.ask(UserRequest::new(Method::DELETE, &sample.path)).await;
        let mut create = UserRequest::new(Method::POST, &sample.collection);
        create.body = sample.object.clone();
        world.ask(create).await;
        false
    }
}
