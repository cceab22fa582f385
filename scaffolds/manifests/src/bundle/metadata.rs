//! The metadata that a catalogue reads first: version, channels, annotations, and the image of the bundle.

use super::{BundleError, HEADER};
use crate::semver::is_semantic;
use kubewright_machinery::labels;
use kubewright_machinery::names::{Unit, subdomain};
use kubewright_schema::yaml;
use serde_json::json;
use std::collections::BTreeMap;

/// The default channel of a release; OLM recommends the names `candidate`, `fast` and `stable`.
pub(super) const CHANNEL: &str = "candidate";

/// The data that a release adds to the objects.
#[derive(Clone, Debug, Default)]
pub struct Release {
    /// A semantic version.
    pub version: String,
    /// The channels; `candidate` if the list is empty.
    pub channels: Vec<String>,
    /// One of them; the first, unless it is named.
    pub default_channel: Option<String>,
    /// The oldest minor release of Kubernetes 1 that the operator runs on; the oldest that operators are tested on, unless it is set.
    pub oldest_kubernetes: Option<u16>,
}

impl Release {
    /// The name of the CSV.
    pub(super) fn check(&self, base: &str) -> Result<String, BundleError> {
        let name = format!("{base}.v{}", self.version);
        let why = match is_semantic(&self.version) {
            true => [subdomain(&name, Unit::Characters), labels::value(&name)]
                .concat()
                .pop(),
            false => Some("the version is not of the form MAJOR.MINOR.PATCH".to_owned()),
        };
        if let Some(why) = why {
            return Err(BundleError::Version { name, why });
        }
        let is_wrong = |channel: &&&str| channel.is_empty() || !labels::value(channel).is_empty();
        if let Some(channel) = self.channels().iter().find(is_wrong) {
            return Err(BundleError::ChannelName((*channel).to_owned()));
        }
        match &self.default_channel {
            Some(channel) if !self.channels().contains(&channel.as_str()) => Err(BundleError::Channel(channel.clone())),
            _ => Ok(name),
        }
    }

    /// `alpha` before version 1, `beta` for a pre-release, and `stable`.
    pub(super) fn maturity(&self) -> &'static str {
        match (self.version.starts_with("0."), self.version.contains('-')) {
            (true, _) => "alpha",
            (false, true) => "beta",
            (false, false) => "stable",
        }
    }

    fn channels(&self) -> Vec<&str> {
        match self.channels.as_slice() {
            [] => vec![CHANNEL],
            some => some.iter().map(String::as_str).collect(),
        }
    }
}

/// metadata/annotations.yaml and bundle.Dockerfile, which have the same annotations.
pub(super) fn files(base: &str, release: &Release) -> BTreeMap<String, String> {
    let channels = release.channels();
    let default = release.default_channel.as_deref();
    let annotations = [
        ("mediatype.v1", "registry+v1"),
        ("manifests.v1", "manifests/"),
        ("metadata.v1", "metadata/"),
        ("package.v1", base),
        ("channels.v1", &channels.join(",")),
        (
            "channel.default.v1",
            default.or(channels.first().copied()).unwrap_or(CHANNEL),
        ),
    ];
    let mut text = format!("{HEADER}\nannotations:\n");
    let mut image = format!("{HEADER}\nFROM scratch\n\n");
    for (name, value) in annotations {
        let name = format!("operators.operatorframework.io.bundle.{name}");
        text.push_str(&format!("  {}", yaml::to_string(&json!({ &name: value }))));
        image.push_str(&format!("LABEL {name}={value}\n"));
    }
    image.push_str("\nCOPY manifests /manifests/\nCOPY metadata /metadata/\n");
    [("metadata/annotations.yaml", text), ("bundle.Dockerfile", image)]
        .map(|(path, text)| (path.to_owned(), text))
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn release(version: &str) -> Release {
        Release {
            version: version.to_owned(),
            ..Release::default()
        }
    }

    #[test]
    fn a_version_is_semantic_and_fits_into_a_name() {
        for fine in ["0.1.0", "1.20.300", "1.0.0-rc.1", "1.0.0-0a"] {
            assert_eq!(release(fine).check("foo").unwrap(), format!("foo.v{fine}"));
        }
        for wrong in [
            "1",
            "1.2",
            "v1.2.3",
            "1.02.3",
            "1.2.3-01",
            "1.2.3-",
            "1.2.3+build",
            "1.2.3-RC",
            "1.2.3.4",
            "",
        ] {
            assert!(
                matches!(release(wrong).check("foo"), Err(BundleError::Version { .. })),
                "{wrong}"
            );
        }
        let long = "f".repeat(60);
        assert!(matches!(
            release("1.2.3").check(&long),
            Err(BundleError::Version { .. })
        ));
        let maturities = ["0.9.0-rc.1", "1.0.0-rc.1", "1.0.0"].map(|version| release(version).maturity());
        assert_eq!(maturities, ["alpha", "beta", "stable"]);
    }

    #[test]
    fn annotations_and_labels_name_the_channels() {
        let mut release = release("1.0.0");
        let annotations = files("foo", &release).remove("metadata/annotations.yaml").unwrap();
        assert!(annotations.ends_with(
            "channels.v1: candidate\n  operators.operatorframework.io.bundle.channel.default.v1: candidate\n"
        ));
        release.channels = ["stable", "fast"].map(str::to_owned).into();
        let image = files("foo", &release).remove("bundle.Dockerfile").unwrap();
        assert!(image.contains("bundle.channels.v1=stable,fast\n"), "{image}");
        assert!(image.contains("bundle.channel.default.v1=stable\n"), "{image}");
        release.channels.push("two words".to_owned());
        assert!(matches!(release.check("foo"), Err(BundleError::ChannelName(_))));
        release.channels.pop();
        release.default_channel = Some("slow".to_owned());
        assert!(matches!(release.check("foo"), Err(BundleError::Channel(_))));
    }

    #[test]
    fn a_channel_that_looks_like_a_number_or_a_boolean_stays_a_string() {
        for channel in ["4.10", "yes", "1e3", "stable-4.10"] {
            let mut release = release("1.0.0");
            release.channels = vec![channel.to_owned()];
            let text = files("foo", &release).remove("metadata/annotations.yaml").unwrap();
            let read = yaml::documents(&text).unwrap().remove(0);
            for name in ["channels.v1", "channel.default.v1"] {
                let name = format!("operators.operatorframework.io.bundle.{name}");
                assert_eq!(read["annotations"][&name], *channel, "{text}");
            }
            // A reader of YAML 1.1 takes `yes` for a boolean.
            assert_eq!(text.contains("'yes'"), channel == "yes", "{text}");
        }
    }
}
