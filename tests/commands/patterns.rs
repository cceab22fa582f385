//! The patterns of `create api`: the flags of each, how PROJECT records it, and which combinations are refused.

use crate::cli::{Run, assert_same, kubewright, project_without_crates, read, tree};
use std::path::Path;

const IMAGE: [&str; 2] = ["--image", "registry.example.com:5000/team/app:1.2"];

fn create(dir: &Path, kind: &str, more: &[&str]) -> Run {
    api(dir, "create", kind, more)
}

fn api(dir: &Path, verb: &str, kind: &str, more: &[&str]) -> Run {
    let of = [verb, "api", "--group", "test", "--version", "v1", "--kind", kind];
    kubewright(dir, &[&of, more].concat())
}

fn deployment(dir: &Path, kind: &str) -> Run {
    create(dir, kind, &[&["--pattern", "deployment"], &IMAGE[..]].concat())
}

fn replicas(dir: &Path, kind: &str) -> Run {
    create(dir, kind, &[&["--pattern", "replicas"], &IMAGE[..]].concat())
}

fn job(dir: &Path, kind: &str) -> Run {
    create(dir, kind, &[&["--pattern", "job"], &IMAGE[..]].concat())
}

fn stateful(dir: &Path, kind: &str) -> Run {
    create(dir, kind, &[&["--pattern", "stateful"], &IMAGE[..]].concat())
}

fn schedule(dir: &Path, kind: &str) -> Run {
    create(dir, kind, &[&["--pattern", "schedule"], &IMAGE[..]].concat())
}

fn internal(dir: &Path, kind: &str, internal: &str) -> Run {
    create(dir, kind, &["--pattern", "internal", "--internal-kind", internal])
}

#[test]
fn every_input_is_in_project_and_a_repeated_command_has_nothing_to_do() {
    let dir = project_without_crates();
    let all = || {
        [
            deployment(dir.path(), "Greeter"),
            replicas(dir.path(), "Worker"),
            job(dir.path(), "Report"),
            schedule(dir.path(), "Tick"),
            stateful(dir.path(), "Store"),
            internal(dir.path(), "Order", "OrderRun"),
            internal(dir.path(), "Crew", "Worker"),
        ]
    };
    all().into_iter().for_each(|run| drop(run.succeeds()));
    let text = read(dir.path(), "PROJECT");
    for part in [
        "{name: greeter, version: v1, pattern: deployment, image: registry.example.com:5000/team/app:1.2}",
        "{name: worker, version: v1, pattern: replicas, image: registry.example.com:5000/team/app:1.2}",
        "{name: report, version: v1, pattern: job, image: registry.example.com:5000/team/app:1.2}",
        "{name: store, version: v1, pattern: stateful, image: registry.example.com:5000/team/app:1.2}",
        "{name: tick, version: v1, pattern: schedule, image: registry.example.com:5000/team/app:1.2}",
        "kind: Order, plural: orders, versions: [{version: v1}], controllers: [{name: order, version: v1, pattern: internal, internalKind: OrderRun}]",
        "kind: OrderRun, plural: orderruns, versions: [{version: v1}], controllers: [{name: orderrun, version: v1, pattern: child}]",
    ] {
        assert!(text.contains(part), "{text}");
    }
    let before = tree(dir.path());
    for run in all() {
        assert!(run.succeeds().stderr.contains("nothing to do"));
    }
    assert!(
        kubewright(dir.path(), &["sync"])
            .succeeds()
            .stderr
            .contains("nothing to do")
    );
    assert_same(&before, &tree(dir.path()));
    let rows = kubewright(dir.path(), &["plan", "-o", "json"]).succeeds().stdout;
    let rows: Vec<serde_json::Value> = serde_json::from_str(&rows).unwrap();
    for file in [
        "greeter", "worker", "report", "store", "tick", "order", "orderrun", "crew",
    ] {
        for path in [
            format!("src/controllers/{file}.rs"),
            format!("tests/{file}.rs"),
            format!("api/src/test/v1/{file}.rs"),
        ] {
            let row = rows.iter().find(|row| row["path"] == path);
            assert_eq!(row.map(|row| &row["state"]), Some(&"clean".into()), "{path}");
        }
    }
}

