//! Faults, the points at which they happen, and schedules of them. A schedule has a text, which replays it.

use std::{fmt, str::FromStr};

/// A fault.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Fault {
    /// The process dies before this write is carried out.
    CrashBefore,
    /// The process dies after this write was carried out, before it gets the answer.
    CrashAfter,
    /// As [`Self::CrashAfter`], and for half a minute the next process gets lists from before this write.
    CrashStale,
    /// The request is answered with this code, and not carried out.
    Refused(u16),
    /// The request is not carried out, and fails after 30 s.
    Timeout,
    /// The request is carried out, but the connection breaks before the answer.
    Lost,
    /// The process loses its lease and ends, and this write is carried out 10 s after its successor has started.
    Delayed,
    /// The process loses its lease, and works on beside its successor for 20 s; this write takes 12 s.
    Overlap,
    /// A user acts just before this write is carried out.
    User(UserAction),
    /// All watches end with a 410 while users act.
    Expired,
    /// No watch delivers the changes of this phase; after a minute all end with a 410.
    Missed,
    /// Watches deliver the changes of this phase 20 s late, or those of one kind 5 s late.
    Late,
    /// Watches deliver each event of this phase twice.
    Doubled,
    /// After this phase the process is restarted, and for half a minute gets lists from the beginning of the phase.
    RestartStale,
    /// After this phase the process is restarted on a machine whose clock is five minutes ahead.
    ClockAhead,
    /// After this phase the process is restarted on a machine whose clock is five minutes behind.
    ClockBehind,
    /// The operator's writes are forbidden for half a minute.
    Forbidden,
}

/// What a user does. The spec of each sample is the same afterwards.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum UserAction {
    /// Changes the spec, and changes it back after 50 ms.
    ChangeAndBack,
    /// Deletes the samples, and creates them again under the same names.
    Recreate,
    /// Deletes the children.
    DeleteChildren,
    /// Changes a field of each child.
    EditChildren,
    /// Changes the labels of each child that the operator has set.
    RelabelChildren,
    /// Removes the status.
    WipeStatus,
}

/// Where a fault happens, counted from 0 over all processes of a run.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum At {
    Write(usize),
    Read(usize),
    Phase(usize),
    /// The watches of one kind in one phase.
    Kind(usize),
}

/// A fault and where it happens.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Point {
    pub at: At,
    pub fault: Fault,
}

/// The faults of one run.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Schedule(pub Vec<Point>);

/// The faults of a write, in the order in which they are tried.
pub(super) const OF_WRITES: [Fault; 16] = [
    Fault::CrashBefore,
    Fault::CrashAfter,
    Fault::Refused(500),
    Fault::Refused(409),
    Fault::Lost,
    Fault::User(UserAction::ChangeAndBack),
    Fault::User(UserAction::Recreate),
    Fault::User(UserAction::DeleteChildren),
    Fault::User(UserAction::EditChildren),
    Fault::User(UserAction::RelabelChildren),
    Fault::User(UserAction::WipeStatus),
    Fault::CrashStale,
    Fault::Delayed,
    Fault::Overlap,
    Fault::Refused(429),
    Fault::Timeout,
];

/// The faults of a read.
pub(super) const OF_READS: [Fault; 3] = [Fault::Refused(500), Fault::Refused(429), Fault::Timeout];

/// The faults of the watches of one kind in a phase.
pub(super) const OF_KINDS: [Fault; 1] = [Fault::Late];

/// The faults of a phase.
pub(super) const OF_PHASES: [Fault; 8] = [
    Fault::Missed,
    Fault::Expired,
    Fault::Late,
    Fault::Doubled,
    Fault::RestartStale,
    Fault::ClockAhead,
    Fault::ClockBehind,
    Fault::Forbidden,
];

