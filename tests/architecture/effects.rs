//! Only a few files of the command line have effects: on files, on the terminal, by starting programs.

use crate::repository;
use crate::source::files_of;

/// Names that open, list or change files, and the only files of `src` that may use them.
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
const MAY_USE_FILES: [(&str, &str); 7] = [
    (
        "cli/envtest/folder.rs",
        "writes the folder of programs, and the certificates that the real kube-apiserver would write",
    ),
    (
        "cli/given.rs",
        "reads files that flags name, which may be links and FIFOs",
    ),
    ("write/beneath/mod.rs", "opens the folder that PROJECT names"),
    ("write/beneath/", "follows no link inside a project"),
    ("write/lock.rs", "locks the project's folder itself"),
    ("write/record.rs", "is outside of projects"),
    ("write/root.rs", "creates the project's folder itself"),
];

/// Names that print, and the only files that may use them.
const PRINTS: [&str; 4] = ["print!(", "println!(", "stdout()", "stderr()"];
const MAY_PRINT: [(&str, &str); 2] = [
    ("cli/report.rs", "escapes terminal control characters"),
    ("cli/ask.rs", "checks whether there is a terminal"),
];

/// Names that start programs, and the only file that may use them.
const STARTS: [&str; 1] = ["Command::new"];
const MAY_START: [(&str, &str); 1] = [("cli/doctor/mod.rs", "starts them outside of the project")];

/// Words of `text`, without its tests, that only the files of `may` may contain.
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
fn files_terminals_and_programs_are_used_only_in_the_listed_files() {
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