#[test]
fn delete_undoes_a_pattern_but_refuses_an_internal_kind_in_use() {
    let dir = project_without_crates();
    let empty = tree(dir.path());
    deployment(dir.path(), "Greeter").succeeds();
    api(dir.path(), "delete", "Greeter", &[]).succeeds();
    assert_same(&empty, &tree(dir.path()));

    internal(dir.path(), "Order", "OrderRun").succeeds();
    let before = tree(dir.path());
    api(dir.path(), "delete", "OrderRun", &[]).refuses(
        1,
        &[
            "the controller of `Order` makes objects of `OrderRun`",
            "delete `Order` first",
        ],
    );
    assert_same(&before, &tree(dir.path()));
    api(dir.path(), "delete", "Order", &[]).succeeds();
    api(dir.path(), "delete", "OrderRun", &[]).succeeds();
    assert_same(&empty, &tree(dir.path()));
}

#[test]
fn a_dry_run_shows_both_kinds_and_writes_neither() {
    let dir = project_without_crates();
    let before = tree(dir.path());
    let run = create(
        dir.path(),
        "Order",
        &["--pattern", "internal", "--internal-kind", "OrderRun", "--dry-run"],
    )
    .succeeds();
    for file in ["order", "orderrun"] {
        assert!(
            run.stdout.contains(&format!("+++ b/src/controllers/{file}.rs")),
            "{}",
            run.stdout
        );
    }
    assert_same(&before, &tree(dir.path()));
}

#[test]
fn required_inputs_of_a_pattern_are_missing_or_have_a_default_under_yes() {
    let dir = project_without_crates();
    for pattern in ["deployment", "job", "replicas", "schedule", "stateful"] {
        create(dir.path(), "A", &["--pattern", pattern]).refuses(2, &["`--image` is missing"]);
        create(dir.path(), "A", &["--pattern", pattern, "--yes"]).refuses(2, &["`--image` is missing"]);
    }
    create(dir.path(), "A", &["--pattern", "internal"]).refuses(2, &["`--internal-kind` is missing"]);
    create(dir.path(), "A", &["--pattern", "internal", "--yes"]).succeeds();
    assert!(dir.path().join("src/controllers/arun.rs").exists());
}

#[test]
fn flags_that_a_pattern_does_not_use_are_refused() {
    let dir = project_without_crates();
    let image = &IMAGE[..];
    for more in [
        image.to_vec(),
        [&["--pattern", "minimal"], image].concat(),
        [&["--pattern", "internal", "--internal-kind", "B"], image].concat(),
        [&["--pattern", "deployment", "--controller=false"], image].concat(),
    ] {
        create(dir.path(), "A", &more).refuses(2, &["`--image` needs a controller of pattern"]);
    }
    create(dir.path(), "A", &["--internal-kind", "B"]).refuses(2, &["`--internal-kind` needs a controller"]);
    assert!(!dir.path().join("api/src/test").exists());
}

#[test]
fn an_existing_type_gets_replicas_only_with_force() {
    let dir = project_without_crates();
    create(dir.path(), "A", &["--controller=false"]).succeeds();
    let hint = ["without the `replicas`", "`--force`"];
    deployment(dir.path(), "A").refuses(1, &hint);
    replicas(dir.path(), "Worker").succeeds();
    internal(dir.path(), "A", "Worker").refuses(1, &hint);
    create(
        dir.path(),
        "A",
        &[&["--pattern", "deployment", "--force"], &IMAGE[..]].concat(),
    )
    .succeeds();
    assert!(read(dir.path(), "api/src/test/v1/a.rs").contains("pub replicas: i32,"));
    // Another image is another reconciler.
    create(dir.path(), "A", &["--pattern", "deployment", "--image", "other"]).refuses(
        1,
        &["pattern `deployment` and image `registry.example.com:5000/team/app:1.2`"],
    );
}

#[test]
fn a_kind_that_runs_to_completion_has_one_such_controller_its_own_fields_and_no_maker() {
    let dir = project_without_crates();
    create(dir.path(), "A", &["--controller=false"]).succeeds();
    job(dir.path(), "A").refuses(1, &["without the `retries` and the result", "`--force`"]);
    job(dir.path(), "Report").succeeds();
    let types = read(dir.path(), "api/src/test/v1/report.rs");
    assert!(types.contains("pub retries: i32,") && types.contains("pub result: Option<String>,"));
    internal(dir.path(), "B", "Report")
        .refuses(1, &["objects of `Report` run once to completion", "`--internal-kind`"]);
    let second = ["--resource=false", "--controller-name", "second", "--pattern", "job"];
    create(dir.path(), "Report", &[&second, &IMAGE[..]].concat()).refuses(
        1,
        &["controllers `report` and `second` of `Report` would both write its result"],
    );
}

