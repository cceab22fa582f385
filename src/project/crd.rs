//! CRDs of other owners, as files: finds the wanted document of a file, and checks that types can be generated from it.

use super::printable::printable;
use super::{Group, KindName, Plural, Version};
use anyhow::{Context, Result, anyhow, bail};
use serde_json::Value;

const KIND: &str = "CustomResourceDefinition";

/// A CRD as its owner wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Its text, comments included.
    pub text: String,
    /// The same text, parsed.
    pub crd: Value,
}

impl From<Value> for Definition {
    fn from(crd: Value) -> Self {
        // A value of JSON has no keys or numbers that YAML lacks.
        let text = serde_yaml::to_string(&crd).expect("JSON is YAML");
        Self { text, crd }
    }
}

/// The wanted CRD, as far as the user specified it.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// The group in full.
    pub group: Option<Group>,
    /// The kind.
    pub kind: Option<KindName>,
    /// The version.
    pub version: Option<Version>,
}

impl Definition {
    /// Finds the only matching CRD of `text`.
    pub fn find(text: &str, wanted: &Wanted) -> Result<Self> {
        let all = documents(text)?;
        let fits = |it: &Definition| {
            let has = |pointer: &str, wanted: Option<&str>| wanted.is_none_or(|wanted| it.text_at(pointer) == wanted);
            has("/spec/names/kind", wanted.kind.as_ref().map(KindName::as_str))
                && has("/spec/group", wanted.group.as_ref().map(Group::as_str))
        };
        let (mut fitting, others): (Vec<_>, Vec<_>) = all.into_iter().partition(fits);
        let names = |them: &[Definition]| {
            let name = |it: &Definition| {
                format!(
                    "`{}` of `{}`",
                    printable(it.text_at("/spec/names/kind")),
                    printable(it.text_at("/spec/group"))
                )
            };
            them.iter().map(name).collect::<Vec<_>>().join(", ")
        };
        match fitting.len() {
            1 => {}
            0 if others.is_empty() => bail!("it has no CustomResourceDefinition"),
            0 => bail!("it has no such CRD\n\nhint: it has {}", names(&others)),
            _ => bail!(
                "it has several CRDs: {}\n\nhint: choose one with `--kind`",
                names(&fitting)
            ),
        }
        let found = fitting.remove(0);
        found.check()?;
        Ok(found)
    }

    /// The group in full.
    pub fn group(&self) -> Result<Group> {
        self.name("/spec/group", "group")
    }

    /// The kind.
    pub fn kind(&self) -> Result<KindName> {
        self.name("/spec/names/kind", "kind")
    }

    /// The plural.
    pub fn plural(&self) -> Result<Plural> {
        self.name("/spec/names/plural", "plural")
    }

    /// Whether its objects are cluster-scoped.
    pub fn cluster(&self) -> bool {
        self.text_at("/spec/scope") == "Cluster"
    }

    /// The wanted version, or else the stored one.
    pub fn version(&self, wanted: Option<&Version>) -> Result<Version> {
        let served: Vec<_> = self.versions().filter(|version| version["served"] == true).collect();
        let names: Vec<_> = served
            .iter()
            .map(|version| format!("`{}`", printable(text(version, "/name"))))
            .collect();
        let chosen = match wanted {
            Some(wanted) => served.iter().find(|version| text(version, "/name") == wanted.as_str()),
            None => served
                .iter()
                .find(|version| version["storage"] == true)
                .or(served.first()),
        };
        let Some(chosen) = chosen else {
            let missing = wanted.map_or("any version".to_owned(), |wanted| format!("version `{wanted}`"));
            bail!(
                "the CRD does not serve {missing}\n\nhint: it serves {}",
                names.join(", ")
            );
        };
        self.described(chosen)
    }

    /// The name of a version from whose schema types can be generated.
    pub(super) fn described(&self, version: &Value) -> Result<Version> {
        described(version)?;
        let name = text(version, "/name");
        name.parse()
            .map_err(|refused| anyhow!("the CRD's version `{}` {refused}", printable(name)))
    }

    pub(super) fn versions(&self) -> impl Iterator<Item = &Value> {
        self.crd["spec"]["versions"].as_array().into_iter().flatten()
    }

    fn text_at(&self, pointer: &str) -> &str {
        text(&self.crd, pointer)
    }

    fn name<T: std::str::FromStr<Err = super::InvalidName>>(&self, pointer: &str, what: &str) -> Result<T> {
        let name = self.text_at(pointer);
        name.parse()
            .map_err(|refused| anyhow!("the CRD's {what} `{}` {refused}", printable(name)))
    }

    fn check(&self) -> Result<()> {
        let version = self.text_at("/apiVersion");
        if version != "apiextensions.k8s.io/v1" {
            bail!(
                "the CRD is of `{}`, which Kubernetes has not served since 1.22\n\n\
                 hint: take one of `apiextensions.k8s.io/v1` from a newer release of its owner",
                printable(version)
            );
        }
        if self.crd["spec"]["preserveUnknownFields"] == true {
            bail!("the CRD has `preserveUnknownFields: true`, so its schema does not constrain its objects");
        }
        let name = format!("{}.{}", self.text_at("/spec/names/plural"), self.text_at("/spec/group"));
        if self.text_at("/metadata/name") != name {
            bail!(
                "the CRD is called `{}`, and has to be `{}`",
                printable(self.text_at("/metadata/name")),
                printable(&name)
            );
        }
        Ok(())
    }
}

