//! Objects that are stored in a former version, on the in-process API server, whose store says in which.

mod cluster;

use std::time::Duration;

use futures::FutureExt;
use kubewright_runtime::Migrated;
use serde_json::json;
use tokio::time::timeout;

use cluster::{CRDS, Cluster, Fate, NAME, failure, thing};

/// Longer than any request is repeated.
const LONG: Duration = Duration::from_secs(600);

fn done(objects: u64) -> Migrated {
    Migrated::Done {
        storage: "v2".into(),
        others: vec!["v1".into()],
        objects,
    }
}

fn nothing() -> Migrated {
    Migrated::Nothing { storage: "v2".into() }
}

/// A cluster with so many objects that are stored as v1, while v2 is the storage version.
async fn moved(count: usize) -> Cluster {
    let cluster = Cluster::with_things(count).await;
    let (code, answer) = cluster.defines("v2", &["v1", "v2"]).await;
    assert_eq!(code, 200, "{answer}");
    assert_eq!(cluster.stored_as("v1"), count);
    cluster
}

#[tokio::test(start_paused = true)]
async fn all_objects_are_stored_anew_and_the_old_version_can_be_removed() {
    // More than two pages.
    let cluster = moved(1003).await;
    let before = cluster.stored();
    let (code, answer) = cluster.defines("v2", &["v2"]).await;
    let why = answer["message"].as_str().unwrap_or_default();
    assert!(
        code == 422 && why.contains("must remain in spec.versions until a storage migration"),
        "{answer}"
    );

    let left = cluster.migration().check(NAME, "v2").await.unwrap();
    let text = "1003 objects to store as v2: some may be stored as v1";
    assert_eq!(left.to_string(), text);
    assert_eq!(
        (cluster.writes().len(), cluster.stored_as("v2")),
        (0, 0),
        "a check writes nothing"
    );

    let outcome = cluster.migration().run(NAME, "v2").await.unwrap();
    assert_eq!(outcome, done(1003));
    let text = "1003 objects stored as v2; no longer in status.storedVersions: v1";
    assert_eq!(outcome.to_string(), text);
    assert_eq!((cluster.stored_as("v2"), cluster.stored_as("v1")), (1003, 0));
    assert_eq!(cluster.stored_versions().await, json!(["v2"]));
    for (name, mut after) in cluster.stored() {
        let mut before = before[&name].clone();
        assert_ne!(
            before["metadata"]["resourceVersion"],
            after["metadata"]["resourceVersion"]
        );
        for object in [&mut before, &mut after] {
            object["apiVersion"] = json!("");
            object["metadata"]["resourceVersion"] = json!("");
        }
        assert_eq!(before, after, "nothing else changes");
    }
    cluster.writes();
    for outcome in [
        cluster.migration().run(NAME, "v2").await,
        cluster.migration().check(NAME, "v2").await,
    ] {
        assert_eq!(outcome.unwrap(), nothing());
    }
    assert_eq!(cluster.writes(), [""; 0]);

    let (code, answer) = cluster.defines("v2", &["v2"]).await;
    assert_eq!(code, 200, "{answer}");
    let (_, list) = cluster.ask("GET", "/apis/example.com/v2/things", &json!(null)).await;
    assert_eq!(list["items"].as_array().map(Vec::len), Some(1003));
}

