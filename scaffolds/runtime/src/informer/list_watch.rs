//! The requests of one source: a list in pages, then watches from its version, as one stream of events. client-go's
//! Reflector does the same.

use std::{fmt::Debug, io::ErrorKind, time::Duration, vec};

use futures::{
    Stream, StreamExt,
    stream::{self, BoxStream},
};
use kube::{
    Api, Error, Resource,
    api::{ListParams, WatchParams},
    core::WatchEvent,
};
use serde::de::DeserializeOwned;
use tokio::time::{Instant, timeout};
use tracing::debug;

use crate::error::asked_delay;

/// The time after which the API server is asked to end a watch (kube's default).
const WATCHED: u32 = 290;
/// The time after which a watch without an event is taken for dead: the server has ended it before.
const SILENT: Duration = Duration::from_secs(WATCHED as u64 + 5);
/// A watch that has lasted this long has ended because of its time.
const FULL: Duration = Duration::from_secs(WATCHED as u64 - 5);
/// A watch that ends before this time without an event has failed (client-go's rule): a server or proxy that ends each watch at once
/// would otherwise be asked again without a pause.
const SHORTEST: Duration = Duration::from_secs(1);

/// An event of a source: a part of a list, or a change after it.
#[derive(Debug)]
pub(super) enum ListWatchEvent<K> {
    ListBegins,
    Listed(K),
    /// Objects that were not listed do not exist.
    ListEnds,
    Changed(K),
    Deleted(K),
}

/// The reason for which a list or a watch ended.
#[derive(Debug)]
pub(super) enum ListWatchError {
    List(Error),
    /// A watch did not start, or ended early.
    Watch(Error),
    /// A watch ended too soon, without an event.
    Short,
    /// A list or an object had no `resourceVersion`, without which nothing can be watched.
    NoVersion,
}

/// The longest delay that a server can ask for. API priority and fairness asks for a second; a proxy that asks for an hour
/// would leave the cache an hour old.
const LONGEST_ASKED_DELAY: Duration = Duration::from_secs(60);

impl ListWatchError {
    /// Whether the server's history no longer contains the version of the watch: a new list is enough then. A list that fails with
    /// the same code is a failure.
    pub(super) fn is_expired(&self) -> bool {
        matches!(self, Self::Watch(Error::Api(status)) if status.code == 410)
    }

    /// The time for which the server asks not to repeat the request.
    pub(super) fn asked_delay(&self) -> Duration {
        match self {
            Self::List(error) | Self::Watch(error) => asked_delay(error).min(LONGEST_ASKED_DELAY),
            Self::Short | Self::NoVersion => Duration::ZERO,
        }
    }

    /// Whether the server answered 404: it does not serve the kind, or is no API server.
    pub(super) fn is_not_found(&self) -> bool {
        matches!(self, Self::List(Error::Api(status)) | Self::Watch(Error::Api(status)) if status.code == 404)
    }
}

type Watched<K> = BoxStream<'static, Result<WatchEvent<K>, Error>>;

enum Phase<K> {
    /// The next request is a list.
    Unlisted,
    /// The objects of a page, the request for the next page, and the version of the list.
    Listing(vec::IntoIter<K>, Option<ListParams>, Option<String>),
    /// The next request is a watch from this version.
    Listed(String),
    /// A watch, the version of what it has shown last, and its start as long as it has shown nothing.
    Watching(Watched<K>, String, Option<Instant>),
    /// A watch has ended after this version, without an error.
    Ended(String),
}

/// Lists and watches forever: after an error it continues with a watch from the last version, or with a list if that version
/// is too old or an event was not understood. After a watch that has ended without an error, it continues with a list if `relists`,
/// called with whether the server has ended the watch before its time, returns true. The delay between attempts is the caller's.
pub(super) fn list_watch<K>(
    api: Api<K>,
    params: ListParams,
    relists: impl FnMut(bool) -> bool,
) -> impl Stream<Item = Result<ListWatchEvent<K>, ListWatchError>>
where
    K: Resource + Clone + Debug + DeserializeOwned + Send + 'static,
{
    // `unfold` keeps a request that is under way when its caller stops waiting for it.
    let start = (api, params, relists, Phase::Unlisted, Instant::now());
    stream::unfold(start, async |(api, params, mut relists, mut phase, mut began)| {
        loop {
            if matches!(phase, Phase::Listed(_)) {
                began = Instant::now();
            }
            let (item, next) = step(&api, &params, phase).await;
            phase = match next {
                Phase::Ended(_) if relists(began.elapsed() < FULL) => Phase::Unlisted,
                Phase::Ended(version) => Phase::Listed(version),
                next => next,
            };
            if let Some(item) = item {
                return Some((item, (api, params, relists, phase, began)));
            }
        }
    })
}

