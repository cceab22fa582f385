//! CustomResourceDefinitions and their effects, compared answer by answer with those of a real kube-apiserver 1.36 to
//! the same requests (`recorded/`). To record again, with the address and token of an empty server:
//!
//! `KUBEWRIGHT_SERVER=… KUBEWRIGHT_TOKEN=… cargo test -p kubewright-apiserver --test custom -- --ignored`

mod definitions;
mod documents;
mod exchange;
mod objects;
mod ours;
mod real;
mod watches;
