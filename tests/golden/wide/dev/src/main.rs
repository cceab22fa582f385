//! The operator on an API server in this process, which kubectl can use too: `make dev`. Tests run on it as well.

use std::process::ExitCode;

fn main() -> ExitCode {
    kubewright_apiserver::dev::run("foobar-operator")
}
