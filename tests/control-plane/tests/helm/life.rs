//! The life of a release, with the same outcome on a real kube-apiserver and on the in-process one.

use anyhow::{Result, ensure};
use serde_json::Value;

use crate::{Programs, programs, project::Project, release::Server};

const FOOBAR: &str = "apiVersion: test.example.com/v1\nkind: FooBar\nmetadata:\n  name: kept\n  namespace: default\nspec:\n  target: a\n";

/// Two versions of a chart: the second has another image, and a CRD with one more field.
fn charts(programs: &Programs) -> Result<[Project; 2]> {
    let projects = [
        Project::golden("one", &["metrics"])?,
        Project::golden("one", &["metrics"])?,
    ];
    let mut objects = projects[0].kustomized(programs)?;
    projects[0].write_chart(&objects, "0.1.0")?;
    for object in &mut objects {
        if object["kind"] == "CustomResourceDefinition" {
            let spec = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties";
            if let Some(properties) = object.pointer_mut(spec) {
                properties["size"] = serde_json::json!({"type": "integer"});
            }
        }
        if let Some(image) = object.pointer_mut("/spec/template/spec/containers/0/image") {
            *image = Value::from("controller:v2");
        }
    }
    projects[1].write_chart(&objects, "0.2.0")?;
    Ok(projects)
}

/// The state after each step.
type Story = Vec<(&'static str, Vec<String>)>;

/// Everything of a release from its installation to its end, twice.
fn live(server: &Server, [first, second]: &[Project; 2]) -> Result<Story> {
    let mut story = Story::new();
    let mut then = |step: &'static str| -> Result<()> {
        story.push((step, server.state()?));
        Ok(())
    };
    let object = || server.kubectl(&["get", "foobar", "kept", "--output", "jsonpath={.spec}"]);
    server.helm("install", Some(&first.chart()), &["--create-namespace"])?;
    then("installed")?;
    server.until("FooBars are served", || server.apply(FOOBAR, &[]).map(|_| true))?;

    server.helm("upgrade", Some(&second.chart()), &["--set", "replicas=2"])?;
    then("upgraded")?;
    let sized = FOOBAR.replace("target: a", "target: a\n  size: 3");
    server.until("the new field is served", || {
        server.apply(&sized, &["--validate=strict"]).map(|_| true)
    })?;
    ensure!(object()?.contains("\"size\":3"), "{}", object()?);

    server.helm("rollback", None, &["1"])?;
    then("rolled back")?;

    server.helm("uninstall", None, &[])?;
    then("uninstalled")?;
    ensure!(
        object()?.contains("\"target\":\"a\""),
        "the object did not outlive the release"
    );

    // The release takes the CRDs that the last one has left.
    server.helm("install", Some(&second.chart()), &[])?;
    then("installed again")?;
    ensure!(object()?.contains("\"target\":\"a\""));

    server.helm("upgrade", Some(&second.chart()), &["--set", "crds.keep=false"])?;
    server.helm("uninstall", None, &[])?;
    server.until("the CRD is gone", || {
        Ok(server.kubectl(&["get", "crds", "--output", "name"])?.is_empty())
    })?;
    then("nothing is kept")?;
    Ok(story)
}

/// Two releases of one name, on a cluster without the CRDs of the Prometheus operator and of cert-manager.
fn twice(server: &Server, chart: &Project) -> Result<()> {
    const CLUSTER: &str =
        "clusterroles,clusterrolebindings,mutatingwebhookconfigurations,validatingwebhookconfigurations";
    let count = |namespace: &str| -> Result<usize> {
        let names = server.kubectl(&["get", CLUSTER, "--output", "name"])?;
        Ok(names
            .lines()
            .filter(|name| name.contains(&format!("/{namespace}.foobar-operator-")))
            .count())
    };
    let chart = chart.chart();
    server.helm_of(
        ["foobar-operator", "team-a"],
        "install",
        Some(&chart),
        &["--create-namespace"],
    )?;
    let shared = ["--create-namespace", "--set", "crds.enabled=false"];
    server.helm_of(["foobar-operator", "team-b"], "install", Some(&chart), &shared)?;
    ensure!(
        count("team-a")? == count("team-b")? && count("team-b")? > 5,
        "{}",
        count("team-a")?
    );
    server.helm_of(
        ["foobar-operator", "team-b"],
        "upgrade",
        Some(&chart),
        &["--set", "crds.enabled=false,webhooks.enabled=false"],
    )?;
    server.helm_of(["foobar-operator", "team-b"], "rollback", None, &["1"])?;
    server.helm_of(["foobar-operator", "team-a"], "uninstall", None, &[])?;
    ensure!(count("team-a")? == 0 && count("team-b")? > 5);
    server.helm_of(["foobar-operator", "team-b"], "uninstall", None, &[])?;
    ensure!(count("team-b")? == 0);
    Ok(())
}

