//! `kubewright envtest`: a folder with programs under the names that envtest and similar tools start, each of them kubewright.
//! Called by one of those names, kubewright is that program.

mod etcd;
mod flags;
mod folder;
mod kube_apiserver;

use super::{NoProject, ask::Usage, report};
use anyhow::{Context, Result};
use clap::ValueEnum;
use std::path::{Path, PathBuf};

/// Flags of `envtest`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Writes `etcd` and `kube-apiserver` for controller-runtime's envtest, fabric8's
kube-api-test and similar tools. Both are copies of the kubewright program:
each acts as the program whose name its file has. If PATH has a kubectl, a link
to it is added.

Examples:
  source <(kubewright envtest)
  KUBEBUILDER_ASSETS=$(kubewright envtest -p path) go test ./...
  kubewright envtest --bin-dir bin/k8s")]
pub struct Args {
    #[command(flatten)]
    _no: NoProject,
    /// The folder to write [default: `kubewright/envtest` in the user's data folder]
    #[arg(long, value_name = "DIR")]
    bin_dir: Option<PathBuf>,
    /// Output: the line to export, or the path of the folder
    #[arg(short, long, value_enum, default_value_t)]
    print: Print,
}

/// The output of `envtest`; setup-envtest has the same two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Print {
    #[default]
    Env,
    Path,
}

/// A program whose place kubewright takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// `etcd`
    Etcd,
    /// `kube-apiserver`
    KubeApiserver,
}

impl Role {
    const ALL: [Self; 2] = [Self::Etcd, Self::KubeApiserver];

    fn name(self) -> &'static str {
        match self {
            Self::Etcd => "etcd",
            Self::KubeApiserver => "kube-apiserver",
        }
    }

    /// The program as which a process was started, by its first argument.
    pub fn called(first: &Path) -> Option<Self> {
        // Without `.exe`.
        let name = first.file_stem()?;
        Self::ALL.into_iter().find(|role| name == role.name())
    }

    /// Runs it with these arguments until it is stopped.
    ///
    /// # Errors
    /// Arguments that cannot be honoured, and what keeps it from starting.
    pub fn run(self, arguments: Vec<String>) -> Result<()> {
        match self {
            Self::Etcd => etcd::run(arguments),
            Self::KubeApiserver => kube_apiserver::run(arguments),
        }
    }
}

/// Writes the folder, and prints how to use it.
pub fn run(args: Args) -> Result<()> {
    let folder = match args.bin_dir {
        Some(folder) => folder,
        None => folder::usual().ok_or_else(|| {
            Usage::error("no folder for the programs: `HOME` is not set\n\nhint: name one with `--bin-dir`")
        })?,
    };
    let folder = folder::write(&folder, &Role::ALL.map(Role::name)).with_context(|| {
        format!(
            "cannot write the programs into `{}`\n\nhint: choose another folder with `--bin-dir`",
            folder.display()
        )
    })?;
    if folder.kubectl.is_none() {
        report::note(
            "note: no `kubectl` in PATH, so the folder has none\n\n\
             hint: envtest needs one only for `ControlPlane.KubeCtl`, fabric8's kube-api-test always",
        );
    }
    let path = folder.path.display().to_string();
    report::result(&match args.print {
        Print::Env => format!("export KUBEBUILDER_ASSETS='{}'\n", path.replace('\'', r"'\''")),
        Print::Path => format!("{path}\n"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_the_file_decides_what_the_program_is() {
        for (first, role) in [
            ("/a b/kube-apiserver", Some(Role::KubeApiserver)),
            ("etcd", Some(Role::Etcd)),
            ("etcd.exe", Some(Role::Etcd)),
            ("kubewright", None),
            ("/etcd/kubewright", None),
            ("", None),
        ] {
            assert_eq!(Role::called(Path::new(first)), role, "{first}");
        }
    }
}
