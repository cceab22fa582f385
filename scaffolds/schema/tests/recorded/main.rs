//! Replays of recordings: CRDs, values and validation rules have the outcome that a real kube-apiserver gave them, and rules of roles
//! that of controller-gen. `fidelity record` writes the recordings.

#[cfg(feature = "cel")]
mod cel;
mod control_plane;
mod dice;
mod made_up;
mod rbac;
mod server;
mod values;