#[tokio::test]
async fn releases_of_one_name_live_in_two_namespaces() -> Result<()> {
    let Some(programs) = programs() else { return Ok(()) };
    let chart = Project::golden("one", &["metrics", "prometheus", "network-policy", "webhook"])?;
    chart.write_chart(&chart.kustomized(&programs)?, "0.1.0")?;
    twice(&Server::real(&programs).await?, &chart)?;
    twice(&Server::ours(&programs)?, &chart)
}

/// A deployed operator becomes a release.
fn take_over(server: &Server, chart: &Project, programs: &Programs) -> Result<Vec<String>> {
    let objects = chart.kustomized(programs)?;
    let text: String = objects.iter().map(|object| format!("---\n{object}\n")).collect();
    server.apply(&text, &["--force-conflicts"])?;
    server.until("FooBars are served", || server.apply(FOOBAR, &[]).map(|_| true))?;
    let refused = server.helm("install", Some(&chart.chart()), &[]);
    ensure!(refused.is_err(), "it was not refused");
    let arguments: &[&str] = match programs.patches {
        true => &["--take-ownership"],
        false => &["--take-ownership", "--force-conflicts"],
    };
    server.helm("install", Some(&chart.chart()), arguments)?;
    ensure!(
        server
            .kubectl(&["get", "foobar", "kept", "--output", "name"])?
            .contains("kept")
    );
    server.state()
}

#[tokio::test]
async fn a_release_lives_alike_on_both_servers_and_its_objects_outlive_it() -> Result<()> {
    let Some(programs) = programs() else { return Ok(()) };
    let charts = charts(&programs)?;
    let real = live(&Server::real(&programs).await?, &charts)?;
    let ours = live(&Server::ours(&programs)?, &charts)?;
    for ((step, real), (_, ours)) in real.iter().zip(&ours) {
        ensure!(real == ours, "{step}:\n{real:#?}\non the in-process server:\n{ours:#?}");
    }
    let state = |step: &str| {
        real.iter()
            .find(|(name, _)| *name == step)
            .map(|(_, state)| state.join("\n"))
    };
    let has = |step: &str, text: &str| state(step).unwrap_or_default().contains(text);
    ensure!(
        has("installed", "1 controller:latest") && !has("installed", "\"size\""),
        "{real:#?}"
    );
    ensure!(
        has("upgraded", "2 controller:v2") && has("upgraded", "\"size\""),
        "{real:#?}"
    );
    ensure!(
        has("rolled back", "1 controller:latest") && !has("rolled back", "\"size\""),
        "{real:#?}"
    );
    let gone = [
        "deployment",
        "clusterrole",
        "serviceaccount",
        "controller:latest",
        "superseded",
    ];
    ensure!(has("uninstalled", "foobars.test.example.com"), "{real:#?}");
    ensure!(!gone.iter().any(|text| has("uninstalled", text)), "{real:#?}");
    ensure!(
        has("installed again", "1 controller:v2") && has("installed again", "\"size\""),
        "{real:#?}"
    );
    ensure!(!has("nothing is kept", "foobar"), "{real:#?}");
    Ok(())
}

#[tokio::test]
async fn a_release_takes_over_what_make_deploy_applied() -> Result<()> {
    let Some(programs) = programs() else { return Ok(()) };
    let [chart, _] = charts(&programs)?;
    let real = take_over(&Server::real(&programs).await?, &chart, &programs)?;
    let ours = take_over(&Server::ours(&programs)?, &chart, &programs)?;
    ensure!(real == ours, "{real:#?}\non the in-process server:\n{ours:#?}");
    ensure!(real.contains(&"Helm foobar-operator".to_owned()), "{real:#?}");
    Ok(())
}
