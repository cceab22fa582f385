//! Every file of the tree with answers of a real server, and how it is recorded. A recording consists of lines, each an
//! [`Exchange`], except the tables and documents that a crate contains in the form in which it reads them. A
//! recorder asks the server for all of them or, if that takes long, for a sample.

mod bookmarks;
mod cases;
mod catalogue;
mod check;
mod definitions;
mod documents;
mod embedded;
mod go;
mod kinds;
pub mod probes;
mod programs;
mod real;
pub mod role_rules;
mod roles;
mod schemas;
mod shapes;
pub mod values;
mod zones;

use std::{collections::BTreeMap, fs, path::PathBuf};

use anyhow::{Context, Result};
use control_plane::root;
use recordings::Exchange;
use serde::Serialize;
use serde_json::Value;

pub use catalogue::all;
pub use check::{Differences, differences, write};
pub use real::Real;

/// Lines by their position in the file, as a recorder makes them.
pub type Lines = BTreeMap<usize, String>;

/// A line with a request and its answer.
fn line_of(asked: impl Serialize, answered: impl Serialize) -> Result<String> {
    Ok(serde_json::to_string(&Exchange { asked, answered })?)
}

/// The lines at these positions.
fn lines_of(positions: Vec<usize>, recorded: &[Exchange<Value, Value>]) -> Result<Lines> {
    let lines = positions.into_iter().zip(recorded);
    lines.map(|(at, it)| Ok((at, serde_json::to_string(it)?))).collect()
}

/// A file with answers of a server.
pub struct Recording {
    /// Its name on the command line.
    pub name: String,
    /// Its path from the root of the repository.
    pub file: String,
    /// The recorder.
    pub recorder: Recorder,
}

/// The requests of a recording, and the program that gets them.
pub enum Recorder {
    /// The requests of a file of `probes/`.
    Probes(String),
    /// The cases of `scaffolds/apiserver/tests/kinds/cases.txt`.
    Kinds,
    /// Definitions: accepted, or refused with which causes.
    SchemaVerdicts,
    /// Validation rules: the verdicts on definitions and objects.
    SchemaRules,
    /// Values of schemas: stored, or refused with which causes.
    SchemaValues,
    /// The functions that a validation rule can call.
    RuleFunctions,
    /// Controller-gen's output for lists of rules.
    RoleRules,
    /// Controller-gen's marks on each Kubernetes type inside a custom resource.
    EmbeddedTypes,
    /// Controller-gen's marks on one custom resource with Kubernetes types in it.
    Embedded,
    /// Discovery and tables: the names, verbs and columns of built-in kinds.
    Resources,
    /// OpenAPI and Go's structs: the fields of built-in kinds.
    Shapes,
    /// OpenAPI: the definitions with these names.
    Definitions(&'static [&'static str]),
    /// Discovery with a custom group.
    Discovery,
    /// OpenAPI of a custom group.
    OpenApi,
    /// An empty watch of each kind.
    Bookmarks,
    /// Time zones that the server accepts in a CronJob.
    Zones,
    /// The roles of a new cluster.
    Roles,
    /// Kubectl's requests in Protobuf.
    Protobuf,
    /// Go's structs: objects in Protobuf and JSON.
    Forms,
    /// The autoscaler of kube-controller-manager: sizes and conditions.
    Autoscalers,
}

impl Recorder {
    /// A description for people.
    pub fn source(&self) -> String {
        match self {
            Self::Probes(file) => format!("kube-apiserver, the requests of tests/fidelity/probes/{file}.yaml"),
            Self::Kinds => "kube-apiserver, the requests of scaffolds/apiserver/tests/kinds/cases.txt".to_owned(),
            Self::SchemaVerdicts => "kube-apiserver, the definitions in the file".to_owned(),
            Self::SchemaRules => "kube-apiserver, the schemas and objects in the file".to_owned(),
            Self::SchemaValues => "kube-apiserver, the schemas and values in the file".to_owned(),
            Self::RuleFunctions => "the source of kube-apiserver (needs Go)".to_owned(),
            Self::RoleRules => "controller-gen, the rules in the file (needs CONTROLLER_GEN or Go)".to_owned(),
            Self::EmbeddedTypes => "controller-gen, the types in kube-apiserver's OpenAPI (needs Go)".to_owned(),
            Self::Embedded => "controller-gen, tests/control-plane/embedded (needs Go)".to_owned(),
            Self::Resources => "kube-apiserver, discovery and tables".to_owned(),
            Self::Shapes => "kube-apiserver, OpenAPI; Go's structs (needs Go)".to_owned(),
            Self::Definitions(_) => "kube-apiserver, OpenAPI".to_owned(),
            Self::Discovery => "kube-apiserver, discovery with a custom group".to_owned(),
            Self::OpenApi => "kube-apiserver, OpenAPI of a custom group".to_owned(),
            Self::Bookmarks => "kube-apiserver, a watch of each kind".to_owned(),
            Self::Zones => "kube-apiserver, a CronJob in each time zone".to_owned(),
            Self::Roles => "kube-apiserver and kube-controller-manager, the roles of a new cluster".to_owned(),
            Self::Protobuf => "kubectl".to_owned(),
            Self::Forms => "Go's types, arbitrary objects of the recorded shapes (needs Go)".to_owned(),
            Self::Autoscalers => {
                "kube-controller-manager's autoscaler, arbitrary specs and metrics (needs Go)".to_owned()
            }
        }
    }

