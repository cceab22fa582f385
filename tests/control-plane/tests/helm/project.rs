//! A golden project's `config` in a folder of its own, its objects by kustomize, its chart, and the same objects by Helm.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, anyhow, ensure};
use clap::Parser;
use control_plane::{foobar::FooBar, root, run};
use k8s_openapi::api::core::v1::Pod;
use kubewright_manifests::chart;
use kubewright_runtime::{Operator, Options};
use kubewright_schema::yaml;
use kubewright_webhooks::{Admission, Change, Defaulter, FailurePolicy, Validator, Verdict, Webhook};
use serde_json::Value;

use crate::Programs;

/// The name of each golden project: the prefix of its objects, and of a release with the same names.
pub const NAME: &str = "foobar-operator";
/// The namespace of each golden project.
pub const NAMESPACE: &str = "foobar-operator-system";

/// Objects by kind, namespace and name.
pub type Objects = BTreeMap<String, Value>;

/// A project's `config`, and a folder for its chart.
pub struct Project {
    folder: tempfile::TempDir,
}

impl Project {
    /// The golden project of this name, with these components.
    pub fn golden(case: &str, components: &[&str]) -> Result<Self> {
        let project = Self {
            folder: tempfile::tempdir()?,
        };
        let goldens = root().join("tests/golden");
        if case != "one" {
            // Kept as differences from `one`, and with the files of its own that `make manifests` writes.
            copy(&goldens.join("one/config"), &project.config())?;
            let list = fs::read_to_string(goldens.join(case).with_extension("without")).unwrap_or_default();
            let derived = [
                "config/rbac/role.yaml",
                "config/crd/bases/test.example.com_foobars.yaml",
            ];
            for path in list.lines().filter(|path| path.starts_with("config/")).chain(derived) {
                fs::remove_file(project.folder.path().join(path)).with_context(|| format!("no {path} in `one`"))?;
            }
        }
        copy(&goldens.join(case).join("config"), &project.config())?;
        if components.contains(&"webhook") && !project.config().join("webhook").exists() {
            project.write_webhooks()?;
        }
        let lines: String = components.iter().map(|name| format!("\n  - ../{name}")).collect();
        if !components.is_empty() {
            // A project with webhooks has a component already.
            let file = "default/kustomization.yaml";
            let is_empty = fs::read_to_string(project.config().join(file))?.contains("components: []");
            let list = if is_empty { "components: []" } else { "components:" };
            project.edit(file, list, &format!("components:{lines}"))?;
        }
        Ok(project)
    }

    /// The cases of golden projects.
    pub fn cases() -> Result<Vec<String>> {
        let mut cases = Vec::new();
        for entry in fs::read_dir(root().join("tests/golden"))? {
            let name = entry?.file_name();
            if let Some(case) = name.to_string_lossy().strip_suffix(".commands") {
                cases.push(case.to_owned());
            }
        }
        cases.sort();
        Ok(cases)
    }

    pub fn config(&self) -> PathBuf {
        self.folder.path().join("config")
    }

    /// The folder of the chart.
    pub fn chart(&self) -> PathBuf {
        self.folder.path().join("dist/chart")
    }

    /// Replaces a text of a file in `config`.
    pub fn edit(&self, file: &str, from: &str, to: &str) -> Result<()> {
        let path = self.config().join(file);
        let text = fs::read_to_string(&path).with_context(|| format!("no {}", path.display()))?;
        ensure!(text.contains(from), "no `{from}` in {}", path.display());
        Ok(fs::write(path, text.replace(from, to))?)
    }

    /// Writes what `make manifests` writes for an operator with webhooks, one of them for a kind of Kubernetes.
    fn write_webhooks(&self) -> Result<()> {
        let [rbac, webhook] = ["rbac", "webhook"].map(|name| self.config().join(name).display().to_string());
        let flags = Flags::try_parse_from(["operator", "manifests", "--out", &rbac, "--webhook-out", &webhook])?;
        // An operator has a runtime of its own.
        let written = std::thread::spawn(move || {
            Operator::new(NAME, flags.options).run(async |manager| {
                Webhook::<FooBar, _>::validating(Nothing).register(manager)?;
                Webhook::<Pod, _>::defaulting(Nothing)
                    .failure_policy(FailurePolicy::Ignore)
                    .register(manager)
            })
        });
        let code = written.join().map_err(|_| anyhow!("the operator panicked"))?;
        ensure!(
            code == std::process::ExitCode::SUCCESS,
            "the operator wrote no manifests"
        );
        Ok(())
    }

    /// Writes a file into `config`.
    pub fn write(&self, file: &str, text: &str) -> Result<()> {
        let path = self.config().join(file);
        fs::create_dir_all(path.parent().context("a file is in a folder")?)?;
        Ok(fs::write(path, text)?)
    }

