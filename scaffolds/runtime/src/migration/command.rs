//! `<operator> migrate-storage`, which `make migrate-storage` runs.

use std::process::ExitCode;

use kubewright_schema::files;
use serde_json::Value;

use super::{Migrated, StorageMigration};
use crate::error::{Error, Result};

/// Migrates the kinds of these CRDs, or prints the remaining work, a line for each kind. A kind that fails stops no other.
/// The exit code is 1 if one has failed, or, with `check`, if something is left.
pub(crate) async fn run(migration: &StorageMigration, crds: &[Value], check: bool) -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for crd in crds {
        let name = crd["metadata"]["name"].as_str().unwrap_or_default();
        let outcome = match check {
            true => migration.check(name, storage(crd)).await,
            false => migration.run(name, storage(crd)).await,
        };
        if !report(name, outcome) {
            code = ExitCode::FAILURE;
        }
    }
    if check && code != ExitCode::SUCCESS {
        eprintln!("\nhint: make migrate-storage");
    }
    code
}

fn storage(crd: &Value) -> &str {
    let versions = crd["spec"]["versions"].as_array().into_iter().flatten();
    let storage = versions.filter(|version| version["storage"] == true);
    storage
        .filter_map(|version| version["name"].as_str())
        .next()
        .unwrap_or_default()
}

/// Prints the outcome, and returns whether nothing is left.
fn report(name: &str, outcome: Result<Migrated>) -> bool {
    match outcome {
        Ok(outcome) => {
            let printed = files::print(&format!("{name}: {outcome}\n"));
            if let Err(error) = &printed {
                eprintln!("error: cannot write the standard output: {error}");
            }
            printed.is_ok() && !matches!(outcome, Migrated::Left { .. })
        }
        Err(error) => {
            eprintln!("error: {}", explained(name, &error));
            false
        }
    }
}

fn explained(name: &str, error: &Error) -> String {
    match error.code() {
        Some(401 | 403) => format!(
            "`{name}`: {error}\n\nhint: run it as a cluster administrator: it gets CRDs, patches their status, and lists \
             and patches all objects"
        ),
        _ if matches!(error, Error::Setup(_)) => error.to_string(),
        _ => format!("`{name}`: {error}"),
    }
}
