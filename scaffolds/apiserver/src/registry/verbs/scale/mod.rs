//! The subresource scale: an `autoscaling/v1 Scale` as a view of an object's replicas.

mod decode;

use std::{borrow::Cow, sync::LazyLock};

use kubewright_machinery::cause::Path;
use kubewright_schema::typed::Schema;
use serde_json::{Map, Value, json};

use self::decode::{cannot, decode};
use super::patch::{self, Format};
use crate::{
    apply::{self, Writer},
    kinds, meta,
    registry::{
        Reply,
        body::{self, Decoded},
        options::{Validation, WriteOptions},
        pipeline::{self, Live, Plan, Transition, WriteStep},
        reply, strict,
        work::Work,
    },
    request,
    status::{Status, Subject},
    strategy::Scale,
};

const API_VERSION: &str = "autoscaling/v1";

/// The replicas in the Scale of a custom object without replicas, before a write.
const UNSET: i32 = i32::MIN;

/// The shape of a Scale.
static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
    let scale = kinds::openapi_schema("io.k8s.api.autoscaling.v1.Scale").unwrap_or_default();
    Schema::compile(&scale, &kinds::openapi_schema)
});

/// The Scale of an object.
pub async fn get(work: &Work<'_>) -> Result<Reply, Status> {
    let live = Live::read(work, &work.key(&work.call.name))
        .await?
        .ok_or_else(|| work.not_found(&work.call.name))?;
    let paths = paths(work)?;
    if replicas(&live.object, &paths.spec_replicas).is_none() {
        return Err(Status::internal(&format!(
            "the spec replicas field \"{}\" does not exist",
            paths.spec_replicas
        )));
    }
    Ok(reply::object(200, &view(paths, &live.object)))
}

/// PUT of a Scale.
pub async fn update(work: &Work<'_>) -> Result<Reply, Status> {
    let options = WriteOptions::read(work.call, "UpdateOptions")?;
    let mut sent = sent(work, options.validation).map_err(|status| {
        // Upstream takes the words of the decoder's errors from a scheme without the Scale of custom kinds.
        const WHY: &str = "no kind is registered for the type v1.Scale in scheme \"pkg/runtime/scheme.go:111\"";
        match status.code {
            400 if !work.is_built_in() => Status::bad_request(WHY),
            _ => status,
        }
    })?;
    body::check_namespace(work, &mut sent)?;
    body::check_name(work, &sent)?;
    let plan = Plan {
        uid: meta::text(&sent, "uid"),
        ..plan(work, &options)
    };
    store(work, &plan, &|_, _| Ok(sent.clone())).await
}

/// The Scale in the body of a PUT.
fn sent(work: &Work, validation: Validation) -> Result<Value, Status> {
    let (sent, mut strict_errors) = request::body::object(&work.call.content_type, &work.call.body, "Scale")?;
    let mut sent = Value::Object(sent);
    let unknown = decode(&mut sent).map_err(|why| Status::bad_request(format!("{}: {why}", cannot(&sent))))?;
    strict_errors.extend(unknown);
    strict::judge(work, validation, strict_errors, |sentence| {
        Status::bad_request(format!("{}: {sentence}", cannot(&sent)))
    })?;
    Ok(sent)
}

/// PATCH of a Scale.
pub async fn patch(work: &Work<'_>) -> Result<Reply, Status> {
    let format = patch::format(work)?;
    let options = WriteOptions::of_patch(work.call, format == Format::Apply)?;
    let mut plan = plan(work, &options);
    if format == Format::Apply {
        plan.manager = None;
    }
    store(work, &plan, &|work, scale| match format {
        Format::Apply => applied(work, scale, &options),
        _ => patched(work, scale, format, &options),
    })
    .await
}

fn applied(work: &Work, scale: &Value, options: &WriteOptions) -> Result<Value, Status> {
    let (config, _) = patch::configuration(work)?;
    let config = Value::Object(config);
    if !work.is_built_in() {
        let checked = as_writer(work, &options.manager, |writer| apply::check_type(&config, writer));
        checked.map_err(|error| error.status())?;
        return Err(Status::new(
            500,
            "",
            "failed to create manager for existing fields: failed to convert live object (/; autoscaling/v1, Kind=Scale) to \
             proper version: request to convert CR to an invalid group/version: autoscaling/v1",
        ));
    }
    let new = as_writer(work, &options.manager, |writer| {
        apply::apply(Some(scale), &config, options.force, writer)
    });
    new.map_err(|error| error.status())
}

