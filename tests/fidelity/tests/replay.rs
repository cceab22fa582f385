//! What kube-apiserver answered to the probes, and what the in-process server answers today. Needs no Go.

use fidelity::{Target, compare::difference, normal, probes, recorded};

// Time stands still while there is something to do: the managers of an object are sorted by the second of their writes.
#[tokio::test(start_paused = true)]
async fn the_in_process_server_answers_the_probes_as_the_real_one_did() {
    let mut different = Vec::new();
    for (file, programs) in probes().unwrap() {
        let recordings = recorded::read(&file).unwrap();
        let recorded_programs: Vec<_> = recordings.iter().map(|it| it.program.clone()).collect();
        assert_eq!(
            recorded_programs, programs,
            "probes/{file}.yaml changed: run `cargo run -p fidelity -- record`"
        );
        // A server for each program: one that fails leaves nothing to the next.
        for recording in recordings {
            let answers = Target::in_process().run(&recording.program, "f000001-1").await.unwrap();
            let ours = normal::form(&answers, "f000001-1");
            different.extend(difference(&recording.program, &recording.answers, &ours).map(|it| it.to_string()));
        }
    }
    assert!(
        different.is_empty(),
        "{} differ:\n{}",
        different.len(),
        different.join("\n")
    );
}
