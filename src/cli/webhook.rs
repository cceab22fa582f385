//! Which webhooks `create webhook` and `delete webhook` are about: the flags that both have.

use super::ask::Ask;
use crate::project::{Group, KindName, Project};
use anyhow::{Result, bail};

/// The kind, and the types of its webhooks.
#[derive(Debug, clap::Args)]
pub struct Flags {
    /// The API group without the domain [default: that of the kind, if only one group has it]
    #[arg(long)]
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
    #[command(flatten)]
    other: Other,
}

/// Flags that are refused by name.
#[derive(Debug, clap::Args)]
struct Other {
    /// The webhook that converts between versions (not built yet)
    #[arg(long)]
    conversion: bool,
    #[arg(long, hide = true, num_args = 0..)]
    spoke: Option<Vec<String>>,
    /// Policies of the API server in place of a webhook (not built yet)
    #[arg(long)]
    policy: bool,
}

impl Flags {
    /// Refuses what is not built yet.
    pub fn check(&self) -> Result<()> {
        if self.other.conversion || self.other.spoke.is_some() {
            bail!(
                "`--conversion` is not built yet: `create webhook` generates webhooks of admission\n\n\
                 hint: give all versions of a kind the same fields, which need no conversion; `make manifests` checks that"
            );
        }
        if self.other.policy {
            bail!(
                "`--policy` is not built yet: `create webhook` generates webhooks of admission\n\n\
                 hint: write a rule on the type, `#[kube(validation = …)]`, or the policy in a file of `config/`"
            );
        }
        Ok(())
    }

    /// The group and the kind: given, the only group that fits, or answers to questions. If one is `None`,
    /// [`Ask::done`] fails.
    pub fn subject(&self, project: &Project, ask: &mut Ask) -> Result<(Option<Group>, Option<KindName>)> {
        let Some(name) = ask.need("--kind", "Kind", self.kind.clone(), None)? else {
            return Ok((None, None));
        };
        let mut fitting = project.kinds.iter().filter(|kind| kind.name == name);
        let first = fitting.next().map(|kind| kind.group.clone());
        if self.group.is_none() && first.is_none() {
            bail!(
                "`{name}` is not a kind of this project\n\n\
                 hint: see `PROJECT` for its kinds, or add this one with `kubewright create api --kind {name}`"
            );
        }
        let only = first.filter(|_| fitting.next().is_none());
        let group = self.group.clone().or(only);
        let group = ask.need("--group", "Group, without the domain", group, None)?;
        Ok((group, Some(name)))
    }
}