fn patched(work: &Work, scale: &Value, format: Format, options: &WriteOptions) -> Result<Value, Status> {
    let document = match format {
        Format::Strategic => crate::patch::strategic(
            scale,
            &work.call.body,
            &SCHEMA,
            options.validation != Validation::Ignore,
        )?,
        _ => patch::document(work.call, scale, format, options.validation)?,
    };
    let mut new = document.object.clone();
    let mut strict_errors = document.strict_errors.clone();
    strict_errors.extend(decode(&mut new).map_err(|why| document.refuse(&why))?);
    strict::judge(work, options.validation, strict_errors, |sentence| {
        document.refuse(&sentence)
    })?;
    body::check_namespace(work, &mut new)?;
    body::check_name(work, &new)?;
    Ok(new)
}

/// Computes the next Scale from the present one.
type Next<'n> = dyn Fn(&Work, &Value) -> Result<Value, Status> + Send + Sync + 'n;

/// Writes the replicas of a Scale into its object, and answers with the resulting Scale.
async fn store(work: &Work<'_>, plan: &Plan<'_>, next: &Next<'_>) -> Result<Reply, Status> {
    let paths = paths(work)?;
    let done = pipeline::write(work, plan, &mut Scaling { paths, next }).await?;
    Ok(reply::object(200, &view(paths, &done.written.object)))
}

fn plan<'a>(work: &Work<'a>, options: &'a WriteOptions) -> Plan<'a> {
    Plan {
        name: Some(&work.call.name),
        uid: "",
        dry_run: options.dry_run,
        may_create: false,
        manager: Some(&options.manager),
    }
}

/// The transition of an object by a verb on its Scale.
struct Scaling<'a> {
    paths: &'a Scale,
    next: &'a Next<'a>,
}

impl Transition for Scaling<'_> {
    fn next(&mut self, work: &Work, old: Option<&Value>) -> Result<Decoded, Status> {
        let old = old.ok_or_else(|| work.not_found(&work.call.name))?;
        let object = (self.next)(work, old)?;
        Ok(Decoded {
            object,
            has_empties: false,
            has_pruned: false,
        })
    }

    fn show<'o>(&self, work: &Work, object: &'o Value) -> Result<Cow<'o, Value>, Status> {
        let mut scale = view(self.paths, object);
        apply::scale_entries(object, &mut scale, &|version| replicas_path(work, version));
        Ok(Cow::Owned(scale))
    }

    fn show_present<'o>(&self, work: &Work, object: &'o Value) -> Result<Cow<'o, Value>, Status> {
        let mut scale = self.show(work, object)?;
        if !work.is_built_in() && replicas(object, &self.paths.spec_replicas).is_none() {
            scale.to_mut()["spec"] = json!({"replicas": UNSET});
        }
        Ok(scale)
    }

    fn own(&self, work: &Work, manager: &str, step: WriteStep<'_>) {
        as_writer(work, manager, |writer| {
            apply::update(step.old, &mut step.new.object, writer)
        });
    }

    fn put(&self, work: &Work, live: Option<&Value>, shown: Value) -> Result<Value, Status> {
        let live = live.ok_or_else(|| work.not_found(&work.call.name))?;
        with_replicas(work, live, self.paths, &shown)
    }
}

/// The object with the replicas of a Scale.
fn with_replicas(work: &Work, live: &Value, scale: &Scale, after: &Value) -> Result<Value, Status> {
    let wanted = after
        .pointer("/spec/replicas")
        .and_then(Value::as_i64)
        .unwrap_or_default();
    if work.is_built_in() && wanted < 0 {
        let cause = Path::new("spec")
            .child("replicas")
            .invalid(wanted, "must be greater than or equal to 0");
        return Err(Status::invalid(kind(work), &work.call.name, &[cause]));
    }
    if !work.is_built_in() && wanted == i64::from(UNSET) {
        let path = &scale.spec_replicas;
        return Err(Status::bad_request(format!(
            "the spec replicas field \"{path}\" cannot be empty"
        )));
    }
    let mut object = live.clone();
    put(&mut object, &scale.spec_replicas, json!(wanted));
    if let Some(version) = meta::of(after).get("resourceVersion") {
        meta::set(&mut object, "resourceVersion", Some(version.clone()));
    } else if work.is_built_in() {
        meta::set(&mut object, "resourceVersion", None);
    }
    apply::scaled_entries(&mut object, after, &work.resource().api_version(), &|version| {
        replicas_path(work, version)
    });
    Ok(object)
}

/// Group and kind of the subresource.
fn kind<'a>(work: &Work<'a>) -> Subject<'a> {
    let mut subresources = work.resource().subresources.iter();
    let scale = subresources.find(|it| it.name == work.call.subresource);
    scale.map_or(Subject::new("", ""), |it| Subject::new(&it.group, &it.kind))
}

