//! `--pattern internal`: an OrderRun for each Order, a ConfigMap for each OrderRun, and its state reported back to the
//! Order.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use control_plane::eventually;
use fastrand::Rng;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, ListParams},
};
use serde_json::json;

use super::{controller, ready};
use crate::stage::{Case, PATIENCE, case};

const ORDERS: usize = 40;

fn name(n: usize) -> String {
    format!("order-{n:02}")
}

impl Case<'_> {
    /// An operator that is killed after a while.
    async fn live_and_die(&self, chance: &mut Rng) -> Result<()> {
        let operator = self.start_patterns()?;
        tokio::time::sleep(Duration::from_millis(chance.u64(50..900))).await;
        operator.kill()
    }

    /// Each Order has one OrderRun, which has one ConfigMap with the Order's data; and the Order's status reports it.
    async fn orders_are_carried_out(&self, count: usize) -> Result<()> {
        let (orders, runs) = (self.objects("Order"), self.objects("OrderRun"));
        let maps: Api<ConfigMap> = Api::namespaced(self.client.clone(), &self.namespace);
        let all = ListParams::default();
        eventually(&format!("{count} Orders to be carried out"), 2 * PATIENCE, async || {
            let (orders, runs) = (orders.list(&all).await?.items, runs.list(&all).await?.items);
            let mut maps = maps.list(&all).await?.items;
            maps.retain(|map| controller(map).is_some());
            ensure!(
                (orders.len(), runs.len(), maps.len()) == (count, count, count),
                "{} runs, {} maps",
                runs.len(),
                maps.len()
            );
            for order in &orders {
                let name = order.name_any();
                ensure!(ready(order).0 == "True", "`{name}`: {}", order.data["status"]);
                let run = runs
                    .iter()
                    .find(|run| controller(*run) == Some(format!("Order/{name}")));
                let run = run.with_context(|| format!("`{name}` has no OrderRun"))?;
                ensure!(
                    run.data["spec"]["target"] == order.data["spec"]["target"],
                    "{}",
                    run.data
                );
                let of_run = format!("OrderRun/{}", run.name_any());
                let map = maps.iter().find(|map| controller(*map).as_ref() == Some(&of_run));
                let data = map
                    .and_then(|map| map.data.as_ref())
                    .with_context(|| format!("`{name}` has no ConfigMap"))?;
                ensure!(
                    data.get("target").map(String::as_str) == order.data["spec"]["target"].as_str(),
                    "{data:?}"
                );
            }
            Ok(Some(()))
        })
        .await
    }
}

#[test]
fn an_order_is_carried_out_by_its_internal_kind_and_deleted_with_its_children() -> Result<()> {
    case(async |case| {
        case.deploy_patterns().await?;
        let operator = case.run_patterns().await?;
        case.create("Order", &name(0), json!({"target": "world"})).await?;
        case.orders_are_carried_out(1).await?;
        case.change("Order", &name(0), json!({"target": "moon"})).await?;
        case.orders_are_carried_out(1).await?;
        let _operator = case.restart_writes_nothing(operator).await?;
        case.objects("Order").delete(&name(0), &DeleteParams::default()).await?;
        case.orders_are_carried_out(0).await
    })
}

#[test]
fn after_kills_between_any_two_steps_every_order_is_carried_out() -> Result<()> {
    case(async |case| {
        case.deploy_patterns().await?;
        let mut chance = Rng::with_seed(11);
        let orders = case.objects("Order");
        for n in 0..ORDERS {
            case.create("Order", &name(n), json!({"target": format!("first {n}")}))
                .await?;
        }
        for _ in 0..6 {
            case.live_and_die(&mut chance).await?;
        }
        for n in (0..ORDERS).step_by(2) {
            case.change("Order", &name(n), json!({"target": format!("second {n}")}))
                .await?;
        }
        for _ in 0..4 {
            case.live_and_die(&mut chance).await?;
        }
        let operator = case.run_patterns().await?;
        case.orders_are_carried_out(ORDERS).await?;
        operator.kill()?;
        for n in 0..ORDERS {
            orders.delete(&name(n), &DeleteParams::default()).await?;
        }
        for _ in 0..3 {
            case.live_and_die(&mut chance).await?;
        }
        let _operator = case.run_patterns().await?;
        case.orders_are_carried_out(0).await
    })
}
