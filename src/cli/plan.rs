//! `kubewright plan`: lists the files of the project.

use super::session::Session;
use super::{Output, report};
use crate::plan::FileKind;
use crate::write::{Access, State, state, vendored_state};
use anyhow::Result;
use serde::Serialize;
use std::path::Path;

/// Flags of `plan`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Kinds:
  managed   generated from PROJECT; kubewright rewrites them unless edited
  vendored  crates of kubewright, each with one hash
  derived   written by `make manifests` from your code
  seeded    written once; then they are yours

States:
  clean     as written
  stale     as written, but PROJECT has changed; `kubewright sync` rewrites it
  edited    changed by hand
  ejected   was managed or vendored, and is yours now
  missing   does not exist")]
pub struct Args {
    /// Output format; JSON has the templates too
    #[arg(long, short, value_enum, default_value = "text")]
    output: Output,
}

/// A file, or a vendored crate.
#[derive(Debug, Serialize)]
pub struct Row {
    /// Relative to the project.
    pub path: String,
    /// Its kind, which determines who may write it.
    pub kind: FileKind,
    /// Its state.
    pub state: State,
    /// The template it comes from.
    pub template: String,
}

/// Lists the files of the project in `dir`.
pub fn run(dir: &Path, args: Args) -> Result<()> {
    let rows = rows(&Session::open(dir, Access::Read)?)?;
    match args.output {
        Output::Json => report::result(&format!("{}\n", serde_json::to_string_pretty(&rows)?)),
        Output::Text => report::result(&table(&rows)),
    }
}

/// Every file of an open project.
pub fn rows(session: &Session) -> Result<Vec<Row>> {
    let plan = session.plan(&session.project)?;
    let files = plan.clone().only(|_, entry| entry.kind != FileKind::Vendored);
    let rendered = session.render(&session.project, &files)?;
    let mut rows = Vec::new();
    for (path, entry) in &plan.entries {
        let state = match entry.kind {
            FileKind::Vendored => vendored_state(&session.root, path, &entry.source)?,
            kind => state(&session.root, path, kind, rendered.get(path))?,
        };
        rows.push(Row {
            path: path.to_string(),
            kind: entry.kind,
            state,
            template: entry.source.name().to_owned(),
        });
    }
    Ok(rows)
}

/// Without the templates, whose paths would make the lines wider than a terminal.
fn table(rows: &[Row]) -> String {
    let width = rows.iter().map(|row| row.path.len()).max().unwrap_or(0);
    let line = |row: &Row| format!("{:width$}  {:8}  {}\n", row.path, row.kind.as_str(), row.state.as_str());
    rows.iter().map(line).collect()
}