fn paths<'a>(work: &Work<'a>) -> Result<&'a Scale, Status> {
    work.resource()
        .rules()
        .scale
        .as_ref()
        .ok_or_else(Status::no_such_resource)
}

/// The path of the replicas in a version of the kind.
fn replicas_path(work: &Work, version: &str) -> Option<String> {
    let strategy = work.strategy_of(version)?;
    let path = strategy
        .rules()
        .scale
        .as_ref()
        .map(|scale| scale.spec_replicas.trim_start_matches('.').to_owned());
    Some(path.unwrap_or_default())
}

/// The Scale of an object.
fn view(scale: &Scale, object: &Value) -> Value {
    let mut view = empty(object);
    view["spec"] = match replicas(object, &scale.spec_replicas) {
        None | Some(0) => json!({}),
        Some(wanted) => json!({"replicas": wanted}),
    };
    view["status"] = json!({"replicas": replicas(object, &scale.status_replicas).unwrap_or_default()});
    let selector = scale
        .label_selector
        .as_deref()
        .and_then(|path| at(object, path))
        .map(selector);
    if let Some(selector) = selector.filter(|text| !text.is_empty()) {
        view["status"]["selector"] = json!(selector);
    }
    view
}

/// The number of replicas at a path.
fn replicas(object: &Value, path: &str) -> Option<i64> {
    at(object, path).and_then(Value::as_i64)
}

/// A Scale without replicas.
fn empty(object: &Value) -> Value {
    let mut metadata = Map::new();
    for field in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
        if let Some(value) = meta::of(object).get(field) {
            metadata.insert(field.to_owned(), value.clone());
        }
    }
    json!({"kind": "Scale", "apiVersion": API_VERSION, "metadata": metadata, "spec": {}, "status": {"replicas": 0}})
}

/// A selector as text; custom kinds have it in that form already.
fn selector(value: &Value) -> String {
    if let Some(text) = value.as_str() {
        return text.to_owned();
    }
    // ReplicationControllers have a map of labels where other kinds have a LabelSelector.
    let is_bare = !["matchLabels", "matchExpressions"]
        .iter()
        .any(|field| value.get(field).is_some());
    let labels = if is_bare {
        value.as_object()
    } else {
        value.get("matchLabels").and_then(Value::as_object)
    };
    let mut parts: Vec<(String, String)> = Vec::new();
    for (key, value) in labels.into_iter().flatten() {
        parts.push((key.clone(), format!("{key}={}", value.as_str().unwrap_or_default())));
    }
    let expressions = value.get("matchExpressions").and_then(Value::as_array);
    for expression in expressions.into_iter().flatten() {
        let key = expression.get("key").and_then(Value::as_str).unwrap_or_default();
        parts.push((key.to_owned(), requirement(key, expression)));
    }
    parts.sort_by(|a, b| a.0.cmp(&b.0));
    parts.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(",")
}

fn requirement(key: &str, expression: &Value) -> String {
    let values = expression.get("values").and_then(Value::as_array);
    let mut values: Vec<&str> = values.into_iter().flatten().filter_map(Value::as_str).collect();
    values.sort_unstable();
    match expression.get("operator").and_then(Value::as_str) {
        Some("In") => format!("{key} in ({})", values.join(",")),
        Some("NotIn") => format!("{key} notin ({})", values.join(",")),
        Some("DoesNotExist") => format!("!{key}"),
        _ => key.to_owned(),
    }
}

/// The value at a path such as `.spec.replicas`.
fn at<'v>(object: &'v Value, path: &str) -> Option<&'v Value> {
    path.trim_start_matches('.')
        .split('.')
        .try_fold(object, |value, field| value.get(field))
}

fn put(object: &mut Value, path: &str, value: Value) {
    let mut place = object;
    for field in path.trim_start_matches('.').split('.') {
        if !place.is_object() {
            *place = Value::Object(Map::new());
        }
        place = &mut place[field];
    }
    *place = value;
}

/// Like [`Work::as_writer`], on the Scale.
fn as_writer<T>(work: &Work, manager: &str, write: impl FnOnce(&Writer<'_>) -> T) -> T {
    work.as_writer(manager, |writer| {
        let versions = |version: &str| (version == API_VERSION).then_some(&*SCHEMA);
        write(&Writer {
            api_version: API_VERSION,
            kind: "Scale",
            schema: &SCHEMA,
            versions: &versions,
            ..*writer
        })
    })
}
