//! Reconcilers without a server. The book includes the first test.

#[path = "../examples/book/child.rs"]
mod child;
#[path = "../examples/book/foobar.rs"]
mod foobar;
#[allow(dead_code, reason = "rehearsals register it")]
#[path = "../examples/book/schedule.rs"]
mod schedule;

use std::{sync::Arc, time::Duration};

use child::FooBarReconciler;
use foobar::{FooBar, FooBarSpec};
use k8s_openapi::{
    api::{
        batch::v1::{Job, JobCondition, JobStatus},
        core::v1::{ConfigMap, Secret},
    },
    apimachinery::pkg::apis::meta::v1::Time,
    jiff::Timestamp,
};
use kubewright_runtime::{
    Action, Class, Cleanup, Conditions, Context, Controller, Error, EventType, Reconciler, Result, testing::Rehearsal,
};

// ANCHOR: rehearsal
fn foobar(target: &str) -> FooBar {
    let spec = FooBarSpec {
        target: target.to_owned(),
        secret_name: None,
    };
    FooBar::new("sample", spec)
}

/// The controller as the operator registers it.
fn controller() -> Controller<FooBar> {
    Controller::new("foobar").owns::<ConfigMap>().owns::<Secret>()
}

#[tokio::test]
async fn a_foobar_gets_a_config_map_and_is_ready() -> Result<()> {
    let played = Rehearsal::new()
        .reconcile(controller(), FooBarReconciler, foobar("here"))
        .await?;

    assert!(matches!(played.result, Ok(None)), "nothing is left to do");
    let child: ConfigMap = played.object("sample-foobar").expect("it was created");
    assert_eq!(child.data.expect("data")["target"], "here");
    let status = played.object::<FooBar>("sample").and_then(|foobar| foobar.status);
    assert!(status.expect("a status").conditions.is_true("Ready"));
    Ok(())
}

#[tokio::test]
async fn a_config_map_of_another_owner_is_not_changed() -> Result<()> {
    let mut theirs = ConfigMap::default();
    theirs.metadata.name = Some("sample-foobar".to_owned());
    let played = Rehearsal::new()
        .with(theirs)
        .reconcile(controller(), FooBarReconciler, foobar("here"))
        .await?;

    assert!(matches!(played.result, Err(Error::NotOwned(_))));
    Ok(())
}
// ANCHOR_END: rehearsal

/// Counts the children in the cache, and lists those of the API server with a label.
struct Counts;

impl Reconciler<FooBar> for Counts {
    async fn reconcile(&self, cx: &Context<FooBar>, _: Arc<FooBar>) -> Result<Action> {
        let maps: kube::Api<ConfigMap> = kube::Api::namespaced(cx.client().clone(), "default");
        let selector = kube::api::ListParams::default().labels("app in (web, api)");
        let chosen = maps.list(&selector).await?.items.len();
        let text = format!("{} of {chosen}", cx.children::<ConfigMap>()?.len());
        cx.event(EventType::Normal, "Counted", text);
        Ok(Action::Done)
    }
}

#[tokio::test]
async fn a_rehearsal_sees_the_children_that_a_running_operator_sees_and_names_the_others() {
    let mut owner = foobar("here");
    owner.metadata.uid = Some("an-uid".to_owned());
    let map = |name: &str, app: &str| {
        let mut map = ConfigMap::default();
        map.metadata.name = Some(name.to_owned());
        map.metadata.labels = Some([("app".to_owned(), app.to_owned())].into());
        map
    };
    let mut by_hand = map("by-hand", "web");
    by_hand.metadata.owner_references = Some(vec![kube::Resource::controller_owner_ref(&owner, &()).unwrap()]);
    let rehearsal = || {
        let rehearsal = Rehearsal::new().with(by_hand.clone()).with(map("foreign", "api"));
        rehearsal.with_child(map("ours", "other"))
    };
    let played = rehearsal()
        .reconcile(controller(), Counts, owner.clone())
        .await
        .unwrap();
    assert_eq!(played.events(), ["Normal Counted: 1 of 2"]);
    assert_eq!(played.unseen(), ["ConfigMap default/by-hand"]);
    assert!(played.writes().is_empty(), "{:?}", played.writes());

    let all = controller().caches_all::<ConfigMap>();
    let played = rehearsal().reconcile(all, Counts, owner).await.unwrap();
    assert_eq!(played.events(), ["Normal Counted: 2 of 2"]);
    assert!(played.unseen().is_empty(), "{:?}", played.unseen());
}

