//! A generated project is a Cargo workspace. Cargo refuses it inside another workspace whose members include it or one of its members; this
//! module determines the line that the outer workspace needs.

use super::beneath::Beneath;
use std::path::{Path, PathBuf};
use toml_edit::{DocumentMut, Item};

/// The manifest of a workspace above `project` whose members match it, and the line it needs.
pub fn parent_line(project: &Path) -> Option<(PathBuf, String)> {
    let project = std::path::absolute(project).ok()?;
    project.ancestors().skip(1).find_map(|folder| {
        let manifest = folder.join("Cargo.toml");
        let text = Beneath::open(folder).ok()?.read(&"Cargo.toml".parse().ok()?).ok()??;
        let text = String::from_utf8(text).ok()?;
        let workspace = text.parse::<DocumentMut>().ok()?.get("workspace")?.clone();
        let path: Vec<_> = project
            .strip_prefix(folder)
            .ok()?
            .iter()
            .map(|part| part.to_string_lossy().into_owned())
            .collect();
        let excluded = strings(&workspace, "exclude");
        let claimed = strings(&workspace, "members")
            .iter()
            .any(|member| claims(member, &path));
        let spared = excluded
            .iter()
            .any(|other| Path::new(&path.join("/")).starts_with(other));
        let quoted: Vec<_> = excluded
            .iter()
            .cloned()
            .chain([path.join("/")])
            .map(|path| format!("{path:?}"))
            .collect();
        (claimed && !spared).then(|| (manifest, format!("exclude = [{}]", quoted.join(", "))))
    })
}

fn strings(workspace: &Item, key: &str) -> Vec<String> {
    let list = workspace.get(key).and_then(Item::as_array);
    list.into_iter()
        .flatten()
        .filter_map(|value| value.as_str())
        .map(str::to_owned)
        .collect()
}

/// Whether a pattern of `members` names the folder of a project, or of a member of it.
fn claims(pattern: &str, project: &[String]) -> bool {
    let member = |name: &str| matches(pattern, &[project, &[name.to_owned()]].concat());
    matches(pattern, project) || ["api", "dev", "manifests"].into_iter().any(member)
}

/// Whether a pattern of `members` names this folder.
fn matches(pattern: &str, path: &[String]) -> bool {
    let pattern: Vec<&str> = pattern
        .trim_start_matches("./")
        .trim_end_matches('/')
        .split('/')
        .collect();
    match_parts(&pattern, path)
}

fn match_parts(pattern: &[&str], path: &[String]) -> bool {
    match (pattern.split_first(), path.split_first()) {
        (None, None) => true,
        (Some((&"**", rest)), _) => (0..=path.len()).any(|skip| match_parts(rest, &path[skip..])),
        (Some((first, rest)), Some((name, below))) => match_name(first, name) && match_parts(rest, below),
        _ => false,
    }
}

/// `*` and `?` within one name.
pub(super) fn match_name(pattern: &str, name: &str) -> bool {
    match (pattern.chars().next(), name.chars().next()) {
        (None, None) => true,
        (Some('*'), _) => (0..=name.len())
            .filter(|at| name.is_char_boundary(*at))
            .any(|at| match_name(&pattern[1..], &name[at..])),
        (Some('?'), Some(c)) => match_name(&pattern[1..], &name[c.len_utf8()..]),
        (Some(p), Some(c)) if p == c => match_name(&pattern[p.len_utf8()..], &name[c.len_utf8()..]),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_match_as_in_cargo() {
        let path = |text: &str| text.split('/').map(str::to_owned).collect::<Vec<_>>();
        for (pattern, folder, fits) in [
            ("crates/*", "crates/op", true),
            ("crates/*", "crates/a/op", false),
            ("*", "op", true),
            ("**", "a/b/op", true),
            ("op-*", "op-foo", true),
            ("op", "ops", false),
            ("./op/", "op", true),
        ] {
            assert_eq!(matches(pattern, &path(folder)), fits, "{pattern} {folder}");
        }
    }
}
