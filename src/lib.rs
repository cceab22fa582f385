//! kubewright scaffolds Kubernetes operators in Rust. Data flows one way: `cli` parses the command line, `project`
//! models the project, `plan` lists its files, `render` generates their texts, `write` writes them to disk.

pub mod cli;
pub mod plan;
pub mod project;
pub mod render;
pub mod write;

pub use cli::run;
