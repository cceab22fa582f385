//! What has effects is used in a few files of the command line only: files, the terminal, other programs.

use crate::repository;
use crate::source::files_of;

/// What opens, lists or changes files, with the only files of `src` that may.
const FILES: [&str; 9] = [
    "fs::",
    "File::open",
    "File::create",
    "OpenOptions",
    "DirBuilder",
    "read_dir",
    ".exists()",
    ".is_symlink()",
    ".metadata()",
];
const MAY_USE_FILES: [(&str, &str); 6] = [
    ("cli/given.rs", "reads what flags name, which may be links and FIFOs"),
    ("write/beneath/mod.rs", "opens the folder that PROJECT names"),
    ("write/beneath/", "follows no link inside a project"),
    ("write/lock.rs", "locks the project's folder itself"),
    ("write/record.rs", "is outside of projects"),
    ("write/root.rs", "makes the project's folder itself"),
];

/// What prints, with the only files that may.
const PRINTS: [&str; 4] = ["print!(", "println!(", "stdout()", "stderr()"];
const MAY_PRINT: [(&str, &str); 2] = [
    ("cli/report.rs", "writes out what acts on a terminal"),
    ("cli/ask.rs", "asks whether there is a terminal"),
];

/// What starts programs, with the only file that may.
const STARTS: [&str; 1] = ["Command::new"];
const MAY_START: [(&str, &str); 1] = [("cli/doctor.rs", "starts them outside of the project")];

/// Words of `text`, tests left out, that only the files of `may` can have.
fn misused<'a>(file: &str, text: &str, words: &[&'a str], may: &[(&str, &str)]) -> Vec<&'a str> {
    let code = text.split("#[cfg(test)]").next().unwrap();
    let code: Vec<_> = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect();
    match may.iter().any(|(allowed, _)| file.starts_with(allowed)) {
        true => Vec::new(),
        false => words
            .iter()
            .copied()
            .filter(|word| code.iter().any(|line| line.contains(word)))
            .collect(),
    }
}

#[test]
fn files_terminals_and_programs_are_used_where_they_are_safe() {
    for (name, text) in files_of(&repository().join("src")) {
        for (words, may) in [
            (&FILES[..], &MAY_USE_FILES[..]),
            (&PRINTS, &MAY_PRINT),
            (&STARTS, &MAY_START),
        ] {
            let wrong = misused(&name, &text, words, may);
            assert!(
                wrong.is_empty(),
                "src/{name} has {wrong:?}, which only these may: {may:?}"
            );
        }
    }
}

#[test]
fn a_file_that_is_read_elsewhere_is_found() {
    let text = "//! Reads std::fs::read.\nlet text = std::fs::read_to_string(path)?;\n#[cfg(test)]\nmod tests { println!(); }\n";
    assert_eq!(misused("cli/sync.rs", text, &FILES, &MAY_USE_FILES), ["fs::"]);
    assert!(misused("cli/given.rs", text, &FILES, &MAY_USE_FILES).is_empty());
    assert!(misused("cli/sync.rs", text, &PRINTS, &MAY_PRINT).is_empty());
    assert_eq!(
        misused("cli/sync.rs", "eprintln!(\"\")", &PRINTS, &MAY_PRINT),
        ["print!(", "println!("][1..]
    );
    assert_eq!(
        misused("plan/mod.rs", "Command::new(\"git\")", &STARTS, &MAY_START),
        STARTS
    );
}