#[test]
fn a_kind_with_storage_has_one_such_controller_its_own_fields_and_no_maker() {
    let dir = project_without_crates();
    create(dir.path(), "A", &["--controller=false"]).succeeds();
    stateful(dir.path(), "A").refuses(1, &["without the `version`, `members` and `storage`", "`--force`"]);
    stateful(dir.path(), "Store").succeeds();
    let types = read(dir.path(), "api/src/test/v1/store.rs");
    assert!(types.contains("pub storage: StoreStorage,") && types.contains("pub paused: bool,"));
    let reconciler = read(dir.path(), "src/controllers/store.rs");
    assert!(
        reconciler.contains("\"registry.example.com:5000/team/app\""),
        "the version is the tag"
    );
    internal(dir.path(), "B", "Store").refuses(
        1,
        &["objects of `Store` have members with storage", "`--internal-kind`"],
    );
    let second = [
        "--resource=false",
        "--controller-name",
        "second",
        "--pattern",
        "stateful",
    ];
    create(dir.path(), "Store", &[&second, &IMAGE[..]].concat()).refuses(
        1,
        &["controllers `second` and `store` of `Store` would both write its `status.members`"],
    );
}

#[test]
fn a_kind_with_a_schedule_has_one_such_controller_its_own_fields_and_no_maker() {
    let dir = project_without_crates();
    create(dir.path(), "A", &["--controller=false"]).succeeds();
    schedule(dir.path(), "A").refuses(1, &["without the `schedule`", "`--force`"]);
    schedule(dir.path(), "Tick").succeeds();
    let types = read(dir.path(), "api/src/test/v1/tick.rs");
    assert!(types.contains("pub concurrency_policy: ConcurrencyPolicy,"), "{types}");
    internal(dir.path(), "B", "Tick").refuses(1, &["objects of `Tick` have a schedule", "`--internal-kind`"]);
    let second = [
        "--resource=false",
        "--controller-name",
        "second",
        "--pattern",
        "schedule",
    ];
    create(dir.path(), "Tick", &[&second, &IMAGE[..]].concat()).refuses(
        1,
        &["controllers `second` and `tick` of `Tick` would both write its `status.lastScheduleTime`"],
    );
}

#[test]
fn backups_add_two_kinds_which_are_deleted_with_their_target_alone() {
    let dir = project_without_crates();
    let empty = tree(dir.path());
    let backups = [&["--pattern", "stateful", "--backups"], &IMAGE[..]].concat();
    create(dir.path(), "Store", &backups).succeeds();
    let text = read(dir.path(), "PROJECT");
    for part in [
        "{name: store, version: v1, pattern: stateful, image: registry.example.com:5000/team/app:1.2, backups: true}",
        "{name: storebackup, version: v1, pattern: backup, of: Store}",
        "{name: storerestore, version: v1, pattern: restore, of: Store}",
    ] {
        assert!(text.contains(part), "{text}");
    }
    assert!(read(dir.path(), "api/src/test/v1/storerestore.rs").contains("pub backup: String,"));
    let before = tree(dir.path());
    let again = create(dir.path(), "Store", &backups).succeeds();
    assert!(again.stderr.contains("nothing to do"));

    // Neither of them can be had alone, nor be what other patterns create.
    api(dir.path(), "delete", "StoreBackup", &[]).refuses(1, &["delete `Store`, which deletes `StoreBackup` too"]);
    stateful(dir.path(), "Store").refuses(1, &["exists already, with pattern `stateful`", "with backups"]);
    let forced = [&["--pattern", "stateful", "--force", "--yes"], &IMAGE[..]].concat();
    create(dir.path(), "Store", &forced).refuses(1, &["are about `Store`, which is not a kind with backups"]);
    internal(dir.path(), "A", "StoreBackup").refuses(1, &["objects of `StoreBackup` are one backup or restore"]);
    assert_same(&before, &tree(dir.path()));

    api(dir.path(), "delete", "Store", &[]).succeeds();
    assert_same(&empty, &tree(dir.path()));
}