/// Types can be generated only from a schema with fields.
fn described(version: &Value) -> Result<()> {
    let name = printable(text(version, "/name"));
    let schema = &version["schema"]["openAPIV3Schema"];
    if !schema.is_object() {
        bail!("version `{name}` of the CRD has no schema");
    }
    let own = |key: &str| !["apiVersion", "kind", "metadata"].contains(&key);
    let properties = schema["properties"].as_object();
    if !properties.is_some_and(|properties| properties.keys().any(|key| own(key))) {
        bail!("the schema of version `{name}` has no field, so no type can be made of it");
    }
    Ok(())
}

/// The CRDs of a file. Other objects, which release files of operators contain, are ignored.
fn documents(text: &str) -> Result<Vec<Definition>> {
    let mut found = Vec::new();
    for document in split(text) {
        // Decoding is what takes time, and a file may have many documents, or be no YAML at all.
        if !document.contains(KIND) {
            continue;
        }
        // This decoder has limits: the text may be anybody's.
        let mut value: Value = serde_saphyr::from_str(&document).context("it is not YAML")?;
        if value["kind"] == KIND {
            found.push(Definition {
                text: document,
                crd: value,
            });
        } else if value["kind"] == "List"
            && let Value::Array(items) = value["items"].take()
        {
            // As `kubectl get crds --output yaml` prints them.
            let items = items.into_iter().filter(|item| item["kind"] == KIND);
            found.extend(items.map(Definition::from));
        }
    }
    Ok(found)
}

/// The documents of a stream, each ending with a line feed, without those that have only comments.
fn split(text: &str) -> Vec<String> {
    let mut documents = vec![String::new()];
    for line in text.lines() {
        if line == "---" || line.starts_with("--- ") {
            documents.push(String::new());
            continue;
        }
        let last = documents.last_mut().expect("it starts with one");
        last.push_str(line);
        last.push('\n');
    }
    let has_content = |document: &String| {
        let mut lines = document.lines().map(str::trim);
        lines.any(|line| !line.is_empty() && !line.starts_with('#'))
    };
    documents.retain(has_content);
    documents
}

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CRD: &str = "\
# Of somebody else.
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: wells.water.example.org}
spec:
  group: water.example.org
  scope: Namespaced
  names: {kind: Well, plural: wells}
  versions:
  - {name: v1alpha1, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object}}}}}
  - {name: v2, served: false, storage: false}
";

    fn error(text: &str, wanted: &Wanted) -> String {
        let found = Definition::find(text, wanted).and_then(|it| it.version(wanted.version.as_ref()));
        format!("{:#}", found.unwrap_err())
    }

    #[test]
    fn the_wanted_crd_is_found_among_others() {
        let other = CRD.replace("Well", "Pump").replace("wells", "pumps");
        let stream = format!("---\n# licence\n---\nkind: Service\n---\n{CRD}\n---\n{other}");
        let wanted = Wanted {
            kind: "Well".parse().ok(),
            ..Wanted::default()
        };
        let found = Definition::find(&stream, &wanted).unwrap();
        assert!(found.text.starts_with("# Of somebody else.\n"));
        assert_eq!(found.version(None).unwrap().as_str(), "v1", "the stored one");
        assert_eq!(found.group().unwrap().as_str(), "water.example.org");
        let several = error(&stream, &Wanted::default());
        assert!(
            several.contains("`Well` of `water.example.org`, `Pump` of"),
            "{several}"
        );
        let none = Wanted {
            kind: "Tap".parse().ok(),
            ..Wanted::default()
        };
        assert!(error(&stream, &none).contains("has no such CRD"));
    }

    #[test]
    fn crds_without_usable_types_are_refused_with_the_reason() {
        let version = |version: &str| Wanted {
            version: version.parse().ok(),
            ..Wanted::default()
        };
        let plain = Wanted::default();
        let cases = [
            (error("kind: CustomResourceDefinition\na: [", &plain), "it is not YAML"),
            (error("all: build\n\ta: [", &plain), "has no CustomResourceDefinition"),
            (error("", &plain), "has no CustomResourceDefinition"),
            (error("kind: Pod", &plain), "has no CustomResourceDefinition"),
            (
                error(&CRD.replace("k8s.io/v1", "k8s.io/v1beta1"), &plain),
                "not served since 1.22",
            ),
            (
                error(
                    &CRD.replace("  scope", "  preserveUnknownFields: true\n  scope"),
                    &plain,
                ),
                "does not constrain its objects",
            ),
            (
                error(&CRD.replace("{name: wells.", "{name: well."), &plain),
                "has to be `wells.water.example.org`",
            ),
            (
                error(CRD, &version("v3")),
                "does not serve version `v3`\n\nhint: it serves `v1alpha1`, `v1`",
            ),
            (error(CRD, &version("v2")), "does not serve version `v2`"),
            (error(CRD, &version("v1alpha1")), "has no field"),
            (
                error(
                    &CRD.replace("schema: {openAPIV3Schema: {type: object}}", "x: y"),
                    &version("v1alpha1"),
                ),
                "has no schema",
            ),
        ];
        for (error, words) in cases {
            assert!(error.contains(words), "`{words}` is not in: {error}");
        }
    }
}
