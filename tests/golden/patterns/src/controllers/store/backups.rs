//! The backups of a Store: those that its schedule asks for, and the last one before it goes.

use std::{cmp::Reverse, sync::Arc};

use api::test::v1::storebackup::StoreBackupSpec;
use api::test::v1::{Store, StoreBackup, StoreRestore};
use k8s_openapi::jiff::Timestamp;
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, PostParams};
use kubewright_runtime::{Conditions, Context, ObjectKey, Result, Schedule, child_name};

/// The annotation of a backup of the schedule, with its time.
const SCHEDULED_AT: &str = "test.example.com/scheduled-at";

/// The indexes of backups and of restores by the object that they are about.
pub const BACKUPS: &str = "backups of store";
pub const RESTORES: &str = "restores of store";

/// The object that a backup or a restore is about.
pub fn target(object: &impl ResourceExt, name: &str) -> ObjectKey {
    ObjectKey::new(object.namespace().as_deref(), name)
}

pub fn indexed(object: &impl ResourceExt, name: &str) -> Vec<String> {
    vec![target(object, name).to_string()]
}

/// The backups to make and to delete now.
#[derive(Debug, Default, PartialEq)]
pub struct Backups {
    /// The time for which a backup is missing.
    pub due: Option<Timestamp>,
    /// The names of backups to delete: enough newer ones exist.
    pub surplus: Vec<String>,
    /// The error in the schedule.
    pub fault: Option<String>,
}

impl Backups {
    /// A pure function of the object, its backups, the names of those that are [needed], and the time.
    pub fn of(
        object: &Store,
        made: &[Arc<StoreBackup>],
        needed: &[String],
        now: Timestamp,
    ) -> Self {
        let Some(spec) = &object.spec.backups else {
            return Self::default();
        };
        let scheduled = made.iter().filter_map(|it| Some((scheduled_at(it)?, it)));
        let mut scheduled: Vec<_> = scheduled.collect();
        scheduled.sort_by_key(|(at, _)| Reverse(*at));

        let mut backups = Self::default();
        for success in [true, false] {
            let ended = scheduled.iter().map(|(_, it)| it);
            let ended = ended.filter(|it| has_succeeded(it) == Some(success));
            let ended = ended.filter(|it| it.metadata.deletion_timestamp.is_none());
            let surplus = ended.skip(spec.keep as usize).map(|it| it.name_any());
            let surplus = surplus.filter(|name| !needed.contains(name));
            backups.surplus.extend(surplus);
        }
        let mut running = (scheduled.iter().map(|(_, it)| it))
            .filter(|it| it.metadata.deletion_timestamp.is_none());
        let is_running = running.any(|it| has_succeeded(it).is_none());
        if let Some(schedule) = spec.schedule.as_ref().filter(|_| !is_running) {
            let created = object.metadata.creation_timestamp.as_ref();
            let last = scheduled.first().map(|(at, _)| *at);
            // Backups of an earlier object of this name say nothing about this one.
            let since = last.max(created.map(|it| it.0)).unwrap_or(now);
            match Schedule::parse(schedule, None) {
                Ok(schedule) => backups.due = schedule.latest(since, now),
                Err(error) => backups.fault = Some(error.to_string()),
            }
        }
        backups
    }
}

/// The restore to run: the oldest one that has not ended, and whose backup has succeeded.
pub fn restore(restores: &[Arc<StoreRestore>], has_data: impl Fn(&str) -> bool) -> Option<String> {
    let is_open = |it: &&Arc<StoreRestore>| {
        let status = it.status.clone().unwrap_or_default();
        status.completion_time.is_none() && has_data(&it.spec.backup)
    };
    let open = restores.iter().filter(is_open);
    let oldest = open.min_by_key(|it| (it.creation_timestamp(), it.name_any()));
    oldest.map(|it| it.name_any())
}

/// The names of the backups of restores that have not ended.
pub fn needed(restores: &[Arc<StoreRestore>]) -> Vec<String> {
    let open = restores.iter().filter(|it| {
        let status = it.status.as_ref();
        status.is_none_or(|status| status.completion_time.is_none())
    });
    open.map(|it| it.spec.backup.clone()).collect()
}

/// Whether a backup has succeeded, once it has ended.
pub fn has_succeeded(backup: &StoreBackup) -> Option<bool> {
    let status = backup.status.as_ref()?;
    status.completion_time.as_ref()?;
    Some(status.conditions.is_true("Ready"))
}

fn scheduled_at(backup: &StoreBackup) -> Option<Timestamp> {
    backup.annotations().get(SCHEDULED_AT)?.parse().ok()
}

/// The backup of the schedule for a time.
pub fn scheduled(object: &Store, at: Timestamp) -> StoreBackup {
    let mut backup = backup(object, at);
    let annotations = backup.annotations_mut();
    annotations.insert(SCHEDULED_AT.to_owned(), at.to_string());
    backup
}

/// The name contains the time, so that a repeated step finds the backup.
pub fn name(object: &Store, at: Timestamp) -> String {
    child_name(&object.name_any(), &at.as_second().to_string())
}

fn backup(object: &Store, at: Timestamp) -> StoreBackup {
    let spec = StoreBackupSpec {
        target: object.name_any(),
        r#type: None,
    };
    StoreBackup::new(&name(object, at), spec)
}

