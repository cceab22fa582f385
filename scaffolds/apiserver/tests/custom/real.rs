//! Sends requests to the real server with curl.

use crate::exchange::{Answer, CRDS, Step};
use std::{
    io::Write,
    process::{Command, Stdio},
    thread::sleep,
    time::Duration,
};

/// Its answers. Waits for the effects of a definition, which take a moment.
pub fn run(steps: &[Step]) -> Vec<Answer> {
    steps
        .iter()
        .map(|step| {
            let mut answer = ask(step);
            // While it prepares to serve a changed definition.
            while answer.code == 429 {
                sleep(Duration::from_secs(1));
                answer = ask(step);
            }
            if step.path.starts_with(CRDS) && step.method != "GET" && !step.path.contains("dryRun") {
                sleep(Duration::from_millis(2500));
            }
            answer
        })
        .collect()
}

fn ask(step: &Step) -> Answer {
    let address = std::env::var("KUBEWRIGHT_SERVER").expect("KUBEWRIGHT_SERVER");
    let token = std::env::var("KUBEWRIGHT_TOKEN").expect("KUBEWRIGHT_TOKEN");
    let mut curl = Command::new("curl")
        .args([
            "-sk",
            "-i",
            "--http1.1",
            "-X",
            step.method,
            "-A",
            "agent/1.0",
            "--data-binary",
            "@-",
        ])
        .args([
            "-H",
            &format!("Authorization: Bearer {token}"),
            "-H",
            &format!("Content-Type: {}", step.media),
        ])
        .args([
            "-H",
            &format!("Accept: {}", step.accept),
            "-H",
            "Expect:",
            &format!("{address}{}", step.path),
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("curl");
    let mut stdin = curl.stdin.take().expect("a pipe");
    stdin.write_all(step.body.as_bytes()).expect("curl reads");
    drop(stdin);
    let output = curl.wait_with_output().expect("curl ends");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let (head, body) = text.split_once("\r\n\r\n").expect("headers");
    let code = head.split(' ').nth(1).and_then(|it| it.parse().ok()).expect("a code");
    let warnings = head.lines().filter_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("warning").then(|| value.to_owned())
    });
    Answer {
        code,
        warnings: warnings.collect(),
        body: body.to_owned(),
    }
}
