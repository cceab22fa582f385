//! The command line: its input, its files and its output.

use super::*;
use crate::bundle::execute;
use kubewright_schema::files::Streams;
use std::fs;

fn run(words: &[&str], input: &str) -> (u8, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let streams = Streams {
        out: &mut out,
        err: &mut err,
    };
    let words = words.iter().map(|word| (*word).to_owned());
    let code = execute(words, &mut input.as_bytes(), streams);
    (code, String::from_utf8([out, err].concat()).unwrap())
}

fn input(objects: &[Value]) -> String {
    objects
        .iter()
        .map(|object| format!("---\n{}", yaml::to_string(object)))
        .collect()
}

#[test]
fn a_second_run_replaces_the_bundle_and_leaves_the_files_of_others() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("bundle");
    let (flag, base) = (format!("--out={}", out.display()), folder.path().join("csv.yaml"));
    fs::write(&base, "spec:\n  displayName: Mine\n").unwrap();
    let base = format!("--base={}", base.display());
    let words = [
        flag.as_str(),
        &base,
        "--channels=fast, stable",
        "--default-channel",
        "stable",
        "--version",
        "3.2.1",
        "--oldest-kubernetes=1.34",
    ];
    let said = format!("{}\nnote: {}\n", out.display(), super::super::NO_PROVIDER);
    assert_eq!(run(&words, &input(&project())), (0, said));
    let csv = fs::read_to_string(out.join("manifests/foo.clusterserviceversion.yaml")).unwrap();
    assert!(
        csv.contains("displayName: Mine\n") && csv.contains("version: '3.2.1'\n"),
        "{csv}"
    );
    assert!(csv.contains("minKubeVersion: '1.34.0'\n"), "{csv}");
    let annotations = fs::read_to_string(out.join("metadata/annotations.yaml")).unwrap();
    assert!(annotations.contains("channels.v1: fast,stable\n"), "{annotations}");

    let mine = out.join("tests/scorecard");
    fs::create_dir_all(&mine).unwrap();
    let mut objects = project();
    objects.remove(8);
    assert_eq!(run(&[&flag], &input(&objects)).0, 0);
    assert!(
        !out.join("manifests/foo-metrics_v1_service.yaml").exists(),
        "its object is gone"
    );
    assert!(mine.exists());
    fs::write(out.join("metadata/annotations.yaml"), "mine: 1\n").unwrap();
    let (code, said) = run(&[&flag], &input(&objects));
    assert!(
        code == 1 && said.contains("annotations.yaml` was not written by make bundle"),
        "{said}"
    );
}

#[test]
fn wrong_arguments_and_wrong_input_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let flag = format!("--out={}", folder.path().join("bundle").display());
    assert_eq!(run(&["--outt"], "").0, 2);
    assert!(run(&["--help"], "").1.contains("Usage: manifests bundle"));
    assert!(
        run(&[&flag], "[")
            .1
            .starts_with("error: the output of kustomize is not YAML")
    );
    let base = folder.path().join("csv.yaml");
    fs::write(&base, "a: 1\n---\nb: 1\n").unwrap();
    let base = format!("--base={}", base.display());
    assert!(
        run(&[&flag, &base], &input(&project()))
            .1
            .contains("csv.yaml` has several documents")
    );
    let (code, said) = run(&[&flag, "--version=v1"], &input(&project()));
    assert!(
        code == 1 && said.starts_with("error: `foo.v1` cannot be the name of a ClusterServiceVersion"),
        "{said}"
    );
    let (code, said) = run(&[&flag, "--image="], &input(&project()));
    assert!(
        code == 2 && said.starts_with("error: `` is not an image, such as registry.example.com/NAME:TAG: it is empty"),
        "{said}"
    );
    assert!(!folder.path().join("bundle").exists());
}

#[test]
fn the_name_of_a_tag_is_a_version_and_the_named_image_is_in_the_bundle() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("bundle");
    let flag = format!("--out={}", out.display());
    let (code, said) = run(
        &[&flag, "--version=v1.2.3", "--image=registry.example/op:2"],
        &input(&project()),
    );
    assert_eq!(code, 0, "{said}");
    let csv = fs::read_to_string(out.join("manifests/foo.clusterserviceversion.yaml")).unwrap();
    assert!(
        csv.contains("  name: foo.v1.2.3\n") && csv.contains("image: registry.example/op:2\n"),
        "{csv}"
    );
}
