//! Checks that the tests named in `rows.txt`, the list of what the derives get wrong, exist.

use std::fs;
use std::path::{Path, PathBuf};

fn source(file: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path: PathBuf = match file.contains("src/") {
        true => root.join(format!("{file}.rs")),
        false => root.join(format!("tests/types/{file}.rs")),
    };
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Whether a test of that name exists: a function, or a row of a macro that generates one.
fn has(source: &str, name: &str) -> bool {
    let starts = [format!("fn {name}("), format!(" {name}: "), format!(" {name} {{")];
    source
        .lines()
        .any(|line| starts.iter().any(|start| format!(" {line}").contains(start)))
}

#[test]
fn each_row_has_its_tests() {
    let rows = include_str!("rows.txt").lines().filter(|line| !line.starts_with('#'));
    let mut count = 0;
    for row in rows {
        let parts: Vec<&str> = row.split(" | ").collect();
        let [verdict, what, tests] = parts[..] else {
            panic!("`{row}` must have three parts")
        };
        assert!(["FIXED", "REFUSED", "DOCUMENTED"].contains(&verdict), "{row}");
        let mut words = tests.split(' ');
        let file = words.next().unwrap();
        let source = source(file);
        let mut tested = false;
        for name in words {
            assert!(has(&source, name), "{what}: no test `{name}` in `{file}`");
            tested = true;
        }
        assert!(tested, "{what}: no test");
        count += 1;
    }
    assert!(count > 30, "rows are missing");
}