impl Fault {
    /// The name in the text of a schedule.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::CrashBefore => "crash-before",
            Self::CrashAfter => "crash-after",
            Self::CrashStale => "crash-stale",
            Self::Refused(409) => "409",
            Self::Refused(429) => "429",
            Self::Refused(_) => "500",
            Self::Timeout => "timeout",
            Self::Lost => "answer-lost",
            Self::Delayed => "write-delayed",
            Self::Overlap => "two-processes",
            Self::User(UserAction::ChangeAndBack) => "user-changes-and-changes-back",
            Self::User(UserAction::Recreate) => "user-recreates",
            Self::User(UserAction::DeleteChildren) => "user-deletes-children",
            Self::User(UserAction::EditChildren) => "user-edits-children",
            Self::User(UserAction::RelabelChildren) => "user-relabels-children",
            Self::User(UserAction::WipeStatus) => "user-wipes-status",
            Self::Expired => "watches-expire",
            Self::Missed => "events-missed",
            Self::Late => "events-late",
            Self::Doubled => "events-doubled",
            Self::RestartStale => "restart-stale",
            Self::ClockAhead => "clock-ahead",
            Self::ClockBehind => "clock-behind",
            Self::Forbidden => "writes-forbidden",
        }
    }

    /// A sentence for a trace.
    pub(super) fn sentence(self) -> &'static str {
        match self {
            Self::CrashBefore => "the process dies before the next write is carried out",
            Self::CrashAfter => "the process dies after the last write was carried out, before it gets the answer",
            Self::CrashStale => {
                "the process dies after the last write was carried out; its successor gets lists from before that write"
            }
            Self::Refused(409) => "the API server answers 409 Conflict",
            Self::Refused(429) => "the API server answers 429 Too Many Requests",
            Self::Refused(_) => "the API server answers 500 Internal Server Error",
            Self::Timeout => "no answer for 30 s; the request is not carried out",
            Self::Lost => "the request was carried out, but the connection broke before the answer",
            Self::Delayed => {
                "the process loses its lease and ends; its next write is carried out 10 s after its successor has started"
            }
            Self::Overlap => {
                "the process loses its lease without noticing, and works on for 20 s beside its successor; its next write takes 12 s"
            }
            Self::User(_) => "a user acts before the next write is carried out",
            Self::Expired => "all watches end with 410 Gone",
            Self::Missed => "watches deliver nothing for a minute, and then end with 410 Gone",
            Self::Late => "watches deliver everything 20 s late",
            Self::Doubled => "watches deliver each event twice",
            Self::RestartStale => "the process is restarted, and gets lists from the beginning of this phase",
            Self::ClockAhead => "the process is restarted, and its clock is five minutes ahead",
            Self::ClockBehind => "the process is restarted, and its clock is five minutes behind",
            Self::Forbidden => "the operator's writes are forbidden for 30 s",
        }
    }
}

impl UserAction {
    /// Whether samples exist after it that did not before, or change.
    pub(super) fn creates(self) -> bool {
        matches!(self, Self::Recreate | Self::ChangeAndBack)
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at {
            At::Write(n) => write!(f, "w{n}"),
            At::Read(n) => write!(f, "r{n}"),
            At::Phase(n) => write!(f, "p{n}"),
            At::Kind(n) => write!(f, "k{n}"),
        }?;
        write!(f, ":{}", self.fault.name())
    }
}

impl FromStr for Point {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let unknown = || format!("`{text}` is no fault\n\nhint: copy ONLY from the line that a failure ends with");
        let (at, name) = text.split_once(':').ok_or_else(unknown)?;
        let (place, number) = at.split_at_checked(1).ok_or_else(unknown)?;
        let number = number.parse().map_err(|_| unknown())?;
        let (at, faults): (At, &[Fault]) = match place {
            "w" => (At::Write(number), &OF_WRITES),
            "r" => (At::Read(number), &OF_READS),
            "p" => (At::Phase(number), &OF_PHASES),
            "k" => (At::Kind(number), &OF_KINDS),
            _ => return Err(unknown()),
        };
        let fault = faults.iter().find(|fault| fault.name() == name);
        let fault = *fault.ok_or_else(unknown)?;
        Ok(Self { at, fault })
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("none");
        }
        let points: Vec<_> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&points.join("+"))
    }
}

impl FromStr for Schedule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "none" {
            return Ok(Self::default());
        }
        text.split('+').map(str::parse).collect::<Result<_, _>>().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fault_is_read_from_its_text() {
        let points = |at: fn(usize) -> At, faults: &[Fault]| -> Vec<Point> {
            faults.iter().map(|&fault| Point { at: at(7), fault }).collect()
        };
        let mut all = points(At::Write, &OF_WRITES);
        all.extend(points(At::Read, &OF_READS));
        all.extend(points(At::Phase, &OF_PHASES));
        all.extend(points(At::Kind, &OF_KINDS));
        let all = Schedule(all);
        assert_eq!(all.to_string().parse::<Schedule>().unwrap(), all);
        assert_eq!("none".parse::<Schedule>().unwrap(), Schedule::default());
        for wrong in ["", "w1", "w1:", "x1:500", "w:500", "p1:500", "w1:501", "é1:500"] {
            assert!(wrong.parse::<Schedule>().is_err(), "{wrong}");
        }
    }
}
