//! Sorts Cargo.lock. The template has packages with the project's name, so their position depends on that name, and `cargo --locked`
//! accepts only a sorted file.

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
}