#[test]
fn backups_are_refused_where_nothing_is_stored_or_their_names_are_taken() {
    let dir = project_without_crates();
    create(dir.path(), "A", &["--backups"]).refuses(2, &["`--backups` needs a controller of pattern `stateful`"]);
    let job = [&["--pattern", "job", "--backups"], &IMAGE[..]].concat();
    create(dir.path(), "A", &job).refuses(2, &["`--backups` needs a controller of pattern `stateful`"]);
    let backups = [&["--pattern", "stateful", "--backups"], &IMAGE[..]].concat();
    create(dir.path(), "A", &[&backups[..], &["--finalizer"]].concat()).refuses(2, &["leave out `--finalizer`"]);
    create(dir.path(), "ABackup", &[]).succeeds();
    create(dir.path(), "A", &backups).refuses(1, &["`A` needs a kind `ABackup` whose controller"]);
    create(dir.path(), "BRestore", &["--controller=false"]).succeeds();
    create(dir.path(), "B", &backups).refuses(1, &["without the `completionTime`"]);
}

#[test]
fn two_controllers_do_not_count_the_same_replicas() {
    let dir = project_without_crates();
    deployment(dir.path(), "A").succeeds();
    let second = [
        "--resource=false",
        "--controller-name",
        "second",
        "--pattern",
        "replicas",
    ];
    create(dir.path(), "A", &[&second, &IMAGE[..]].concat()).refuses(
        1,
        &["controllers `a` and `second` of `A` would both write its `status.replicas`"],
    );
}

#[test]
fn impossible_internal_kinds_are_refused() {
    let dir = project_without_crates();
    internal(dir.path(), "A", "A").refuses(1, &["the controller of `A` would create objects of `A`"]);
    internal(dir.path(), "A", "B").succeeds();
    let second = [
        "--resource=false",
        "--controller-name",
        "second",
        "--pattern",
        "internal",
    ];
    create(dir.path(), "B", &[&second[..], &["--internal-kind", "A"]].concat())
        .refuses(1, &["would create objects of `A`, by way of `B`"]);
    create(dir.path(), "A", &[&second[..], &["--internal-kind", "B"]].concat())
        .refuses(1, &["controllers `a` and `second` of `A` would both make its `B`"]);
    create(dir.path(), "Wide", &["--cluster"]).succeeds();
    internal(dir.path(), "C", "Wide").refuses(1, &["`C` is namespaced and `Wide` is cluster-scoped"]);
    create(
        dir.path(),
        "D",
        &["--pattern", "internal", "--internal-kind", "Wide", "--cluster"],
    )
    .succeeds();
}

#[test]
fn a_forced_pattern_on_an_internal_kind_replaces_its_controller() {
    let dir = project_without_crates();
    internal(dir.path(), "Order", "OrderRun").succeeds();
    create(dir.path(), "OrderRun", &["--pattern", "minimal", "--force"]).succeeds();
    assert!(!read(dir.path(), "src/controllers/orderrun.rs").contains("ConfigMap"));
    assert!(read(dir.path(), "src/controllers/order.rs").contains("OrderRun"));
}

#[test]
fn versions_share_the_fields_that_a_pattern_needs() {
    let dir = project_without_crates();
    let version = |version: &str, kind: &str, more: &[&str]| {
        let of = ["create", "api", "--group", "test", "--version", version, "--kind", kind];
        kubewright(dir.path(), &[&of, more].concat())
    };
    let second = ["--controller-name", "second"];
    let counted = [&["--pattern", "replicas"], &IMAGE[..]].concat();

    // The type of another version has the replicas that the first one's controller counts.
    deployment(dir.path(), "A").succeeds();
    version("v2", "A", &[]).succeeds();
    assert!(read(dir.path(), "api/src/test/v2/a.rs").contains("replicas"));
    let twice = "controllers `a` and `second` of `A` would both write its `status.replicas`";
    version("v2", "A", &[&second[..], &counted].concat()).refuses(1, &[twice]);

    // Flags of a controller request one, but there is one.
    let there = "controller `a` acts on `A` already, in version `v1`";
    version("v3", "A", &counted).refuses(1, &[there, "--controller-name"]);
    version("v3", "A", &["--pattern", "minimal", "--controller=false"]).refuses(2, &["leave out one of them"]);

    // No version gets fields that the others lack.
    create(dir.path(), "B", &[]).succeeds();
    let without = "`B` exists already in version `v1`, without the `replicas`";
    version("v2", "B", &[&second[..], &counted].concat()).refuses(1, &[without]);
    version("v2", "B", &[&second[..], &counted, &["--force"]].concat()).refuses(1, &[without]);
    assert!(!dir.path().join("api/src/test/v2/b.rs").exists());
}

