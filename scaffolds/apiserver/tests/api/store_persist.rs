//! A store in a directory: acknowledged changes survive a SIGKILL, and no second process can open it meanwhile.
#![cfg(feature = "persist")]

use bytes::Bytes;
use futures::{FutureExt, StreamExt};
use kubewright_apiserver::{
    OpenError,
    testing::store::{HISTORY, Key, Range, Store},
};
use std::{
    env,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, Command, Stdio},
};

/// The directory of a child process; only set for children.
const CHILD: &str = "KUBEWRIGHT_STORE_TEST_DIRECTORY";

fn text(revision: u64) -> Bytes {
    Bytes::from(format!(r#"{{"metadata":{{"resourceVersion":"{revision}"}}}}"#))
}

/// Not a test of its own: the child process that is killed. It prints each object and its revision once the change is
/// acknowledged.
#[tokio::test(flavor = "multi_thread")]
async fn child() {
    let Ok(directory) = env::var(CHILD) else { return };
    let store = Store::open(Path::new(&directory), HISTORY).unwrap();
    let run = store.revision();
    let writers = (0..8).map(|writer| {
        let store = store.clone();
        tokio::spawn(async move {
            for number in 0.. {
                let key = Key::new("/pods", "a", &format!("p{run}-{writer}-{number}"));
                let created = store.create(&key, &text).unwrap();
                store.settled().await.unwrap();
                println!("+ {} {}", key.name, created.revision);
                if number % 3 == 0 {
                    let deleted = store.delete(&key, created.revision, &text).unwrap();
                    store.settled().await.unwrap();
                    println!("- {} {}", key.name, deleted.revision);
                }
            }
        })
    });
    futures::future::join_all(writers).await;
}

fn start(directory: &Path) -> Child {
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .args(["store_persist::child", "--exact", "--nocapture"])
        .env(CHILD, directory)
        .stdout(Stdio::piped());
    command.spawn().unwrap()
}

#[test]
fn a_sigkill_neither_loses_nor_duplicates_acknowledged_changes() {
    let directory = tempfile::tempdir().unwrap();
    let mut said = Vec::new();
    for round in 1..=3 {
        let mut child = start(directory.path());
        let lines = BufReader::new(child.stdout.take().unwrap())
            .lines()
            .map_while(Result::ok);
        let mut lines = lines.filter(|line| line.starts_with(['+', '-']));
        let before = said.len();
        said.extend(lines.by_ref().take(100 * round));
        assert_eq!(said.len(), before + 100 * round);
        child.kill().unwrap();
        child.wait().unwrap();
        // Lines that were printed before the kill and read after it are acknowledgements too; the last line may be
        // incomplete.
        let mut rest: Vec<String> = lines.collect();
        rest.pop();
        said.append(&mut rest);
        verify(directory.path(), &said);
    }
}

fn verify(directory: &Path, said: &[String]) {
    let store = Store::open(directory, HISTORY).unwrap();
    let page = store.list(&Range::new("/pods", ""), None, None, 0).unwrap();
    let there: std::collections::BTreeMap<&str, u64> = page
        .records
        .iter()
        .map(|record| (record.key.name.as_str(), record.revision))
        .collect();
    assert_eq!(there.len(), page.records.len());
    let deleted: std::collections::BTreeSet<&str> = said
        .iter()
        .filter_map(|line| fields(line, "-"))
        .map(|it| it.0)
        .collect();
    for (name, revision) in said.iter().filter_map(|line| fields(line, "+")) {
        assert!(revision <= store.revision());
        match there.get(name) {
            Some(found) => assert!(*found == revision && !deleted.contains(name), "{name} is back"),
            // Deleted, but killed before it could print that.
            None => assert!(
                name.rsplit('-').next().unwrap().parse::<u64>().unwrap() % 3 == 0,
                "{name} is lost"
            ),
        }
    }
    let revisions: std::collections::BTreeSet<&u64> = there.values().collect();
    assert_eq!(revisions.len(), there.len());
}

fn fields<'a>(line: &'a str, sign: &str) -> Option<(&'a str, u64)> {
    let mut parts = line.split(' ');
    (parts.next()? == sign).then_some(())?;
    Some((parts.next()?, parts.next()?.parse().ok()?))
}

#[tokio::test]
async fn a_restart_keeps_revisions_and_begins_a_new_history() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), HISTORY).unwrap();
    let key = Key::new("/pods", "a", "p");
    let first = store.create(&key, &text).unwrap();
    let second = store.update(&key, first.revision, &text).unwrap();
    store.settled().await.unwrap();
    drop(store);
    let store = Store::open(directory.path(), HISTORY).unwrap();
    assert_eq!(
        (store.revision(), store.get(&key).unwrap().revision),
        (second.revision, second.revision)
    );
    assert_eq!(store.get(&key).unwrap().object, second.object);
    assert!(store.watch(&Range::new("/pods", ""), first.revision).is_err());
    let mut watch = store.watch(&Range::new("/pods", ""), second.revision).unwrap();
    let third = store.update(&key, second.revision, &text).unwrap();
    assert_eq!(third.revision, second.revision + 1);
    store.settled().await.unwrap();
    assert_eq!(watch.next().await.unwrap().unwrap().revision, third.revision);
    assert!(watch.next().now_or_never().is_none());
}

#[tokio::test]
async fn a_store_in_a_directory_keeps_the_requested_history() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), 10).unwrap();
    for number in 0..30 {
        store
            .create(&Key::new("/pods", "a", &format!("p{number}")), &text)
            .unwrap();
    }
    store.settled().await.unwrap();
    let last = store.revision();
    let pods = Range::new("/pods", "");
    assert!(store.watch(&pods, last - 10).is_ok());
    assert_eq!(store.watch(&pods, last - 11).err().map(|it| it.oldest), Some(last - 10));
}

#[test]
fn a_second_process_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let mut child = start(directory.path());
    let first = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .map_while(Result::ok)
        .find(|line| line.starts_with('+'));
    let refused = Store::open(directory.path(), HISTORY)
        .err()
        .map(|error| error.to_string());
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(first.is_some());
    let path = directory.path().join("objects.redb");
    assert_eq!(
        refused,
        Some(format!("`{}` is in use by another process", path.display()))
    );
}

#[test]
fn a_file_that_is_not_a_store_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let mut file = std::fs::File::create(directory.path().join("objects.redb")).unwrap();
    file.write_all(&[7; 8_192]).unwrap();
    drop(file);
    let error = Store::open(directory.path(), HISTORY).err().unwrap();
    assert!(matches!(error, OpenError::Database { .. }), "{error}");
}
