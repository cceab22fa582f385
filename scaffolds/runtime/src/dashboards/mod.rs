//! Grafana dashboards of the metrics of any operator, as JSON. It knows names of metrics, and has none itself.

mod panels;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use self::panels::{CONTROLLERS, PROCESS, Panel, Row};

/// The schema of dashboards that Grafana 10.0 writes; later ones migrate it when they load it.
const SCHEMA: u32 = 38;
/// Panels are two in a row of 24 columns.
const SIZE: [usize; 2] = [12, 8];

/// The matchers of one operator's series: labels that Prometheus adds when it scrapes.
const OPERATOR: &str = r#"namespace="$namespace",job="$job""#;

/// A dashboard.
struct Dashboard {
    file: &'static str,
    title: &'static str,
    rows: &'static [Row],
    /// Whether the user chooses controllers.
    by_controller: bool,
}

const ALL: [Dashboard; 2] = [
    Dashboard {
        file: "controllers.json",
        title: "Operator: controllers",
        rows: &CONTROLLERS,
        by_controller: true,
    },
    Dashboard {
        file: "process.json",
        title: "Operator: process",
        rows: &PROCESS,
        by_controller: false,
    },
];

/// A ConfigMap of the dashboards, with the label by which the sidecar of the chart `kube-prometheus-stack` finds them.
const KUSTOMIZATION: &str = "\
# For Grafana's sidecar: kubectl apply --server-side --namespace monitoring --kustomize .
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
configMapGenerator:
  - name: operator-dashboards
    files:
      - controllers.json
      - process.json
    options:
      disableNameSuffixHash: true
      labels:
        grafana_dashboard: \"1\"
";

/// The files of the dashboards: name and text. They fit every operator: data source, namespace and job are chosen in Grafana.
pub(crate) fn files() -> BTreeMap<&'static str, String> {
    // A value of JSON can always be written.
    let dashboards = ALL.iter().map(|it| (it.file, format!("{:#}\n", it.json())));
    dashboards
        .chain([("kustomization.yaml", KUSTOMIZATION.to_owned())])
        .collect()
}

impl Dashboard {
    fn json(&self) -> Value {
        let uid = format!("kubewright-{}", self.file.trim_end_matches(".json"));
        json!({
            "uid": uid,
            "title": self.title,
            "tags": ["kubewright", "kubernetes", "operator"],
            "schemaVersion": SCHEMA,
            "editable": true,
            "refresh": "30s",
            "time": {"from": "now-1h", "to": "now"},
            "templating": {"list": self.variables()},
            "panels": self.panels(),
        })
    }

    /// The variables that the user sets.
    fn variables(&self) -> Vec<Value> {
        let source = json!({"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"});
        let all = "controller_runtime_active_workers";
        let mut variables = vec![
            source,
            variable("namespace", &format!("label_values({all}, namespace)")),
            variable("job", &format!("label_values({all}{{namespace=\"$namespace\"}}, job)")),
        ];
        if self.by_controller {
            let query = format!("label_values({all}{{namespace=\"$namespace\", job=\"$job\"}}, controller)");
            let mut controllers = variable("controller", &query);
            (controllers["multi"], controllers["includeAll"]) = (json!(true), json!(true));
            controllers["current"] = json!({"text": "All", "value": "$__all"});
            variables.push(controllers);
        }
        variables
    }

    fn panels(&self) -> Vec<Value> {
        let (mut panels, mut y) = (Vec::new(), 0);
        for row in self.rows {
            let place = json!({"x": 0, "y": y, "w": 24, "h": 1});
            panels.push(json!({"type": "row", "title": row.title, "gridPos": place, "collapsed": false, "panels": []}));
            y += 1;
            for (at, panel) in row.panels.iter().enumerate() {
                let [w, h] = SIZE;
                let place = json!({"x": at % 2 * w, "y": y + at / 2 * h, "w": w, "h": h});
                panels.push(self.panel(panel, &place));
            }
            y += row.panels.len().div_ceil(2) * SIZE[1];
        }
        for (at, panel) in panels.iter_mut().enumerate() {
            panel["id"] = json!(at + 1);
        }
        panels
    }

    fn panel(&self, panel: &Panel, place: &Value) -> Value {
        let scope = if self.by_controller {
            r#"namespace="$namespace",job="$job",controller=~"$controller""#
        } else {
            OPERATOR
        };
        let targets = panel.queries.iter().zip('A'..).map(|((query, legend), id)| {
            let legend = legend.split(' ').map(|word| match word.strip_prefix('$') {
                Some(label) => format!("{{{{{label}}}}}"),
                None => word.to_owned(),
            });
            json!({
                "refId": id.to_string(),
                "datasource": source(),
                "expr": query.replace("SCOPE", scope).replace("OPERATOR", OPERATOR),
                "legendFormat": legend.collect::<Vec<_>>().join(" "),
            })
        });
        json!({
            "type": "timeseries",
            "title": panel.title,
            "description": panel.description,
            "datasource": source(),
            "gridPos": place,
            "fieldConfig": {"defaults": {"unit": panel.unit, "custom": {"fillOpacity": 10}}, "overrides": []},
            "options": {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi", "sort": "desc"}},
            "targets": targets.collect::<Vec<_>>(),
        })
    }
}

fn source() -> Value {
    json!({"type": "prometheus", "uid": "${datasource}"})
}

/// A variable with the values of a query, which is read again when the time range changes.
fn variable(name: &str, query: &str) -> Value {
    json!({
        "name": name,
        "label": name,
        "type": "query",
        "datasource": source(),
        "query": {"query": query, "refId": name},
        "refresh": 2,
        "sort": 1,
    })
}

#[cfg(test)]
mod tests;
