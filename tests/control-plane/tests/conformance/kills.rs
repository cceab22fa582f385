//! The operator is killed at random times, while users create, change and delete its objects.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use control_plane::{
    Mark, eventually,
    foobar::{FooBar, all_ready, child_of, create, names},
};
use fastrand::Rng;
use kube::{
    Api,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use serde_json::json;
use tokio::task::JoinSet;

use crate::stage::{Case, PATIENCE, case, say};

/// Decides the order of events, apart from the machine's load. `make nightly` uses another one each time.
const SEED: u64 = 5;

/// FooBars, and the number of users; each FooBar has one user, who knows its expected final state.
const FOOBARS: usize = 500;
const PEOPLE: usize = 10;

/// The number of actions of a user on each FooBar, one after the other, after it is created.
const DEEDS: usize = 3;

/// The time between two actions of a user, and the lifetime of an operator, in milliseconds.
const PAUSE: std::ops::Range<u64> = 0..60;
const LIFE: std::ops::Range<u64> = 20..900;

/// The expected FooBars of users: their targets, by name.
type Known = BTreeMap<String, String>;

fn seed() -> u64 {
    let nightly = std::env::var_os("KUBEWRIGHT_NIGHTLY").is_some();
    if nightly { Rng::new().u64(..) } else { SEED }
}

/// Creates, changes, deletes and creates these FooBars again, in random order; returns the final state.
async fn person(foobars: Api<FooBar>, names: Vec<String>, mut chance: Rng) -> Result<Known> {
    let mut known = Known::new();
    let mut to_do: Vec<_> = names
        .iter()
        .flat_map(|name| std::iter::repeat_n(name, DEEDS + 1))
        .collect();
    chance.shuffle(&mut to_do);
    for name in to_do {
        let target = format!("{:08x}", chance.u32(..));
        match known.get(name) {
            None => {
                let mut foobar = FooBar::named(name);
                foobar.spec.target.clone_from(&target);
                match foobars.create(&PostParams::default(), &foobar).await {
                    Ok(_) => _ = known.insert(name.clone(), target),
                    // The earlier one is still being deleted.
                    Err(kube::Error::Api(status)) if status.code == 409 => {}
                    Err(error) => return Err(error.into()),
                }
            }
            Some(_) if chance.u8(..3) == 0 => {
                foobars.delete(name, &DeleteParams::default()).await?;
                known.remove(name);
            }
            Some(_) => {
                let patch = Patch::Merge(json!({"spec": {"target": target}}));
                foobars.patch(name, &PatchParams::default(), &patch).await?;
                known.insert(name.clone(), target);
            }
        }
        tokio::time::sleep(Duration::from_millis(chance.u64(PAUSE))).await;
    }
    Ok(known)
}

/// All users, each with some of the FooBars.
fn people(foobars: &Api<FooBar>, chance: &mut Rng) -> JoinSet<Result<Known>> {
    let all = names("killed", FOOBARS);
    let shares = all.chunks(FOOBARS / PEOPLE);
    shares
        .map(|share| person(foobars.clone(), share.to_vec(), chance.fork()))
        .collect()
}

impl Case<'_> {
    /// The objects are as the users want them, each with its one child; none is still being deleted, and no child was
    /// created twice.
    async fn is_as_wanted(&self, known: &Known, since: Mark) -> Result<()> {
        let foobars = all_ready(&self.foobars, known.len(), 2 * PATIENCE).await?;
        for foobar in &foobars {
            let name = foobar.metadata.name.as_deref().unwrap_or_default();
            ensure!(
                known.get(name) == Some(&foobar.spec.target),
                "{foobar:?} is not in its expected state"
            );
            ensure!(foobar.metadata.deletion_timestamp.is_none(), "`{name}` is held back");
        }
        self.check_children(&foobars).await?;
        self.stays_quiet().await?;
        self.made_no_child_twice(since)
    }

    /// At most one child for each FooBar that has existed: one that was deleted at once had none.
    fn made_no_child_twice(&self, since: Mark) -> Result<()> {
        let (mut foobars, mut children) = (BTreeMap::<_, usize>::new(), BTreeMap::<_, usize>::new());
        for request in self.stage.plane.audit().since(since)? {
            if request.verb != "create" || request.code != 201 || request.namespace != self.namespace {
                continue;
            }
            // The path of a create does not contain the name; the response does.
            match request.resource.as_str() {
                "foobars" => *foobars.entry(child_of(&request.name)).or_default() += 1,
                "configmaps" if request.name.ends_with("-foobar") => *children.entry(request.name).or_default() += 1,
                _ => {}
            }
        }
        ensure!(
            foobars.len() == FOOBARS,
            "the log contains only {} FooBars",
            foobars.len()
        );
        let twice: BTreeSet<_> = children
            .iter()
            .filter(|(name, times)| foobars.get(*name).is_none_or(|owners| owners < times))
            .collect();
        ensure!(twice.is_empty(), "made more often than their owners were: {twice:?}");
        Ok(())
    }
}

#[test]
fn after_kills_during_user_actions_the_objects_are_as_the_users_want() -> Result<()> {
    case(async |case| {
        let (seed, mark) = (seed(), case.mark()?);
        let mut chance = Rng::with_seed(seed);
        let mut people = people(&case.foobars, &mut chance);
        let (mut known, mut lives) = (Known::new(), 0);
        while !people.is_empty() {
            let operator = case.start_operator(&["--max-concurrent-reconciles", "4"])?;
            tokio::time::sleep(Duration::from_millis(chance.u64(LIFE))).await;
            operator.kill()?;
            lives += 1;
            while let Some(done) = people.try_join_next() {
                known.extend(done?.with_context(|| format!("seed {seed}"))?);
            }
        }
        say(&format!(
            "seed {seed}: killed {lives} times, {} FooBars of {FOOBARS} remain",
            known.len()
        ));
        ensure!(lives > 5, "killed {lives} times only");
        let _operator = case.operator(&["--max-concurrent-reconciles", "4"]).await?;
        let ended = case.is_as_wanted(&known, mark).await;
        ended.with_context(|| format!("seed {seed}"))
    })
}

#[test]
fn after_kills_during_deletions_every_object_is_deleted() -> Result<()> {
    case(async |case| {
        let mut chance = Rng::with_seed(seed());
        let mut operator = case.operator(&["--max-concurrent-reconciles", "4"]).await?;
        let names = names("ending", 200);
        create(&case.foobars, &names).await?;
        all_ready(&case.foobars, names.len(), 2 * PATIENCE).await?;
        for name in &names {
            case.foobars.delete(name, &DeleteParams::default()).await?;
            if chance.u8(..20) == 0 {
                operator.kill()?;
                operator = case.start_operator(&["--max-concurrent-reconciles", "4"])?;
            }
        }
        all_ready(&case.foobars, 0, 2 * PATIENCE).await?;
        eventually("the children to be collected", 2 * PATIENCE, async || {
            case.check_children(&[]).await?;
            Ok(Some(()))
        })
        .await
    })
}
