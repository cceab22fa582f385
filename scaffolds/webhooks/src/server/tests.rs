//! The server as API servers call it.

mod flood;
mod memory;

use super::*;

#[test]
fn the_time_limit_is_that_of_the_query_or_the_default() {
    let limit = |uri: &'static str| limit(&Uri::from_static(uri));
    assert_eq!(limit("/x?timeout=3s"), Duration::from_secs(3));
    assert_eq!(limit("/x?a=b&timeout=0m29s"), Duration::from_secs(29));
    for longer in ["/x?timeout=31s", "/x?timeout=1m30s", "/x?timeout=2562047h"] {
        assert_eq!(limit(longer), LONGEST, "{longer}");
    }
    for none in [
        "/x",
        "/x?timeout=",
        "/x?timeout=soon",
        "/x?timeout=0s",
        "/x?timeout=-1s",
    ] {
        assert_eq!(limit(none), TIMEOUT, "{none}");
    }
}
