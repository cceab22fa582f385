//! The whole life of the operator that kubewright generates, on a real API server. `make conformance` runs it.
//!
//! Each case tells its story in its name. They share one control plane and one generated project, and run one at a time, each
//! in a namespace of its own. The operator is a local process that stands for the Pod of the deployed Deployment: it
//! has the deployed service account's token, so that it can do what the generated role lets it and nothing else.

mod accepted;
mod account;
mod broken;
mod flags;
mod kills;
mod leadership;
mod life;
mod own_tests;
mod patterns;
mod permissions;
mod quiet;
mod replicas;
mod restarts;
mod stage;
mod undeploy;
