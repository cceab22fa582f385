//! The time zones that the server accepts, of those in the recording and in this machine's database.

use std::{collections::BTreeSet, fs};

use anyhow::Result;
use control_plane::root;
use futures::{StreamExt, TryStreamExt, stream};
use serde_json::json;

use super::Real;
use crate::Step;

const FILE: &str = "scaffolds/apiserver/src/kinds/zones.txt";
/// Lines `Z NAME …` and `L TARGET NAME`.
const DATABASE: &str = "/usr/share/zoneinfo/tzdata.zi";
/// Requests at a time.
const AT_ONCE: usize = 8;

/// A line for each zone.
pub(super) async fn text(real: &Real) -> Result<String> {
    let committed = fs::read_to_string(root().join(FILE))?;
    let database = fs::read_to_string(DATABASE).unwrap_or_default();
    let zones = database.lines().filter_map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["Z", name, ..] | ["L", _, name] => Some(name),
            _ => None,
        }
    });
    let names: BTreeSet<String> = committed.lines().chain(zones).map(str::to_owned).collect();
    let accepted = stream::iter(names).map(|name| async move {
        let is_accepted = is_accepted(real, &name).await?;
        anyhow::Ok(is_accepted.then_some(name))
    });
    let accepted: Vec<Option<String>> = accepted.buffered(AT_ONCE).try_collect().await?;
    Ok(accepted.into_iter().flatten().collect::<Vec<_>>().join("\n"))
}

async fn is_accepted(real: &Real, zone: &str) -> Result<bool> {
    let pod = json!({"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]});
    let body = json!({"metadata": {"name": "a"}, "spec": {"schedule": "* * * * *", "timeZone": zone,
        "jobTemplate": {"spec": {"template": {"spec": pod}}}}});
    let step = Step {
        r#do: "POST /apis/batch/v1/namespaces/default/cronjobs?dryRun=All".to_owned(),
        body: Some(body),
        ..Step::default()
    };
    Ok(real.target.send(&step).await?.code == 201)
}
