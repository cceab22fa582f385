//! The operator killed at random moments, while people make, change and delete what it works on.

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

/// What happens when, but for what the machine's load makes of it. `make nightly` takes another one each time.
const SEED: u64 = 5;

/// FooBars, and the people who share them: each has some to herself, so that she knows what must be there in the end.
const FOOBARS: usize = 500;
const PEOPLE: usize = 10;

/// What a person does to each of hers, one after the other, once it is there.
const DEEDS: usize = 3;

/// Between two deeds of a person, and how long an operator lives, in milliseconds.
const PAUSE: std::ops::Range<u64> = 0..60;
const LIFE: std::ops::Range<u64> = 20..900;

/// What people know of their FooBars: the targets of those that must be there, by name.
type Known = BTreeMap<String, String>;

fn seed() -> u64 {
    let nightly = std::env::var_os("KUBEWRIGHT_NIGHTLY").is_some();
    if nightly { Rng::new().u64(..) } else { SEED }
}

/// Makes, changes, deletes and makes again these FooBars, in an order of chance; what is there in the end.
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
                    // The one before is still on its way out.
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

/// All people at work, each with some of the FooBars.
fn people(foobars: &Api<FooBar>, chance: &mut Rng) -> JoinSet<Result<Known>> {
    let all = names("killed", FOOBARS);
    let shares = all.chunks(FOOBARS / PEOPLE);
    shares
        .map(|share| person(foobars.clone(), share.to_vec(), chance.fork()))
        .collect()
}

impl Case<'_> {
    /// What is there is what people want, each with its one child; nothing is held back, and nothing was made twice.
    async fn is_as_wanted(&self, known: &Known, since: Mark) -> Result<()> {
        let foobars = all_ready(&self.foobars, known.len(), 2 * PATIENCE).await?;
        for foobar in &foobars {
            let name = foobar.metadata.name.as_deref().unwrap_or_default();
            ensure!(
                known.get(name) == Some(&foobar.spec.target),
                "{foobar:?} is not what was asked for"
            );
            ensure!(foobar.metadata.deletion_timestamp.is_none(), "`{name}` is held back");
        }
        self.check_children(&foobars).await?;
        self.stays_quiet().await?;
        self.made_no_child_twice(since)
    }

    /// A child for each FooBar that there has been, at most: of one that went at once there was none.
    fn made_no_child_twice(&self, since: Mark) -> Result<()> {
        let (mut foobars, mut children) = (BTreeMap::<_, usize>::new(), BTreeMap::<_, usize>::new());
        for request in self.stage.plane.audit().since(since)? {
            if request.verb != "create" || request.code != 201 || request.namespace != self.namespace {
                continue;
            }
            // The name of what is created is not part of the path, but of what was answered.
            match request.resource.as_str() {
                "foobars" => *foobars.entry(child_of(&request.name)).or_default() += 1,
                "configmaps" if request.name.ends_with("-foobar") => *children.entry(request.name).or_default() += 1,
                _ => {}
            }
        }
        ensure!(
            foobars.len() == FOOBARS,
            "the log tells of {} FooBars only",
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
fn an_operator_that_is_killed_while_people_are_at_work_leaves_what_they_asked_for() -> Result<()> {
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
fn an_operator_that_is_killed_while_everything_is_deleted_holds_nothing_back() -> Result<()> {
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
