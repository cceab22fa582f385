//! `kubewright doctor`: checks the toolchain, the project, the cluster, and what is left to migrate there.

mod registry;
mod storage;

use super::cluster::Cluster;
use super::plan::{Row, rows};
use super::session::{Session, project_path};
use super::{Output, extensions, report};
use crate::plan::FileKind;
use crate::project::{Project, Release, file};
use crate::write::{Access, Beneath, Origin, State, vendored_origin, vendored_state};
use anyhow::{Result, bail};
use serde::Serialize;
use std::path::Path;
use std::process::Command;

/// Flags of `doctor`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Exits 1 if a required check fails. kubectl and a cluster are needed only to
deploy: without them there are warnings. `storage` lists the kinds with objects
that may be stored in an earlier version, as recorded in PROJECT and in the CRDs
of the cluster.")]
pub struct Args {
    /// Output format
    #[arg(long, short, value_enum, default_value = "text")]
    output: Output,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Ok,
    Warning,
    Failed,
}

#[derive(Debug, Serialize)]
struct Finding {
    check: &'static str,
    verdict: Verdict,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    /// The lines of the text form, if the detail is more than one.
    #[serde(skip)]
    lines: Vec<String>,
}

impl Finding {
    fn new(check: &'static str, verdict: Verdict, detail: impl Into<String>) -> Self {
        Self {
            check,
            verdict,
            detail: detail.into(),
            hint: None,
            lines: Vec::new(),
        }
    }

    /// The causes of an error; each is a line of its own in the text form.
    fn chain(check: &'static str, error: &anyhow::Error) -> Self {
        let (causes, hints) = report::parts(error);
        let found = Self::new(check, Verdict::Failed, causes.join(": "));
        let hint = hints.first().map_or("see `kubewright plan`", String::as_str);
        Self {
            lines: causes,
            ..found.hint(hint)
        }
    }

