//! Compares the in-process server's answers to the probes with the recorded ones of kube-apiserver. Needs no Go.

use fidelity::{
    Target,
    compare::difference,
    normal, probes,
    recording::probes::{Recorded, read},
};

// With a paused clock, all writes of a program have the same time; the managers of an object are sorted by the seconds
// of their writes.
#[tokio::test(start_paused = true)]
async fn the_in_process_server_answers_the_probes_as_the_real_one_did() {
    let mut different = Vec::new();
    for (file, programs) in probes().unwrap() {
        let recordings = read(&file).unwrap();
        let recorded_programs: Vec<_> = recordings.iter().map(|it| it.asked.clone()).collect();
        assert_eq!(
            recorded_programs, programs,
            "probes/{file}.yaml changed: run `cargo run -p fidelity -- record probes/{file}`"
        );
        // A new server for each program, so that a failing one does not affect the next.
        for recording in recordings {
            let Recorded { asked, answered } = recording;
            let answers = Target::in_process().run(&asked, "f000001-1").await.unwrap();
            let ours = normal::form(&asked, &answers, "f000001-1");
            different.extend(difference(&asked, &answered, &ours).map(|it| it.to_string()));
        }
    }
    assert!(
        different.is_empty(),
        "{} differ:\n{}",
        different.len(),
        different.join("\n")
    );
}
