//! The next step of a Store, as a pure function of its spec and of what is observed.

use std::fmt;

use api::test::v1::store::StoreSpec;
use k8s_openapi::jiff::Timestamp;

use super::backups::Backups;

/// The present state of the cluster and of the members.
#[derive(Default)]
pub struct Observed {
    /// The ordinal after the last Pod's, also if no StatefulSet owns that Pod.
    pub pods: i32,
    /// Missing before the first reconcile, and while it is replaced.
    pub set: Option<Set>,
    /// The members that the StatefulSet is to have, by ordinal.
    pub members: Vec<Member>,
    pub backups: Backups,
    /// The name of the StoreRestore to run.
    pub restore: Option<String>,
    /// The name of the StoreRestore that may be running.
    pub restoring: Option<String>,
}

impl Observed {
    pub fn healthy(&self) -> usize {
        let healthy = |member: &&Member| member.problem.is_none();
        self.members.iter().filter(healthy).count()
    }
}

/// The StatefulSet.
pub struct Set {
    /// Whether its controller has seen its newest spec.
    pub is_observed: bool,
    /// Whether its claims have the size of the Store's spec.
    pub fits_storage: bool,
}

#[derive(Clone, Default)]
pub struct Member {
    pub ordinal: i32,
    /// The uid of its Pod, unless that is being deleted.
    pub pod: Option<String>,
    /// Whether the Pod differs from the newest template.
    pub outdated: bool,
    /// The reason why it does not serve, unless it is healthy.
    pub problem: Option<String>,
    pub volume: Volume,
}

impl Member {
    pub fn with(mut self, problem: &str) -> Self {
        self.problem = Some(problem.to_owned());
        self
    }
}

#[derive(Clone, Copy, Default, PartialEq)]
pub enum Volume {
    #[default]
    Fits,
    /// Its claim is smaller than the spec.
    Small,
    /// Its claim has grown, and the volume not yet.
    Growing,
    Lost,
}

/// A step, with the ordinals of its members.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Create the StatefulSet with this many members.
    Create(i32),
    /// Enlarge the claims of these members.
    Grow(Vec<i32>),
    /// Delete the StatefulSet and keep its Pods: its claim template cannot be changed.
    Release,
    /// Replace the Pod by one of the newest template.
    Restart(i32),
    /// Replace the Pod and its lost volume.
    Rebuild(i32),
    Remove(i32),
    Add(i32),
    /// Create the backup for this time of the schedule.
    BackUp(Timestamp),
    /// Delete these backups.
    DeleteBackups(Vec<String>),
    /// Leave the members alone for this restore.
    Restore(String),
    Wait(String),
    Paused,
    Done,
}

/// A healthy member is stopped only while all members are healthy.
pub fn next(spec: &StoreSpec, seen: &Observed) -> Step {
    if spec.paused {
        return Step::Paused;
    }
    let Some(set) = &seen.set else {
        // The Pods of a replaced StatefulSet stay, and are members of the next one.
        return Step::Create(spec.members.max(seen.pods));
    };
    if !set.is_observed {
        return wait("the StatefulSet has not been observed yet");
    }
    // The Job of a restore works with all members, so members are left alone until it ends. Only volumes grow, because a full
    // volume may be the reason why it does not end.
    if let Some(name) = &seen.restoring {
        let small = ordinals_where(seen, |member| member.volume == Volume::Small);
        if small.is_empty() {
            return Step::Restore(name.clone());
        }
        return Step::Grow(small);
    }
    // These steps take no time: the controller of the backups runs the Jobs and waits for them.
    if let Some(at) = seen.backups.due {
        return Step::BackUp(at);
    }
    if !seen.backups.surplus.is_empty() {
        return Step::DeleteBackups(seen.backups.surplus.clone());
    }
    // First: a full volume may be the reason why members are down.
    let small: Vec<_> = ordinals_where(seen, |member| member.volume == Volume::Small);
    if !small.is_empty() {
        return Step::Grow(small);
    }
    if !set.fits_storage {
        return Step::Release;
    }
    // The newest template may be the remedy.
    if let Some(broken) = ordinals_where(seen, |it| it.outdated && it.problem.is_some()).last() {
        return Step::Restart(*broken);
    }
    let count = seen.members.len() as i32;
    let down: Vec<_> = (seen.members.iter())
        .filter(|member| member.problem.is_some())
        .collect();
    match down[..] {
        [] => {}
        [one] if one.ordinal == count - 1 && count > spec.members => {
            return Step::Remove(one.ordinal);
        }
        [one] if one.volume == Volume::Lost && count > 1 => return Step::Rebuild(one.ordinal),
        [one, ..] => {
            let problem = one.problem.as_deref().unwrap_or_default();
            return wait(format!("member {} {problem}", one.ordinal));
        }
    }
    if let Some(name) = &seen.restore {
        return Step::Restore(name.clone());
    }
    if count > spec.members {
        return Step::Remove(count - 1);
    }
    if let Some(outdated) = ordinals_where(seen, |member| member.outdated).last() {
        return Step::Restart(*outdated);
    }
    if count < spec.members {
        return Step::Add(count);
    }
    if let Some(fault) = &seen.backups.fault {
        return wait(fault);
    }
    match ordinals_where(seen, |it| it.volume == Volume::Growing).first() {
        Some(ordinal) => wait(format!("the volume of member {ordinal} is growing")),
        None => Step::Done,
    }
}

