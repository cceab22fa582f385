//! The operator as a process whose start does not end: it gets a signal to stop, once or twice, or counts as stuck. The
//! process is this test program, started again.

use std::{
    env,
    io::{BufRead, BufReader, Read},
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::Duration,
};

use clap::Parser;
use kubewright_runtime::{Operator, Options};

#[derive(Parser)]
struct Flags {
    #[command(flatten)]
    operator: Options,
}

/// Not a test of its own: an operator whose start never ends, in the way that the environment selects.
#[test]
#[ignore = "run by the tests below"]
fn an_operator_at_its_start() {
    let Ok(start) = env::var("KUBEWRIGHT_TEST_START") else {
        return;
    };
    let flags = ["operator", "--health-probe-bind-address=0"];
    let operator = Operator::new("op", Flags::parse_from(flags).operator);
    let code = operator.run(async |_| {
        println!("started");
        match start.as_str() {
            "waits" => std::future::pending().await,
            // As a computation does, or a blocking driver.
            _ => thread::sleep(Duration::from_secs(600)),
        }
        Ok(())
    });
    println!("ended: {code:?}");
}

/// The operator, once its start has begun.
fn operator(start: &str) -> (Child, impl Iterator<Item = String>) {
    let (process, test) = (std::process::id(), thread::current().id());
    let kubeconfig = env::temp_dir().join(format!("kubewright-signals-{start}-{process}-{test:?}"));
    let text = "apiVersion: v1\nkind: Config\ncurrent-context: a\n\
                clusters: [{name: a, cluster: {server: 'http://127.0.0.1:9'}}]\n\
                contexts: [{name: a, context: {cluster: a, user: a}}]\nusers: [{name: a, user: {}}]\n";
    std::fs::write(&kubeconfig, text).unwrap();
    let mut child = Command::new(env::current_exe().unwrap())
        .args([
            "--exact",
            "signals::an_operator_at_its_start",
            "--ignored",
            "--nocapture",
        ])
        .env("KUBEWRIGHT_TEST_START", start)
        .env("KUBECONFIG", &kubeconfig)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .map_while(Result::ok);
    assert!(lines.any(|line| line.ends_with("started")));
    std::fs::remove_file(kubeconfig).unwrap();
    (child, lines)
}

fn terminate(child: &Child) {
    let sent = Command::new("kill").arg(child.id().to_string()).status().unwrap();
    assert!(sent.success());
}

/// Waits until the operator's log contains this.
fn wait_for_log(child: &mut Child, what: &str) {
    let mut log = BufReader::new(child.stderr.take().unwrap())
        .lines()
        .map_while(Result::ok);
    assert!(log.any(|line| line.contains(what)));
    // The operator must not block on a full pipe.
    thread::spawn(move || log.count());
}

fn ended(mut child: Child) -> ExitStatus {
    child.wait().unwrap()
}

#[test]
fn a_signal_during_the_start_ends_the_process_with_success() {
    let (child, mut lines) = operator("waits");
    terminate(&child);
    assert!(lines.any(|line| line.contains("ended: ExitCode(unix_exit_status(0))")));
    assert!(ended(child).success());
}

#[test]
fn a_second_signal_ends_a_process_that_does_not_react_to_the_first() {
    let (mut child, _lines) = operator("blocks");
    terminate(&child);
    wait_for_log(&mut child, "received a signal to stop");
    terminate(&child);
    assert_eq!(ended(child).code(), Some(1));
}

/// It takes the 20 s after which a process counts as stuck.
#[test]
fn a_start_that_blocks_its_thread_makes_the_process_stuck_and_one_that_waits_does_not() {
    let (mut waits, _lines) = operator("waits");
    let (mut blocks, _lines) = operator("blocks");
    wait_for_log(&mut blocks, "`setup` has made no progress for 20s: /healthz fails");
    blocks.kill().unwrap();
    ended(blocks);
    let mut log = waits.stderr.take().unwrap();
    waits.kill().unwrap();
    ended(waits);
    let mut text = String::new();
    log.read_to_string(&mut text).unwrap();
    assert!(!text.contains("no progress"), "{text}");
}
