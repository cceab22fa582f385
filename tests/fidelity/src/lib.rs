//! Sends the same requests to the in-process API server and a real kube-apiserver, and compares the answers.
//!
//! A [`Program`] is a list of requests in a namespace of its own. It runs on a [`Target`], and [`normal::form`] makes
//! its [`Answer`]s comparable. Programs are written by hand (`probes/`, whose real answers are recorded for machines
//! without Go) or generated from a seed ([`random`]). A failing program is shrunk ([`shrink`]).

mod answer;
pub mod compare;
pub mod comparison;
pub mod normal;
mod program;
pub mod random;
pub mod recorded;
pub mod shrink;
mod target;

pub use answer::Answer;
pub use program::{Program, Step, probes};
pub use target::Target;
