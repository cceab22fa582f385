//! Help texts and errors, word for word: `tests/cli/*.trycmd`. `TRYCMD=overwrite cargo test --test transcripts` writes
//! them again.

#[test]
fn help_and_errors_read_as_committed() {
    trycmd::TestCases::new().case("tests/cli/*.trycmd");
}