type Step<K> = (Option<Result<ListWatchEvent<K>, ListWatchError>>, Phase<K>);

async fn step<K>(api: &Api<K>, params: &ListParams, phase: Phase<K>) -> Step<K>
where
    K: Resource + Clone + Debug + DeserializeOwned + Send + 'static,
{
    use ListWatchEvent::{Changed, Deleted, ListBegins, ListEnds, Listed};

    match phase {
        Phase::Unlisted => (
            Some(Ok(ListBegins)),
            Phase::Listing(Vec::new().into_iter(), Some(params.clone()), None),
        ),
        Phase::Listing(mut page, next, version) => match (page.next(), next) {
            (Some(object), next) => (Some(Ok(Listed(object))), Phase::Listing(page, next, version)),
            (None, Some(next)) => match list_page(api, next).await {
                Ok(page) => (None, Phase::Listing(page.objects.into_iter(), page.next, page.version)),
                Err(error) => (Some(Err(error)), Phase::Unlisted),
            },
            (None, None) => match version {
                Some(version) => (Some(Ok(ListEnds)), Phase::Listed(version)),
                None => (Some(Err(ListWatchError::NoVersion)), Phase::Unlisted),
            },
        },
        Phase::Listed(version) => match api.watch(&watch_params(params), &version).await {
            Ok(watch) => (None, Phase::Watching(watch.boxed(), version, Some(Instant::now()))),
            Err(error) => lost(error, version),
        },
        Phase::Watching(mut watch, version, silent_since) => match timeout(SILENT, watch.next()).await {
            Ok(Some(Ok(WatchEvent::Added(object) | WatchEvent::Modified(object)))) => shown(Changed, object, watch),
            Ok(Some(Ok(WatchEvent::Deleted(object)))) => shown(Deleted, object, watch),
            Ok(Some(Ok(WatchEvent::Bookmark(mark)))) => {
                (None, Phase::Watching(watch, mark.metadata.resource_version, None))
            }
            Ok(Some(Ok(WatchEvent::Error(status)))) => lost(Error::Api(status.boxed()), version),
            // A connection that was reset ends the watch, as one that was closed does.
            Ok(Some(Err(Error::ReadEvents(why))))
                if why.kind() != ErrorKind::InvalidData && !is_short(silent_since) =>
            {
                debug!("a watch ended: {why}");
                (None, Phase::Ended(version))
            }
            Ok(Some(Err(error))) => lost(error, version),
            Ok(None) if is_short(silent_since) => (Some(Err(ListWatchError::Short)), Phase::Listed(version)),
            Ok(None) | Err(_) => (None, Phase::Ended(version)),
        },
        Phase::Ended(version) => (None, Phase::Listed(version)),
    }
}

/// Whether a watch that has been silent since its start, if it has, is [too short](SHORTEST).
fn is_short(silent_since: Option<Instant>) -> bool {
    silent_since.is_some_and(|start| start.elapsed() < SHORTEST)
}

/// A page of a list.
pub(super) struct ListPage<K> {
    pub(super) objects: Vec<K>,
    /// The request for the next page.
    pub(super) next: Option<ListParams>,
    version: Option<String>,
}

/// Reads the page that a request is for.
pub(super) async fn list_page<K>(api: &Api<K>, asked: ListParams) -> Result<ListPage<K>, ListWatchError>
where
    K: Clone + Debug + DeserializeOwned,
{
    let page = api.list(&asked).await.map_err(ListWatchError::List)?;
    let set = |text: Option<String>| text.filter(|text| !text.is_empty());
    Ok(ListPage {
        objects: page.items,
        next: set(page.metadata.continue_).map(|token| asked.continue_token(&token)),
        version: set(page.metadata.resource_version),
    })
}

