//! PATCH: changes parts of an object or of its status.

use serde_json::{Map, Value};

use super::patched;
use crate::{
    apply,
    call::Call,
    meta,
    patch::{self, Patched},
    registry::{
        Reply,
        body::{self, Decoded},
        options::{Validation, WriteOptions},
        pipeline::{self, Plan, Transition},
        reply,
        work::Work,
    },
    request::yaml,
    resource::Resource,
    status::Status,
};

/// The kinds of patches.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Format {
    Json,
    Merge,
    Strategic,
    Apply,
}

/// The media types, in the order in which the server lists those that custom kinds support.
const FORMATS: [(&str, Format); 4] = [
    ("application/json-patch+json", Format::Json),
    ("application/merge-patch+json", Format::Merge),
    ("application/apply-patch+yaml", Format::Apply),
    ("application/strategic-merge-patch+json", Format::Strategic),
];

/// Patches an object; an apply creates it if it does not exist.
pub async fn patch(work: &Work<'_>) -> Result<Reply, Status> {
    let format = format(work)?;
    let options = WriteOptions::of_patch(work.call, format == Format::Apply)?;
    let creates = work.call.subresource.is_empty() || work.resource().rules().put.creates;
    let plan = Plan {
        name: Some(&work.call.name),
        uid: "",
        dry_run: options.dry_run,
        may_create: format == Format::Apply && creates,
        manager: (format != Format::Apply).then_some(&options.manager),
    };
    let mut patch = Patch {
        format,
        options: &options,
    };
    match pipeline::write(work, &plan, &mut patch).await {
        Ok(done) => Ok(reply::done(done)),
        // Upstream parses the patch before it looks for the object.
        Err(status) if status.code == 404 => Err(malformed(work, format).unwrap_or(status)),
        Err(status) => Err(status),
    }
}

/// The error about a patch that cannot be parsed.
fn malformed(work: &Work, format: Format) -> Option<Status> {
    let body = &work.call.body;
    match format {
        Format::Apply => yaml::read(body).err().map(|why| unencodable(&why)),
        _ => patch::document(body).err(),
    }
}

/// The patch applied to the present state is the next state.
struct Patch<'a> {
    format: Format,
    options: &'a WriteOptions,
}

impl Transition for Patch<'_> {
    fn next(&mut self, work: &Work, old: Option<&Value>) -> Result<Decoded, Status> {
        let mut new = match (self.format, old) {
            (Format::Apply, _) => applied(work, old, self.options)?,
            (_, None) => return Err(work.not_found(&work.call.name)),
            (_, Some(old)) => patched::decode(work, old, self.format, self.options.validation)?,
        };
        check(work, old, &mut new.object)?;
        Ok(new)
    }
}

/// The format of the patch, if the kind supports it.
pub fn format(work: &Work) -> Result<Format, Status> {
    let media_type = work.call.content_type.split(';').next().unwrap_or_default();
    let takes = |format: Format| format != Format::Strategic || work.is_built_in();
    let mut known = FORMATS.iter().filter(|(_, format)| takes(*format));
    if let Some((_, format)) = known.clone().find(|(name, _)| *name == media_type) {
        return Ok(*format);
    }
    if work.is_built_in() {
        let mut status = Status::new(415, "UnsupportedMediaType", "415: Unsupported Media Type");
        status.details = Some(Box::default());
        return Err(status);
    }
    let names: Vec<&str> = known.by_ref().map(|(name, _)| *name).collect();
    Err(Status::unsupported_media_type(&names))
}

/// The result of applying a patch (of any format but apply) to a document.
pub fn document(call: &Call, object: &Value, format: Format, validation: Validation) -> Result<Patched, Status> {
    let (bytes, checked) = (call.body.as_ref(), validation != Validation::Ignore);
    match format {
        Format::Json => patch::json(object, bytes, checked),
        Format::Strategic => patch::strategic(object, bytes, call.resource.strategy.schema(), checked),
        Format::Merge | Format::Apply => patch::merge(object, bytes, checked),
    }
}

