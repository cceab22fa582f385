//! The bundles of `make bundle`, by the rules of `operator-sdk bundle validate`: golden projects with and without components.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};
use control_plane::{Assets, root, say};
use kubewright_manifests::bundle::{Bundle, Package, Release, Sources, bundle};
use kubewright_schema::{files, yaml};
use serde_json::{Value, json};

use crate::project::Project;

/// The guide's changes for objects that OLM does not accept, in the project `wide`.
const FOR_OLM: &str = r"
resources:
  - ../default
patches:
  - target: {kind: .*AdmissionPolicy.*}
    patch: |-
      $patch: delete
      apiVersion: v1
      kind: Any
      metadata: {name: any}
  - target: {kind: .*WebhookConfiguration}
    patch: |-
      apiVersion: admissionregistration.k8s.io/v1
      kind: Any
      metadata: {name: any}
      webhooks:
        - {name: mdeployment-v1.apps.kubewright.dev, $patch: delete}
        - {name: vdeployment-v1.apps.kubewright.dev, $patch: delete}
";

/// The part of `config/bundle/csv.yaml` that only an author knows.
const AUTHOR: &str = r"
spec:
  provider: {name: Example}
  maintainers: [{name: Ann, email: ann@example.com}]
  links: [{name: Home, url: https://example.com}]
  icon: [{base64data: PHN2Zy8+, mediatype: image/svg+xml}]
";

/// The objects of a project, and its samples.
struct Given {
    objects: Vec<Value>,
    samples: Vec<Value>,
}

impl Given {
    fn new(project: &Project, kubectl: &Path) -> Result<Self> {
        Ok(Self {
            objects: project.kustomized_by(kubectl)?,
            samples: files::documents(&project.config().join("samples")).map_err(anyhow::Error::msg)?,
        })
    }

    fn bundle(&self) -> Result<Bundle> {
        let base = yaml::documents(AUTHOR)?;
        let package = Package {
            description: Some("A Kubernetes operator".to_owned()),
            ..Package::default()
        };
        let sources = Sources {
            objects: &self.objects,
            samples: &self.samples,
            base: base.first(),
            package: &package,
        };
        let release = Release {
            version: "0.1.0".to_owned(),
            ..Release::default()
        };
        Ok(bundle(&sources, &release)?)
    }
}

/// The golden project of this name; `wide` without what OLM does not accept.
fn project(case: &str, components: &[&str]) -> Result<Project> {
    let project = Project::golden(case, components)?;
    if case == "wide" {
        project.write("bundle/kustomization.yaml", FOR_OLM)?;
    }
    Ok(project)
}

fn csv(bundle: &Bundle) -> Result<Value> {
    let file = &bundle.files["manifests/foobar-operator.clusterserviceversion.yaml"];
    yaml::documents(file)?.pop().context("the file has a document")
}

/// The rules of the roles in a file of config/rbac.
fn rules(case: &str, file: &str) -> Result<Value> {
    // The folder goes with the project.
    let project = Project::golden(case, &[])?;
    let path = project.config().join("rbac").join(file);
    let roles = yaml::documents(&fs::read_to_string(path)?)?;
    let rules = roles.iter().filter_map(|role| role["rules"].as_array());
    Ok(rules.flatten().cloned().collect())
}

#[test]
fn the_csv_grants_what_config_rbac_grants_to_the_service_account() -> Result<()> {
    let Some(assets) = Assets::or_skip() else { return Ok(()) };
    for (case, of_role) in [
        ("one", "clusterPermissions"),
        ("namespaced", "permissions"),
        ("none", "clusterPermissions"),
    ] {
        let given = Given::new(&project(case, &[])?, &assets.kubectl())?;
        let csv = csv(&given.bundle()?)?;
        let install = &csv["spec"]["install"]["spec"];
        let granted = |list: &str| -> Vec<Value> {
            let entries = install[list].as_array().into_iter().flatten();
            let mut rules: Vec<_> = entries
                .flat_map(|entry| entry["rules"].as_array().cloned().unwrap_or_default())
                .collect();
            rules.sort_by_key(Value::to_string);
            rules
        };
        let mut wanted = [("permissions", Vec::new()), ("clusterPermissions", Vec::new())];
        for (list, wanted) in &mut wanted {
            if *list == "permissions" {
                let mut lease = rules(case, "leader_election_role.yaml")?;
                wanted.append(lease.as_array_mut().context("a list")?);
            }
            if *list == of_role {
                wanted.append(rules(case, "role.yaml")?.as_array_mut().context("a list")?);
            }
            wanted.sort_by_key(Value::to_string);
            ensure!(
                granted(list) == *wanted,
                "{case}: {list}: {:#?}\n{wanted:#?}",
                granted(list)
            );
        }
    }
    Ok(())
}

#[test]
fn what_olm_does_not_accept_is_refused_until_it_is_left_out() -> Result<()> {
    let Some(assets) = Assets::or_skip() else { return Ok(()) };
    let whole = Given::new(&Project::golden("wide", &[])?, &assets.kubectl())?;
    let error = whole.bundle().err().context("wide has policies")?.to_string();
    ensure!(
        error.contains("`MutatingAdmissionPolicy/foobar-operator-foobar-teams`"),
        "{error}"
    );
    let given = Given::new(&project("wide", &[])?, &assets.kubectl())?;
    let csv = csv(&given.bundle()?)?;
    let names = csv["spec"]["webhookdefinitions"].as_array().context("a list")?.iter();
    let names: Vec<_> = names.map(|it| [&it["type"], &it["generateName"]]).collect();
    let wanted = json!([
        ["ConversionWebhook", "cfoobars.test.example.com"],
        ["MutatingAdmissionWebhook", "mfoobar-v1.test.example.com"],
        ["MutatingAdmissionWebhook", "mpump-v1.water.example.com"],
        ["ValidatingAdmissionWebhook", "vfoobar-v1.test.example.com"],
        ["ValidatingAdmissionWebhook", "vpump-v1.water.example.com"],
    ]);
    ensure!(json!(names) == wanted, "{names:#?}");
    Ok(())
}

/// The validator; `None`, and a note, without it.
fn validator() -> Option<PathBuf> {
    let validator = std::env::var_os("OLM_VALIDATE").map_or_else(|| root().join("target/olm/validate"), PathBuf::from);
    if validator.is_file() {
        return Some(validator);
    }
    say(&format!(
        "SKIPPED: no `{}`; `tests/control-plane/olm/build` builds it",
        validator.display()
    ));
    None
}

#[test]
fn operator_frameworks_own_rules_accept_each_bundle() -> Result<()> {
    const ALL: &[&str] = &["metrics", "prometheus", "network-policy"];
    let (Some(assets), Some(validator)) = (Assets::or_skip(), validator()) else {
        return Ok(());
    };
    let folder = tempfile::tempdir()?;
    let mut validate = Command::new(validator);
    validate.current_dir(folder.path());
    for (case, components) in [
        ("one", &[][..]),
        ("one", ALL),
        ("namespaced", ALL),
        ("none", &[]),
        ("two-groups", &[]),
        ("patterns", &[]),
        ("wide", ALL),
    ] {
        let given = Given::new(&project(case, components)?, &assets.kubectl())?;
        let bundle = given.bundle().with_context(|| format!("{case} with {components:?}"))?;
        let name = format!("{case}-{}", components.len());
        for (path, text) in &bundle.files {
            let path = folder.path().join(&name).join(path);
            fs::create_dir_all(path.parent().context("a file is in a folder")?)?;
            fs::write(path, text)?;
        }
        validate.arg(name);
    }
    let output = validate.output()?;
    let said = String::from_utf8(output.stdout)?;
    ensure!(
        output.status.success() && output.stderr.is_empty(),
        "{said}{}",
        String::from_utf8(output.stderr)?
    );
    // The operator enters its converter into its own CRD, unless OLM does; the role is the same.
    let known = "wide-3: warning: Warning: Value foobar-operator.v0.1.0: CSV contains permissions to create CRD.";
    let unknown: Vec<_> = said.lines().filter(|line| !line.starts_with(known)).collect();
    ensure!(unknown.is_empty() && said.lines().count() == 1, "{said}");
    Ok(())
}
