//! The plan of one run, and its result.

use std::collections::BTreeMap;

use super::{
    fault::{Point, Schedule},
    oracle::Finding,
    state::State,
    world::{Sent, TraceStep, TracedRequest},
};

/// The result of a run.
pub(super) struct Run {
    /// The objects after each phase.
    pub states: Vec<State>,
    pub finding: Option<Finding>,
    pub steps: Vec<TraceStep>,
    pub writes: Vec<Sent>,
    pub reads: Vec<Sent>,
    pub requests: Vec<TracedRequest>,
    /// The faults that did not happen.
    pub unmet: Vec<Point>,
    /// The objects whose reconciles failed the last time, as `default/sample`, with their errors.
    pub failed: BTreeMap<String, String>,
}

/// The actions of a run.
#[derive(Default)]
pub(super) struct Plan<'a> {
    pub schedule: Schedule,
    /// The run without faults.
    pub calm: Option<&'a Run>,
    /// The state that belongs to the changed specs, for the run without faults.
    pub changed: Option<&'a State>,
    /// Whether the run ends after the first phase, which then creates the changed specs.
    pub creates_changed: bool,
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
