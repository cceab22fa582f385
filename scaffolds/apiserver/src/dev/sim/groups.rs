//! Groups of samples that are simulated together: fewer requests in a run are more runs in a second. Samples of one kind, those that
//! name each other, and those that share an object stay together. So do samples whose objects differ when the other samples are absent.

use std::{collections::BTreeSet, sync::Arc};

use super::{
    change, differences,
    plan::{Course, Plan, Run},
    setup::{Sample, Setup, Specs},
    stage::Stage,
    state::{State, text},
};

/// The numbers of samples that belong together.
type Group = BTreeSet<usize>;

/// A simulation in parts.
pub(super) struct Groups {
    /// With all samples.
    all: Stage,
    groups: Vec<Group>,
}

impl Groups {
    /// Finds the groups by a run in which users create all samples, and by one for each group.
    ///
    /// # Errors
    /// A run cannot be started.
    pub(super) fn of(all: Stage) -> Result<Self, String> {
        let mut groups = of_kinds(&all.setup);
        if groups.len() > 1 {
            let together = created(&all)?;
            let state = together.states.first();
            groups = joined(groups, &links(&all.setup, state.unwrap_or(&State::new())));
            // Of an operator that fails with all samples, nothing can be expected.
            if let (None, Some(state)) = (&together.finding, state) {
                groups = independent(&all, groups, state)?;
            }
        }
        Ok(Self { all, groups })
    }

    pub(super) fn len(&self) -> usize {
        self.groups.len()
    }

    /// The stage of this group.
    ///
    /// # Errors
    /// A run cannot be started.
    pub(super) fn part(&self, number: usize) -> Result<Stage, String> {
        if self.len() == 1 {
            return self.all.clone().without_refused();
        }
        let stage = part(&self.all, &self.groups[number]);
        let is_defined = |sample: &&Sample| stage.setup.is_defined(&sample.object);
        let first = stage.setup.samples.iter().find(is_defined);
        let kind = first.map(|sample| self.name(sample.kind()).to_owned());
        Stage { kind, ..stage }.without_refused()
    }

    /// The kind without its group, if no other group has a kind of this name.
    fn name<'a>(&self, kind: &'a str) -> &'a str {
        let kinds = self.all.setup.samples.iter().map(Sample::kind);
        let mut others = kinds.filter(|other| *other != kind);
        match others.any(|other| short(other) == short(kind)) {
            true => kind,
            false => short(kind),
        }
    }

    /// The stage of the samples that belong to this kind, which may have its group.
    ///
    /// # Errors
    /// There is no such sample, or a run cannot be started.
    pub(super) fn of_kind(&self, kind: &str) -> Result<Stage, String> {
        let samples = &self.all.setup.samples;
        let is_it = |&n: &usize| samples[n].kind() == kind || short(samples[n].kind()) == kind;
        match self.groups.iter().position(|group| group.iter().any(is_it)) {
            Some(number) => self.part(number),
            None => {
                let kinds: BTreeSet<_> = samples.iter().map(|sample| self.name(sample.kind())).collect();
                let kinds = Vec::from_iter(kinds).join(", ");
                Err(format!(
                    "config/samples has no object of the kind `{kind}`\n\nhint: its kinds are {kinds}"
                ))
            }
        }
    }

    /// The stage of all samples, with the changes that the operator accepts in the parts.
    ///
    /// # Errors
    /// A run cannot be started.
    pub(super) fn together(&self) -> Result<Stage, String> {
        if self.len() == 1 {
            return self.part(0);
        }
        let mut samples = self.all.setup.samples.clone();
        for (number, group) in self.groups.iter().enumerate() {
            let part = self.part(number)?;
            for (&n, sample) in group.iter().zip(&part.setup.samples) {
                samples[n] = sample.clone();
            }
        }
        let setup = with(&self.all.setup, samples);
        Ok(Stage {
            setup,
            ..self.all.clone()
        })
    }
}

/// A kind without its group.
pub(super) fn short(kind: &str) -> &str {
    kind.split('.').next().unwrap_or(kind)
}

/// The same setup with these samples.
fn with(setup: &Setup, samples: Vec<Sample>) -> Arc<Setup> {
    Arc::new(Setup {
        samples,
        ..setup.clone()
    })
}

fn part(all: &Stage, group: &Group) -> Stage {
    let samples = group.iter().map(|&n| all.setup.samples[n].clone()).collect();
    let setup = with(&all.setup, samples);
    Stage { setup, ..all.clone() }
}

/// The run in which users create the samples.
fn created(stage: &Stage) -> Result<Run, String> {
    stage.play(&Plan {
        course: Course::Creates(Specs::First),
        ..Plan::default()
    })
}

