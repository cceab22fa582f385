//! Names that the user chooses, each checked once by the rules of Kubernetes, Cargo and Rust. In all other modules they
//! have types of their own.

use super::image::image;
use super::printable::{is_printable, printable};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The reason to refuse a name; reads as the end of a sentence that starts with the name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidName(pub(super) String);

impl fmt::Display for InvalidName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidName {}

macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $check:path) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// The name as it was given.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = InvalidName;

            fn from_str(text: &str) -> Result<Self, InvalidName> {
                $check(text).map_err(InvalidName)?;
                Ok(Self(text.to_owned()))
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidName;

            fn try_from(text: String) -> Result<Self, InvalidName> {
                $check(&text).map_err(|reason| InvalidName(format!("`{}`: {reason}", printable(&text))))?;
                Ok(Self(text))
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> String {
                name.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

name!(
    /// The name of a project: a DNS-1035 label, since it names the Deployment, and a Cargo package.
    ProjectName,
    project_name
);
name!(
    /// The domain that every API group of a project ends with: a DNS-1123 subdomain.
    Domain,
    domain
);
name!(
    /// The part of an API group before the domain: a DNS-1123 subdomain.
    Group,
    group
);
name!(
    /// An API version, which is also a Rust module: `v1`, `v1beta2`.
    Version,
    version
);
name!(
    /// A kind: a Rust type name which is a DNS-1035 label in lower case.
    KindName,
    kind
);
name!(
    /// The plural of a kind, as in URLs: a DNS-1035 label.
    Plural,
    label_1035
);
name!(
    /// A short name for kubectl: a DNS-1035 label.
    ShortName,
    label_1035
);
name!(
    /// The name of a controller, and so of its file, its test and its metrics.
    ControllerName,
    controller
);
name!(
    /// The suffix of the names of a controller's children: a DNS-1035 label.
    ChildSuffix,
    label_1035
);

name!(
    /// The owner that a licence names: one line of text, because comments of generated code contain it.
    Owner,
    owner
);
name!(
    /// The path of a folder of templates as PROJECT records it, with `/` between its parts.
    TemplatePath,
    line
);

name!(
    /// A container image: `nginx`, `registry.example.com:5000/team/app:1.2`, `app@sha256:…`.
    Image,
    image
);

/// Longer than any name, and shorter than a page of text.
const OWNER_MAX: usize = 200;

fn owner(text: &str) -> Result<(), String> {
    if text.chars().count() > OWNER_MAX {
        return Err(format!("must have at most {OWNER_MAX} characters"));
    }
    line(text)
}

fn line(text: &str) -> Result<(), String> {
    match text.trim().is_empty() || !text.chars().all(is_printable) {
        true => Err("must be one line of text".into()),
        false => Ok(()),
    }
}

/// Kubernetes' limit for a label of a DNS name.
const LABEL_MAX: usize = 63;
/// Kubernetes' limit for a DNS name.
const SUBDOMAIN_MAX: usize = 253;

pub(super) fn label_1123(text: &str) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    if text.is_empty() {
        return Err("must not be empty".into());
    }
    if text.len() > LABEL_MAX {
        return Err(format!("must have at most {LABEL_MAX} characters, has {}", text.len()));
    }
    if !text.chars().all(|c| plain(c) || c == '-') {
        return Err("must consist of lower case letters, digits and `-`".into());
    }
    if !text.starts_with(plain) || !text.ends_with(plain) {
        return Err("must start and end with a letter or a digit".into());
    }
    Ok(())
}

fn label_1035(text: &str) -> Result<(), String> {
    label_1123(text)?;
    if !text.starts_with(|c: char| c.is_ascii_lowercase()) {
        return Err("must start with a letter".into());
    }
    Ok(())
}

fn subdomain(text: &str) -> Result<(), String> {
    if text.len() > SUBDOMAIN_MAX {
        return Err(format!(
            "must have at most {SUBDOMAIN_MAX} characters, has {}",
            text.len()
        ));
    }
    text.split('.').try_for_each(|label| match label {
        "" => Err("must consist of labels with one `.` between them".into()),
        label => label_1123(label),
    })
}

fn domain(text: &str) -> Result<(), String> {
    subdomain(text)
}

fn group(text: &str) -> Result<(), String> {
    subdomain(text)
}

/// The form of versions that Kubernetes ranks.
pub(super) const RANKED: &str = "must look like `v1`, `v1beta2` or `v2alpha1`";

impl Version {
    /// Whether Kubernetes ranks it by its numbers.
    pub(super) fn is_ranked(&self) -> bool {
        let rest = self.0[1..].trim_start_matches(|c: char| c.is_ascii_digit());
        let number = rest.strip_prefix("alpha").or_else(|| rest.strip_prefix("beta"));
        rest.is_empty() || number.is_some_and(is_number)
    }
}

fn is_number(text: &str) -> bool {
    text.starts_with(|c: char| ('1'..='9').contains(&c)) && text.chars().all(|c| c.is_ascii_digit())
}

/// The owner of another kind may have versions such as `v1api20200601`.
fn version(text: &str) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_module = text.starts_with('v') && text.chars().all(plain) && text.get(1..2).is_some_and(is_number);
    match is_module && text.len() <= LABEL_MAX {
        true => Ok(()),
        false => Err(RANKED.into()),
    }
}

fn kind(text: &str) -> Result<(), String> {
    if !text.starts_with(|c: char| c.is_ascii_uppercase()) {
        return Err("must start with an upper case letter, as a Rust type does".into());
    }
    if !text.chars().all(|c| c.is_ascii_alphanumeric()) {
        return Err("must consist of ASCII letters and digits, as a Rust type does".into());
    }
    label_1035(&text.to_ascii_lowercase())
}

fn controller(text: &str) -> Result<(), String> {
    if text.len() > LABEL_MAX {
        return Err(format!("must have at most {LABEL_MAX} characters, has {}", text.len()));
    }
    let shape = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    if !text.starts_with(|c: char| c.is_ascii_lowercase()) || !text.chars().all(shape) || text.ends_with(['-', '_']) {
        return Err(
            "must start with a lower case letter and consist of lower case letters, digits, `-` and `_` between them"
                .into(),
        );
    }
    if text.replace('-', "_") == "kubewright_runtime" {
        return Err("is the runtime's own name".into());
    }
    Ok(())
}

/// Names of Cargo's own build folders, of crates of every Rust program, and of packages of the generated workspace.
const TAKEN_PACKAGES: [&str; 19] = [
    "alloc",
    "api",
    "build",
    "core",
    "deps",
    "dev",
    "examples",
    "incremental",
    "manifests",
    "proc-macro",
    "std",
    "test",
    "kubewright-apiserver",
    "kubewright-cel",
    "kubewright-machinery",
    "kubewright-manifests",
    "kubewright-runtime",
    "kubewright-schema",
    "kubewright-webhooks",
];

fn project_name(text: &str) -> Result<(), String> {
    label_1035(text)?;
    if TAKEN_PACKAGES.contains(&text) {
        return Err("is taken: Cargo, Rust or the generated workspace has a package of this name".into());
    }
    if super::rust::is_keyword(text) {
        return Err("is a Rust keyword, which Cargo does not take as a package name".into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_of_an_image_has_neither_tag_nor_digest() {
        for tag in ["", ":1", ":1@sha256:0"] {
            assert_eq!(Image(format!("host:5000/a{tag}")).repository(), "host:5000/a");
        }
    }

    #[test]
    fn versions_are_modules_and_kubernetes_ranks_some() {
        let ranked = |text: &str| text.parse::<Version>().ok().map(|version| version.is_ranked());
        for (text, expected) in [
            ("v1", Some(true)),
            ("v10beta2", Some(true)),
            ("v1api20200601", Some(false)),
            ("v1alpha", Some(false)),
            ("v1beta02", Some(false)),
            ("v", None),
            ("v01", None),
            ("1", None),
            ("v1-beta", None),
            ("v\u{e9}", None),
        ] {
            assert_eq!(ranked(text), expected, "{text}");
        }
    }

    #[test]
    fn images_follow_the_rules_of_registries() {
        let digest = format!("app@sha256:{}", "0a".repeat(32));
        for good in [
            "nginx",
            "nginx:1.29",
            "registry.k8s.io/pause:3.10",
            "localhost:5000/team/app",
            "my-org/a__b.c--d:V1_x",
            "localhost/app",
            &digest,
        ] {
            assert!(good.parse::<Image>().is_ok(), "{good}");
        }
        let long = "a".repeat(256);
        for bad in [
            "",
            "Nginx",
            "nginx:",
            "nginx:-1",
            "a//b",
            "/a",
            "a/",
            "a b",
            "-a",
            "a..b",
            "app@sha256:0a",
            "app@md5:00",
            "host.x:port/app",
            "https://host.x/app",
            &long,
        ] {
            assert!(bad.parse::<Image>().is_err(), "{bad}");
        }
    }
}
