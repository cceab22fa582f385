//! The time at which certificates are made and replaced.

use http::{Request, header::DATE};
use k8s_openapi::jiff::fmt::rfc2822;
use kube::{Client, client::Body};

use super::{issue::SLACK, now};

/// The time of this machine; if it differs from the API server's by more than the [slack](SLACK) of certificates, the API server's,
/// which verifies them. Otherwise a replica whose clock is wrong would replace the certificates of the others, which would replace its
/// own, for ever. A server that sends no date is taken to have the time of this machine.
///
/// # Errors
///
/// If the API server cannot be reached.
pub(super) async fn shared_time(client: &Client) -> Result<i64, String> {
    let own = now();
    let failed = |error: &dyn std::fmt::Display| format!("the API server's time cannot be read: {error}");
    // Every answer has it, also one that refuses the request.
    let request = Request::get("/version").body(Body::empty());
    let request = request.map_err(|error| failed(&error))?;
    let answer = client.send(request).await.map_err(|error| failed(&error))?;
    let date = answer.headers().get(DATE).and_then(|date| date.to_str().ok());
    let servers = date.and_then(|date| rfc2822::parse(date).ok());
    let servers = servers.map(|date| date.timestamp().as_second());
    Ok(servers
        .filter(|time| time.abs_diff(own) > SLACK.unsigned_abs())
        .unwrap_or(own))
}

#[cfg(test)]
mod tests {
    use std::{convert::Infallible, future::ready};

    use http::Response;
    use k8s_openapi::jiff::Timestamp;
    use tower::service_fn;

    use super::*;

    /// The difference of the shared time from this machine's in hours, with a server whose date differs by so many seconds.
    async fn difference(servers: Option<i64>, code: u16) -> f64 {
        let time = now();
        let date = servers.map(|by| {
            let date = Timestamp::from_second(time + by).unwrap();
            rfc2822::DateTimePrinter::new()
                .timestamp_to_rfc9110_string(&date)
                .unwrap()
        });
        let service = service_fn(move |_: Request<Body>| {
            let answer = date
                .iter()
                .fold(Response::builder(), |answer, date| answer.header(DATE, date));
            ready(Ok::<_, Infallible>(answer.status(code).body(Body::empty()).unwrap()))
        });
        let shared = shared_time(&Client::new(service, "default")).await.unwrap();
        // Seconds may have passed.
        ((shared - time) as f64 / 3_600.0).round()
    }

    #[tokio::test]
    async fn a_machine_whose_clock_is_wrong_follows_the_api_server_s() {
        for hours in [-8, -2, 2, 8] {
            for code in [200, 403] {
                assert_eq!(difference(Some(hours * 3_600), code).await, hours as f64);
            }
        }
        for by in [None, Some(-1_800), Some(1_800)] {
            assert_eq!(difference(by, 200).await, 0.0);
        }
    }
}