fn ordinals_where(seen: &Observed, is: impl Fn(&Member) -> bool) -> Vec<i32> {
    let members = seen.members.iter().filter(|member| is(member));
    members.map(|member| member.ordinal).collect()
}

fn wait(text: impl Into<String>) -> Step {
    Step::Wait(text.into())
}

impl Step {
    /// One word: the phase in the status, and the reason of conditions and events.
    pub fn phase(&self) -> &'static str {
        match self {
            Self::Create(_) => "Creating",
            Self::Grow(_) | Self::Release => "Growing",
            Self::Restart(_) => "Restarting",
            Self::Rebuild(_) => "Rebuilding",
            Self::Remove(_) => "Removing",
            Self::Add(_) => "Adding",
            Self::BackUp(_) => "BackingUp",
            Self::DeleteBackups(_) => "DeletingBackups",
            Self::Restore(_) => "Restoring",
            Self::Wait(_) => "Waiting",
            Self::Paused => "Paused",
            Self::Done => "Steady",
        }
    }

    pub fn is_work(&self) -> bool {
        !matches!(self, Self::Paused | Self::Done)
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Create(members) => write!(f, "creating {members} members"),
            Self::Grow(ordinals) => write!(f, "growing the volumes of members {ordinals:?}"),
            Self::Release => f.write_str("replacing the StatefulSet, not its Pods"),
            Self::Restart(ordinal) => write!(f, "restarting member {ordinal}"),
            Self::Rebuild(ordinal) => write!(f, "replacing member {ordinal} and its volume"),
            Self::Remove(ordinal) => write!(f, "removing member {ordinal}"),
            Self::Add(ordinal) => write!(f, "adding member {ordinal}"),
            Self::BackUp(at) => write!(f, "creating the backup for {at}"),
            Self::DeleteBackups(names) => write!(f, "deleting the backups {names:?}"),
            Self::Restore(name) => write!(f, "leaving members alone for {name}"),
            Self::Wait(text) => f.write_str(text),
            Self::Paused => f.write_str("nothing is changed"),
            Self::Done => f.write_str("all members are healthy"),
        }
    }
}

#[cfg(test)]
mod tests {
    use kubewright_runtime::testing::from_yaml;

    use super::*;

    /// The sample, with three members.
    fn spec() -> StoreSpec {
        let sample = include_str!("../../../config/samples/test_v1_store.yaml");
        from_yaml::<super::super::Store>("sample", sample).spec
    }

    /// Three healthy members.
    fn steady() -> Observed {
        let member = |ordinal| Member {
            ordinal,
            ..Member::default()
        };
        let set = Set {
            is_observed: true,
            fits_storage: true,
        };
        Observed {
            pods: 3,
            set: Some(set),
            members: (0..3).map(member).collect(),
            ..Observed::default()
        }
    }

    /// The step after a change of the steady state.
    fn after(change: impl FnOnce(&mut StoreSpec, &mut Observed)) -> Step {
        let (mut spec, mut seen) = (spec(), steady());
        change(&mut spec, &mut seen);
        next(&spec, &seen)
    }

    fn down(member: &mut Member) {
        member.problem = Some("is down".to_owned());
    }

    #[test]
    fn healthy_members_of_the_newest_template_are_left_alone() {
        assert_eq!(after(|_, _| {}), Step::Done);
    }

    #[test]
    fn a_paused_object_is_left_alone_whatever_happens() {
        let paused = after(|spec, seen| {
            spec.paused = true;
            seen.set = None;
        });
        assert_eq!(paused, Step::Paused);
    }

    #[test]
    fn a_new_set_has_the_members_of_the_spec_and_those_that_exist() {
        assert_eq!(next(&spec(), &Observed::default()), Step::Create(3));
        let released = after(|spec, seen| {
            spec.members = 2;
            seen.set = None;
        });
        assert_eq!(released, Step::Create(3));
    }

    #[test]
    fn nothing_is_decided_by_the_status_of_an_earlier_spec() {
        let late = after(|spec, seen| {
            spec.members = 5;
            seen.set.as_mut().unwrap().is_observed = false;
        });
        assert!(matches!(late, Step::Wait(_)));
    }

