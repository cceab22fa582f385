//! The command line of `manifests kubeconfig`: what an operator on this machine needs to run as its ServiceAccount.

use super::apply;
use crate::rendered::{Source, find, service_account, text};
use crate::words::{Words, settled};
use kubewright_schema::files::Streams;
use serde_json::{Value, json};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

const HELP: &str = "\
Applies what `manifests deploy --local` does, and writes a kubeconfig with nothing but a token of the operator's ServiceAccount, valid for 24
hours. Its context has the operator's namespace.

Usage: manifests kubeconfig --out FILE [OPTIONS] -- KUBECTL...

Options:
      --out FILE             The kubeconfig; only its owner may read it
      --kustomization DIR    The folder that KUBECTL renders [default: config/default]
      --webhook-url URL      Apply the webhooks, with this URL in the place of the Service
      -- KUBECTL...          The kubectl that renders and applies
  -h, --help                 Print this help
";

/// The parsed arguments.
#[derive(Debug, Default)]
struct KubeconfigArguments {
    source: Source,
    out: PathBuf,
    webhook_url: Option<String>,
}

/// Runs with the arguments after `kubeconfig`, and returns the exit code. A closed output pipe is not an error.
pub(crate) fn execute(words: impl Iterator<Item = String>, mut streams: Streams<'_>) -> u8 {
    let arguments = match settled(parse(words), HELP, "kubeconfig --help", &mut streams) {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    match prepare(&arguments, &mut streams) {
        Ok(()) => 0,
        Err(error) => {
            _ = writeln!(streams.err, "error: {error}");
            1
        }
    }
}

fn prepare(arguments: &KubeconfigArguments, streams: &mut Streams<'_>) -> Result<(), String> {
    let source = &arguments.source;
    let objects = source.objects(&mut std::io::empty())?;
    let operator = find(&objects.iter().collect::<Vec<_>>()).map_err(|error| error.to_string())?;
    let operator = &objects[operator];
    let namespace = text(operator, "/metadata/namespace");
    let account = service_account(operator);
    apply::local(source, arguments.webhook_url.as_deref(), streams)?;
    let token = [
        "--namespace",
        namespace,
        "create",
        "token",
        account,
        "--duration",
        "24h",
    ];
    let token = source.kubectl.output(&token)?;
    let config = source
        .kubectl
        .output(&["config", "view", "--raw", "--minify", "--flatten", "--output", "json"])?;
    let config = serde_json::from_str(&config).map_err(|error| format!("kubectl prints no JSON: {error}"))?;
    let config = with_token(config, token.trim(), namespace)?;
    write_private(&arguments.out, &config.to_string())
        .map_err(|error| format!("cannot write `{}`: {error}", arguments.out.display()))?;
    _ = writeln!(streams.err, "running as {account} in the namespace {namespace}");
    Ok(())
}

/// The kubeconfig with the cluster of `config`, which has one context, and with the token alone.
fn with_token(mut config: Value, token: &str, namespace: &str) -> Result<Value, String> {
    let Some(context) = config.pointer_mut("/contexts/0/context") else {
        return Err("the kubeconfig has no current context\n\nhint: kubectl config use-context NAME".to_owned());
    };
    context["user"] = json!("operator");
    context["namespace"] = json!(namespace);
    config["users"] = json!([{"name": "operator", "user": {"token": token}}]);
    Ok(config)
}

/// Writes a file that only its owner may read, also if there was one that others may.
pub(crate) fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(text.as_bytes())
}

/// The arguments; `None` for `--help`.
fn parse(words: impl Iterator<Item = String>) -> Result<Option<KubeconfigArguments>, String> {
    let mut arguments = KubeconfigArguments::default();
    let mut words = Words::new(words);
    while let Some(flag) = words.flag()? {
        match flag.as_str() {
            "--out" => arguments.out = words.value()?.into(),
            "--webhook-url" => arguments.webhook_url = Some(words.value()?),
            "-h" | "--help" => return Ok(None),
            "--image" => return Err("unknown argument `--image`".to_owned()),
            _ if arguments.source.take(&flag, &mut words)? => {}
            _ => return Err(format!("unknown argument `{flag}`")),
        }
    }
    if arguments.out.as_os_str().is_empty() {
        return Err("`--out` is missing".to_owned());
    }
    Ok(Some(arguments))
}