fn applied(work: &Work, live: Option<&Value>, options: &WriteOptions) -> Result<Decoded, Status> {
    let (config, duplicates) = configuration(work)?;
    let config = Value::Object(config);
    let new = work.as_writer(&options.manager, |writer| {
        apply::apply(live, &config, options.force, writer)
    });
    let mut new = new.map_err(|error| error.status())?;
    if !duplicates.is_empty() && options.validation == Validation::Strict {
        let lines: String = duplicates.iter().map(|line| format!("\n  {line}")).collect();
        return Err(Status::bad_request(format!(
            "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:{lines}"
        )));
    }
    if options.validation == Validation::Warn {
        duplicates.into_iter().for_each(|line| work.warn(line));
    }
    let resource = work.resource();
    let (namespace, name) = (meta::text(&config, "namespace"), meta::text(&config, "name"));
    let title = format!("{namespace}/{name}");
    let (unknown, has_empties) =
        body::converted(work, &mut new).map_err(|status| unconverted(resource, &title, status))?;
    let is_kept = |path: &String| !(resource.rules().has_status && path.starts_with("unknown field \"status."));
    let has_pruned = !resource.rules().is_built_in() && unknown.iter().any(is_kept);
    // Upstream, an apply that changes no field returns no object, and the live one is written back without defaults.
    if live.is_none_or(|live| !apply::have_equal_fields(live, &new)) {
        work.default(&mut new);
    }
    Ok(Decoded {
        object: new,
        has_empties,
        has_pruned,
    })
}

/// The result of an apply to a built-in kind is converted, not decoded, so the server words a failure differently.
/// `title` is the namespace and name in the configuration.
fn unconverted(resource: &Resource, title: &str, status: Status) -> Status {
    let beginning = format!("{}: ", body::cannot(&Value::Null, resource));
    if !resource.rules().is_built_in() {
        return status;
    }
    let slash = if resource.group.is_empty() { "/" } else { "" };
    let kind = format!("{slash}{}, Kind={}", resource.api_version(), resource.names.kind);
    let Some(why) = status.message.strip_prefix(&beginning) else {
        let message = format!("failed to convert to unversioned ({title}; {kind}): {}", status.message);
        return Status::new(500, "", message);
    };
    let message = format!(
        "failed to convert new object ({title}; {kind}) to proper version: unable to convert unstructured object to \
         {kind}: {why}"
    );
    Status::new(500, "", message)
}

/// The applied configuration, and its duplicate fields.
pub fn configuration(work: &Work) -> Result<(Map<String, Value>, Vec<String>), Status> {
    let found = match yaml::read(&work.call.body) {
        Ok((Value::Object(config), duplicates)) => return Ok((config, duplicates)),
        Ok((Value::Null, _)) => return Ok(Default::default()),
        Ok((Value::Array(_), _)) => "array",
        Ok((Value::String(_), _)) => "string",
        Ok((Value::Bool(_), _)) => "bool",
        Ok((Value::Number(_), _)) => "number",
        Err(why) => return Err(unencodable(&why)),
    };
    Err(Status::bad_request(format!(
        "error decoding patch: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {found} into Go value of \
         type map[string]interface {{}}"
    )))
}

/// 400 for an applied configuration that is not YAML.
fn unencodable(why: &str) -> Status {
    let why = why.strip_prefix("error converting YAML to JSON: ").unwrap_or(why);
    Status::bad_request(format!("error encoding patch: {why}"))
}

/// Upstream's checks of a patched object, which run before its validation.
fn check(work: &Work, live: Option<&Value>, new: &mut Value) -> Result<(), Status> {
    let uid = meta::text(new, "uid");
    if live.is_none() && !uid.is_empty() {
        let why = format!("uid mismatch: the provided object specified uid {uid}, and no existing object was found");
        return Err(Status::conflict(work.subject(), &work.call.name, &why));
    }
    body::check_namespace(work, new)?;
    body::check_name(work, new)
}