    /// A list of paths after a sentence; each path is a line of its own in the text form.
    fn list(check: &'static str, sentence: &str, paths: &[String]) -> Self {
        let found = Self::new(check, Verdict::Warning, format!("{sentence}: {}", paths.join(", ")));
        let lines = std::iter::once(format!("{sentence}:")).chain(paths.iter().map(|path| format!("  {path}")));
        match paths {
            [_] => found,
            _ => Self {
                lines: lines.collect(),
                ..found
            },
        }
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// Checks everything and prints what was found.
pub fn run(dir: &Path, args: Args) -> Result<()> {
    let (of_project, project) = project(dir);
    let (of_cluster, cluster) = cluster();
    let mut findings = vec![rust(), of_project, kubectl(), of_cluster];
    findings.extend(build_tools());
    findings.extend(project.iter().flat_map(|it| storage::findings(it, cluster.as_ref())));
    match args.output {
        Output::Json => report::result(&format!("{}\n", serde_json::to_string_pretty(&findings)?))?,
        Output::Text => report::result(&findings.iter().map(line).collect::<String>())?,
    }
    let failed: Vec<_> = findings
        .iter()
        .filter(|finding| finding.verdict == Verdict::Failed)
        .map(|f| f.check)
        .collect();
    match failed.is_empty() {
        true => Ok(()),
        false => bail!("the check of {} failed", failed.join(" and ")),
    }
}

fn line(finding: &Finding) -> String {
    let mark = match finding.verdict {
        Verdict::Ok => "ok",
        Verdict::Warning => "warning",
        Verdict::Failed => "failed",
    };
    let hint = finding
        .hint
        .as_ref()
        .map(|hint| format!("{:19}hint: {hint}\n", ""))
        .unwrap_or_default();
    let detail = match finding.lines.is_empty() {
        true => finding.detail.clone(),
        false => finding.lines.join(&format!("\n{:19}", "")),
    };
    format!("{mark:8} {:9} {detail}\n{hint}", finding.check)
}

/// The first line of a program's output.
fn output(program: &str, args: &[&str]) -> Option<String> {
    let here = std::env::current_dir().ok()?;
    let output = Command::new(program)
        .args(args)
        // Not in the project: rustup reads a `rust-toolchain.toml` there, which can name any program.
        .current_dir(here.ancestors().last()?)
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .next()
        .map(str::to_owned)
}

/// The cluster that answers, if any.
fn cluster() -> (Finding, Option<Cluster>) {
    match Cluster::find() {
        Ok((cluster, version)) => (Finding::new("cluster", Verdict::Ok, version), Some(cluster)),
        Err(reason) => {
            let (reason, hint) = reason
                .split_once("\n\nhint: ")
                .unwrap_or((&reason, "see `kubectl config current-context` and `KUBECONFIG`"));
            (Finding::new("cluster", Verdict::Warning, reason).hint(hint), None)
        }
    }
}

fn rust() -> Finding {
    let wanted = env!("CARGO_PKG_RUST_VERSION");
    let install = format!("install Rust {wanted} or newer from https://rustup.rs");
    let (Some(cargo), Some(rustc)) = (output("cargo", &["--version"]), output("rustc", &["--version"])) else {
        return Finding::new("rust", Verdict::Failed, "`cargo` or `rustc` is not installed").hint(install);
    };
    let numbers = |text: &str| {
        text.split('.')
            .map(|part| part.parse().unwrap_or(0))
            .collect::<Vec<u32>>()
    };
    let found = rustc
        .split(' ')
        .nth(1)
        .unwrap_or_default()
        .split('-')
        .next()
        .unwrap_or_default();
    match numbers(found) >= numbers(wanted) {
        true => Finding::new("rust", Verdict::Ok, format!("{rustc}, {cargo}")),
        false => Finding::new("rust", Verdict::Failed, format!("{rustc}; projects need {wanted}")).hint(install),
    }
}

/// The missing programs with which every project is built. Cargo links with a C compiler, and compiles the C code of ring.
fn build_tools() -> Vec<Finding> {
    // Another compiler may be configured, and another linker.
    let compiler = match std::env::var_os("CC") {
        Some(name) if !name.is_empty() => Verdict::Warning,
        _ => Verdict::Failed,
    };
    let mut needed = vec![("make", "make", Verdict::Failed)];
    if cfg!(unix) {
        needed.push(("compiler", "cc", compiler));
    }
    needed.retain(|(_, program, _)| output(program, &["--version"]).is_none());
    let hint = "install the programs that build software (Debian: `apt install build-essential`, macOS: `xcode-select --install`)";
    let missing = needed.into_iter();
    missing
        .map(|(check, program, verdict)| {
            Finding::new(check, verdict, format!("`{program}` is not installed")).hint(hint)
        })
        .collect()
}

/// The finding about the project in this folder, and the project, if it can be read.
fn project(dir: &Path) -> (Finding, Option<Project>) {
    let is_there = Beneath::open(dir).and_then(|folder| folder.entry(&project_path()));
    if is_there.is_ok_and(|entry| entry.is_none()) || !dir.is_dir() {
        let text = format!("no `{}` in `{}`", file::NAME, dir.display());
        let hint = "run it in the folder of a project, or name one with `--dir`";
        return (Finding::new("project", Verdict::Warning, text).hint(hint), None);
    }
    match checked(dir) {
        Ok((finding, project)) => (finding, Some(project)),
        Err(error) => (Finding::chain("project", &error), None),
    }
}

fn checked(dir: &Path) -> Result<(Finding, Project)> {
    let session = Session::open_earlier(dir, Access::Read, None)?;
    let (release, own) = (session.project.version.parse::<Release>()?, Release::own());
    let foreign = Foreign::of(&session)?;
    let finding = match release.is_same_minor(&own) {
        true => match drift(&rows(&session)?, &lost(&session)?, &foreign) {
            fits if fits.verdict == Verdict::Ok && !session.project.crates.are_in_project() => {
                registry::finding(&session)?
            }
            finding => finding,
        },
        false => earlier(&release, &foreign),
    };
    Ok((finding, session.project))
}

/// The vendored crates that differ from the crates in this binary, each with its release, except crates of the user.
#[derive(Default)]
struct Foreign {
    /// The crates as an earlier release wrote them.
    earlier: Vec<String>,
    /// Crates that name a release that this binary does not contain.
    unchecked: Vec<String>,
    edited: Vec<String>,
}

impl Foreign {
    fn of(session: &Session) -> Result<Self> {
        let mut found = Self::default();
        for (path, entry) in session.plan(&session.project)?.entries {
            let source = &entry.source;
            let ours = |state| [State::Clean, State::Edited].contains(&state);
            if entry.kind != FileKind::Vendored || !ours(vendored_state(&session.root, &path, source)?) {
                continue;
            }
            match vendored_origin(&session.root, &path, source)? {
                Origin::Embedded => {}
                Origin::Earlier(release) => found.earlier.push(format!("`{path}` of {release}")),
                Origin::Unchecked(release) => found.unchecked.push(format!("`{path}` of {release}")),
                Origin::Nobody => found.edited.push(format!("`{path}`, edited by hand")),
            }
        }
        Ok(found)
    }
}

/// A project of an earlier release, which other commands refuse.
fn earlier(release: &Release, foreign: &Foreign) -> Finding {
    let crates = [&foreign.earlier[..], &foreign.unchecked, &foreign.edited].concat();
    let mut text = format!(
        "written by kubewright {release}, and this is kubewright {}",
        Release::own()
    );
    if !crates.is_empty() {
        text.push_str(&format!(
            "; its crates differ from this release's: {}",
            crates.join(", ")
        ));
    }
    Finding::new("project", Verdict::Warning, text)
        .hint("run `kubewright upgrade --dry-run`, then `kubewright upgrade`")
}

/// Files that `sync` would rewrite or refuse, files that lack lines, and the crates of other releases.
fn drift(rows: &[Row], lost: &[String], foreign: &Foreign) -> Finding {
    use FileKind::{Derived, Managed, Vendored};
    let of = |states: &[State]| {
        let ours = rows
            .iter()
            .filter(|row| [Managed, Vendored].contains(&row.kind) && states.contains(&row.state));
        ours.map(|row| format!("`{}`", row.path)).collect::<Vec<_>>()
    };
    let (edited, stale) = (of(&[State::Edited]), of(&[State::Stale, State::Missing]));
    if !edited.is_empty() {
        return Finding::list("project", "edited by hand", &edited)
            .hint("restore them with git, or own them: delete the line with `@generated by kubewright`, or run `kubewright eject`");
    }
    if !stale.is_empty() {
        return Finding::list("project", "not up to date with PROJECT", &stale).hint("run `kubewright sync`");
    }
    if !foreign.earlier.is_empty() {
        let text = format!(
            "these crates differ from those of this kubewright {}: {}",
            Release::own(),
            foreign.earlier.join(", ")
        );
        return Finding::new("project", Verdict::Warning, text).hint("run `kubewright upgrade`, which replaces them");
    }
    if !foreign.unchecked.is_empty() {
        let (names, own) = (foreign.unchecked.join(", "), env!("CARGO_PKG_VERSION"));
        let text = format!("only the release that wrote it can check {names}, and this is kubewright {own}");
        return Finding::new("project", Verdict::Warning, text)
            .hint("run the `doctor` of that release, or compare the folder with its tag");
    }
    if !lost.is_empty() {
        let what = "without the lines for webhooks, conversions or policies of PROJECT";
        return Finding::list("project", what, lost).hint("run `kubewright sync`, which prints the lines to add");
    }
    let underived = rows
        .iter()
        .filter(|row| row.kind == Derived && row.state == State::Missing)
        .count();
    match underived {
        0 => Finding::new(
            "project",
            Verdict::Ok,
            "all managed files and vendored crates match PROJECT",
        ),
        count => Finding::new(
            "project",
            Verdict::Warning,
            format!("manifests that are not written yet: {count}"),
        )
        .hint("run `make manifests`"),
    }
}

/// The files that lack the lines for webhooks of PROJECT.
fn lost(session: &Session) -> Result<Vec<String>> {
    let files = extensions::lost(session)?;
    Ok(files.iter().map(|file| format!("`{}`", file.path)).collect())
}

fn kubectl() -> Finding {
    match output("kubectl", &["version", "--client"]) {
        Some(version) => Finding::new(
            "kubectl",
            Verdict::Ok,
            version.trim_start_matches("Client Version: ").to_owned(),
        ),
        None => Finding::new(
            "kubectl",
            Verdict::Warning,
            "`kubectl` is not installed; `make install` and `make deploy` need it",
        )
        .hint("see https://kubernetes.io/docs/tasks/tools"),
    }
}