#[tokio::test(start_paused = true)]
async fn a_migration_that_dies_at_any_write_is_completed_by_the_next() {
    const OBJECTS: usize = 12;
    for (at, served) in (0..=OBJECTS).flat_map(|at| [(at, false), (at, true)]) {
        let cluster = moved(OBJECTS).await;
        let mut writes = 0;
        cluster.judge(move |method, _| {
            writes += usize::from(method == "PATCH");
            match writes {
                // After its last write the process is dead, and sends nothing.
                writes if writes > at => Fate::Lost {
                    served: served && writes == at + 1 && method == "PATCH",
                },
                _ => Fate::Served,
            }
        });
        // A request that is lost fails after some time, so the process ends long before it would be repeated.
        let died = timeout(Duration::from_secs(1), cluster.migration().run(NAME, "v2")).await;
        assert!(died.is_err(), "it dies at write {at}");
        let cut = at == OBJECTS && served;
        assert_eq!(
            cluster.stored_versions().await,
            if cut { json!(["v2"]) } else { json!(["v1", "v2"]) }
        );
        let half = cluster.stored();

        cluster.serve();
        let outcome = cluster.migration().run(NAME, "v2").await.unwrap();
        assert_eq!(
            outcome,
            if cut { nothing() } else { done(OBJECTS as u64) },
            "after write {at}"
        );
        assert_eq!(cluster.stored_as("v2"), OBJECTS, "after write {at}");
        assert_eq!(cluster.stored_versions().await, json!(["v2"]));
        let again = |(name, object): (String, serde_json::Value)| {
            object["apiVersion"] == "example.com/v2" && cluster.stored()[&name] != object
        };
        assert!(
            !half.into_iter().any(again),
            "what was stored anew is not written again"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_that_expires_is_continued() {
    let cluster = moved(620).await;
    let (store, mut lists) = (cluster.store.clone(), 0);
    cluster.judge(move |method, uri| {
        if method == "GET" && uri.contains("things?") {
            lists += 1;
            // Between the first page and the second the server forgets the revision of the list.
            if lists == 2 {
                store.compact(store.revision());
            }
            assert!(lists < 10, "{uri}");
        }
        Fate::Served
    });
    assert_eq!(cluster.migration().run(NAME, "v2").await.unwrap(), done(620));
    assert_eq!(cluster.stored_as("v2"), 620);
}

#[tokio::test(start_paused = true)]
async fn deletions_conflicts_and_busy_servers_do_not_stop_it() {
    let cluster = moved(30).await;
    let (other, mut answers) = (cluster.clone(), 0);
    cluster.judge(move |method, uri| {
        if method == "PATCH" && uri.contains("/things/t7?") {
            let path = "/apis/example.com/v1/namespaces/b/things/t7";
            let deleted = other.ask("DELETE", path, &json!(null)).now_or_never();
            assert!(deleted.is_some_and(|(code, _)| matches!(code, 200 | 404)));
        }
        answers += 1;
        match answers % 7 {
            3 => failure(409, "Conflict", "the object has been modified"),
            4 => failure(
                503,
                "ServiceUnavailable",
                "the server is currently unable to handle the request",
            ),
            5 => failure(500, "InternalError", "conversion webhook failed: connection refused"),
            // Of a server that does not know the version yet, and not of an object that is gone.
            6 if !uri.contains(CRDS) => failure(404, "NotFound", "the server could not find the requested resource"),
            _ => Fate::Served,
        }
    });
    let outcome = timeout(LONG, cluster.migration().run(NAME, "v2")).await.unwrap();
    assert_eq!(outcome.unwrap(), done(30));
    assert_eq!((cluster.stored_as("v2"), cluster.stored_as("v1")), (29, 0));
    assert_eq!(cluster.stored_versions().await, json!(["v2"]));
}

#[tokio::test(start_paused = true)]
async fn an_object_that_cannot_be_written_keeps_the_version_and_is_named() {
    let cluster = moved(30).await;
    cluster.judge(|method, uri| match (method, uri.contains("/things/t7?")) {
        ("PATCH", true) => failure(
            403,
            "Forbidden",
            "admission webhook \"a.example.com\" denied the request: no",
        ),
        _ => Fate::Served,
    });
    let error = cluster.migration().run(NAME, "v2").await.unwrap_err().to_string();
    let wanted = "`things.example.com`: 1 object cannot be stored anew, so `status.storedVersions` stays as it is:\n\
                  \x20 b/t7: admission webhook \"a.example.com\" denied the request: no (403)\n\n\
                  hint: correct or delete them, and run it again";
    assert_eq!(error, wanted);
    assert_eq!((cluster.stored_as("v2"), cluster.stored_as("v1")), (29, 1));
    assert_eq!(cluster.stored_versions().await, json!(["v1", "v2"]));

    // A common cause is found soon.
    let cluster = moved(60).await;
    cluster.judge(|method, _| match method {
        "PATCH" => failure(403, "Forbidden", "things is forbidden"),
        _ => Fate::Served,
    });
    let error = cluster.migration().run(NAME, "v2").await.unwrap_err().to_string();
    assert!(
        error.starts_with("`things.example.com`: at least 20 objects cannot be stored anew"),
        "{error}"
    );
    assert!(cluster.writes().len() < 50);
}

#[tokio::test(start_paused = true)]
async fn a_storage_version_that_changes_meanwhile_begins_it_anew() {
    let cluster = moved(30).await;
    let (other, mut writes) = (cluster.clone(), 0);
    cluster.judge(move |method, _| {
        writes += usize::from(method == "PATCH");
        if writes == 20 {
            // For a moment v1 is stored again, and an object is written.
            let there_and_back = async {
                other.defines("v1", &["v1", "v2"]).await;
                let thing = thing("late", 0);
                let path = "/apis/example.com/v1/namespaces/b/things";
                assert_eq!(other.ask("POST", path, &thing).await.0, 201);
                other.defines("v2", &["v1", "v2"]).await;
            };
            writes += 1;
            there_and_back
                .now_or_never()
                .expect("a server without a disk answers at once");
        }
        Fate::Served
    });
    assert_eq!(cluster.migration().run(NAME, "v2").await.unwrap(), done(31));
    assert_eq!((cluster.stored_as("v2"), cluster.stored_as("v1")), (31, 0));
    let cuts = cluster
        .writes()
        .iter()
        .filter(|write| write.contains("/status?"))
        .count();
    assert_eq!(cuts, 2, "the first one is refused");

    // With another storage version for good, there is nothing to complete.
    let cluster = moved(30).await;
    let (other, mut writes) = (cluster.clone(), 0);
    cluster.judge(move |method, _| {
        writes += usize::from(method == "PATCH");
        if writes == 20 {
            let back = other.defines("v1", &["v1", "v2"]).now_or_never();
            assert!(back.is_some_and(|(code, _)| code == 200));
            writes += 1;
        }
        Fate::Served
    });
    let error = cluster.migration().run(NAME, "v2").await.unwrap_err().to_string();
    assert!(error.starts_with("`things.example.com` of the cluster stores `v1`, and that of the operator stores `v2`"));
    assert_eq!(cluster.stored_versions().await, json!(["v1", "v2"]));
}

#[tokio::test(start_paused = true)]
async fn a_change_of_the_crds_metadata_is_no_reason_to_begin_anew() {
    let cluster = moved(3).await;
    let (other, mut cuts) = (cluster.clone(), 0);
    cluster.judge(move |method, uri| {
        if method == "PATCH" && uri.contains("/status?") {
            cuts += 1;
            let path = format!("{CRDS}/{NAME}");
            let annotated = async {
                let (_, mut crd) = other.ask("GET", &path, &json!(null)).await;
                crd["metadata"]["annotations"] = json!({"cuts": cuts.to_string()});
                other.ask("PUT", &path, &crd).await.0
            };
            assert!(cuts > 3 || annotated.now_or_never() == Some(200));
        }
        Fate::Served
    });
    assert_eq!(cluster.migration().run(NAME, "v2").await.unwrap(), done(3));
    let writes = cluster.writes();
    assert_eq!(
        writes.iter().filter(|write| write.contains("/things/t")).count(),
        3,
        "{writes:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn what_is_not_there_or_not_installed_yet_is_said() {
    let cluster = Cluster::with_things(3).await;
    let migration = cluster.migration();
    assert_eq!(
        migration.run("others.example.com", "v1").await.unwrap(),
        Migrated::Absent
    );
    let only = Migrated::Nothing { storage: "v1".into() };
    assert_eq!(migration.run(NAME, "v1").await.unwrap(), only);
    for outcome in [migration.run(NAME, "v2").await, migration.check(NAME, "v2").await] {
        let error = outcome.unwrap_err().to_string();
        let wanted = "`things.example.com` of the cluster stores `v1`, and that of the operator stores `v2`\n\n\
                      hint: install the operator's CRDs first, with `make install` or `make deploy`";
        assert_eq!(error, wanted);
    }
    assert_eq!(cluster.writes(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn it_waits_until_api_servers_have_seen_a_crd_that_has_just_changed() {
    let cluster = moved(3).await;
    let began = tokio::time::Instant::now();
    let patient = cluster.migration().settle(Duration::from_secs(10));
    patient.run(NAME, "v2").await.unwrap();
    assert_eq!(began.elapsed().as_secs(), 10);
}