#[test]
fn internal_kinds_can_have_versions() {
    let dir = project_without_crates();
    let version = |kind: &str, more: &[&str]| {
        let of = ["create", "api", "--group", "test", "--version", "v2", "--kind", kind];
        kubewright(dir.path(), &[&of, more].concat())
    };
    internal(dir.path(), "Order", "Run").succeeds();
    let round = ["--controller-name", "round", "--pattern", "internal", "--internal-kind"];
    version("Run", &[&round[..], &["Order"]].concat())
        .refuses(1, &["would create objects of `Order`, by way of `Run`"]);
    version("Order", &[&round[..], &["Run"]].concat()).refuses(
        1,
        &["controllers `order` and `round` of `Order` would both make its `Run`"],
    );

    // An internal kind that exists in another version has its controller.
    version("Job", &["--pattern", "internal", "--internal-kind", "Run"]).succeeds();
    let text = read(dir.path(), "PROJECT");
    assert!(
        text.contains("kind: Run, plural: runs, versions: [{version: v1}, {version: v2, storage: false}], controllers: [{name: run,"),
        "{text}"
    );

    // The internal kind of a cluster-scoped kind is cluster-scoped too.
    create(dir.path(), "Wide", &["--cluster", "--controller=false"]).succeeds();
    let made = [
        "--resource=false",
        "--pattern",
        "internal",
        "--internal-kind",
        "WideRun",
    ];
    create(dir.path(), "Wide", &made).succeeds();
    let text = read(dir.path(), "PROJECT");
    assert!(
        text.contains("kind: WideRun, plural: wideruns, cluster: true"),
        "{text}"
    );
}

#[test]
fn a_controller_has_a_finalizer_only_with_the_flag() {
    let dir = project_without_crates();
    let kinds = [
        "child",
        "minimal",
        "deployment",
        "job",
        "replicas",
        "schedule",
        "stateful",
        "internal",
    ];
    for (nth, pattern) in kinds.iter().enumerate() {
        let needs: &[&str] = match *pattern {
            "deployment" | "job" | "replicas" | "schedule" | "stateful" => &IMAGE,
            "internal" => &["--internal-kind", "Run"],
            _ => &[],
        };
        let kind = ["A", "B", "C", "D", "E", "G", "H", "I"][nth];
        let args = [&["--pattern", pattern], needs].concat();
        create(dir.path(), kind, &args).succeeds();
        let file = format!("src/controllers/{}.rs", kind.to_lowercase());
        let without = read(dir.path(), &file);
        assert!(
            !without.contains("finalizer") && !without.contains("Cleanup"),
            "{without}"
        );

        let args = [&args[..], &["--finalizer"]].concat();
        create(dir.path(), kind, &args).refuses(1, &["exists already, without a finalizer", "`--force`"]);
        create(dir.path(), kind, &[&args[..], &["--force"]].concat()).succeeds();
        for text in [
            read(dir.path(), &file),
            read(dir.path(), &format!("tests/{}.rs", kind.to_lowercase())),
        ] {
            assert!(
                text.contains("const FINALIZER: &str = \"test.example.com/cleanup\";"),
                "{text}"
            );
        }
        assert!(read(dir.path(), &file).contains("async fn cleanup("));
        assert_eq!(read(dir.path(), "PROJECT").matches("finalizer: true}").count(), nth + 1);
        // Run again without the flag, the controller keeps its setting.
        let without_flag = &args[..args.len() - 1];
        let run = create(dir.path(), kind, without_flag).succeeds();
        assert!(run.stderr.contains("nothing to do"), "{}", run.stderr);
    }
    let more = [
        "--resource=false",
        "--controller-name",
        "audit",
        "--pattern",
        "minimal",
        "--finalizer",
    ];
    create(dir.path(), "A", &more).succeeds();
    assert!(read(dir.path(), "src/controllers/audit.rs").contains("\"test.example.com/audit-cleanup\""));
    create(dir.path(), "F", &["--finalizer", "--controller=false"]).refuses(2, &["`--finalizer` needs a controller"]);

    let pods = [
        "create",
        "api",
        "--group",
        "core",
        "--kind",
        "Pod",
        "--resource=false",
        "--finalizer",
    ];
    kubewright(dir.path(), &pods).succeeds();
    assert!(read(dir.path(), "src/controllers/pod.rs").contains("\"foobar-operator.example.com/pod-cleanup\""));
}