    /// Whether it can record single lines.
    pub fn is_sampled(&self) -> bool {
        matches!(
            self,
            Self::Probes(_)
                | Self::Kinds
                | Self::SchemaVerdicts
                | Self::SchemaRules
                | Self::SchemaValues
                | Self::RoleRules
        )
    }

    /// Records the lines that `pick` selects, or all of them if that is as fast. `None` if a program is missing that it
    /// needs.
    ///
    /// # Errors
    /// When the server cannot be reached, or refuses a request that every recording needs.
    pub async fn lines(&self, real: &Real, pick: &Pick<'_>) -> Result<Option<Lines>> {
        let whole = match self {
            Self::Probes(file) => return probes::lines(real, file, pick).await.map(Some),
            Self::Kinds => return kinds::lines(real, pick).await.map(Some),
            Self::SchemaVerdicts => return schemas::verdicts(real, pick).await.map(Some),
            Self::SchemaRules => return schemas::rules(real, pick).await.map(Some),
            Self::SchemaValues => return values::lines(real, pick).await.map(Some),
            Self::RoleRules => return role_rules::lines(pick).await,
            Self::Shapes | Self::RuleFunctions | Self::Forms | Self::Autoscalers if !go::is_installed().await => {
                return Ok(None);
            }
            Self::Autoscalers => programs::autoscalers().await?,
            Self::Forms => programs::forms().await?,
            Self::RuleFunctions => String::from_utf8(go::run("rules").await?)?,
            Self::EmbeddedTypes => match embedded::types(real).await? {
                Some(text) => text,
                None => return Ok(None),
            },
            Self::Embedded => match embedded::example().await? {
                Some(text) => text,
                None => return Ok(None),
            },
            Self::Resources => shapes::resources(real).await?,
            Self::Shapes => shapes::shapes(real).await?,
            Self::Definitions(names) => definitions::text(real, names).await?,
            Self::Discovery => documents::discovery(real).await?,
            Self::OpenApi => documents::openapi(real).await?,
            Self::Bookmarks => bookmarks::text(real).await?,
            Self::Zones => zones::text(real).await?,
            Self::Roles => roles::text().await?,
            Self::Protobuf => programs::kubectl(real).await?,
        };
        Ok(Some(whole.lines().map(str::to_owned).enumerate().collect()))
    }
}

impl Recording {
    /// Its path.
    pub fn path(&self) -> PathBuf {
        root().join(&self.file)
    }

    /// The lines that are committed.
    ///
    /// # Errors
    /// If there is no such file; the message has the command that records it.
    pub fn committed(&self) -> Result<Vec<String>> {
        let text = fs::read_to_string(self.path());
        let text = text.with_context(|| {
            let Self { name, file, .. } = self;
            format!("cannot read `{file}`\n\nhint: record it: `cargo run -p fidelity -- record {name}`")
        })?;
        Ok(text.lines().map(str::to_owned).collect())
    }
}

/// The lines that are recorded.
#[derive(Clone, Copy, Debug)]
pub enum Pick<'a> {
    /// All.
    All,
    /// A random sample.
    Sample {
        /// The number of lines of each recording.
        count: usize,
        /// The same seed draws the same lines.
        seed: u64,
    },
    /// The lines at these positions.
    These(&'a [usize]),
}

impl Pick<'_> {
    /// The positions, in order, of a recording with `length` lines.
    pub fn of(&self, length: usize) -> Vec<usize> {
        match *self {
            Self::All => (0..length).collect(),
            Self::These(positions) => positions.iter().copied().filter(|at| *at < length).collect(),
            Self::Sample { count, seed } => {
                let mut drawn = fastrand::Rng::with_seed(seed).choose_multiple(0..length, count);
                drawn.sort_unstable();
                drawn
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_drawn_from_all_lines_and_a_seed_draws_it_again() {
        let sample = |seed| Pick::Sample { count: 5, seed }.of(100);
        assert_eq!(sample(1).len(), 5);
        assert_eq!(sample(1), sample(1));
        assert_ne!(sample(1), sample(2));
        assert_eq!(Pick::Sample { count: 5, seed: 1 }.of(3), [0, 1, 2]);
    }
}
