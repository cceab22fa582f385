//! Patterns: the reconcilers that controllers start from, with their inputs, and how PROJECT writes them.

use super::{ChildSuffix, Controller, ControllerName, Image, KindName, Origin, Version};
use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The reconciler that a controller starts from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Backs up objects of this stateful kind.
    Backup(KindName),
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
    /// Restores objects of this stateful kind from backups.
    Restore(KindName),
    /// Runs an image at the times of a schedule, as Jobs.
    Schedule(Image),
    /// Runs an image with storage, as the members of a StatefulSet.
    Stateful {
        /// The image of the members.
        image: Image,
        /// Whether there are kinds for its backups and restores.
        backups: bool,
    },
}

/// The name of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Name {
    /// [`Pattern::Backup`].
    Backup,
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
    /// [`Pattern::Restore`].
    Restore,
    /// [`Pattern::Schedule`].
    Schedule,
    /// [`Pattern::Stateful`].
    Stateful,
}

impl Name {
    /// All that `--pattern` selects, in the order of their names. The flag `--backups` adds controllers of the other two.
    pub const ALL: [Self; 9] = [
        Self::Beside,
        Self::Child,
        Self::Deployment,
        Self::Internal,
        Self::Job,
        Self::Minimal,
        Self::Replicas,
        Self::Schedule,
        Self::Stateful,
    ];

    /// As PROJECT, the command line and template folders write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Backup => "backup",
            Self::Beside => "beside",
            Self::Child => "child",
            Self::Deployment => "deployment",
            Self::Internal => "internal",
            Self::Job => "job",
            Self::Minimal => "minimal",
            Self::Replicas => "replicas",
            Self::Restore => "restore",
            Self::Schedule => "schedule",
            Self::Stateful => "stateful",
        }
    }
}

impl Pattern {
    /// Its name, without its inputs.
    pub fn name(&self) -> Name {
        match self {
            Self::Backup(_) => Name::Backup,
            Self::Beside => Name::Beside,
            Self::Child => Name::Child,
            Self::Deployment(_) => Name::Deployment,
            Self::Internal(_) => Name::Internal,
            Self::Job(_) => Name::Job,
            Self::Minimal => Name::Minimal,
            Self::Replicas(_) => Name::Replicas,
            Self::Restore(_) => Name::Restore,
            Self::Schedule(_) => Name::Schedule,
            Self::Stateful { .. } => Name::Stateful,
        }
    }

    /// Its name as text.
    pub fn as_str(&self) -> &'static str {
        self.name().as_str()
    }

    /// The image that it runs.
    pub fn image(&self) -> Option<&Image> {
        match self {
            Self::Deployment(image)
            | Self::Job(image)
            | Self::Replicas(image)
            | Self::Schedule(image)
            | Self::Stateful { image, .. } => Some(image),
            Self::Backup(_) | Self::Beside | Self::Child | Self::Internal(_) | Self::Minimal | Self::Restore(_) => None,
        }
    }

    /// The internal kind whose objects it creates.
    pub fn internal_kind(&self) -> Option<&KindName> {
        match self {
            Self::Internal(kind) => Some(kind),
            _ => None,
        }
    }

    /// The stateful kind that it backs up or restores.
    pub fn of(&self) -> Option<&KindName> {
        match self {
            Self::Backup(kind) | Self::Restore(kind) => Some(kind),
            _ => None,
        }
    }

    /// Whether it reads `spec.replicas` and reports `status.replicas` of its own children.
    pub fn scales(&self) -> bool {
        matches!(self, Self::Deployment(_) | Self::Replicas(_))
    }

    /// Whether its objects have members with storage: it reads `spec.version`, `spec.members` and `spec.storage`.
    pub fn is_stateful(&self) -> bool {
        matches!(self, Self::Stateful { .. })
    }

    /// Whether its reconciler always has a finalizer.
    pub fn has_cleanup(&self) -> bool {
        self.has_backups() || matches!(self, Self::Backup(_))
    }

    /// Whether its objects are backed up and restored by objects of other kinds.
    pub fn has_backups(&self) -> bool {
        matches!(self, Self::Stateful { backups: true, .. })
    }

    /// Whether its objects create Jobs at the times of a schedule.
    pub fn is_scheduled(&self) -> bool {
        matches!(self, Self::Schedule(_))
    }

    /// Whether the types of its kind name more types than those of other kinds do.
    pub(super) fn has_types_of_its_own(&self) -> bool {
        self.is_stateful() || self.is_scheduled() || self.runs() || self.of().is_some()
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
        match (self.image(), self.internal_kind(), self.of()) {
            (Some(image), ..) => write!(f, " and image `{image}`")?,
            (None, Some(kind), _) => write!(f, " and internal kind `{kind}`")?,
            (None, None, Some(kind)) => write!(f, " of `{kind}`")?,
            (None, None, None) => {}
        }
        match self.has_backups() {
            true => f.write_str(", with backups"),
            false => Ok(()),
        }
    }
}

