//! What follows from a CustomResourceDefinition that no probe can show: documents of which this server has a part of what
//! kube-apiserver has (`recorded/`, written by `fidelity record`), and watches.

mod documents;
mod exchange;
mod ours;
mod watches;
