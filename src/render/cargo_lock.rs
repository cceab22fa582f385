//! Sorts and merges Cargo.lock. The template has packages with the project's name, so their position depends on that name, and
//! `cargo --locked` accepts only a sorted file.

use std::collections::{BTreeMap, BTreeSet};

/// Sorts the packages by name and version, and the dependencies of each.
pub fn sort(text: &str) -> String {
    let mut blocks = text.split("[[package]]\n");
    let head = blocks.next().unwrap_or_default().trim_end();
    let mut packages: Vec<String> = blocks.map(|block| sort_dependencies(block.trim_end())).collect();
    packages.sort_by_cached_key(|block| (field(block, "name"), version(&field(block, "version"))));
    let packages: String = packages
        .iter()
        .map(|block| format!("\n[[package]]\n{block}\n"))
        .collect();
    format!("{head}\n{packages}")
}

/// The lock without these packages. A lock names the checksum of each package of a registry, and those of kubewright's own are not known
/// before they are published: cargo adds them with the first build, keeps all other versions, and refuses to add them with `--locked`.
pub fn without(text: &str, names: &[String]) -> String {
    let head = text.split("[[package]]\n").next().unwrap_or_default();
    let is_named = |name: &str| names.iter().any(|other| other == name);
    let kept = text
        .split("[[package]]\n")
        .skip(1)
        .filter(|block| !is_named(&field(block, "name")));
    let dependency = |line: &&str| is_named(line.trim().trim_end_matches(',').trim_matches('"'));
    let block = |block: &str| {
        let lines: String = block
            .lines()
            .filter(|line| !dependency(line))
            .map(|line| format!("{line}\n"))
            .collect();
        format!("[[package]]\n{}", lines.replace("dependencies = [\n]\n", ""))
    };
    let kept: String = kept.map(block).collect();
    format!("{head}{}\n", kept.trim_end())
}

/// Whether a lock or its template contains a package of this name.
pub fn has(text: &str, name: &str) -> bool {
    let line = format!("name = \"{name}\"");
    text.lines().any(|other| other == line)
}

/// The versions of the packages of these names.
pub fn versions(text: &str, names: &[String]) -> BTreeSet<String> {
    let found = packages(text).into_keys().filter(|[name, ..]| names.contains(name));
    found.map(|[_, version, _]| version).collect()
}

/// A package is identified by its name, version and source.
type Packages<'a> = BTreeMap<[String; 3], &'a str>;

/// Merges the locks of three projects package by package: `yours` and `new` both come from `before`. Of two compatible versions that the
/// sides chose for one package, the higher one stays. A package that the new side takes into the project takes the place of the same package of a
/// registry.
/// Never a conflict: cargo drops what nothing needs and adds what is missing, unless it runs with `--locked`.
pub fn merge(before: &str, yours: &str, new: &str) -> String {
    let [before, yours, after] = [before, yours, new].map(packages);
    let mut merged: BTreeMap<[String; 3], String> = BTreeMap::new();
    let is_local = |side: &Packages, name: &str| {
        let mut keys = side.keys();
        keys.any(|[other, _, source]| other == name && source.is_empty())
    };
    let moves_here = |name: &str| is_local(&after, name) && !is_local(&before, name);
    for key in yours.keys().chain(after.keys()).collect::<BTreeSet<_>>() {
        if !key[2].is_empty() && !after.contains_key(key) && moves_here(&key[0]) {
            continue;
        }
        let block = match (before.get(key), yours.get(key), after.get(key)) {
            // Removed, or replaced by another version, on one side.
            (Some(_), Some(_), None) | (Some(_), None, Some(_)) => continue,
            (Some(before), Some(yours), Some(after)) if before == yours || before == after => {
                let changed = if before == yours { after } else { yours };
                (*changed).to_owned()
            }
            (before, Some(yours), Some(after)) => {
                merged_dependencies(before.copied().unwrap_or_default(), yours, after)
            }
            (_, Some(block), None) | (_, None, Some(block)) => (*block).to_owned(),
            (_, None, None) => continue,
        };
        merged.insert(key.clone(), block);
    }
    let chosen = merged.keys().filter(|key| !is_outdone(key, &merged, &yours, &after));
    let blocks: String = chosen.map(|key| format!("[[package]]\n{}\n\n", merged[key])).collect();
    let head = new.split("[[package]]\n").next().unwrap_or_default();
    sort(&format!("{head}{blocks}"))
}

