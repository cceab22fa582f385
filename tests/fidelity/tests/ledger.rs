//! The ledger, docs/src/reference/fidelity.md, agrees with the probes: each claimed behaviour is replayed, and no
//! request that it lists as refused is answered.

use std::{collections::BTreeSet, fs};

use fidelity::{Program, Step, Target, probes};

const LEDGER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/reference/fidelity.md");

/// The cells of the rows of tables.
fn tables(text: &str) -> Vec<Vec<String>> {
    let cells = |line: &str| -> Vec<String> {
        let line = line.trim_matches('|');
        line.split(" | ").map(|cell| cell.trim().to_owned()).collect()
    };
    let rows = text.lines().filter(|line| line.starts_with("| ")).map(cells);
    rows.filter(|cells| !["feature", "differs"].contains(&cells[0].as_str()))
        .collect()
}

/// The page before its areas, with the refused requests, and the areas.
fn ledger() -> (String, String) {
    let text = fs::read_to_string(LEDGER).unwrap();
    let (_, text) = text.split_once("\n## Refused\n").unwrap();
    let (refused, areas) = text.split_once("\n## ").unwrap();
    (refused.to_owned(), areas.to_owned())
}

/// The behaviours that are listed as the same, with the file of their probes.
fn same() -> BTreeSet<(String, String)> {
    let mut file = "";
    let mut listed = BTreeSet::new();
    let (_, areas) = ledger();
    for line in areas.lines() {
        if let Some(rest) = line.strip_prefix("The same, in `") {
            file = rest.trim_end_matches("`:");
        } else if let Some(behaviour) = line.strip_prefix("- ") {
            let is_new = listed.insert((behaviour.to_owned(), file.to_owned()));
            assert!(is_new, "`{behaviour}` is listed twice");
        }
    }
    listed
}

#[test]
fn every_difference_has_both_servers_behaviour() {
    let (_, areas) = ledger();
    let rows = tables(&areas);
    assert!(!rows.is_empty());
    for row in rows {
        assert!(row.len() == 3 && row.iter().all(|cell| !cell.is_empty()), "{row:?}");
    }
}

#[test]
fn each_behaviour_that_is_the_same_is_a_probe_and_each_probe_is_listed() {
    let mut probed = BTreeSet::new();
    for (file, programs) in probes().unwrap() {
        probed.extend(programs.into_iter().map(|program| (program.name, file.clone())));
    }
    let listed = same();
    let not_listed: Vec<_> = probed.difference(&listed).collect();
    assert!(not_listed.is_empty(), "the ledger does not list {not_listed:?}");
    let without_probe: Vec<_> = listed.difference(&probed).collect();
    assert!(without_probe.is_empty(), "no probe shows {without_probe:?}");
}

#[tokio::test]
async fn each_refused_request_is_answered_with_501() {
    let target = Target::in_process();
    let (refused, _) = ledger();
    let rows = tables(&refused);
    assert!(!rows.is_empty());
    for (at, row) in rows.into_iter().enumerate() {
        let [behaviour, request] = <[String; 2]>::try_from(row).unwrap();
        let request = request.trim_matches('`');
        let (line, body) = request
            .split_once(" {")
            .map_or((request, None), |(line, body)| (line, Some(format!("{{{body}"))));
        let step = Step {
            r#do: line.to_owned(),
            body: body.map(Into::into),
            ..Step::default()
        };
        let program = Program {
            after: Vec::new(),
            name: behaviour.clone(),
            steps: vec![step],
        };
        let answers = target.run(&program, &format!("refused-{at}")).await.unwrap();
        assert_eq!(answers[0].code, 501, "`{behaviour}`: {}", answers[0].body);
    }
}

#[test]
fn each_different_output_of_kubectl_is_listed() {
    let known = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/kubectl/known")).unwrap();
    let ledger = fs::read_to_string(LEDGER).unwrap();
    for command in known.lines() {
        let command = command.trim_start_matches("$ ");
        assert!(
            ledger.contains(&format!("`{command}`")),
            "the ledger does not say why `{command}` differs"
        );
    }
}
