//! The in-process server.

use super::exchange::{Answer, Step};
use bytes::Bytes;
use http::{Request, header};
use http_body_util::{BodyExt, Full};
use kubewright_apiserver::{ApiServer, Options};
use tower::ServiceExt;

/// The answers of a new server.
pub async fn run(steps: &[Step]) -> Vec<Answer> {
    let server = ApiServer::new(Options::default());
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
    let body = answer.into_body().collect().await.expect("a body").to_bytes();
    Answer {
        code,
        body: String::from_utf8(body.to_vec()).expect("UTF-8"),
    }
}
