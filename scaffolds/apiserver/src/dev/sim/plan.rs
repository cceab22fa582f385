//! The plan of one run, and its result.

use std::collections::BTreeMap;

use super::{
    fault::{Point, Schedule},
    oracle::Finding,
    setup::Specs,
    state::State,
    world::{Sent, TraceStep, TracedRequest},
};

/// The result of a run.
#[derive(Clone)]
pub(super) struct Run {
    /// The objects after each phase.
    pub states: Vec<State>,
    pub finding: Option<Finding>,
    pub steps: Vec<TraceStep>,
    pub writes: Vec<Sent>,
    pub reads: Vec<Sent>,
    /// The kinds that the operator watches, in each phase.
    pub kinds: Vec<Sent>,
    pub requests: Vec<TracedRequest>,
    /// The faults that did not happen.
    pub unmet: Vec<Point>,
    /// The number of changes of objects, to which the time of the run is proportional.
    pub changes: u64,
    /// The objects whose reconciles failed the last time, as `default/sample`, with their errors.
    pub failed: BTreeMap<String, String>,
}

/// The phases of a run.
#[derive(Clone, Copy, Default, Eq, PartialEq)]
pub(super) enum Course {
    /// All phases, which may have faults.
    #[default]
    Whole,
    /// The first phase alone, which creates samples with these specs.
    Creates(Specs),
    /// Siblings of the samples come and go.
    Siblings,
    /// The samples get these specs, and their first ones again.
    Alters(Specs),
}

/// The actions of a run.
#[derive(Default)]
pub(super) struct Plan<'a> {
    pub schedule: Schedule,
    /// The run without faults.
    pub calm: Option<&'a Run>,
    /// The state of samples that are created with the other specs of this course, for the runs without faults.
    pub other: Option<&'a State>,
    pub course: Course,
}

impl<'a> Plan<'a> {
    pub(super) fn faulty(schedule: &Schedule, calm: &'a Run) -> Self {
        Self {
            schedule: schedule.clone(),
            calm: Some(calm),
            ..Self::default()
        }
    }
}
