//! Sends the same requests to the in-process API server and a real kube-apiserver, and compares the answers.
//!
//! A [`Program`] is a list of requests in a namespace of its own. It is run on a [`Target`]; the [`Answer`]s are made
//! comparable by [`normal::form`]. Programs are written by hand (`probes/`, whose real answers are recorded for
//! machines without Go) or drawn at random from a seed ([`random`]); a failing one is shrunk ([`shrink`]).
//! [`recording`] is about all files of the tree that a real server's answers are recorded in.

mod answer;
pub mod compare;
pub mod comparison;
mod converter;
mod hook;
pub mod normal;
mod program;
pub mod random;
pub mod recording;
pub mod shrink;
mod target;

pub use answer::Answer;
pub use hook::Hook;
pub use program::{Program, Step, probes};
pub use target::Target;
