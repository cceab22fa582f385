//! The pattern of a new controller, by its name, with the inputs that it needs.

use super::ask::{Ask, Usage};
use crate::project::pattern::{self, Name};
use crate::project::{Image, KindName, Origin, Pattern, RequestedKind};
use anyhow::Result;
use clap::ValueEnum;
use clap::builder::PossibleValue;

/// Flags of controllers.
#[derive(Debug, clap::Args)]
pub struct Flags {
    /// The reconciler to start from [default: child; for a kind defined elsewhere: beside]
    #[arg(long, value_name = "PATTERN", value_enum)]
    pattern: Option<Name>,
    /// The image that `deployment`, `job`, `replicas`, `schedule` and `stateful` run, without root
    #[arg(long, value_name = "IMAGE")]
    image: Option<Image>,
    /// With `stateful`: add kinds for backups, on a schedule or on request, and for restores
    #[arg(long)]
    backups: bool,
    /// Start with a finalizer and a cleanup function, for resources outside of the cluster
    #[arg(long)]
    finalizer: bool,
    /// The kind of the objects that the pattern `internal` creates, in the same group and version; created if missing
    #[arg(long, value_name = "KIND")]
    internal_kind: Option<KindName>,
}

impl ValueEnum for Name {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let does = match self {
            Self::Backup => "backs up objects of a stateful kind",
            Self::Beside => "for kinds defined elsewhere: keeps one ConfigMap for each annotated object",
            Self::Child => "keeps one owned ConfigMap",
            Self::Deployment => "runs an image as an owned Deployment",
            Self::Internal => "creates one object of an internal kind, which a second controller acts on",
            Self::Job => "runs an image once for each object, as an owned Job",
            Self::Minimal => "an empty reconciler",
            Self::Replicas => "runs an image as Pods, like a ReplicaSet",
            Self::Restore => "restores objects of a stateful kind",
            Self::Schedule => "runs an image at the times of a schedule, as owned Jobs",
            Self::Stateful => "runs an image with storage, as members upgraded one by one",
        };
        Some(PossibleValue::new(self.as_str()).help(does))
    }
}

/// The kind that a controller reconciles.
#[derive(Clone, Copy)]
pub struct Whose {
    /// Its owner.
    pub origin: Origin,
    /// Whether the project took it over.
    pub adopted: bool,
}

impl Whose {
    /// The pattern of its controllers if no flag selects a pattern.
    fn usual(self) -> Name {
        match self.origin {
            Origin::Project if self.adopted => Name::Minimal,
            Origin::Project => Name::Child,
            Origin::Kubernetes | Origin::Crd => Name::Beside,
        }
    }
}

/// The inputs of a pattern.
pub struct Inputs {
    image: Option<Image>,
    internal_kind: Option<KindName>,
}

/// Whether controllers of the pattern run an image.
fn runs(name: Name) -> bool {
    matches!(
        name,
        Name::Deployment | Name::Job | Name::Replicas | Name::Schedule | Name::Stateful
    )
}

impl Flags {
    /// Whether the controller starts with a finalizer.
    pub fn finalizer(&self) -> bool {
        self.finalizer
    }

    /// Whether any flag was given.
    pub fn given(&self) -> bool {
        self.pattern.is_some() || self.image.is_some() || self.internal_kind.is_some() || self.finalizer || self.backups
    }

    /// The inputs that the given pattern needs, completed by questions. The kind may be missing, along with other flags.
    pub fn inputs(&self, ask: &mut Ask, subject: Option<&RequestedKind>) -> Result<Inputs> {
        if let (Some(pattern), Some(subject)) = (self.pattern, subject) {
            pattern::fits(pattern, &subject.name, subject.origin)?;
        }
        let (mut image, mut internal_kind) = (self.image.clone(), self.internal_kind.clone());
        if self.pattern.is_some_and(runs) {
            image = ask.need("--image", "Image that it runs", image, None)?;
        } else if self.pattern == Some(Name::Internal) {
            let run = subject.and_then(|subject| format!("{}Run", subject.name).parse().ok());
            internal_kind = ask.need("--internal-kind", "Internal kind", internal_kind, run)?;
        }
        Ok(Inputs { image, internal_kind })
    }

    /// The pattern of a controller.
    pub fn resolve(&self, inputs: Inputs, whose: Whose) -> Result<Pattern> {
        let name = self.pattern.unwrap_or(whose.usual());
        self.check(Some(name))?;
        let image = || inputs.image.ok_or_else(|| Usage::error("`--image` is missing"));
        Ok(match name {
            Name::Beside => Pattern::Beside,
            Name::Child => Pattern::Child,
            Name::Minimal => Pattern::Minimal,
            Name::Deployment => Pattern::Deployment(image()?),
            Name::Job => Pattern::Job(image()?),
            Name::Replicas => Pattern::Replicas(image()?),
            Name::Schedule => Pattern::Schedule(image()?),
            Name::Stateful => Pattern::Stateful {
                image: image()?,
                backups: self.backups,
            },
            Name::Internal => Pattern::Internal(
                inputs
                    .internal_kind
                    .ok_or_else(|| Usage::error("`--internal-kind` is missing"))?,
            ),
            Name::Backup | Name::Restore => {
                return Err(Usage::error(format!("`--pattern` cannot be `{}`", name.as_str())));
            }
        })
    }

    /// Refuses flags that only a controller uses, if no controller is created.
    pub fn without_controller(&self) -> Result<()> {
        self.check(None)?;
        let given = [("--pattern", self.pattern.is_some()), ("--finalizer", self.finalizer)];
        match given.iter().find(|(_, given)| *given) {
            None => Ok(()),
            Some((flag, _)) => Err(Usage::error(format!(
                "`{flag}` needs a controller, and `--controller=false` creates none\n\nhint: leave out one of them"
            ))),
        }
    }

    /// Refuses flags that the pattern of a created controller does not use.
    fn check(&self, made: Option<Name>) -> Result<()> {
        if self.image.is_some() && !made.is_some_and(runs) {
            return Err(Usage::error(
                "`--image` needs a controller of pattern `deployment`, `job`, `replicas`, `schedule` or `stateful`, and none is created\n\n\
                 hint: add `--pattern deployment`, or leave it out",
            ));
        }
        if self.backups && made != Some(Name::Stateful) {
            return Err(Usage::error(
                "`--backups` needs a controller of pattern `stateful`, and none is created\n\n\
                 hint: add `--pattern stateful`, or leave it out",
            ));
        }
        if self.backups && self.finalizer {
            return Err(Usage::error(
                "with `--backups`, the controller has a finalizer and a cleanup function already\n\n\
                 hint: leave out `--finalizer`",
            ));
        }
        if self.internal_kind.is_some() && made != Some(Name::Internal) {
            return Err(Usage::error(
                "`--internal-kind` needs a controller of pattern `internal`, and none is created\n\n\
                 hint: add `--pattern internal`, or leave it out",
            ));
        }
        Ok(())
    }
}
