//! kubewright scaffolds Kubernetes operators in Rust. Data flows one way: `cli` understands what was typed, `project` what it means,
//! `plan` which files that takes, `render` their text, `write` puts them on the disk.

pub mod cli;
pub mod plan;
pub mod project;
pub mod render;
pub mod write;

pub use cli::run;
