//! The operator's description in Cargo.toml.

use serde_json::{Value, json};
use std::path::Path;

/// The package of the operator.
#[derive(Clone, Debug, Default)]
pub struct Package {
    /// `version`.
    pub version: String,
    /// `description`.
    pub description: Option<String>,
    /// `authors`, each as `NAME <ADDRESS>`, `NAME` or `<ADDRESS>`.
    pub authors: Vec<String>,
    /// `keywords`.
    pub keywords: Vec<String>,
    /// `homepage`.
    pub homepage: Option<String>,
    /// `repository`.
    pub repository: Option<String>,
    /// `documentation`.
    pub documentation: Option<String>,
}

impl Package {
    /// Reads the output of `cargo metadata --no-deps --format-version 1`; `None` if the folder has no package. The folder is the root of its
    /// workspace, or a member of a larger one.
    pub fn read(metadata: &Value, folder: &Path) -> Option<Self> {
        let manifest = folder.join("Cargo.toml");
        let mut packages = metadata["packages"].as_array()?.iter();
        let package = packages.find(|package| package["manifest_path"].as_str().map(Path::new) == Some(&manifest))?;
        let text = |field: &str| {
            package[field]
                .as_str()
                .filter(|text| !text.is_empty())
                .map(str::to_owned)
        };
        let texts = |field: &str| {
            let items = package[field].as_array().into_iter().flatten();
            items.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        Some(Self {
            version: text("version")?,
            description: text("description"),
            authors: texts("authors"),
            keywords: texts("keywords"),
            homepage: text("homepage"),
            repository: text("repository"),
            documentation: text("documentation"),
        })
    }

    /// The authors that have a name, with their addresses.
    pub(super) fn maintainers(&self) -> Vec<Value> {
        let parts = self.authors.iter().map(|author| {
            let (name, address) = author.split_once('<').unwrap_or((author, ""));
            [name.trim(), address.trim_end_matches('>').trim()]
        });
        let named = parts.filter(|[name, _]| !name.is_empty());
        let entry = |[name, address]: [&str; 2]| match address {
            "" => json!({"name": name}),
            address => json!({"name": name, "email": address}),
        };
        named.map(entry).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_package_is_that_of_the_folder() {
        let package = |path: &str, description: &str| {
            json!({"manifest_path": path, "version": "0.1.0", "description": description, "authors": ["A <a@b.c>", "B", "<d@e.f>"],
                "keywords": [], "repository": null})
        };
        let packages = [
            package("/w/p/manifests/Cargo.toml", "x"),
            package("/w/p/Cargo.toml", "y"),
        ];
        let metadata = json!({"workspace_root": "/w", "packages": packages});
        let read = Package::read(&metadata, Path::new("/w/p")).unwrap();
        assert_eq!(read.description.as_deref(), Some("y"));
        assert_eq!(read.repository, None);
        assert_eq!(
            read.maintainers(),
            [json!({"name": "A", "email": "a@b.c"}), json!({"name": "B"})]
        );
        assert!(Package::read(&metadata, Path::new("/w")).is_none());
    }
}