    /// `kubectl kustomize config/default`.
    pub fn kustomized(&self, programs: &Programs) -> Result<Vec<Value>> {
        self.kustomized_by(&programs.assets.kubectl())
    }

    /// The same by this kubectl; config/bundle, if there is one.
    pub fn kustomized_by(&self, kubectl: &Path) -> Result<Vec<Value>> {
        let bundle = self.config().join("bundle");
        let installed = if bundle.exists() {
            bundle
        } else {
            self.config().join("default")
        };
        let text = run(Command::new(kubectl).arg("kustomize").arg(installed))?;
        Ok(yaml::documents(&text)?)
    }

    /// Writes the chart of these objects.
    pub fn write_chart(&self, objects: &[Value], version: &str) -> Result<()> {
        for (path, text) in chart::files(objects, version, None)? {
            let path = self.chart().join(path);
            fs::create_dir_all(path.parent().context("a file is in a folder")?)?;
            fs::write(path, text)?;
        }
        Ok(())
    }

    /// `helm lint --strict dist/chart` with these values.
    pub fn lint(&self, programs: &Programs, values: &[&str]) -> Result<()> {
        let mut helm = Command::new(&programs.helm);
        let linted = run(helm.args(["lint", "--strict"]).arg(self.chart()).args(values))?;
        ensure!(linted.contains("0 chart(s) failed"), "{values:?}: {linted}");
        Ok(())
    }

    /// `helm template RELEASE dist/chart --namespace NAMESPACE` and more arguments.
    pub fn rendered(&self, programs: &Programs, [release, namespace]: [&str; 2], more: &[&str]) -> Result<Objects> {
        render(programs, &self.chart(), [release, namespace], more)
    }
}

/// `helm template RELEASE CHART --namespace NAMESPACE` and more arguments.
pub fn render(programs: &Programs, chart: &Path, [release, namespace]: [&str; 2], more: &[&str]) -> Result<Objects> {
    let mut helm = Command::new(&programs.helm);
    helm.args(["template", release])
        .arg(chart)
        .args(["--namespace", namespace])
        .args(more);
    let text = run(&mut helm)?;
    by_name(yaml::documents(&text).with_context(|| text.clone())?)
}

/// The objects by kind, namespace and name.
pub fn by_name(objects: Vec<Value>) -> Result<Objects> {
    let mut named = Objects::new();
    for object in objects {
        let text = |path: &str| {
            object
                .pointer(path)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let name = [text("/kind"), text("/metadata/namespace"), text("/metadata/name")].join("/");
        ensure!(named.insert(name.clone(), object).is_none(), "{name} is there twice");
    }
    Ok(named)
}

/// The differences of two sets of objects, a line for each value: `name: path: before -> after`.
pub fn differences(before: &Objects, after: &Objects) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, object) in before {
        match after.get(name) {
            Some(other) => compare(name, object, other, &mut lines),
            None => lines.push(format!("- {name}")),
        }
    }
    lines.extend(
        after
            .keys()
            .filter(|name| !before.contains_key(*name))
            .map(|name| format!("+ {name}")),
    );
    lines
}

fn compare(path: &str, before: &Value, after: &Value, lines: &mut Vec<String>) {
    match (before, after) {
        (Value::Object(one), Value::Object(other)) => {
            let keys: std::collections::BTreeSet<&String> = one.keys().chain(other.keys()).collect();
            for key in keys {
                let [one, other] = [one, other].map(|map| map.get(key).unwrap_or(&Value::Null));
                compare(&format!("{path}.{key}"), one, other, lines);
            }
        }
        (Value::Array(one), Value::Array(other)) => {
            for at in 0..one.len().max(other.len()) {
                let [one, other] = [one, other].map(|list| list.get(at).unwrap_or(&Value::Null));
                compare(&format!("{path}.{at}"), one, other, lines);
            }
        }
        (one, other) if one != other => lines.push(format!("{path}: {one} -> {other}")),
        _ => {}
    }
}

/// Copies a folder.
pub fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

#[derive(Parser)]
struct Flags {
    #[command(flatten)]
    options: Options,
}

/// Webhooks without an effect.
struct Nothing;

impl Validator<FooBar> for Nothing {
    async fn validate(&self, _: &Admission, _: Change<'_, FooBar>) -> kubewright_runtime::Result<Verdict> {
        Ok(Verdict::allowed())
    }
}

impl Defaulter<Pod> for Nothing {
    async fn default(&self, _: &Admission, _: &mut Pod) -> kubewright_runtime::Result<()> {
        Ok(())
    }
}
