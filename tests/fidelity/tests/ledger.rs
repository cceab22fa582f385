//! The ledger, docs/src/reference/fidelity.md, agrees with the probes: each claimed behaviour is replayed, and no
//! request that it lists as refused is answered.

use std::{collections::BTreeMap, fs};

use fidelity::{Program, Step, Target, probes};

const LEDGER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/reference/fidelity.md");

/// The rows of the tables: behaviour, verdict, and evidence or explanation.
fn rows() -> Vec<[String; 3]> {
    let text = fs::read_to_string(LEDGER).unwrap();
    let cells = |line: &str| -> Vec<String> {
        let line = line.trim_matches('|');
        line.split(" | ").map(|cell| cell.trim().to_owned()).collect()
    };
    let rows = text.lines().filter(|line| line.starts_with("| ")).map(cells);
    rows.filter_map(|cells| <[String; 3]>::try_from(cells).ok())
        .filter(|[_, verdict, _]| verdict != "verdict")
        .collect()
}

#[test]
fn every_row_has_a_verdict_and_a_ground() {
    for [behaviour, verdict, ground] in rows() {
        assert!(
            ["same", "refused (501)", "differs"].contains(&verdict.as_str()),
            "`{behaviour}`: `{verdict}` is no verdict"
        );
        assert!(!ground.is_empty(), "`{behaviour}` has no ground");
    }
}

#[test]
fn what_is_the_same_is_a_probe_and_every_probe_has_its_row() {
    let rows: BTreeMap<String, [String; 3]> = rows().into_iter().map(|row| (row[0].clone(), row)).collect();
    for (file, programs) in probes().unwrap() {
        for program in programs {
            let row = rows.get(&program.name);
            let row = row.unwrap_or_else(|| panic!("the ledger has no row `{}`", program.name));
            assert_eq!(
                row[2],
                format!("`{file}`"),
                "the row `{}` names its probes",
                program.name
            );
            assert_eq!(row[1], "same", "`{}` is replayed as the same", program.name);
        }
    }
    let known: Vec<String> = probes()
        .unwrap()
        .into_values()
        .flatten()
        .map(|program| program.name)
        .collect();
    for [behaviour, verdict, _] in rows.into_values() {
        assert!(
            verdict != "same" || known.contains(&behaviour),
            "no probe shows `{behaviour}`"
        );
    }
}

#[tokio::test]
async fn what_is_refused_is_refused_by_name() {
    let target = Target::in_process();
    for (at, [behaviour, verdict, request]) in rows().into_iter().enumerate() {
        if verdict != "refused (501)" {
            continue;
        }
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
fn what_kubectl_shows_differently_has_a_row() {
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
