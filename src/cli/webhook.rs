//! The webhooks of `create webhook` and `delete webhook`: the flags of both commands.

use super::ask::Ask;
use super::external;
use crate::project::{Group, KindName, PolicyForm, Project, Version};
use anyhow::{Result, bail};
use clap::ValueEnum;
use clap::builder::PossibleValue;

/// The kind, and the types of its webhooks.
#[derive(Debug, clap::Args)]
pub struct Flags {
    /// The API group without the domain; for a kind defined elsewhere the full group, or `core` [default: the
    /// group of the kind, if only one group of the project has it]
    #[arg(long, value_parser = external::group)]
    group: Option<Group>,
    /// The kind
    #[arg(long)]
    kind: Option<KindName>,
    /// The webhook that sets defaults
    #[arg(long)]
    pub defaulting: bool,
    /// The webhook that validates
    #[arg(long, visible_alias = "programmatic-validation")]
    pub validation: bool,
    /// The webhook that converts between versions
    #[arg(long)]
    pub conversion: bool,
    /// With `--conversion`: a version to convert to and from; may be repeated [default: all but the hub]
    #[arg(long, value_name = "VERSION", requires = "conversion", value_delimiter = ',')]
    pub spoke: Vec<Version>,
    /// A policy that the API server evaluates itself: `validating`, which is the default, or `mutating`; may be
    /// repeated
    #[arg(
        long,
        value_name = "FORM",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "validating",
        hide_possible_values = true
    )]
    pub policy: Vec<PolicyForm>,
}

impl ValueEnum for PolicyForm {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Self::Validating => {
                PossibleValue::new("validating").help("Allows or refuses writes: a ValidatingAdmissionPolicy")
            }
            Self::Mutating => PossibleValue::new("mutating").help("Changes objects: a MutatingAdmissionPolicy"),
        })
    }
}

/// The error for a kind that the project lacks.
#[derive(Clone, Copy)]
pub enum Unknown {
    /// It may be added first.
    MayBeAdded,
    /// The project has others.
    Refused,
}

impl Flags {
    /// The forms of policies that are given, each once.
    pub fn policies(&self) -> Vec<PolicyForm> {
        let is_given = |form: &PolicyForm| self.policy.contains(form);
        PolicyForm::ALL.into_iter().filter(is_given).collect()
    }

    /// The group and the kind: given, the only group that fits, or answers to questions. If one is `None`,
    /// [`Ask::done`] fails.
    pub fn subject(
        &self,
        project: &Project,
        ask: &mut Ask,
        unknown: Unknown,
    ) -> Result<(Option<Group>, Option<KindName>)> {
        let kinds = project.kind_names(self.group.as_ref());
        let Some(name) = ask.need_of("--kind", "Kind", self.kind.clone(), &kinds)? else {
            return Ok((None, None));
        };
        let mut fitting = project.kinds.iter().filter(|kind| kind.name == name);
        let first = fitting.next().map(|kind| kind.group.clone());
        if self.group.is_none() && first.is_none() {
            let add = match unknown {
                Unknown::MayBeAdded => {
                    format!(
                        "; add this one with `kubewright create api --kind {name}`, or name the `--group` of a kind of Kubernetes"
                    )
                }
                Unknown::Refused => String::new(),
            };
            bail!(
                "`{name}` is not a kind of this project\n\nhint: {}{add}",
                project.listed()
            );
        }
        let only = first.filter(|_| fitting.next().is_none());
        let group = self.group.clone().or(only);
        let groups = project.groups_of(&name);
        let group = ask.need_of("--group", "Group, without the domain", group, &groups)?;
        let group = group.map(|group| external::project_group(project, group, &name));
        Ok((group, Some(name)))
    }
}
