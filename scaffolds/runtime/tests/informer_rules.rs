//! What an informer promises beyond the hazards: what is told and how often, scopes, indexes, resync, its end.

mod informer_server;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use informer_server::{Diary, FooBar, Running, Server, key, namespaces, settle};
use kube::core::PartialObjectMeta;
use kubewright_runtime::{Delta, Informer, InformerConfig};
use tokio::{runtime::Handle, time::sleep};

#[tokio::test(start_paused = true)]
async fn a_version_is_told_once_however_often_the_watch_breaks() {
    let server = Server::new();
    server.put("a", "one", "x");
    server.put("a", "two", "x");
    let informer = server.informer(InformerConfig {
        page_size: 1,
        ..Default::default()
    });
    let diary = Diary::of(&informer);
    let running = Running::start(&informer);
    informer.synced().await;
    assert_eq!(diary.read(), ["listed one@1", "listed two@2"]);
    for _ in 0..5 {
        server.compact();
        sleep(Duration::from_secs(30)).await;
        server.disconnect();
        settle().await;
    }
    assert_eq!((diary.read(), server.lists()), (vec![], 12), "two pages a list");
    server.disconnect();
    server.put("a", "one", "y");
    settle().await;
    assert_eq!(diary.read(), ["updated one@1-8"], "resumed without a list");
    assert_eq!(server.lists(), 12);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_object_recreated_unseen_is_told_as_two() {
    let server = Server::new();
    server.put("a", "one", "x");
    let informer = server.informer(InformerConfig::default());
    let diary = Diary::of(&informer);
    let running = Running::start(&informer);
    informer.synced().await;
    server.set_down(true);
    server.delete("a", "one");
    server.put("a", "one", "y");
    server.compact();
    server.set_down(false);
    sleep(Duration::from_secs(40)).await;
    assert_eq!(diary.read(), ["listed one@1", "deleted one@1", "added one@3"]);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn only_the_namespaces_of_the_scope_are_watched() {
    let server = Server::new();
    for namespace in ["a", "b", "c"] {
        server.put(namespace, "one", "x");
    }
    let some = server.informer(InformerConfig {
        scope: namespaces(&["a", "c"]),
        ..Default::default()
    });
    let none = server.informer(InformerConfig {
        scope: namespaces(&[]),
        ..Default::default()
    });
    let running = [Running::start(&some), Running::start(&none)];
    some.synced().await;
    none.synced().await;
    let store = some.store();
    assert!(store.get(&key("a", "one")).is_some() && store.get(&key("b", "one")).is_none());
    assert_eq!((store.len(), none.store().len(), server.lists()), (2, 0, 2));
    // A list of one namespace says nothing about another.
    server.compact();
    sleep(Duration::from_secs(3)).await;
    assert_eq!(store.len(), 2);
    for running in running {
        running.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn selectors_pages_and_bookmarks_are_asked_of_the_server() {
    let server = Server::new();
    let informer = server.informer(InformerConfig {
        label_selector: Some("app=web".to_owned()),
        field_selector: Some("metadata.name=one".to_owned()),
        ..Default::default()
    });
    let running = Running::start(&informer);
    informer.synced().await;
    settle().await;
    for part in ["labelSelector=app%3Dweb", "fieldSelector=metadata.name%3Done"] {
        assert_eq!(server.requests(part).len(), 2, "list and watch");
    }
    assert_eq!(server.requests("limit=500").len(), 1);
    assert_eq!(server.requests("allowWatchBookmarks=true").len(), 1);
    assert!(
        server.requests("resourceVersion=0&").is_empty(),
        "a quorum read: never older than what was seen before"
    );
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn metadata_alone_can_be_watched() {
    let server = Server::new();
    server.put_broken("a", "one");
    let informer = Informer::<PartialObjectMeta<FooBar>>::new(server.client(), InformerConfig::default());
    let running = Running::start(&informer);
    informer.synced().await;
    assert!(
        informer.store().get(&key("a", "one")).is_some(),
        "of the rest nothing is decoded"
    );
    let accepted = server.accepted();
    assert!(
        !accepted.is_empty() && accepted.iter().all(|types| types.contains("PartialObjectMetadata")),
        "{accepted:?}"
    );
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn resync_reminds_of_every_object_once_in_ten_hours() {
    let server = Server::new();
    server.put("a", "one", "x");
    server.put("a", "two", "x");
    let informer = server.informer(InformerConfig::default());
    let never = server.informer(InformerConfig {
        resync: None,
        ..Default::default()
    });
    let (diary, quiet) = (Diary::of(&informer), Diary::of(&never));
    let running = [Running::start(&informer), Running::start(&never)];
    informer.synced().await;
    never.synced().await;
    assert_eq!(diary.read(), quiet.read());
    sleep(Duration::from_secs(9 * 3600 - 10)).await;
    assert_eq!(diary.read(), Vec::<String>::new());
    sleep(Duration::from_secs(2 * 3600 + 20)).await;
    let mut told = diary.read();
    told.sort();
    assert_eq!(told, ["resync one@1", "resync two@2"]);
    assert_eq!(
        (quiet.read(), server.lists()),
        (vec![], 2),
        "nothing is asked of the server"
    );
    for running in running {
        running.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn indexes_follow_every_change_and_may_be_added_late() {
    let server = Server::new();
    for n in 0..10 {
        server.put("a", &n.to_string(), if n % 2 == 0 { "even" } else { "odd" });
    }
    let informer = server.informer(InformerConfig::default());
    let by_target = |foobar: &FooBar| match foobar.spec.target.as_str() {
        "careless" => panic!("an index function"),
        target => vec![target.to_owned(), "any".to_owned()],
    };
    informer.add_index("early", by_target).expect("the first");
    let running = Running::start(&informer);
    informer.synced().await;
    informer.add_index("late", by_target).expect("the first");
    let refused = informer
        .add_index("late", |_| vec![])
        .err()
        .map(|error| error.to_string());
    assert_eq!(refused.as_deref(), Some("there is an index `late` already"));
    let store = informer.store();
    let count = |value: &str| ["early", "late"].map(|index| store.by_index(index, value).len());
    assert_eq!(
        (count("even"), count("odd"), count("any"), count("none")),
        ([5; 2], [5; 2], [10; 2], [0; 2])
    );
    server.put("a", "0", "odd");
    server.put("a", "1", "careless");
    server.put_broken("a", "3");
    server.delete("a", "5");
    settle().await;
    assert_eq!((count("even"), count("odd"), count("any")), ([4; 2], [3; 2], [7; 2]));
    assert_eq!(
        (store.len(), store.has_index("late"), store.has_index("none")),
        (8, true, false)
    );
    server.put("a", "1", "even");
    settle().await;
    assert_eq!(count("even"), [5; 2]);
    running.stop().await;
}

#[test]
#[should_panic(expected = "the store has no index `owner`")]
fn asking_an_index_that_is_not_there_is_loud() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    let _guard = runtime.enter();
    Server::new()
        .informer(InformerConfig::default())
        .store()
        .by_index("owner", "x");
}

#[tokio::test(start_paused = true)]
async fn an_object_the_transform_panics_on_costs_only_itself() {
    let server = Server::new();
    server.put("a", "bad", "careless");
    server.put("a", "good", "x");
    let informer = server.informer(InformerConfig {
        transform: Some(Arc::new(|foobar: &mut FooBar| {
            assert_ne!(foobar.spec.target, "careless")
        })),
        ..Default::default()
    });
    let diary = Diary::of(&informer);
    let running = Running::start(&informer);
    informer.synced().await;
    assert_eq!(diary.read(), ["invalid bad", "listed good@2"]);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_handler_may_write_and_subscribe_and_still_all_is_told_in_order() {
    let server = Server::new();
    let informer = server.informer(InformerConfig::default());
    let (first, late) = (Diary::of(&informer), Diary::default());
    let once = Mutex::new(Some((informer.clone(), server.clone(), late.clone())));
    informer.subscribe(move |_: &Delta<FooBar>| {
        if let Some((informer, server, late)) = once.lock().expect("not poisoned").take() {
            informer.observe_write(server.put("a", "two", "x"), None);
            informer.subscribe(late.writer());
            informer.observe_write(server.put("a", "two", "y"), None);
        }
    });
    let last = Diary::of(&informer);
    let running = Running::start(&informer);
    informer.synced().await;
    server.put("a", "one", "x");
    settle().await;
    let all = ["added one@1", "added two@2", "updated two@2-3"];
    assert_eq!(
        (first.read(), last.read()),
        (all.map(str::to_owned).to_vec(), all.map(str::to_owned).to_vec())
    );
    let mut told = late.read();
    told[..2].sort();
    assert_eq!(told, ["listed one@1", "listed two@2", "updated two@2-3"]);
    running.stop().await;
}

/// Many threads write and observe their writes while the watch shows the same: every subscriber is told each object's
/// versions in their order, each once, and ends with what is stored.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn writers_on_many_threads_keep_the_order() {
    let server = Server::new();
    let informer = server.informer(InformerConfig::default());
    let told: Arc<Mutex<Vec<(String, u64)>>> = Arc::default();
    let version = |object: &FooBar| {
        object
            .metadata
            .resource_version
            .as_deref()
            .and_then(|version| version.parse().ok())
    };
    informer.subscribe({
        let told = told.clone();
        move |delta: &Delta<FooBar>| {
            let version = delta.object().and_then(|object| version(object)).unwrap_or_default();
            told.lock()
                .expect("not poisoned")
                .push((delta.key().name().to_owned(), version));
        }
    });
    let running = Running::start(&informer);
    informer.synced().await;
    let writers = (0..8_u32).map(|writer| {
        let (server, informer) = (server.clone(), informer.clone());
        tokio::spawn(async move {
            for n in 0..500 {
                let ours = server.put("a", &((writer + n) % 10).to_string(), "x");
                tokio::task::yield_now().await;
                assert!(informer.observe_write(ours.clone(), None));
                let stored = informer
                    .store()
                    .get(&key("a", &((writer + n) % 10).to_string()))
                    .expect("written");
                assert!(version(&stored) >= version(&ours), "one's own write is read");
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.expect("no writer panicked");
    }
    sleep(Duration::from_millis(200)).await;
    let told = told.lock().expect("not poisoned").clone();
    for object in informer.store().list() {
        let name = object.metadata.name.clone().unwrap_or_default();
        let versions: Vec<u64> = told
            .iter()
            .filter(|(of, _)| *of == name)
            .map(|(_, version)| *version)
            .collect();
        assert!(versions.is_sorted_by(|a, b| a < b), "{versions:?}");
        assert_eq!(versions.last().copied(), version(&object));
    }
    assert_eq!(informer.store().len(), 10);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn stopping_ends_every_task_whether_told_or_dropped() {
    let server = Server::new();
    server.refuse("c", Some((500, "out of order")));
    let config = || InformerConfig {
        scope: namespaces(&["a", "b", "c"]),
        ..Default::default()
    };
    let (told, dropped) = (server.informer(config()), server.informer(config()));
    let before = Handle::current().metrics().num_alive_tasks();
    let running = Running::start(&told);
    let second = Running::start(&told);
    let aborted = Running::start(&dropped);
    sleep(Duration::from_secs(60)).await;
    assert_eq!(Handle::current().metrics().num_alive_tasks(), before + 3 + 2 * 4);
    assert_eq!(
        server.requests("/namespaces/a/foobars?&limit").len(),
        2,
        "the second run of the same informer does nothing"
    );
    running.stop().await;
    second.stop().await;
    aborted.task.abort();
    assert!(aborted.task.await.is_err());
    tokio::task::yield_now().await;
    assert_eq!(Handle::current().metrics().num_alive_tasks(), before);
    server.put("a", "one", "x");
    settle().await;
    assert!(told.store().is_empty(), "nothing is watched any more");
}
