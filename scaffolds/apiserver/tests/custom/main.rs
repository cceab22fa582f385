//! CustomResourceDefinitions and what follows from them, answer by answer beside what a real kube-apiserver 1.36 answered
//! to the same requests (`recorded/`). To record anew, with an empty server's address and token:
//!
//! `KUBEWRIGHT_SERVER=… KUBEWRIGHT_TOKEN=… cargo test -p kubewright-apiserver --test custom -- --ignored`

mod definitions;
mod documents;
mod exchange;
mod objects;
mod ours;
mod real;
mod watches;
