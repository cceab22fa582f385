//! Server-side apply: properties that hold for every program of writes. The real server's answers to random ones are
//! recorded as the probes `managers` of `tests/fidelity`.

mod dice;
mod properties;
mod scale;
mod widget;