fn packages(text: &str) -> Packages<'_> {
    let blocks = text.split("[[package]]\n").skip(1).map(str::trim_end);
    blocks
        .map(|block| (["name", "version", "source"].map(|name| field(block, name)), block))
        .collect()
}

/// Whether the other side chose a higher, compatible version of a package that only one side has.
fn is_outdone(key: &[String; 3], merged: &BTreeMap<[String; 3], String>, yours: &Packages, new: &Packages) -> bool {
    let [name, own, source] = key;
    let both = yours.contains_key(key) && new.contains_key(key);
    let higher = |other: &&[String; 3]| {
        other[0] == *name && other[2] == *source && line(&other[1]) == line(own) && version(&other[1]) > version(own)
    };
    let with_it = |other: &&[String; 3]| {
        (yours.contains_key(key) && yours.contains_key(*other)) || (new.contains_key(key) && new.contains_key(*other))
    };
    !both && merged.keys().filter(higher).any(|other| !with_it(&other))
}

/// The compatible part of a version, for cargo: the numbers up to the first that is not zero.
fn line(text: &str) -> Vec<u64> {
    let (numbers, _) = version(text);
    let zeros = numbers.iter().take_while(|number| **number == 0).count();
    numbers.into_iter().take(zeros + 1).collect()
}

/// The new text of a package, with the dependencies that either side has added, and without those that the new one has dropped.
fn merged_dependencies(before: &str, yours: &str, new: &str) -> String {
    let list = |block: &str| {
        let list = block.split_once("dependencies = [\n").map_or("", |(_, list)| list);
        let list = list.split_once(']').map_or(list, |(list, _)| list);
        list.lines().map(str::to_owned).collect::<BTreeSet<_>>()
    };
    let (before, yours, after) = (list(before), list(yours), list(new));
    let added = yours.iter().filter(|name| !before.contains(*name));
    let all: BTreeSet<&str> = added.chain(&after).map(String::as_str).collect();
    let head = new.split_once("\ndependencies = [").map_or(new, |(head, _)| head);
    match all.is_empty() {
        true => new.to_owned(),
        false => format!("{head}\ndependencies = [\n{}\n]", Vec::from_iter(all).join("\n")),
    }
}

fn field(block: &str, name: &str) -> String {
    let line = block
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "));
    line.unwrap_or_default().trim_matches('"').to_owned()
}

/// A version by its numbers: 0.9.0 is before 0.10.0.
fn version(text: &str) -> (Vec<u64>, String) {
    let (numbers, rest) = text.split_at(text.find(['-', '+']).unwrap_or(text.len()));
    (
        numbers.split('.').map(|part| part.parse().unwrap_or(0)).collect(),
        rest.to_owned(),
    )
}

