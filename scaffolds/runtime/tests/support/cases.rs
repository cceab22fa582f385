//! The number of cases of property tests.

use proptest::test_runner::{Config, RngSeed};

/// The same cases each time, at least `least`; with `PROPTEST_CASES` random ones, as many as it says.
pub fn cases(least: u32) -> Config {
    let asked = Config::default();
    let fixed = Config {
        cases: asked.cases.max(least),
        rng_seed: RngSeed::Fixed(3),
        ..Config::default()
    };
    Config {
        failure_persistence: None,
        ..if std::env::var_os("PROPTEST_CASES").is_some() {
            asked
        } else {
            fixed
        }
    }
}