/// The inputs of patterns.
pub(super) struct Inputs {
    /// The image that a pattern runs.
    pub(super) image: Option<Image>,
    /// The internal kind whose objects a pattern creates.
    pub(super) internal_kind: Option<KindName>,
    /// The stateful kind that a pattern backs up or restores.
    pub(super) of: Option<KindName>,
    /// Whether objects are backed up.
    pub(super) backups: bool,
}

impl Pattern {
    /// The pattern of that name with these inputs, for a controller.
    pub(super) fn new(name: Name, inputs: Inputs, controller: &ControllerName) -> Result<Self, String> {
        let Inputs {
            image,
            internal_kind,
            of,
            backups,
        } = inputs;
        match (name, image, internal_kind, of, backups) {
            (Name::Backup, None, None, Some(kind), false) => Ok(Self::Backup(kind)),
            (Name::Beside, None, None, None, false) => Ok(Self::Beside),
            (Name::Child, None, None, None, false) => Ok(Self::Child),
            (Name::Deployment, Some(image), None, None, false) => Ok(Self::Deployment(image)),
            (Name::Internal, None, Some(kind), None, false) => Ok(Self::Internal(kind)),
            (Name::Job, Some(image), None, None, false) => Ok(Self::Job(image)),
            (Name::Minimal, None, None, None, false) => Ok(Self::Minimal),
            (Name::Replicas, Some(image), None, None, false) => Ok(Self::Replicas(image)),
            (Name::Restore, None, None, Some(kind), false) => Ok(Self::Restore(kind)),
            (Name::Schedule, Some(image), None, None, false) => Ok(Self::Schedule(image)),
            (Name::Stateful, Some(image), None, None, backups) => Ok(Self::Stateful { image, backups }),
            (Name::Backup | Name::Restore, _, _, None, false) => Err(format!(
                "controller `{controller}` has no `of`, the kind that its pattern is about"
            )),
            (Name::Deployment | Name::Job | Name::Replicas | Name::Schedule | Name::Stateful, None, _, None, false) => {
                Err(format!(
                    "controller `{controller}` has no `image`, which its pattern runs"
                ))
            }
            (Name::Internal, _, None, None, false) => Err(format!(
                "controller `{controller}` has no `internalKind`, which its pattern makes"
            )),
            _ => Err(format!(
                "controller `{controller}` has an input that its pattern does not take"
            )),
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    of: Option<KindName>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    backups: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    finalizer: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    child_suffix: Option<ChildSuffix>,
}

impl TryFrom<Written> for Controller {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let inputs = Inputs {
            image: written.image,
            internal_kind: written.internal_kind,
            of: written.of,
            backups: written.backups,
        };
        Ok(Self {
            pattern: Pattern::new(written.pattern, inputs, &written.name)?,
            name: written.name,
            version: written.version,
            finalizer: written.finalizer,
            child_suffix: written.child_suffix,
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
            child_suffix,
        } = controller;
        Self {
            name,
            version,
            pattern: pattern.name(),
            image: pattern.image().cloned(),
            internal_kind: pattern.internal_kind().cloned(),
            of: pattern.of().cloned(),
            backups: pattern.has_backups(),
            finalizer,
            child_suffix,
        }
    }
}