fn sort_dependencies(block: &str) -> String {
    let Some((head, list)) = block.split_once("dependencies = [\n") else {
        return block.to_owned();
    };
    let (list, tail) = list.split_once(']').unwrap_or((list, ""));
    let mut lines: Vec<&str> = list.lines().collect();
    lines.sort_by_key(|line| line.trim().trim_end_matches(',').trim_matches('"'));
    format!("{head}dependencies = [\n{}\n]{tail}", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn own_packages_are_sorted() {
        let lock = "# This file\nversion = 4\n\n[[package]]\nname = \"zed\"\nversion = \"0.1.0\"\ndependencies = [\n \"zed-api\",\n \"anyhow\",\n]\n\n\
                    [[package]]\nname = \"anyhow\"\nversion = \"1.0.10\"\n\n[[package]]\nname = \"anyhow\"\nversion = \"1.0.9\"\n";
        let sorted = "# This file\nversion = 4\n\n[[package]]\nname = \"anyhow\"\nversion = \"1.0.9\"\n\n[[package]]\nname = \"anyhow\"\nversion = \"1.0.10\"\n\n\
                      [[package]]\nname = \"zed\"\nversion = \"0.1.0\"\ndependencies = [\n \"anyhow\",\n \"zed-api\",\n]\n";
        assert_eq!(super::sort(lock), sorted);
    }

    /// A lock with these packages: name, version, dependencies.
    fn lock(packages: &[(&str, &str, &[&str])]) -> String {
        let block = |(name, version, dependencies): &(&str, &str, &[&str])| {
            let list: String = dependencies.iter().map(|name| format!(" \"{name}\",\n")).collect();
            let list = if list.is_empty() {
                list
            } else {
                format!("dependencies = [\n{list}]\n")
            };
            format!("[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n{list}\n")
        };
        super::sort(&format!(
            "version = 4\n\n{}",
            packages.iter().map(block).collect::<String>()
        ))
    }

    /// A package as a registry has it.
    fn published(name: &str, version: &str) -> String {
        format!(
            "\n[[package]]\nname = \"{name}\"\nversion = \"{version}\"\nsource = \"registry+https://r\"\nchecksum = \"00\"\n"
        )
    }

    #[test]
    fn a_lock_without_the_own_packages_does_not_name_them() {
        let all = lock(&[
            ("op", "0.1.0", &["a", "kubewright-runtime"]),
            ("op-api", "0.1.0", &["kubewright-runtime"]),
            ("a", "1.0.1", &[]),
            ("kubewright-runtime", "0.2.0", &["a"]),
        ]);
        let names = ["kubewright-runtime".to_owned()];
        let wanted = lock(&[("op", "0.1.0", &["a"]), ("op-api", "0.1.0", &[]), ("a", "1.0.1", &[])]);
        assert_eq!(super::without(&all, &names), wanted);
        assert_eq!(
            super::without(&all, &["op-api".to_owned()]).matches("op-api").count(),
            0
        );
        assert_eq!(super::versions(&all, &names).into_iter().collect::<Vec<_>>(), ["0.2.0"]);
        assert!(super::versions(&wanted, &names).is_empty());
    }

    #[test]
    fn own_packages_move_between_a_folder_and_a_registry() {
        let vendored = |a: &str| {
            lock(&[
                ("op", "0.1.0", &["a", "kubewright-runtime"]),
                ("a", a, &[]),
                ("kubewright-runtime", "0.2.0", &["a"]),
            ])
        };
        let registry = |a: &str| super::without(&vendored(a), &["kubewright-runtime".to_owned()]);
        // The user has updated `a`.
        let moved = super::merge(&vendored("1.0.0"), &vendored("1.0.4"), &registry("1.0.0"));
        assert_eq!(moved, registry("1.0.4"));
        let built = super::sort(
            &(vendored("1.0.4").replace(
                "\n[[package]]\nname = \"kubewright-runtime\"\nversion = \"0.2.0\"\ndependencies = [\n \"a\",\n]\n",
                "",
            ) + &published("kubewright-runtime", "0.2.1")),
        );
        assert!(built.contains("checksum"));
        let moved = super::merge(&registry("1.0.0"), &built, &vendored("1.0.0"));
        assert_eq!(moved, vendored("1.0.4"));
        // An upgrade leaves them to cargo.
        assert_eq!(super::merge(&registry("1.0.0"), &built, &registry("1.0.0")), built);
    }

    #[test]
    fn a_lock_keeps_what_the_user_added_and_gets_what_the_release_changes() {
        let before = lock(&[
            ("op", "0.1.0", &["a", "b"]),
            ("a", "1.0.1", &[]),
            ("b", "0.2.0", &[]),
            ("gone", "1.0.0", &[]),
        ]);
        let yours = lock(&[
            ("op", "0.1.0", &["a", "b", "mine"]),
            ("a", "1.0.4", &[]),
            ("b", "0.2.0", &[]),
            ("gone", "1.0.0", &[]),
            ("mine", "3.0.0", &[]),
        ]);
        let new = lock(&[
            ("op", "0.1.0", &["a", "b", "new"]),
            ("a", "1.0.2", &[]),
            ("b", "0.3.0", &[]),
            ("new", "1.0.0", &[]),
        ]);
        let wanted = lock(&[
            ("op", "0.1.0", &["a", "b", "mine", "new"]),
            ("a", "1.0.4", &[]),
            ("b", "0.3.0", &[]),
            ("mine", "3.0.0", &[]),
            ("new", "1.0.0", &[]),
        ]);
        assert_eq!(super::merge(&before, &yours, &new), wanted);
        assert_eq!(super::merge(&before, &before, &new), new);
        assert_eq!(super::merge(&before, &yours, &before), yours);
    }

    #[test]
    fn two_versions_of_a_package_that_one_side_needs_both_stay() {
        let before = lock(&[("a", "1.0.0", &[])]);
        let yours = lock(&[("a", "1.0.0", &[]), ("a", "2.0.0", &[])]);
        let new = lock(&[("a", "1.5.0", &[])]);
        assert_eq!(
            super::merge(&before, &yours, &new),
            lock(&[("a", "1.5.0", &[]), ("a", "2.0.0", &[])])
        );
    }
}
