//! The command line of `manifests bundle`: reads the objects of the project, writes the files of their bundle.

use super::{Bundle, HEADER, Package, Release, Sources, bundle};
use crate::rendered::Source;
use crate::semver::minor_of_kubernetes;
use crate::words::{Words, settled};
use kubewright_schema::files::{self, Generator, Streams};
use kubewright_schema::yaml;
use serde_json::Value;
use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::process::Command;

const HELP: &str = "\
Writes an OLM bundle of all objects of config/default.

Usage: manifests bundle [OPTIONS] [-- KUBECTL...]

Options:
      --out DIR                    The folder of the bundle [default: dist/bundle]
      --version VERSION            The version of the bundle [default: the one in Cargo.toml]
      --channels NAMES             The channels, separated by commas [default: candidate]
      --default-channel NAME       One of them [default: the first]
      --oldest-kubernetes RELEASE  The oldest release of Kubernetes that the operator runs on [default: 1.33]
      --base FILE                  What to add to the ClusterServiceVersion, if the file exists [default: config/bundle/csv.yaml]
      --samples DIR                The folder with examples of the kinds [default: config/samples]
      --image IMAGE                The image of the operator, whatever the kustomizations set
      --kustomization DIR          The folder that KUBECTL renders [default: config/default]
      -- KUBECTL...               The kubectl that renders the folder; without it, the objects are read from standard input
  -h, --help                       Print this help
";

/// The files of a bundle: everything with our header.
const BUNDLE: Generator = Generator {
    target: "make bundle",
    header: HEADER,
    is_ours: |content| content.lines().next() == Some(HEADER),
};

/// The folders that an earlier run may have written to.
const FOLDERS: [&str; 3] = ["", "manifests", "metadata"];

/// The parsed arguments.
#[derive(Debug)]
struct BundleArguments {
    out: PathBuf,
    base: PathBuf,
    samples: PathBuf,
    source: Source,
    /// The version is empty if the arguments have none.
    release: Release,
}

/// Runs with the arguments after `bundle`, and returns the exit code. A closed output pipe is not an error.
pub(crate) fn execute(words: impl Iterator<Item = String>, input: &mut dyn Read, mut streams: Streams<'_>) -> u8 {
    let arguments = match settled(parse(words), HELP, "bundle --help", &mut streams) {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    match read(arguments, input).and_then(|(out, bundle)| write(&out, bundle, &mut streams)) {
        Ok(()) => 0,
        Err(error) => {
            _ = writeln!(streams.err, "error: {error}");
            1
        }
    }
}

/// Makes the bundle, with the folder that it is for.
fn read(mut arguments: BundleArguments, input: &mut dyn Read) -> Result<(PathBuf, Bundle), String> {
    let objects = arguments.source.objects(input)?;
    let package = package()?;
    let base = base(&arguments.base)?;
    if arguments.release.version.is_empty() {
        arguments.release.version.clone_from(&package.version);
    }
    let sources = Sources {
        objects: &objects,
        samples: &files::documents(&arguments.samples)?,
        base: base.as_ref(),
        package: &package,
    };
    let bundle = bundle(&sources, &arguments.release).map_err(|error| error.to_string())?;
    Ok((arguments.out, bundle))
}

fn write(out: &Path, bundle: Bundle, streams: &mut Streams<'_>) -> Result<(), String> {
    files::write_tree(out, &FOLDERS, &bundle.files, &BUNDLE).map_err(|error| error.to_string())?;
    for note in &bundle.notes {
        _ = writeln!(streams.err, "note: {note}");
    }
    _ = writeln!(streams.out, "{}", out.display());
    Ok(())
}

/// The package of the project in the current folder.
pub(crate) fn package() -> Result<Package, String> {
    // Cargo sets it for the programs that it runs.
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .output()
        .map_err(|error| format!("cannot run `cargo metadata`: {error}"))?;
    let metadata: Value = serde_json::from_slice(&output.stdout)
        .map_err(|_| format!("`cargo metadata` failed: {}", String::from_utf8_lossy(&output.stderr)))?;
    let folder = std::env::current_dir().map_err(|error| format!("cannot read the current folder: {error}"))?;
    Package::read(&metadata, &folder)
        .ok_or_else(|| "Cargo.toml of this folder has no package\n\nhint: make bundle".to_owned())
}

/// The author's additions to the CSV.
fn base(path: &Path) -> Result<Option<Value>, String> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        text => text.map_err(|error| format!("cannot read `{}`: {error}", path.display()))?,
    };
    let documents = yaml::documents(&text).map_err(|error| format!("`{}` is not YAML: {error}", path.display()))?;
    let mut documents = documents.into_iter().filter(|document| !document.is_null());
    match (documents.next(), documents.next()) {
        (first, None) => Ok(first),
        (_, Some(_)) => Err(format!("`{}` has several documents", path.display())),
    }
}

/// The arguments; `None` for `--help`.
fn parse(words: impl Iterator<Item = String>) -> Result<Option<BundleArguments>, String> {
    let mut arguments = BundleArguments {
        out: PathBuf::from("dist/bundle"),
        base: PathBuf::from("config/bundle/csv.yaml"),
        samples: PathBuf::from("config/samples"),
        source: Source::default(),
        release: Release::default(),
    };
    let mut words = Words::new(words);
    while let Some(flag) = words.flag()? {
        let release = &mut arguments.release;
        match flag.as_str() {
            "--out" => arguments.out = words.value()?.into(),
            "--base" => arguments.base = words.value()?.into(),
            "--samples" => arguments.samples = words.value()?.into(),
            "--version" => {
                // Tags of releases begin with `v`.
                let version = words.value()?;
                release.version = version
                    .strip_prefix('v')
                    .filter(|it| !it.is_empty())
                    .unwrap_or(&version)
                    .to_owned();
            }
            "--channels" => {
                let names = words.value()?;
                release.channels = names.split(',').map(|name| name.trim().to_owned()).collect();
            }
            "--oldest-kubernetes" => {
                release.oldest_kubernetes = Some(minor_of_kubernetes(&flag, &words.value()?)?);
            }
            "--default-channel" => release.default_channel = Some(words.value()?),
            "-h" | "--help" => return Ok(None),
            _ if arguments.source.take(&flag, &mut words)? => {}
            _ => return Err(format!("unknown argument `{flag}`")),
        }
    }
    Ok(Some(arguments))
}
