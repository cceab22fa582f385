//! The command line as its users see it: each command, its inputs and what surrounds it, and files of the projects that it makes.

mod abuse;
mod apiserver;
mod behaviour;
#[path = "../cli/mod.rs"]
mod cli;
mod dockerfile;
mod doctor;
mod edit;
mod external;
mod inputs;
mod makefile;
mod patterns;
mod surroundings;
mod transaction;
mod versions;
