//! `make test-image`: builds the operator's image, runs it in a cluster of kind, and takes it out again.
//!
//! # Guarantees
//! - The user's kubeconfig is neither read nor written.
//! - A cluster that existed before is not deleted, and is refused if it has the operator's namespace or kinds: `undeploy` would delete all
//!   their objects. A cluster that the test made is deleted at its end, also after Ctrl-C.

mod cluster;
mod components;
mod role;
mod servers;
mod signals;
#[cfg(test)]
mod tests;

use self::cluster::KindCluster;
use self::components::Kustomization;
use crate::rendered::{Source, find, service_account, text};
use crate::tool::Tool;
use crate::words::{Words, settled};
use crate::{installer, removal};
use kubewright_schema::files::Streams;
use serde_json::Value;

const HELP: &str = "\
Builds the image of the operator and tests it in a cluster of kind: all components are deployed, each permission of config/rbac/role.yaml is asked
for, the probes and the metrics are read, the samples become Ready, and `undeploy` leaves nothing.

Usage: manifests test-image --operator NAME [OPTIONS] -- KUBECTL...

Options:
      --operator NAME        The name of the operator, by which its children are labelled
      --image IMAGE          The image to build [default: localhost/NAME:test]
      --cluster NAME         The cluster of kind; one that does not exist is made, and deleted at the end [default: NAME-test]
      --container-tool TOOL  The program that builds images [default: docker]
      --kind KIND            The program kind [default: kind]
      --except SAMPLE        A sample that does not become Ready, because its kind has no controller; may be repeated
      -- KUBECTL...          The kubectl that deploys and asks
  -h, --help                 Print this help
";

/// The folder with the test's kubeconfig and its copy of config/.
const WORK: &str = "target/test-image";
/// The variable with the namespaces of an operator that does not work in all.
const WATCHED: &str = "WATCH_NAMESPACE";

/// The parsed arguments.
#[derive(Debug)]
struct TestArguments {
    operator: String,
    image: String,
    cluster: String,
    container_tool: Tool,
    kind: Tool,
    kubectl: Tool,
    /// Names of samples that need not become Ready.
    except: Vec<String>,
}

/// The deployed operator.
struct Deployed<'a> {
    kubectl: &'a Tool,
    namespace: &'a str,
    /// `deployment/NAME`.
    deployment: &'a str,
    /// The user name of its ServiceAccount.
    account: &'a str,
    /// A namespace that it works in.
    watched: &'a str,
}

