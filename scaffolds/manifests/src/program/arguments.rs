//! The arguments of the command line.

use crate::semver::minor_of_kubernetes;
use crate::words::Words;
use kubewright_schema::Options;
use kubewright_schema::files::Mode;
use std::path::PathBuf;

pub(super) const HELP: &str = "\
Writes the CustomResourceDefinitions of this project, one file per kind.

Usage: manifests [OPTIONS]
       manifests installer [OPTIONS]   Write one file with all objects; see `manifests installer --help`
       manifests deploy [OPTIONS]      Apply all objects; see `manifests deploy --help`
       manifests undeploy [OPTIONS]    Delete all objects; see `manifests undeploy --help`
       manifests uninstall [OPTIONS]   Delete the objects of these kinds and the CRDs; see `manifests uninstall --help`
       manifests kubeconfig [OPTIONS]  Prepare the cluster for an operator on this machine; see `manifests kubeconfig --help`
       manifests dev [-- ARGUMENTS]    Become the program `dev` of the same build
       manifests chart [OPTIONS]       Write a Helm chart; see `manifests chart --help`
       manifests parts [OPTIONS]       Write a manifest for the cluster, and one for its namespace; see `manifests parts --help`
       manifests bundle [OPTIONS]      Write an OLM bundle; see `manifests bundle --help`
       manifests api-docs [OPTIONS]    Write a page about the kinds; see `manifests api-docs --help`

Options:
      --out DIR                     The folder of the CRDs [default: config/crd/bases]
      --check                       Write nothing; print a diff of the files that are out of date, and exit with 1 if there are any
      --breaking-since REVISION     Write nothing; list what breaks the API that --out had at this git revision, and exit with 1
                                    if anything does
  -o, --output text|json            The format of --breaking-since [default: text]
      --max-description-length N    Cut descriptions to N characters; 0 removes them
      --oldest-kubernetes 1.N       The oldest release on which the CRDs must work; a rule that needs a later one is an error, and
                                    without this option a warning
      --keep-nullable               Keep `nullable: true` on optional fields
      --plain-kubernetes-types      Leave list types, types of maps and defaults out of Kubernetes' own types in a spec
  -h, --help                        Print this help
";

/// The parsed arguments.
#[derive(Debug)]
pub(super) struct ManifestsArguments {
    pub out: PathBuf,
    pub mode: Mode,
    pub since: Option<String>,
    pub json: bool,
    /// The minor release of Kubernetes 1.
    pub oldest: Option<u16>,
    pub options: Options,
}

/// The arguments; `None` for `--help`.
pub(super) fn parse(words: impl Iterator<Item = String>) -> Result<Option<ManifestsArguments>, String> {
    let mut arguments = ManifestsArguments {
        out: PathBuf::from("config/crd/bases"),
        mode: Mode::Write,
        since: None,
        json: false,
        oldest: None,
        options: Options::default(),
    };
    let mut words = Words::new(words);
    while let Some(flag) = words.flag()? {
        match flag.as_str() {
            "--out" => arguments.out = words.value()?.into(),
            "--max-description-length" => {
                let text = words.value()?;
                let length = text
                    .parse()
                    .map_err(|_| format!("`{flag}` needs a number, not `{text}`"))?;
                arguments.options.max_description_length = Some(length);
            }
            "--check" => arguments.mode = Mode::Check,
            "--breaking-since" => arguments.since = Some(words.value()?),
            "-o" | "--output" => match words.value()?.as_str() {
                "text" => arguments.json = false,
                "json" => arguments.json = true,
                other => return Err(format!("`{flag}` is `text` or `json`, not `{other}`")),
            },
            "--oldest-kubernetes" => arguments.oldest = Some(minor_of_kubernetes(&flag, &words.value()?)?),
            "--keep-nullable" => arguments.options.keep_nullable = true,
            "--plain-kubernetes-types" => arguments.options.plain_kubernetes_types = true,
            "-h" | "--help" => return Ok(None),
            _ => return Err(format!("unknown argument `{flag}`")),
        }
    }
    match arguments.since {
        Some(_) if arguments.mode == Mode::Check => Err("`--check` has no effect with `--breaking-since`".to_owned()),
        None if arguments.json => Err("`--output` has no effect without `--breaking-since`".to_owned()),
        _ => Ok(Some(arguments)),
    }
}
