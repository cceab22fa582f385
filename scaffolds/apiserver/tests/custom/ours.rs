//! The in-process server.

use crate::exchange::{Answer, Step};
use bytes::Bytes;
use http::{Request, header};
use http_body_util::{BodyExt, Full};
use kubewright_apiserver::{ApiServer, Options, clock::Clock};
use std::time::{Duration, UNIX_EPOCH};
use tower::ServiceExt;

/// Approximately the time of the recordings, relative to which ages are computed.
const RECORDED: Duration = Duration::from_secs(1_795_262_400);

/// The answers of a new server.
pub async fn run(steps: &[Step]) -> Vec<Answer> {
    let clock = Clock::starting_at(UNIX_EPOCH + RECORDED);
    let address = "127.0.0.1:6443".to_owned();
    let server = ApiServer::new(Options {
        clock,
        address,
        ..Options::default()
    });
    let mut answers = Vec::new();
    for step in steps {
        answers.push(ask(&server, step).await);
    }
    answers
}

pub async fn ask(server: &ApiServer, step: &Step) -> Answer {
    let request = Request::builder()
        .method(step.method)
        .uri(&step.path)
        .header(header::ACCEPT, step.accept)
        .header(header::CONTENT_TYPE, step.media)
        .header(header::USER_AGENT, "agent/1.0")
        .body(Full::new(Bytes::from(step.body.clone())))
        .expect("a request");
    let answer = server.service().oneshot(request).await.expect("never fails");
    let code = answer.status().as_u16();
    let warnings = answer
        .headers()
        .get_all(header::WARNING)
        .iter()
        .map(|it| it.to_str().expect("text").to_owned());
    let warnings = warnings.collect();
    let body = answer.into_body().collect().await.expect("a body").to_bytes();
    Answer {
        code,
        warnings,
        body: String::from_utf8(body.to_vec()).expect("UTF-8"),
    }
}
