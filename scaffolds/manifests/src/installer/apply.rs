//! The command line of `manifests deploy`: applies the objects of a project to the cluster.

use super::local;
use crate::rendered::{self, Document, Source, text};
use crate::words::{Words, settled};
use kubewright_schema::files::Streams;
use serde_json::Value;

const HELP: &str = "\
Applies all objects of config/default to the cluster, server-side. A namespace that exists and was not made by this command is left as it is.

Usage: manifests deploy [OPTIONS] -- KUBECTL...

Options:
      --image IMAGE          The image of the operator, whatever the kustomizations set
      --kustomization DIR    The folder that KUBECTL renders [default: config/default]
      --local                For an operator on this machine: leave out the CRDs, the Deployment and the webhooks
      --webhook-url URL      With --local: apply the webhooks, with this URL in the place of the Service
      -- KUBECTL...          The kubectl that renders and applies
  -h, --help                 Print this help
";

/// The labels in config/namespace/namespace.yaml which mark the namespace that this command has made. `make undeploy` deletes no other.
const MARKS: [&str; 2] = ["app.kubernetes.io/component", "app.kubernetes.io/name"];

/// The parsed arguments.
#[derive(Debug, Default)]
struct DeployArguments {
    source: Source,
    local: bool,
    webhook_url: Option<String>,
}

/// Runs with the arguments after `deploy`, and returns the exit code. A closed output pipe is not an error.
pub(crate) fn execute(words: impl Iterator<Item = String>, mut streams: Streams<'_>) -> u8 {
    let arguments = match settled(parse(words), HELP, "deploy --help", &mut streams) {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    match apply(&arguments, &mut streams) {
        Ok(()) => 0,
        Err(error) => {
            _ = writeln!(streams.err, "error: {error}");
            1
        }
    }
}

fn apply(arguments: &DeployArguments, streams: &mut Streams<'_>) -> Result<(), String> {
    let source = &arguments.source;
    if arguments.local {
        return local(source, arguments.webhook_url.as_deref(), streams);
    }
    apply_all(source, source.documents(&mut std::io::empty())?, streams)
}

/// Applies what an operator on this machine needs; webhooks only with the URL at which the cluster reaches them.
pub(super) fn local(source: &Source, url: Option<&str>, streams: &mut Streams<'_>) -> Result<(), String> {
    let mut documents = source.documents(&mut std::io::empty())?;
    documents.retain_mut(|document| local::adapt(&mut document.object, url));
    apply_all(source, documents, streams)
}

fn apply_all(source: &Source, documents: Vec<Document>, streams: &mut Streams<'_>) -> Result<(), String> {
    let mut applied = Vec::new();
    for document in documents {
        if text(&document.object, "/kind") == "Namespace" && is_of_others(source, &document.object)? {
            let name = text(&document.object, "/metadata/name");
            _ = writeln!(
                streams.err,
                "note: the namespace `{name}` was there before: deploy does not change it, and undeploy does not delete it"
            );
            continue;
        }
        applied.push(document);
    }
    send(source, &applied)
}

fn send(source: &Source, documents: &[Document]) -> Result<(), String> {
    let arguments = ["apply", "--server-side", "--force-conflicts", "-f", "-"];
    source.kubectl.send(&arguments, &rendered::join(documents))
}

/// Whether a namespace of the project has the marks.
pub(crate) fn is_marked(wanted: &Value) -> bool {
    MARKS.iter().all(|mark| wanted["metadata"]["labels"][mark].is_string())
}

/// Whether the namespace exists without the marks of `wanted`, so that `make deploy` has not made it.
pub(crate) fn is_of_others(source: &Source, wanted: &Value) -> Result<bool, String> {
    let name = text(wanted, "/metadata/name");
    let found = source
        .kubectl
        .output(&["get", "namespace", name, "--ignore-not-found", "--output", "json"])?;
    if found.trim().is_empty() {
        return Ok(false);
    }
    let found: Value = serde_json::from_str(&found).map_err(|error| format!("kubectl prints no JSON: {error}"))?;
    let mark = |namespace: &Value, mark: &str| namespace["metadata"]["labels"][mark].as_str().map(str::to_owned);
    let same = |name: &&str| mark(wanted, name).is_some() && mark(wanted, name) == mark(&found, name);
    Ok(!MARKS.iter().all(same))
}

/// The arguments; `None` for `--help`.
fn parse(words: impl Iterator<Item = String>) -> Result<Option<DeployArguments>, String> {
    let mut arguments = DeployArguments::default();
    let mut words = Words::new(words);
    while let Some(flag) = words.flag()? {
        match flag.as_str() {
            "--local" => arguments.local = true,
            "--webhook-url" => arguments.webhook_url = Some(words.value()?),
            "-h" | "--help" => return Ok(None),
            _ if arguments.source.take(&flag, &mut words)? => {}
            _ => return Err(format!("unknown argument `{flag}`")),
        }
    }
    if arguments.webhook_url.is_some() && !arguments.local {
        return Err("`--webhook-url` has no effect without `--local`".to_owned());
    }
    Ok(Some(arguments))
}