fn watch_params(params: &ListParams) -> WatchParams {
    WatchParams {
        label_selector: params.label_selector.clone(),
        field_selector: params.field_selector.clone(),
        timeout: Some(WATCHED),
        bookmarks: true,
        send_initial_events: false,
    }
}

fn shown<K: Resource>(event: fn(K) -> ListWatchEvent<K>, object: K, watch: Watched<K>) -> Step<K> {
    match object
        .meta()
        .resource_version
        .clone()
        .filter(|version| !version.is_empty())
    {
        Some(version) => (Some(Ok(event(object))), Phase::Watching(watch, version, None)),
        None => (Some(Err(ListWatchError::NoVersion)), Phase::Unlisted),
    }
}

/// After a watch from this version has failed. An event that is not understood would come again with the same version.
fn lost<K>(error: Error, version: String) -> Step<K> {
    let needs_list = match &error {
        // kube takes most lines that are no event for an empty status.
        Error::Api(status) => [0, 410].contains(&status.code),
        Error::SerdeError(_) => true,
        _ => false,
    };
    let next = match needs_list {
        true => Phase::Unlisted,
        false => Phase::Listed(version),
    };
    (Some(Err(ListWatchError::Watch(error))), next)
}

#[cfg(test)]
mod tests {
    use std::{
        convert::Infallible,
        future::ready,
        sync::{Arc, Mutex},
    };

    use bytes::Bytes;
    use http::{Request, Response};
    use http_body::Frame;
    use http_body_util::StreamBody;
    use k8s_openapi::api::core::v1::ConfigMap;
    use kube::{Client, client::Body};
    use tower::service_fn;

    use super::*;
    use crate::informer::relist::Relist;

    /// The end of a body whose connection is reset.
    const RESET: &str = "RESET";
    const LIST: &str = r#"{"metadata": {"resourceVersion": "5"}, "items": []}"#;

    /// The events while a server gives these answers, one after the other; and the requests: `list`, or the version of a watch.
    async fn events(answers: &[(u16, &str)], count: usize) -> (Vec<String>, Vec<String>) {
        events_if(false, answers, count).await
    }

    async fn events_if(relists: bool, answers: &[(u16, &str)], count: usize) -> (Vec<String>, Vec<String>) {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let owned = answers.iter().map(|(code, text)| (*code, (*text).to_owned()));
        let (seen, answers) = (asked.clone(), Mutex::new(owned.collect::<Vec<_>>().into_iter()));
        let service = service_fn(move |request: Request<Body>| {
            let mut pairs = request.uri().query().unwrap_or_default().split('&');
            let version = pairs.find_map(|pair| pair.strip_prefix("resourceVersion="));
            seen.lock().unwrap().push(version.unwrap_or("list").to_owned());
            let (code, text) = answers.lock().unwrap().next().unwrap_or_default();
            let sent = Frame::data(Bytes::from(text.trim_end_matches(RESET).to_owned()));
            let reset = text.ends_with(RESET).then(|| Err(ErrorKind::ConnectionReset.into()));
            let frames = [Ok::<_, std::io::Error>(sent)].into_iter().chain(reset);
            let answer = Response::builder().status(code);
            let answer = answer.body(StreamBody::new(stream::iter(frames))).unwrap();
            ready(Ok::<_, Infallible>(answer))
        });
        let api = Api::<ConfigMap>::all(Client::new(service, "default"));
        let mut relist = Relist::new();
        let events = list_watch(api, ListParams::default(), |early| relists && relist.follows(early)).take(count);
        let named = events.map(|event| match event {
            Ok(ListWatchEvent::ListBegins) => "begins".to_owned(),
            Ok(ListWatchEvent::ListEnds) => "ends".to_owned(),
            Ok(ListWatchEvent::Listed(object)) => format!("listed {}", object.metadata.name.unwrap()),
            Ok(ListWatchEvent::Changed(object)) => format!("changed {}", object.metadata.name.unwrap()),
            Ok(ListWatchEvent::Deleted(object)) => format!("deleted {}", object.metadata.name.unwrap()),
            Err(error) if error.is_expired() => "expired".to_owned(),
            Err(ListWatchError::NoVersion) => "no version".to_owned(),
            Err(ListWatchError::Short) => "short".to_owned(),
            Err(_) => "error".to_owned(),
        });
        let named = named.collect().await;
        let asked = asked.lock().unwrap().clone();
        (named, asked)
    }