/// Makes the last backup of a deleted object. Returns why the object must stay.
pub async fn last(cx: &Context<Store>, object: &Store) -> Result<Option<&'static str>> {
    let spec = object.spec.backups.as_ref();
    let is_wanted = spec.is_some_and(|it| it.on_deletion);
    let deleted = object.metadata.deletion_timestamp.as_ref();
    let Some(deleted) = deleted.filter(|_| is_wanted) else {
        return Ok(None);
    };
    let last = backup(object, deleted.0);
    let made = cx.get::<StoreBackup>(&last.name_any())?;
    Ok(match made.map(|it| has_succeeded(&it)) {
        Some(Some(true)) => None,
        Some(Some(false)) => Some("its last backup has failed: delete that to try again"),
        Some(None) => Some("its last backup is being made"),
        None => {
            create(cx, &last).await?;
            Some("its last backup is being made")
        }
    })
}

/// Creates a backup, unless it exists.
pub async fn create(cx: &Context<Store>, backup: &StoreBackup) -> Result<()> {
    match api(cx).create(&PostParams::default(), backup).await {
        Err(kube::Error::Api(status)) if status.code == 409 => Ok(()),
        created => Ok(created.map(drop)?),
    }
}

/// Deletes backups. Their own controller deletes the data.
pub async fn delete(cx: &Context<Store>, names: &[String]) -> Result<()> {
    for name in names {
        match api(cx).delete(name, &DeleteParams::default()).await {
            Err(kube::Error::Api(status)) if status.code == 404 => {}
            deleted => drop(deleted?),
        }
    }
    Ok(())
}

fn api(cx: &Context<Store>) -> Api<StoreBackup> {
    Api::namespaced(cx.client().clone(), cx.namespace())
}

#[cfg(test)]
mod tests {
    use api::test::v1::store::StoreBackups;
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
    use kubewright_runtime::{condition, testing::from_yaml};

    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().expect("a time")
    }

    /// The sample with a backup each hour, of which two are kept.
    fn object() -> Store {
        let sample = include_str!("../../../config/samples/test_v1_store.yaml");
        let mut object: Store = from_yaml("sample", sample);
        let created = Time(at("2026-01-01T00:30:00Z"));
        object.metadata.creation_timestamp = Some(created);
        object.spec.backups = Some(StoreBackups {
            schedule: Some("@hourly".to_owned()),
            keep: 2,
            on_deletion: false,
        });
        object
    }

    /// The backup for an hour, with its end.
    fn made(hour: u8, success: Option<bool>) -> Arc<StoreBackup> {
        let time = at(&format!("2026-01-01T{hour:02}:00:00Z"));
        let mut backup = scheduled(&object(), time);
        let status = backup.status.get_or_insert_default();
        status.completion_time = success.map(|_| Time(time));
        let ready = condition("Ready", success, "Ended", "");
        status.conditions.set(ready);
        Arc::new(backup)
    }

    fn names(backups: &[Arc<StoreBackup>]) -> Vec<String> {
        backups.iter().map(|it| it.name_any()).collect()
    }

    #[test]
    fn the_latest_missed_time_is_due_once_no_backup_runs() {
        let due = |made: &[_], now| Backups::of(&object(), made, &[], at(now)).due;
        assert_eq!(due(&[], "2026-01-01T00:59:59Z"), None);
        let one = Some(at("2026-01-01T01:00:00Z"));
        assert_eq!(due(&[], "2026-01-01T01:59:59Z"), one);
        assert_eq!(due(&[made(1, None)], "2026-01-01T09:30:00Z"), None);
        let nine = Some(at("2026-01-01T09:00:00Z"));
        assert_eq!(due(&[made(1, Some(false))], "2026-01-01T09:30:00Z"), nine);
        assert_eq!(due(&[made(9, Some(true))], "2026-01-01T09:30:00Z"), None);
        // It is of an earlier object.
        assert_eq!(due(&[made(0, Some(true))], "2026-01-01T00:59:59Z"), None);
    }

    #[test]
    fn failed_backups_do_not_displace_good_ones_and_requested_ones_stay() {
        let all = [1, 2, 3, 4].map(|hour| made(hour, Some(hour < 4)));
        let mut requested = (*made(0, Some(true))).clone();
        requested.annotations_mut().clear();
        let all = [&all[..], &[Arc::new(requested)]].concat();
        let now = at("2026-01-01T04:30:00Z");
        let surplus = |all: &[_], needed: &[_]| Backups::of(&object(), all, needed, now).surplus;
        assert_eq!(surplus(&all, &[]), names(&all[..1]));
        assert!(surplus(&all, &names(&all[..1])).is_empty());
        // Once is enough.
        let mut deleted = all.clone();
        let deletion = Some(Time(now));
        Arc::make_mut(&mut deleted[0]).metadata.deletion_timestamp = deletion;
        assert!(surplus(&deleted, &[]).is_empty());
    }

    #[test]
    fn a_schedule_that_cannot_be_read_is_a_fault() {
        let mut object = object();
        let backups = object.spec.backups.as_mut().expect("it has backups");
        backups.schedule = Some("hourly".to_owned());
        let backups = Backups::of(&object, &[], &[], at("2026-01-01T01:00:00Z"));
        assert!(backups.fault.is_some());
    }
}
