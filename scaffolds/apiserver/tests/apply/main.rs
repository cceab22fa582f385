//! Server-side apply compared with the real server: random programs of writes, recorded from kube-apiserver 1.36 and
//! replayed without it; and properties that hold for every program.

mod builtin;
mod check;
mod dice;
mod program;
mod properties;
mod record;
mod scale;
mod server;
mod widget;

use program::Program;

#[test]
fn every_recorded_program_has_the_real_servers_results() {
    let programs = Program::all(include_str!("programs.json"));
    let wrong: Vec<String> = programs.iter().flat_map(check::check).collect();
    assert!(programs.len() > 30, "only {} programs", programs.len());
    assert!(wrong.is_empty(), "{} steps differ\n{}", wrong.len(), wrong.join("\n"));
}