#[tokio::test]
async fn writes_are_recorded_in_order_with_their_bodies() {
    let played = Rehearsal::new()
        .reconcile(controller(), FooBarReconciler, foobar("here"))
        .await
        .unwrap();
    let writes = played.writes();
    let recorded: Vec<_> = writes
        .iter()
        .map(|write| format!("{} {}", write.verb, write.path))
        .collect();
    assert_eq!(
        recorded,
        [
            "create /api/v1/namespaces/default/configmaps",
            "create /api/v1/namespaces/default/secrets",
            "patch /apis/test.example.com/v1/namespaces/default/foobars/sample/status",
        ]
    );
    assert_eq!(writes[0].body["data"]["target"], "here");
    assert_eq!(writes[0].body["metadata"]["ownerReferences"][0]["name"], "sample");
}

#[tokio::test]
async fn a_refused_write_is_the_same_error_as_from_an_api_server() {
    let forbidden = Rehearsal::new()
        .refusing("/configmaps", 403)
        .reconcile(controller(), FooBarReconciler, foobar("here"))
        .await
        .unwrap();
    assert!(forbidden.object::<ConfigMap>("sample-foobar").is_none());
    assert_eq!(forbidden.result.unwrap_err().class(), Class::Forbidden);
}

/// Cleans up in two runs, and acts by the target.
struct Scripted;

impl Reconciler<FooBar> for Scripted {
    fn finalizer(&self) -> Option<&str> {
        Some("test.example.com/cleanup")
    }

    async fn reconcile(&self, cx: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        match foobar.spec.target.as_str() {
            "bad" => {
                cx.event(EventType::Warning, "BadTarget", "no such target");
                Err(Error::terminal("BadTarget", "no such target"))
            }
            "panic" => panic!("as asked"),
            _ => Ok(Action::RequeueAfter(Duration::from_secs(5))),
        }
    }

    async fn cleanup(&self, _: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Cleanup> {
        Ok(match foobar.spec.target.as_str() {
            "busy" => Cleanup::Pending(Duration::from_secs(7)),
            _ => Cleanup::Done,
        })
    }
}

async fn scripted(foobar: FooBar) -> kubewright_runtime::testing::Rehearsed {
    let controller = Controller::<FooBar>::new("foobar");
    Rehearsal::new().reconcile(controller, Scripted, foobar).await.unwrap()
}

#[tokio::test]
async fn the_result_is_that_of_the_reconciler() {
    let played = scripted(foobar("soon")).await;
    let stored = played.object::<FooBar>("sample").unwrap();
    assert_eq!(
        stored.metadata.finalizers.unwrap(),
        ["test.example.com/cleanup"],
        "before the run"
    );
    assert_eq!(played.result.unwrap(), Some(Duration::from_secs(5)));

    let played = scripted(foobar("bad")).await;
    assert_eq!(played.events(), ["Warning BadTarget: no such target"]);
    assert_eq!(played.result.unwrap_err().class(), Class::Terminal);

    let panicked = scripted(foobar("panic")).await.result.unwrap_err();
    assert_eq!(panicked.to_string(), "the reconciler panicked: as asked");
}

#[tokio::test]
async fn an_object_under_deletion_is_cleaned_up() {
    for (target, left, next) in [("busy", true, Some(Duration::from_secs(7))), ("idle", false, None)] {
        let mut foobar = foobar(target);
        foobar.metadata.finalizers = Some(vec!["test.example.com/cleanup".to_owned()]);
        foobar.metadata.deletion_timestamp = Some(Time(Timestamp::UNIX_EPOCH));
        let played = scripted(foobar).await;
        assert_eq!(played.object::<FooBar>("sample").is_some(), left, "{target}");
        assert_eq!(played.result.unwrap(), next);
    }
}

fn ended(mut job: Job, condition: &str) -> Job {
    let ended = JobCondition {
        type_: condition.to_owned(),
        status: "True".to_owned(),
        ..JobCondition::default()
    };
    job.status = Some(JobStatus {
        conditions: Some(vec![ended]),
        ..JobStatus::default()
    });
    job
}

// ANCHOR: later
#[tokio::test]
async fn each_hour_has_a_job_and_three_of_those_that_ended_stay() -> Result<()> {
    let noon = "2026-06-02T12:20:00Z".parse().expect("a time");
    let mut rehearsal = Rehearsal::at(noon);
    for hour in 494_556..494_560 {
        let played = rehearsal
            .reconcile(schedule::controller(), schedule::Hourly, foobar("here"))
            .await?;
        assert!(
            matches!(played.result, Ok(Some(delay)) if delay.as_secs() == 40 * 60),
            "at the next full hour"
        );
        let job: Job = played.object(&format!("sample-{hour}")).expect("the Job of this hour");
        rehearsal = played.later(Duration::from_secs(3_600)).with(ended(job, "Complete"));
    }
    let played = rehearsal
        .reconcile(schedule::controller(), schedule::Hourly, foobar("here"))
        .await?;
    assert_eq!(played.object::<Job>("sample-494556"), None, "the oldest one is deleted");
    Ok(())
}
// ANCHOR_END: later
