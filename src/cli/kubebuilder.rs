//! Flags of kubebuilder that have no meaning here: each is refused with what to use in its place. Those that have a meaning are
//! flags of the commands themselves.

use super::ask::Usage;
use anyhow::Result;
use clap::{Arg, ArgMatches, Command, FromArgMatches};
use std::marker::PhantomData;

/// A flag of kubebuilder.
#[derive(Debug)]
pub struct Flag {
    /// Its name, without `--`.
    name: &'static str,
    /// The value that equals the behaviour of kubewright, and is accepted; empty if no value does.
    always: &'static str,
    /// The replacement.
    instead: &'static str,
}

const fn flag(name: &'static str, always: &'static str, instead: &'static str) -> Flag {
    Flag { name, always, instead }
}

/// A command of kubebuilder.
pub trait Theirs {
    /// Its flags that have no meaning here.
    const FLAGS: &'static [Flag];
}

const MULTIGROUP: Flag = flag(
    "multigroup",
    "true",
    "leave it out: each group has its own folder, always",
);
const PLUGINS: Flag = flag(
    "plugins",
    "",
    "leave it out: `make chart` writes a Helm chart, `make dashboards` Grafana dashboards, \
     `create api --pattern deployment --image IMAGE` a controller for an image, and `--templates DIR` takes templates of your own",
);
const PROJECT_VERSION: Flag = flag(
    "project-version",
    "",
    "leave it out: `PROJECT` records the kubewright that wrote it, and `kubewright upgrade` changes that",
);
const LICENSE_FILE: Flag = flag(
    "license-file",
    "",
    "write your text into `LICENSE`, and add headers with another tool: lines above kubewright's own header stay",
);
const MAKE: Flag = flag(
    "make",
    "false",
    "run `make manifests` next: commands of kubewright only write files",
);
const CHART: &str = "run `make chart`: it renders `config/` itself and writes `dist/chart`, from where you can move it";
const PODS: &str = "use `--pattern deployment --image IMAGE`, and change the Pod in the controller that it writes";
const FOREIGN: &str = "use `kubewright create api --from-crd FILE`: the types of others' kinds are generated from their CRD; \
                       of a kind of Kubernetes, `--resource=false` and its group are enough, such as `--group apps`";
const PATHS: &str =
    "leave it out: the operator chooses the path of a webhook, and `make manifests` writes it into the configuration";

/// `kubebuilder init`.
#[derive(Debug)]
pub struct Init;

impl Theirs for Init {
    const FLAGS: &'static [Flag] = &[
        flag(
            "repo",
            "",
            "leave it out: a Cargo package has no module path; `--project-name` names it",
        ),
        PLUGINS,
        PROJECT_VERSION,
        LICENSE_FILE,
        MULTIGROUP,
        flag(
            "fetch-deps",
            "false",
            "leave it out: nothing is downloaded before the first build",
        ),
        flag(
            "skip-go-version-check",
            "true",
            "leave it out: `kubewright doctor` checks the toolchain",
        ),
    ];
}

/// `kubebuilder edit`.
#[derive(Debug)]
pub struct Edit;

impl Theirs for Edit {
    const FLAGS: &'static [Flag] = &[
        MULTIGROUP,
        PLUGINS,
        PROJECT_VERSION,
        LICENSE_FILE,
        flag(
            "force",
            "false",
            "leave it out: files that you have edited are merged, and where that is not possible you get the lines to change",
        ),
        flag("manifests", "", CHART),
        flag("output-dir", "", CHART),
    ];
}

/// `kubebuilder create api`.
#[derive(Debug)]
pub struct CreateApi;

impl Theirs for CreateApi {
    const FLAGS: &'static [Flag] = &[
        MAKE,
        flag("manifests", "false", MAKE.instead),
        flag(
            "ssa",
            "true",
            "leave it out: controllers always write their children with server-side apply",
        ),
        PLUGINS,
        flag("external-api-path", "", FOREIGN),
        flag("external-api-domain", "", FOREIGN),
        flag("external-api-module", "", FOREIGN),
        flag("image-container-command", "", PODS),
        flag("image-container-port", "", PODS),
        flag("run-as-user", "", PODS),
    ];
}

/// `kubebuilder create webhook`.
#[derive(Debug)]
pub struct CreateWebhook;

impl Theirs for CreateWebhook {
    const FLAGS: &'static [Flag] = &[
        MAKE,
        PLUGINS,
        flag("external-api-path", "", FOREIGN),
        flag("external-api-domain", "", FOREIGN),
        flag("external-api-module", "", FOREIGN),
        flag("defaulting-path", "", PATHS),
        flag("validation-path", "", PATHS),
        flag("plural", "", "leave it out: `PROJECT` has the plural of the kind"),
        flag("legacy", "false", "leave it out: there is one form of webhooks"),
        flag(
            "force",
            "false",
            "leave it out: further types are added to the ones that a kind has, and edited files are merged",
        ),
    ];
}

/// `kubebuilder alpha …`, as it was given.
#[derive(Debug, clap::Args)]
pub struct Alpha {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<String>,
}

/// Refuses all commands of `kubebuilder alpha`.
pub fn alpha(args: &Alpha) -> Result<()> {
    Err(Usage::error(format!(
        "kubebuilder's `alpha {}` has no meaning here\n\n\
         hint: `kubewright upgrade` merges a newer release into the project, and `kubewright sync` rewrites managed files from `PROJECT`",
        args.rest.first().map_or("", String::as_str)
    )))
}

/// The flags of a command of kubebuilder as they were given.
#[derive(Debug)]
pub struct Given<C> {
    refused: Option<&'static Flag>,
    of: PhantomData<C>,
}

impl<C: Theirs> Given<C> {
    /// Fails if a flag was given.
    pub fn refuse(&self) -> Result<()> {
        match self.refused {
            None => Ok(()),
            Some(flag) => Err(Usage::error(format!(
                "kubebuilder's `--{}` has no meaning here\n\nhint: {}",
                flag.name, flag.instead
            ))),
        }
    }
}

impl<C: Theirs> clap::Args for Given<C> {
    fn augment_args(command: Command) -> Command {
        let arg = |flag: &Flag| {
            Arg::new(flag.name)
                .long(flag.name)
                .num_args(0..=1)
                .default_missing_value("true")
                .hide(true)
        };
        command.args(C::FLAGS.iter().map(arg))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<C: Theirs> FromArgMatches for Given<C> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let refused = C::FLAGS.iter().find(|flag| {
            let value = matches.get_one::<String>(flag.name);
            value.is_some_and(|value| value != flag.always)
        });
        Ok(Self {
            refused,
            of: PhantomData,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
