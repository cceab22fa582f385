//! Patterns: the reconcilers that controllers start from, with their inputs, and how PROJECT writes them.

use super::{Controller, ControllerName, Image, KindName, Origin, Version};
use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The reconciler that a controller starts from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// For kinds of others: keeps one ConfigMap for each object with an annotation.
    Beside,
    /// Keeps one owned ConfigMap.
    Child,
    /// Runs an image as a Deployment.
    Deployment(Image),
    /// Creates one object of this internal kind, and repeats its status.
    Internal(KindName),
    /// Runs an image once, as a Job.
    Job(Image),
    /// An empty reconciler.
    Minimal,
    /// Runs an image as Pods, like a ReplicaSet.
    Replicas(Image),
    /// Runs an image with storage, as the members of a StatefulSet.
    Stateful(Image),
}

/// The name of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Name {
    /// [`Pattern::Beside`].
    Beside,
    /// [`Pattern::Child`].
    Child,
    /// [`Pattern::Deployment`].
    Deployment,
    /// [`Pattern::Internal`].
    Internal,
    /// [`Pattern::Job`].
    Job,
    /// [`Pattern::Minimal`].
    Minimal,
    /// [`Pattern::Replicas`].
    Replicas,
    /// [`Pattern::Stateful`].
    Stateful,
}

impl Name {
    /// All of them, in the order of their names.
    pub const ALL: [Self; 8] = [
        Self::Beside,
        Self::Child,
        Self::Deployment,
        Self::Internal,
        Self::Job,
        Self::Minimal,
        Self::Replicas,
        Self::Stateful,
    ];

    /// As PROJECT, the command line and template folders write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Beside => "beside",
            Self::Child => "child",
            Self::Deployment => "deployment",
            Self::Internal => "internal",
            Self::Job => "job",
            Self::Minimal => "minimal",
            Self::Replicas => "replicas",
            Self::Stateful => "stateful",
        }
    }
}

impl Pattern {
    /// Its name, without its inputs.
    pub fn name(&self) -> Name {
        match self {
            Self::Beside => Name::Beside,
            Self::Child => Name::Child,
            Self::Deployment(_) => Name::Deployment,
            Self::Internal(_) => Name::Internal,
            Self::Job(_) => Name::Job,
            Self::Minimal => Name::Minimal,
            Self::Replicas(_) => Name::Replicas,
            Self::Stateful(_) => Name::Stateful,
        }
    }

    /// Its name as text.
    pub fn as_str(&self) -> &'static str {
        self.name().as_str()
    }

    /// The image that it runs.
    pub fn image(&self) -> Option<&Image> {
        match self {
            Self::Deployment(image) | Self::Job(image) | Self::Replicas(image) | Self::Stateful(image) => Some(image),
            Self::Beside | Self::Child | Self::Internal(_) | Self::Minimal => None,
        }
    }

    /// The internal kind whose objects it creates.
    pub fn internal_kind(&self) -> Option<&KindName> {
        match self {
            Self::Internal(kind) => Some(kind),
            _ => None,
        }
    }

    /// Whether it reads `spec.replicas` and reports `status.replicas` of its own children.
    pub fn scales(&self) -> bool {
        matches!(self, Self::Deployment(_) | Self::Replicas(_))
    }

    /// Whether its objects have members with storage: it reads `spec.version`, `spec.members` and `spec.storage`.
    pub fn is_stateful(&self) -> bool {
        matches!(self, Self::Stateful(_))
    }

    /// Whether its objects run to completion: it reads `spec.retries`, and reports the end in the status.
    pub fn runs(&self) -> bool {
        matches!(self, Self::Job(_))
    }
}

/// Refuses patterns that do not fit a kind of this owner: most use fields of the project's own kinds, and write their
/// status.
pub fn fits(pattern: Name, kind: &KindName, origin: Origin) -> Result<()> {
    match (origin, pattern) {
        (Origin::Project, Name::Beside) => bail!(
            "pattern `beside` is for kinds of other owners, and `{kind}` is a kind of this project\n\n\
             hint: leave out `--pattern`, or choose a pattern that `kubewright create api --help` lists for own kinds"
        ),
        (Origin::Kubernetes | Origin::Crd, pattern) if pattern != Name::Beside => bail!(
            "pattern `{}` is for kinds of this project, and `{kind}` is not\n\n\
             hint: leave out `--pattern`; the pattern for kinds of other owners is `beside`",
            pattern.as_str()
        ),
        _ => Ok(()),
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pattern `{}`", self.as_str())?;
        match (self.image(), self.internal_kind()) {
            (Some(image), _) => write!(f, " and image `{image}`"),
            (None, Some(kind)) => write!(f, " and internal kind `{kind}`"),
            (None, None) => Ok(()),
        }
    }
}

/// The inputs of patterns.
pub(super) struct Inputs {
    /// The image that a pattern runs.
    pub(super) image: Option<Image>,
    /// The internal kind whose objects a pattern creates.
    pub(super) internal_kind: Option<KindName>,
}

impl Pattern {
    /// The pattern of that name with these inputs, for the controller `of`.
    pub(super) fn new(name: Name, inputs: Inputs, of: &ControllerName) -> Result<Self, String> {
        match (name, inputs.image, inputs.internal_kind) {
            (Name::Beside, None, None) => Ok(Self::Beside),
            (Name::Child, None, None) => Ok(Self::Child),
            (Name::Deployment, Some(image), None) => Ok(Self::Deployment(image)),
            (Name::Internal, None, Some(kind)) => Ok(Self::Internal(kind)),
            (Name::Job, Some(image), None) => Ok(Self::Job(image)),
            (Name::Minimal, None, None) => Ok(Self::Minimal),
            (Name::Replicas, Some(image), None) => Ok(Self::Replicas(image)),
            (Name::Stateful, Some(image), None) => Ok(Self::Stateful(image)),
            (Name::Deployment | Name::Job | Name::Replicas | Name::Stateful, None, _) => {
                Err(format!("controller `{of}` has no `image`, which its pattern runs"))
            }
            (Name::Internal, _, None) => Err(format!(
                "controller `{of}` has no `internalKind`, which its pattern makes"
            )),
            _ => Err(format!("controller `{of}` has an input that its pattern does not take")),
        }
    }
}

/// A controller as PROJECT writes it, with the inputs of its pattern.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Written {
    name: ControllerName,
    version: Version,
    pattern: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    image: Option<Image>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    internal_kind: Option<KindName>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    finalizer: bool,
}

impl TryFrom<Written> for Controller {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let inputs = Inputs {
            image: written.image,
            internal_kind: written.internal_kind,
        };
        Ok(Self {
            pattern: Pattern::new(written.pattern, inputs, &written.name)?,
            name: written.name,
            version: written.version,
            finalizer: written.finalizer,
        })
    }
}

impl From<Controller> for Written {
    fn from(controller: Controller) -> Self {
        let Controller {
            name,
            version,
            pattern,
            finalizer,
        } = controller;
        Self {
            name,
            version,
            pattern: pattern.name(),
            image: pattern.image().cloned(),
            internal_kind: pattern.internal_kind().cloned(),
            finalizer,
        }
    }
}
