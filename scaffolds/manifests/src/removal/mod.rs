//! `make undeploy` and `make uninstall`: takes out of the cluster what `make deploy` and `make install` applied.
//!
//! # Guarantees
//! - The operator runs until all objects of its kinds are gone, so that it can clean up after them, and until their children are: a garbage
//!   collector that lags behind does not collect children of a kind whose CRD is gone.
//! - The namespace stays if `make deploy` has not made it, if it has other objects, or if not all of its objects can be listed.

mod namespace;
mod objects;
#[cfg(test)]
mod tests;

use self::objects::Cleanup;
use crate::rendered::{self, Document, Source, text};
use crate::words::{Words, settled};
use kubewright_schema::files::Streams;
use serde_json::Value;
use std::cell::OnceCell;
use std::time::Duration;

/// The folder with the CRDs of a project.
pub(crate) const CRDS: &str = "config/crd";

/// The removed objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Removed {
    /// The objects of the operator's kinds, and their CRDs.
    Kinds,
    /// Also everything else that `make deploy` applied.
    Operator,
}

const UNINSTALL: &str = "\
Deletes ALL objects of the operator's kinds, then their CRDs.

Usage: manifests uninstall --operator NAME [OPTIONS] -- KUBECTL...

Options:
      --operator NAME           The name of the operator, by which its children are labelled
      --ignore-not-found BOOL   Whether a CRD that does not exist is no error [default: false]
      --timeout DURATION        How long the operator may take to clean up the objects of one kind [default: 2m]
      -- KUBECTL...             The kubectl that deletes
  -h, --help                    Print this help
";

const UNDEPLOY: &str = "\
Deletes ALL objects of the operator's kinds, then the operator and its CRDs, then the namespace if `deploy` has made it and nobody else uses it.

Usage: manifests undeploy --operator NAME [OPTIONS] -- KUBECTL...

Options:
      --operator NAME           The name of the operator, by which its children are labelled
      --keep-crds               Leave the CRDs and all objects of these kinds
      --ignore-not-found BOOL   Whether an object that does not exist is no error [default: false]
      --timeout DURATION        How long the operator may take to clean up the objects of one kind [default: 2m]
      --kustomization DIR       The folder that `deploy` applied [default: config/default]
      -- KUBECTL...             The kubectl that deletes
  -h, --help                    Print this help
";

/// The parsed arguments.
#[derive(Debug)]
struct RemovalArguments {
    source: Source,
    operator: String,
    keeps_crds: bool,
    ignore_not_found: String,
    timeout: String,
}

/// Runs with the arguments after `uninstall` or `undeploy`, and returns the exit code. A closed output pipe is not an error.
pub(crate) fn execute(removed: Removed, words: impl Iterator<Item = String>, streams: Streams<'_>) -> u8 {
    execute_with(removed, words, streams, &std::thread::sleep)
}