/// Runs with the arguments after `test-image`, and returns the exit code. A closed output pipe is not an error.
pub(crate) fn execute(words: impl Iterator<Item = String>, mut streams: Streams<'_>) -> u8 {
    let arguments = match settled(parse(words), HELP, "test-image --help", &mut streams) {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    let tested = signals::outlived().and_then(|_outlived| test(&arguments, &mut streams));
    match tested {
        Ok(()) => 0,
        Err(error) => {
            _ = writeln!(streams.err, "error: {error}");
            1
        }
    }
}

fn test(arguments: &TestArguments, streams: &mut Streams<'_>) -> Result<(), String> {
    let image = arguments.image.as_str();
    check_tools(arguments)?;
    step(streams, &format!("building {image}"));
    arguments.container_tool.run(&["build", "--tag", image, "."])?;
    step(streams, &format!("the cluster {}", arguments.cluster));
    let cluster = KindCluster::start(&arguments.kind, &arguments.cluster, &arguments.kubectl)?;
    let kustomization = Kustomization::read()?;
    cluster.refuse_operators(&kustomization.namespace)?;
    cluster.load(image, &arguments.container_tool)?;
    test_in(arguments, &cluster, &kustomization, streams)?;
    drop(cluster);
    _ = writeln!(streams.out, "\n{image} passes");
    Ok(())
}

fn test_in(
    arguments: &TestArguments,
    cluster: &KindCluster<'_>,
    kustomization: &Kustomization,
    streams: &mut Streams<'_>,
) -> Result<(), String> {
    let kubectl = &cluster.kubectl;
    step(streams, "deploying with all components");
    let folder = kustomization.copy_with_all_components(kubectl, streams)?;
    let deploy = ["--image", &arguments.image];
    manifests(installer::deploy, &deploy, &folder, kubectl, streams)?;
    let mut rendered = Source::default();
    rendered.kubectl = kubectl.clone();
    let objects = rendered.objects(&mut std::io::empty())?;
    let operator = find(&objects.iter().collect::<Vec<_>>()).map_err(|error| error.to_string())?;
    let operator = &objects[operator];
    let namespace = text(operator, "/metadata/namespace");
    let account = service_account(operator);
    let deployed = Deployed {
        kubectl,
        namespace,
        deployment: &format!("deployment/{}", text(operator, "/metadata/name")),
        account: &format!("system:serviceaccount:{namespace}:{account}"),
        watched: watched(operator, namespace),
    };
    deployed.becomes_available()?;
    step(streams, &format!("the permissions of {}", deployed.account));
    role::ask(&deployed, kustomization, &objects, streams)?;
    step(streams, "probes and metrics");
    servers::ask(&deployed, &kustomization.named("metrics-reader"), streams)?;
    step(streams, "the samples");
    deployed.reconciles_samples(&arguments.except, streams)?;
    step(streams, "removing everything");
    let undeploy = |words, streams: Streams<'_>| removal::execute(removal::Removed::Operator, words, streams);
    manifests(
        undeploy,
        &["--operator", &arguments.operator],
        &folder,
        kubectl,
        streams,
    )?;
    nothing_is_left(kubectl, &kustomization.prefix)
}

/// The first namespace that the operator works in.
fn watched<'a>(operator: &'a Value, own: &'a str) -> &'a str {
    let containers = operator
        .pointer("/spec/template/spec/containers")
        .and_then(Value::as_array);
    let variables = containers
        .into_iter()
        .flatten()
        .filter_map(|container| container["env"].as_array());
    let variable = variables.flatten().find(|variable| text(variable, "/name") == WATCHED);
    match variable.map(|variable| text(variable, "/value")) {
        None => "default",
        // A reference to the Pod's namespace.
        Some("") => own,
        Some(listed) => listed.split(',').next().unwrap_or(listed).trim(),
    }
}

/// Runs `deploy` or `undeploy` on the copy of config/.
fn manifests(
    command: impl Fn(std::vec::IntoIter<String>, Streams<'_>) -> u8,
    flags: &[&str],
    folder: &str,
    kubectl: &Tool,
    streams: &mut Streams<'_>,
) -> Result<(), String> {
    let flags = flags.iter().copied().chain(["--kustomization", folder, "--"]);
    let words: Vec<_> = flags
        .map(str::to_owned)
        .chain(kubectl.words().iter().cloned())
        .collect();
    let (out, err) = (&mut *streams.out, &mut *streams.err);
    match command(words.into_iter(), Streams { out, err }) {
        0 => Ok(()),
        _ => Err("the test ends here\n\nhint: see the error above".to_owned()),
    }
}

impl Deployed<'_> {
    fn becomes_available(&self) -> Result<(), String> {
        let rollout = ["rollout", "status", self.deployment, "--timeout", "3m"];
        let rolled_out = self.in_namespace(|kubectl| kubectl.run(&rollout));
        rolled_out.map_err(|_| self.failed("the operator does not become available"))
    }

    /// Checks that each sample becomes Ready, unless its name is in `except`.
    fn reconciles_samples(&self, except: &[String], streams: &mut Streams<'_>) -> Result<(), String> {
        const FOLDER: &str = "config/samples";
        if components::listed(FOLDER, "resources")?.is_empty() {
            _ = writeln!(streams.out, "skipped: there are no samples");
            return Ok(());
        }
        let kubectl = self.kubectl.with(&["--namespace", self.watched]);
        kubectl.run(&["apply", "--server-side", "-k", FOLDER])?;
        let samples = kubectl.output(&["get", "-k", FOLDER, "--output", "name"])?;
        let is_awaited = |sample: &&str| {
            sample
                .rsplit('/')
                .next()
                .is_some_and(|name| except.iter().all(|it| it != name))
        };
        let awaited: Vec<_> = samples.lines().filter(is_awaited).collect();
        if awaited.is_empty() {
            return Ok(());
        }
        let wait = ["wait", "--for", "condition=Ready", "--timeout", "2m"];
        let ready = kubectl.run(&[&wait[..], &awaited].concat());
        ready.map_err(|_| self.failed("not all samples are Ready"))
    }

    fn in_namespace<T>(&self, action: impl FnOnce(&Tool) -> T) -> T {
        action(&self.kubectl.with(&["--namespace", self.namespace]))
    }

    /// The error, after the Pods and the log of the operator are printed.
    fn failed(&self, error: &str) -> String {
        self.in_namespace(|kubectl| {
            _ = kubectl.run(&["describe", "pods", "--selector", "control-plane=controller-manager"]);
            _ = kubectl.run(&["logs", self.deployment, "--tail", "50"]);
        });
        format!("{error}\n\nhint: see the log above")
    }
}

fn check_tools(arguments: &TestArguments) -> Result<(), String> {
    let has = |tool: &Tool, words: &[&str]| tool.quiet(words).is_some();
    if !has(&arguments.container_tool, &["info"]) {
        return Err(format!(
            "`{} info` fails: there is no container runtime\n\nhint: start Docker, or name another tool with CONTAINER_TOOL; without one, \
             `make test-e2e` tests all but the image",
            arguments.container_tool.words().join(" ")
        ));
    }
    let curl = servers::curl();
    for (tool, words, hint) in [
        (
            &arguments.kind,
            &["version"][..],
            "see https://kind.sigs.k8s.io, or name its path with KIND",
        ),
        (
            &arguments.kubectl,
            &["version", "--client"],
            "install kubectl, or name its path with KUBECTL",
        ),
        (&curl, &["--version"], "install it with the packages of your system"),
    ] {
        if !has(tool, words) {
            return Err(format!("`{}` is not installed\n\nhint: {hint}", tool.words().join(" ")));
        }
    }
    Ok(())
}

fn nothing_is_left(kubectl: &Tool, prefix: &str) -> Result<(), String> {
    const KINDS: &str =
        "namespaces,clusterroles,clusterrolebindings,validatingwebhookconfigurations,mutatingwebhookconfigurations";
    let named = kubectl.output(&["get", KINDS, "--output", "name"])?;
    let crds = kubectl.output(&["get", "-k", removal::CRDS, "--ignore-not-found", "--output", "name"])?;
    let prefix = format!("/{prefix}");
    let left: Vec<_> = named
        .lines()
        .filter(|name| name.contains(&prefix))
        .chain(crds.lines())
        .collect();
    match left.is_empty() {
        true => Ok(()),
        false => Err(format!(
            "`make undeploy` leaves {}\n\nhint: see what it prints",
            left.join(" ")
        )),
    }
}

fn step(streams: &mut Streams<'_>, title: &str) {
    _ = writeln!(streams.out, "\n--- {title}");
}

/// The arguments; `None` for `--help`.
fn parse(words: impl Iterator<Item = String>) -> Result<Option<TestArguments>, String> {
    let named = |words: &str, variable| Tool::new(words.split_whitespace().map(str::to_owned).collect(), variable);
    let (mut operator, mut image, mut cluster) = (String::new(), None, None);
    let (mut container_tool, mut kind) = (named("docker", "CONTAINER_TOOL"), named("kind", "KIND"));
    let (mut source, mut except) = (Source::default(), Vec::new());
    let mut words = Words::new(words);
    while let Some(flag) = words.flag()? {
        match flag.as_str() {
            "--operator" => operator = words.value()?,
            "--image" => image = Some(words.value()?),
            "--cluster" => cluster = Some(words.value()?),
            "--container-tool" => container_tool = named(&words.value()?, "CONTAINER_TOOL"),
            "--kind" => kind = named(&words.value()?, "KIND"),
            "--except" => except.push(words.value()?),
            "-h" | "--help" => return Ok(None),
            "--" => _ = source.take(&flag, &mut words)?,
            _ => return Err(format!("unknown argument `{flag}`")),
        }
    }
    if operator.is_empty() {
        return Err("`--operator` is missing".to_owned());
    }
    Ok(Some(TestArguments {
        image: image.unwrap_or_else(|| format!("localhost/{operator}:test")),
        cluster: cluster.unwrap_or_else(|| format!("{operator}-test")),
        operator,
        container_tool,
        kind,
        kubectl: source.kubectl,
        except,
    }))
}
