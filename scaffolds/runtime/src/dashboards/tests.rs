//! The dashboards fit Grafana, and show each metric that the reference page lists.

use std::collections::BTreeSet;

use super::*;

fn dashboards() -> Vec<Value> {
    let files = files();
    let texts = files.iter().filter(|(name, _)| name.ends_with(".json"));
    texts.map(|(_, text)| serde_json::from_str(text).unwrap()).collect()
}

fn items<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value[field].as_array().map(Vec::as_slice).unwrap_or_default()
}

#[test]
fn panels_have_an_id_of_their_own_and_do_not_overlap() {
    for dashboard in dashboards() {
        let mut ids = BTreeSet::new();
        let mut cells = BTreeSet::new();
        for panel in items(&dashboard, "panels") {
            assert!(ids.insert(panel["id"].as_u64().unwrap()));
            let [x, y, w, h] = ["x", "y", "w", "h"].map(|field| panel["gridPos"][field].as_u64().unwrap());
            assert!(x + w <= 24);
            for cell in (x..x + w).flat_map(|x| (y..y + h).map(move |y| (x, y))) {
                assert!(cells.insert(cell), "{panel} is on another one");
            }
        }
        assert!(ids.len() > 10);
    }
}

#[test]
fn every_query_is_limited_to_one_operator_and_names_its_lines_by_labels_that_it_keeps() {
    for dashboard in dashboards() {
        for target in items(&dashboard, "panels")
            .iter()
            .flat_map(|panel| items(panel, "targets"))
        {
            let [expression, legend] = ["expr", "legendFormat"].map(|field| target[field].as_str().unwrap());
            assert!(
                expression.contains(r#"{namespace="$namespace",job="$job""#) && !expression.contains("SCOPE"),
                "{expression}"
            );
            let by = expression
                .split_once("by (")
                .map_or("", |(_, rest)| rest.split(')').next().unwrap());
            for label in legend.split("{{").skip(1).map(|rest| rest.split("}}").next().unwrap()) {
                assert!(by.split(", ").any(|kept| kept == label), "{legend}: {expression}");
            }
        }
    }
}
