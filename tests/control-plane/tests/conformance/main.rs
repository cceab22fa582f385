//! The whole life of the generated operator on a real API server. `make conformance` runs it.
//!
//! The name of each case states what it checks. The cases share one control plane and one generated project, and run
//! one at a time, each in a namespace of its own. The operator is a local process in place of the deployed Pod: it has
//! the deployed service account's token, so it has exactly the permissions of the generated role.

mod accepted;
mod account;
mod as_operator;
mod broken;
mod flags;
mod kills;
mod kubernetes;
mod leadership;
mod life;
mod own_tests;
mod patterns;
mod permissions;
mod quiet;
mod replicas;
mod requests;
mod restarts;
mod stage;
mod undeploy;