    #[test]
    fn members_are_restarted_from_the_last_one_while_all_are_healthy() {
        let outdated = |seen: &mut Observed, count| {
            let members = seen.members.iter_mut().take(count);
            members.for_each(|member| member.outdated = true);
        };
        assert_eq!(after(|_, seen| outdated(seen, 3)), Step::Restart(2));
        assert_eq!(after(|_, seen| outdated(seen, 1)), Step::Restart(0));
        let gate = after(|_, seen| {
            outdated(seen, 2);
            down(&mut seen.members[2]);
        });
        assert_eq!(gate, Step::Wait("member 2 is down".to_owned()));
    }

    #[test]
    fn a_member_that_is_down_is_restarted_first_if_the_newest_template_may_help() {
        let broken = after(|_, seen| {
            seen.members.iter_mut().for_each(|it| it.outdated = true);
            down(&mut seen.members[1]);
        });
        assert_eq!(broken, Step::Restart(1));
    }

    #[test]
    fn members_are_added_and_removed_one_by_one() {
        assert_eq!(after(|spec, _| spec.members = 5), Step::Add(3));
        assert_eq!(after(|spec, _| spec.members = 1), Step::Remove(2));
        let other = after(|spec, seen| {
            spec.members = 1;
            down(&mut seen.members[0]);
        });
        assert_eq!(other, Step::Wait("member 0 is down".to_owned()));
        let last = after(|spec, seen| {
            spec.members = 1;
            down(&mut seen.members[2]);
        });
        assert_eq!(last, Step::Remove(2));
    }

    #[test]
    fn claims_grow_before_all_else_and_then_the_set_is_replaced() {
        let small = after(|spec, seen| {
            spec.members = 5;
            seen.members[1].volume = Volume::Small;
            down(&mut seen.members[0]);
        });
        assert_eq!(small, Step::Grow(vec![1]));
        let set = after(|_, seen| seen.set.as_mut().unwrap().fits_storage = false);
        assert_eq!(set, Step::Release);
        let growing = after(|_, seen| seen.members[1].volume = Volume::Growing);
        assert!(matches!(growing, Step::Wait(_)));
    }

    #[test]
    fn one_lost_volume_is_replaced_and_never_the_last_copy() {
        let lost = |seen: &mut Observed, ordinal: usize| {
            seen.members[ordinal].volume = Volume::Lost;
            down(&mut seen.members[ordinal]);
        };
        assert_eq!(after(|_, seen| lost(seen, 1)), Step::Rebuild(1));
        let two = after(|_, seen| {
            lost(seen, 0);
            lost(seen, 1);
        });
        assert!(matches!(two, Step::Wait(_)));
        let only = after(|spec, seen| {
            spec.members = 1;
            seen.members.truncate(1);
            lost(seen, 0);
        });
        assert!(matches!(only, Step::Wait(_)));
    }

    #[test]
    fn a_backup_is_made_although_a_member_is_down() {
        let due = Timestamp::UNIX_EPOCH;
        let step = after(|_, seen| {
            seen.backups.due = Some(due);
            down(&mut seen.members[0]);
        });
        assert_eq!(step, Step::BackUp(due));
    }

    #[test]
    fn a_restore_runs_while_all_members_are_healthy_and_before_other_work() {
        let restore = |seen: &mut Observed| seen.restore = Some("a".to_owned());
        let outdated = after(|spec, seen| {
            spec.members = 5;
            seen.members[0].outdated = true;
            restore(seen);
        });
        assert_eq!(outdated, Step::Restore("a".to_owned()));
        let broken = after(|_, seen| {
            down(&mut seen.members[0]);
            restore(seen);
        });
        assert!(matches!(broken, Step::Wait(_)));
    }

    #[test]
    fn a_restore_that_runs_is_not_disturbed() {
        let disturbed = after(|spec, seen| {
            spec.members = 1;
            seen.backups.due = Some(Timestamp::UNIX_EPOCH);
            seen.members[2].outdated = true;
            down(&mut seen.members[2]);
            seen.restoring = Some("a".to_owned());
        });
        assert_eq!(disturbed, Step::Restore("a".to_owned()));
        let full = after(|_, seen| {
            seen.members[1].volume = Volume::Small;
            seen.restoring = Some("a".to_owned());
        });
        assert_eq!(full, Step::Grow(vec![1]));
    }

    #[test]
    fn a_faulty_schedule_is_reported_after_all_other_work() {
        let fault = |seen: &mut Observed| seen.backups.fault = Some("a".to_owned());
        assert_eq!(after(|_, seen| fault(seen)), Step::Wait("a".to_owned()));
        let outdated = after(|_, seen| {
            seen.members[0].outdated = true;
            fault(seen);
        });
        assert_eq!(outdated, Step::Restart(0));
    }
}
