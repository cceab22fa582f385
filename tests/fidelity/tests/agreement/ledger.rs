//! The ledger, docs/src/reference/fidelity.md, agrees with the probes: its areas name each file of probes, and no
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
    // The table of suites counts tests.
    let (areas, _) = areas.split_once("\n## Suites of other projects\n").unwrap();
    (refused.to_owned(), areas.to_owned())
}

/// The files of probes that the areas name.
fn probe_files() -> BTreeSet<String> {
    let (_, areas) = ledger();
    let mut listed = BTreeSet::new();
    for line in areas.lines().filter_map(|line| line.strip_prefix("The same: ")) {
        for file in line.trim_end_matches('.').split(", ") {
            let file = file.trim_matches('`').to_owned();
            assert!(!listed.contains(&file), "two areas name `{file}`");
            listed.insert(file);
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
fn each_area_names_its_probes_and_each_file_of_probes_has_an_area() {
    let files: BTreeSet<String> = probes().unwrap().into_keys().collect();
    assert_eq!(probe_files(), files);
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
