//! Sends requests to the real server with curl: `KUBEWRIGHT_SERVER` is its address, `KUBEWRIGHT_TOKEN` an
//! administrator's bearer token.

use std::{
    io::Write,
    process::{Command, Stdio},
};

use serde_json::Value;

pub struct Answer {
    pub code: u64,
    pub body: Value,
    /// In RFC 3339.
    pub now: String,
}

pub fn send(method: &str, path: &str, media: &str, body: &Value) -> Answer {
    let address = std::env::var("KUBEWRIGHT_SERVER").expect("KUBEWRIGHT_SERVER");
    let token = std::env::var("KUBEWRIGHT_TOKEN").expect("KUBEWRIGHT_TOKEN");
    let mut curl = Command::new("curl")
        .args([
            "-sk",
            "-X",
            method,
            "-A",
            "agent/1.0",
            "-w",
            "\n%{http_code} %header{date}",
            "--data-binary",
            "@-",
        ])
        .args([
            "-H",
            &format!("Authorization: Bearer {token}"),
            "-H",
            &format!("Content-Type: {media}"),
        ])
        .arg(format!("{address}{path}"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("curl");
    let mut stdin = curl.stdin.take().expect("a pipe");
    stdin.write_all(body.to_string().as_bytes()).expect("curl reads");
    drop(stdin);
    let output = curl.wait_with_output().expect("curl ends");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let (body, trailer) = text.rsplit_once('\n').expect("the trailer");
    let (code, date) = trailer.split_once(' ').expect("a code and a date");
    let code = code.parse().expect("a code");
    Answer {
        code,
        body: serde_json::from_str(body).unwrap_or_default(),
        now: rfc3339(date),
    }
}

/// Converts `Sat, 21 Nov 2026 11:12:00 GMT` to RFC 3339.
fn rfc3339(date: &str) -> String {
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let parts: Vec<&str> = date.split_whitespace().collect();
    let [_, day, month, year, time, _] = parts[..] else {
        panic!("no date: {date}")
    };
    let month = MONTHS.find(month).expect("a month") / 3 + 1;
    format!("{year}-{month:02}-{day}T{time}Z")
}
