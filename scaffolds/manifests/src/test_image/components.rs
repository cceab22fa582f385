//! A copy of config/ in which config/default has all components that the cluster supports.

use super::WORK;
use crate::rendered::text;
use crate::tool::Tool;
use kubewright_schema::files::Streams;
use kubewright_schema::yaml;
use serde_json::{Value, json};
use std::path::Path;
use std::{fs, io};

/// The kustomization of everything that `make deploy` applies.
const DEFAULT: &str = "config/default";
/// The component that needs kinds of the Prometheus operator.
const PROMETHEUS: &str = "../prometheus";
/// A kind that [`PROMETHEUS`] has.
const MONITORS: &str = "servicemonitors.monitoring.coreos.com";

/// config/default.
pub(super) struct Kustomization {
    content: Value,
    pub namespace: String,
    pub prefix: String,
    suffix: String,
}

impl Kustomization {
    /// # Errors
    /// The file cannot be read.
    pub fn read() -> Result<Self, String> {
        let content = parsed(DEFAULT)?;
        let field = |path| text(&content, path).to_owned();
        let (namespace, prefix, suffix) = (field("/namespace"), field("/namePrefix"), field("/nameSuffix"));
        Ok(Self {
            content,
            namespace,
            prefix,
            suffix,
        })
    }

    /// The name that an object of config/ has in the cluster.
    pub fn named(&self, name: &str) -> String {
        format!("{}{name}{}", self.prefix, self.suffix)
    }

    /// Copies config/ into the test's folder, and returns the path of the kustomization there.
    ///
    /// # Errors
    /// A file cannot be read or written.
    pub fn copy_with_all_components(&self, kubectl: &Tool, streams: &mut Streams<'_>) -> Result<String, String> {
        let mut all = vec!["../metrics", "../network-policy"];
        match kubectl.quiet(&["get", "customresourcedefinition", MONITORS]) {
            Some(_) => all.push(PROMETHEUS),
            None => {
                _ = writeln!(
                    streams.out,
                    "skipped: {PROMETHEUS}, because the cluster has no ServiceMonitors"
                )
            }
        }
        let copied = format!("{WORK}/config");
        copy(Path::new("config"), Path::new(&copied))
            .map_err(|error| format!("cannot copy config/ to `{copied}`: {error}"))?;
        let file = format!("{WORK}/{DEFAULT}/kustomization.yaml");
        let content = with_components(self.content.clone(), &all);
        fs::write(&file, yaml::to_string(&content)).map_err(|error| format!("cannot write `{file}`: {error}"))?;
        Ok(format!("{WORK}/{DEFAULT}"))
    }
}

/// The kustomization with further components, after its own.
fn with_components(mut kustomization: Value, all: &[&str]) -> Value {
    let mut components: Vec<Value> = kustomization["components"].as_array().cloned().unwrap_or_default();
    let missing = all.iter().map(|&component| json!(component));
    let missing: Vec<_> = missing.filter(|component| !components.contains(component)).collect();
    components.extend(missing);
    kustomization["components"] = components.into();
    kustomization
}

/// A list in the kustomization of a folder.
///
/// # Errors
/// The file cannot be read.
pub(super) fn listed(folder: &str, field: &str) -> Result<Vec<Value>, String> {
    Ok(parsed(folder)?[field].as_array().cloned().unwrap_or_default())
}

fn parsed(folder: &str) -> Result<Value, String> {
    let file = format!("{folder}/kustomization.yaml");
    let text = fs::read_to_string(&file).map_err(|error| format!("cannot read `{file}`: {error}"))?;
    let documents = yaml::documents(&text).map_err(|error| format!("`{file}` is not YAML: {error}"))?;
    Ok(documents.into_iter().next().unwrap_or_else(|| json!({})))
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &to)?,
            false => _ = fs::copy(entry.path(), to)?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_of_the_project_stay_first_and_are_not_listed_twice() {
        let project = json!({"namePrefix": "a-", "components": ["../mine", "../metrics"]});
        let all = with_components(project, &["../metrics", "../network-policy"]);
        assert_eq!(
            all,
            json!({"namePrefix": "a-", "components": ["../mine", "../metrics", "../network-policy"]})
        );
        assert_eq!(
            with_components(json!({}), &["../metrics"]),
            json!({"components": ["../metrics"]})
        );
    }
}