/// The samples of each kind. Objects that no definition of the project describes, such as a Secret beside the samples, belong to each.
fn of_kinds(setup: &Setup) -> Vec<Group> {
    let is_defined = |n: &usize| setup.is_defined(&setup.samples[*n].object);
    let (defined, beside): (Vec<_>, Vec<_>) = (0..setup.samples.len()).partition(is_defined);
    let mut groups: Vec<Group> = Vec::new();
    for n in defined {
        let is_its = |group: &&mut Group| {
            let first = group.first().map(|&first| setup.samples[first].kind());
            first == Some(setup.samples[n].kind())
        };
        match groups.iter_mut().find(is_its) {
            Some(group) => {
                group.insert(n);
            }
            None => groups.push(Group::from([n])),
        }
    }
    if groups.is_empty() {
        return vec![beside.into_iter().collect()];
    }
    groups.iter_mut().for_each(|group| group.extend(&beside));
    groups
}

/// Sets of samples that belong together: those that own one object, directly or through its owners, and those whose spec contains the
/// name of another sample.
fn links(setup: &Setup, state: &State) -> Vec<Group> {
    let number = |key: &str| setup.samples.iter().position(|sample| sample.key == key);
    let mut links: Vec<Group> = Vec::new();
    for key in state.keys() {
        let mut owners = BTreeSet::from([key.clone()]);
        let mut pending = vec![key.clone()];
        while let Some(object) = pending.pop().and_then(|key| state.get(&key)) {
            let references = object["metadata"]["ownerReferences"].as_array();
            let uids = references.into_iter().flatten().map(|owner| text(&owner["uid"]));
            for owner in uids.filter_map(|uid| uid.strip_prefix("<uid of ")?.strip_suffix('>')) {
                if owners.insert(owner.to_owned()) {
                    pending.push(owner.to_owned());
                }
            }
        }
        links.push(owners.iter().filter_map(|key| number(key)).collect());
    }
    let name = |sample: &Sample| text(&sample.object["metadata"]["name"]).to_owned();
    for (n, sample) in setup.samples.iter().enumerate() {
        let spec = &sample.object["spec"];
        let leaves = change::leaves(spec, "");
        let values: BTreeSet<_> = leaves.iter().map(|leaf| spec.pointer(leaf).map_or("", text)).collect();
        let named = |other: &usize| values.contains(name(&setup.samples[*other]).as_str());
        links.push((0..setup.samples.len()).filter(named).chain([n]).collect());
    }
    let is_defined = |n: &usize| setup.is_defined(&setup.samples[*n].object);
    links.iter_mut().for_each(|link| link.retain(is_defined));
    links
}

/// Joins the groups that have members of one link.
fn joined(mut groups: Vec<Group>, links: &[Group]) -> Vec<Group> {
    for link in links {
        let (linked, mut others): (Vec<_>, Vec<_>) = groups.into_iter().partition(|group| !group.is_disjoint(link));
        if !linked.is_empty() {
            others.push(linked.into_iter().flatten().collect());
        }
        others.sort_by_key(|group| group.first().copied());
        groups = others;
    }
    groups
}

/// Joins the groups whose objects alone are not those that they have among all samples; if they still are not, there is one group.
fn independent(all: &Stage, groups: Vec<Group>, together: &State) -> Result<Vec<Group>, String> {
    let mut known = BTreeSet::new();
    let (mut alike, mut different) = (Vec::new(), Group::new());
    for group in groups {
        match objects_alone(all, &group, together)? {
            Some(keys) => {
                known.extend(keys);
                alike.push(group);
            }
            None => different.extend(group),
        }
    }
    if !different.is_empty() {
        match objects_alone(all, &different, together)? {
            Some(keys) => {
                known.extend(keys);
                alike.push(different);
            }
            None => known.clear(),
        }
    }
    if together.keys().all(|key| known.contains(key)) {
        alike.sort_by_key(|group| group.first().copied());
        return Ok(alike);
    }
    Ok(vec![(0..all.setup.samples.len()).collect()])
}

/// The keys of the objects of these samples alone, if these objects are the same among all samples.
fn objects_alone(all: &Stage, group: &Group, together: &State) -> Result<Option<Vec<String>>, String> {
    let alone = created(&part(all, group))?;
    let Some(state) = alone.states.into_iter().next().filter(|_| alone.finding.is_none()) else {
        return Ok(None);
    };
    let is_there = state.keys().all(|key| together.contains_key(key));
    let is_alike = is_there && differences::different(&state, together).next().is_none();
    Ok(is_alike.then(|| state.into_keys().collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_joined_by_links_through_several_of_them() {
        let groups = |numbers: &[&[usize]]| -> Vec<Group> {
            numbers.iter().map(|group| group.iter().copied().collect()).collect()
        };
        let links = groups(&[&[4], &[1, 3], &[3, 0]]);
        let joined = joined(groups(&[&[0], &[1, 2], &[3], &[4]]), &links);
        assert_eq!(joined, groups(&[&[0, 1, 2, 3], &[4]]));
    }
}
