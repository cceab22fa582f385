//! Random rules of roles: controller-gen and the schema crate normalise them alike. CASES is the number of lists of rules, SEED the
//! first seed.

#[path = "../../../../scaffolds/schema/tests/recorded/rbac/compare.rs"]
mod compare;
#[path = "../../../../scaffolds/schema/tests/recorded/dice.rs"]
mod dice;
mod random;

use compare::{Recorded, Verdict, compare};
use fidelity::recording::role_rules;
use serde_json::json;

#[tokio::test]
#[ignore = "needs CONTROLLER_GEN, or Go to install it"]
async fn random_rules_are_normalised_as_by_controller_gen() {
    let first = dice::number("SEED", 1000);
    let count = dice::number("CASES", 2000);
    let sets = (first..first + count).map(|seed| json!(random::rules(seed)));
    let answered = role_rules::ask(sets.collect()).await.unwrap();
    let answered = answered.expect("controller-gen is installed");
    let (mut cut, mut different) = (0, String::new());
    for line in answered {
        let typed = |rules| serde_json::from_value(rules).unwrap();
        let recorded = Recorded {
            asked: typed(line.asked),
            answered: typed(line.answered),
        };
        match compare(&recorded) {
            Verdict::Same => {}
            Verdict::Cut => cut += 1,
            Verdict::Different(report) => different.push_str(&report),
        }
    }
    assert!(different.is_empty(), "\n{different}");
    println!("{count} sets, of which controller-gen cuts {cut}");
    assert!(cut * 10 < count, "{cut} sets compare nothing");
}