/// As [`execute`], with the function that waits.
fn execute_with(
    removed: Removed,
    words: impl Iterator<Item = String>,
    mut streams: Streams<'_>,
    pause: &dyn Fn(Duration),
) -> u8 {
    let (help, asks) = match removed {
        Removed::Kinds => (UNINSTALL, "uninstall --help"),
        Removed::Operator => (UNDEPLOY, "undeploy --help"),
    };
    let arguments = match settled(parse(removed, words), help, asks, &mut streams) {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    match remove(removed, &arguments, &mut streams, pause) {
        Ok(()) => 0,
        Err(error) => {
            _ = writeln!(streams.err, "error: {error}");
            1
        }
    }
}

fn remove(
    removed: Removed,
    arguments: &RemovalArguments,
    streams: &mut Streams<'_>,
    pause: &dyn Fn(Duration),
) -> Result<(), String> {
    let source = &arguments.source;
    // Before the first deletion: what cannot be rendered could not be deleted later.
    let documents = match removed {
        Removed::Kinds => Vec::new(),
        Removed::Operator => source.unchecked(&mut std::io::empty())?,
    };
    let cleanup = Cleanup {
        source,
        operator: &arguments.operator,
        timeout: &arguments.timeout,
        pause,
        listable: OnceCell::new(),
    };
    if !arguments.keeps_crds {
        cleanup.run(streams)?;
    }
    let found = format!("--ignore-not-found={}", arguments.ignore_not_found);
    let hint = "\n\nhint: with `ignore-not-found=true` what is gone already is no error";
    let failed = |error| error + if found.ends_with("false") { hint } else { "" };
    if removed == Removed::Kinds {
        return source.kubectl.run(&["delete", &found, "-k", CRDS]).map_err(failed);
    }
    let namespaces = namespace::all(&documents);
    let (crds, operator): (Vec<_>, Vec<_>) = documents
        .into_iter()
        .filter(|document| text(&document.object, "/kind") != "Namespace")
        .partition(|document| text(&document.object, "/kind") == "CustomResourceDefinition");
    delete(source, &found, &operator).map_err(failed)?;
    if arguments.keeps_crds {
        _ = writeln!(streams.out, "left: the CRDs and all their objects");
    } else {
        remove_converters(source)?;
        delete(source, "--ignore-not-found=true", &crds)?;
    }
    for wanted in &namespaces {
        if let Some(left) = namespace::remove(source, wanted, &arguments.operator)? {
            _ = writeln!(streams.out, "left: {left}");
        }
    }
    Ok(())
}

/// Deletes these objects. They are chosen by their kinds: a kustomization of the user's may have changed any label.
fn delete(source: &Source, found: &str, documents: &[Document]) -> Result<(), String> {
    if documents.is_empty() {
        return Ok(());
    }
    let arguments = ["delete", found, "-f", "-"];
    source.kubectl.send(&arguments, &rendered::join(documents))
}

/// No converter answers after the operator is gone: an object that was created meanwhile could not be read, and its CRD not be deleted.
fn remove_converters(source: &Source) -> Result<(), String> {
    for crd in definitions(source)? {
        if is_converted(&crd) {
            let name = text(&crd, "/metadata/name");
            let patch = r#"{"spec":{"conversion":{"strategy":"None","webhook":null}}}"#;
            source
                .kubectl
                .run(&["patch", "crd", name, "--type", "merge", "--patch", patch])?;
        }
    }
    Ok(())
}

/// The CustomResourceDefinitions of the operator's kinds, as the cluster has them.
fn definitions(source: &Source) -> Result<Vec<Value>, String> {
    let found = source
        .kubectl
        .output(&["get", "-k", CRDS, "--ignore-not-found", "--output", "json"])?;
    if found.trim().is_empty() {
        return Ok(Vec::new());
    }
    let mut found: Value = serde_json::from_str(&found).map_err(|error| format!("kubectl prints no JSON: {error}"))?;
    Ok(match found.get_mut("items").map(Value::take) {
        Some(Value::Array(items)) => items,
        _ => vec![found],
    })
}

/// Whether API servers call a converter for the objects of a definition.
fn is_converted(definition: &Value) -> bool {
    text(definition, "/spec/conversion/strategy") == "Webhook"
}

/// The arguments; `None` for `--help`.
fn parse(removed: Removed, words: impl Iterator<Item = String>) -> Result<Option<RemovalArguments>, String> {
    let mut arguments = RemovalArguments {
        source: Source::default(),
        operator: String::new(),
        keeps_crds: false,
        ignore_not_found: "false".to_owned(),
        timeout: "2m".to_owned(),
    };
    let mut words = Words::new(words);
    while let Some(flag) = words.flag()? {
        match flag.as_str() {
            "--operator" => arguments.operator = words.value()?,
            "--ignore-not-found" => arguments.ignore_not_found = boolean(words.value()?)?,
            "--timeout" => arguments.timeout = words.value()?,
            "--keep-crds" if removed == Removed::Operator => arguments.keeps_crds = true,
            "-h" | "--help" => return Ok(None),
            "--image" => return Err("unknown argument `--image`".to_owned()),
            "--kustomization" if removed == Removed::Kinds => return Err(format!("unknown argument `{flag}`")),
            _ if arguments.source.take(&flag, &mut words)? => {}
            _ => return Err(format!("unknown argument `{flag}`")),
        }
    }
    if arguments.operator.is_empty() {
        return Err("`--operator` is missing".to_owned());
    }
    Ok(Some(arguments))
}

fn boolean(text: String) -> Result<String, String> {
    match text.as_str() {
        "true" | "false" => Ok(text),
        _ => Err(format!("`--ignore-not-found` is true or false, not `{text}`")),
    }
}