    /// The line of an event about an object.
    fn line(event: &str, name: &str, version: &str) -> String {
        format!(
            r#"{{"type": "{event}", "object": {{"metadata": {{"name": "{name}", "resourceVersion": "{version}"}}}}}}"#
        ) + "\n"
    }

    const GONE: &str = r#"{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 410, "reason": "Expired", "message": "too old"}"#;

    #[tokio::test]
    async fn a_watch_continues_from_what_it_has_shown_last() {
        let mark = r#"{"type": "BOOKMARK", "object": {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"resourceVersion": "9", "annotations": {}}}}"#;
        let answers = [
            (
                200,
                r#"{"metadata": {"resourceVersion": "5"}, "items": [{"metadata": {"name": "a"}}]}"#,
            ),
            (200, &*line("MODIFIED", "a", "7")),
            (200, mark),
            (500, "broken"),
            (200, &*line("DELETED", "a", "11")),
        ];
        let (events, asked) = events(&answers, 6).await;
        assert_eq!(
            events,
            ["begins", "listed a", "ends", "changed a", "error", "deleted a"]
        );
        assert_eq!(asked, ["list", "5", "7", "9", "9"]);
    }

    #[tokio::test]
    async fn a_version_that_is_too_old_and_an_event_that_is_none_need_a_new_list() {
        let event = format!(r#"{{"type": "ERROR", "object": {GONE}}}"#);
        let nameless = line("ADDED", "a", "");
        for (answer, error) in [
            ((410, GONE), "expired"),
            ((200, &*event), "expired"),
            ((200, "{\"type\": 1}\n"), "error"),
            ((200, &*nameless), "no version"),
        ] {
            let (events, asked) = events(&[(200, LIST), answer, (200, LIST)], 5).await;
            assert_eq!(events, ["begins", "ends", error, "begins", "ends"]);
            assert_eq!(asked, ["list", "5", "list"], "{error}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_watch_that_ends_at_once_without_an_event_is_a_failure() {
        let event = line("MODIFIED", "a", "7");
        let answers = [(200, LIST), (200, ""), (200, &*event), (200, "")];
        let (events, asked) = events(&answers, 5).await;
        assert_eq!(events, ["begins", "ends", "short", "changed a", "short"]);
        assert_eq!(asked, ["list", "5", "5", "7"], "one failure for each watch");
    }

    #[tokio::test(start_paused = true)]
    async fn a_watch_whose_connection_is_reset_continues_as_one_that_was_closed() {
        let event = line("MODIFIED", "a", "7") + RESET;
        let answers = [(200, LIST), (200, &*event), (200, &*event), (200, RESET)];
        let (events, asked) = events(&answers, 5).await;
        assert_eq!(events, ["begins", "ends", "changed a", "changed a", "error"]);
        assert_eq!(asked, ["list", "5", "7", "7"]);
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_watch_that_has_ended_is_followed_by_a_list_on_request() {
        let event = line("MODIFIED", "a", "7");
        let answers = [
            (200, LIST),
            (200, &*event),
            (200, LIST),
            (500, "broken"),
            (200, &*event),
            (200, &*event),
        ];
        let (events, asked) = events_if(true, &answers, 8).await;
        assert_eq!(events[2..7], ["changed a", "begins", "ends", "error", "changed a"]);
        assert_eq!(asked, ["list", "5", "list", "5", "5", "7"]);
    }

    #[tokio::test]
    async fn a_list_that_fails_is_read_from_its_first_page() {
        let page = r#"{"metadata": {"resourceVersion": "5", "continue": "c"}, "items": [{"metadata": {"name": "a"}}]}"#;
        let (events, asked) = events(&[(200, page), (410, GONE), (200, LIST)], 5).await;
        assert_eq!(events, ["begins", "listed a", "error", "begins", "ends"]);
        assert_eq!(asked, ["list"; 3]);
    }
}
