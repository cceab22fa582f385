//! PROJECT as text. Only this module depends on its YAML format.

use super::flat::{self, FlatApi};
use super::printable::printable;
use super::{Crates, Domain, Kind, License, Owner, Project, ProjectName, Release, TemplateFolder};
use anyhow::{Context, Error, Result, anyhow, bail};
use serde_saphyr::budget::{EnforcingPolicy, check_yaml_budget};
use serde_yaml::Value;

/// The file's name, at the root of every project.
pub const NAME: &str = "PROJECT";

const HEAD: &str = "\
# The inputs of every generated file. Commands of kubewright read and write it; after a merge resolve it by hand,
# then run `kubewright sync`.
";

/// The largest PROJECT that is read; enough for thousands of kinds.
pub const MAX: usize = 1 << 20;
/// The limit on nesting of PROJECT. It needs four levels: the list of kinds, a kind, its controllers, a controller.
const MAX_DEPTH: usize = 16;

/// Reads the PROJECT of this minor release.
pub fn parse(text: &str) -> Result<Project> {
    parse_if(text, check_minor)
}

/// Reads the PROJECT of this minor release or of an earlier one, for `upgrade`.
pub fn parse_earlier(text: &str) -> Result<Project> {
    parse_if(text, check_earlier)
}

/// Reads PROJECT if `accepts` its release, which decides how to read the rest.
fn parse_if(text: &str, accepts: fn(&Release) -> Result<()>) -> Result<Project> {
    check_size(text)?;
    if let Some(line) = text
        .lines()
        .position(|line| ["<<<<<<< ", ">>>>>>> "].iter().any(|mark| line.starts_with(mark)))
    {
        bail!(
            "`{NAME}` has merge conflict markers, the first on line {}\n\nhint: resolve `{NAME}` (usually both sides stay), then run `kubewright sync`",
            line + 1
        );
    }
    check_cost(text)?;
    let version = serde_yaml::from_str::<Stamp>(text)
        .map_err(|error| one_line(&error))
        .with_context(|| format!("`{NAME}` is not a project file of kubewright"))?
        .version;
    accepts(&release(&version)?)?;
    let document: Document = serde_yaml::from_str(text)
        .map_err(|error| one_line(&error))
        .with_context(|| format!("`{NAME}` cannot be read"))?;
    document
        .project()
        .with_context(|| format!("`{NAME}` contradicts itself"))
}

/// Whether a valid PROJECT has the list `apis` of earlier releases, and so has to be rewritten.
pub fn is_flat(text: &str) -> bool {
    serde_yaml::from_str::<Document>(text).is_ok_and(|document| !document.apis.is_empty())
}

/// The fields of PROJECT, including fields of earlier releases.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Document {
    version: String,
    name: ProjectName,
    domain: Domain,
    #[serde(default)]
    namespaced: bool,
    license: License,
    owner: Owner,
    year: u16,
    #[serde(default)]
    crates: Crates,
    templates: Option<TemplateFolder>,
    #[serde(default)]
    kinds: Vec<Kind>,
    #[serde(default)]
    apis: Vec<FlatApi>,
}

impl Document {
    /// The project, sorted and checked: PROJECT may have been edited or merged by hand.
    fn project(self) -> Result<Project> {
        let mut project = Project {
            version: self.version,
            name: self.name,
            domain: self.domain,
            namespaced: self.namespaced,
            license: self.license,
            owner: self.owner,
            year: self.year,
            crates: self.crates,
            templates: self.templates,
            kinds: self.kinds,
        };
        // A merge may result in both lists.
        project.kinds.extend(flat::kinds(self.apis)?);
        project.sort();
        project.check()?;
        Ok(project)
    }
}

fn check_size(text: &str) -> Result<()> {
    if text.len() > MAX {
        bail!("`{NAME}` is larger than {} MiB\n\nhint: restore it with git", MAX >> 20);
    }
    Ok(())
}

/// Refuses YAML that is costly to read: deep nesting, and anchors, which no command writes. The check is linear and ends with the first
/// excess.
fn check_cost(text: &str) -> Result<()> {
    let mut budget = serde_saphyr::Budget::default();
    (budget.max_anchors, budget.max_aliases, budget.max_depth) = (0, 0, MAX_DEPTH);
    budget.flow_nesting_limit = MAX_DEPTH;
    budget.max_documents = 1;
    match check_yaml_budget(text, budget, EnforcingPolicy::AllContent) {
        Ok(report) if report.breached.is_none() => Ok(()),
        Err(error) => Err(one_line(&error)).with_context(|| format!("`{NAME}` is not a project file of kubewright")),
        Ok(_) => bail!(
            "`{NAME}` nests deeper than {MAX_DEPTH} levels, has an anchor or is several documents\n\nhint: write repeated values in full"
        ),
    }
}

/// Escapes the message of a parser, which can contain parts of the text.
fn one_line(error: &dyn std::fmt::Display) -> Error {
    anyhow!(printable(&error.to_string()))
}

/// Only the version, which is read first because it decides how to parse the rest.
#[derive(serde::Deserialize)]
struct Stamp {
    version: String,
}

/// The text of PROJECT. Each kind is one line, so that two branches that add a kind each merge by keeping both lines.
pub fn format(project: &Project) -> String {
    let tree = |project: &Project| serde_yaml::to_value(project).expect("strings, numbers and lists are YAML");
    let head = Project {
        kinds: Vec::new(),
        ..project.clone()
    };
    let mut text = format!(
        "{HEAD}{}",
        serde_yaml::to_string(&head).expect("strings and numbers are YAML")
    );
    let kinds = tree(project)
        .get("kinds")
        .and_then(Value::as_sequence)
        .cloned()
        .unwrap_or_default();
    if !kinds.is_empty() {
        text.push_str("kinds:\n");
    }
    kinds
        .iter()
        .for_each(|kind| text.push_str(&format!("- {}\n", flow(kind))));
    text
}

/// A value on one line.
fn flow(value: &Value) -> String {
    match value {
        Value::Mapping(map) => {
            let fields: Vec<_> = map
                .iter()
                .map(|(key, value)| format!("{}: {}", flow(key), flow(value)))
                .collect();
            format!("{{{}}}", fields.join(", "))
        }
        Value::Sequence(list) => format!("[{}]", list.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Value::String(text) if is_plain(text) => text.clone(),
        Value::String(text) => format!("'{text}'"),
        other => serde_yaml::to_string(other).unwrap_or_default().trim_end().to_owned(),
    }
}

/// Whether a name needs no quotes, also for parsers of YAML 1.1. Names contain no quotes.
fn is_plain(text: &str) -> bool {
    let switch = ["y", "n", "yes", "no", "on", "off"].contains(&text.to_ascii_lowercase().as_str());
    !switch && serde_yaml::from_str::<Value>(text).is_ok_and(|value| value.as_str() == Some(text))
}

/// The release that the text of `version` names.
fn release(version: &str) -> Result<Release> {
    version
        .parse()
        .map_err(|refused| anyhow!("`{NAME}` has the version `{}`, which {refused}", printable(version)))
}

/// Refuses a project of another minor release.
fn check_minor(project: &Release) -> Result<()> {
    let own = Release::own();
    if project.is_same_minor(&own) {
        return Ok(());
    }
    if *project > own {
        return Err(newer(project));
    }
    bail!(
        "this project was written by kubewright {project}, and this is kubewright {own}\n\n\
         hint: move the project on with `kubewright upgrade`, or install its own release with `{}`",
        install(&project.to_string())
    )
}

/// Refuses a project of a later minor release.
fn check_earlier(project: &Release) -> Result<()> {
    let own = Release::own();
    match *project > own && !project.is_same_minor(&own) {
        true => Err(newer(project)),
        false => Ok(()),
    }
}

/// The error for a project of a later release.
pub fn newer(project: &Release) -> Error {
    anyhow!(
        "this project was written by kubewright {project}, and this is the earlier kubewright {}\n\n\
         hint: install the project's release with `{}`",
        Release::own(),
        install(&project.to_string())
    )
}

/// The command that installs a release.
pub fn install(release: &str) -> String {
    format!(
        "cargo install --locked --git {} --tag v{release} kubewright",
        env!("CARGO_PKG_REPOSITORY")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = concat!(
        "version: ",
        env!("CARGO_PKG_VERSION"),
        "\nname: op\ndomain: example.com\nlicense: none\nowner: 'A: \"b\" #'\nyear: 2026\nkinds:\n\
        - {group: 'on', kind: 'True', plural: trues, cluster: true, versions: [{version: v1}]}\n\
        - {group: test, kind: FooBar, plural: foobars, shortNames: [fb], versions: [{version: v1}, {version: v2, storage: false}], controllers: [{name: foobar, version: v1, pattern: child}]}\n\
        - {group: test, kind: Run, plural: runs, versions: [{version: v1}], controllers: [{name: run, version: v1, pattern: replicas, image: host:5000/a:1}]}\n\
        - {group: test, kind: User, plural: users, versions: [{version: v1}], controllers: [{name: user, version: v1, pattern: internal, internalKind: Run}]}\n"
    );

    #[test]
    fn project_round_trips_with_one_line_per_kind() {
        let project = parse(TEXT).unwrap();
        let text = format(&project);
        assert_eq!(parse(&text).unwrap(), project);
        assert!(TEXT.lines().skip(6).all(|line| text.contains(line)), "{text}");
        assert!(!is_flat(&text));
    }

    #[test]
    fn only_a_project_without_vendored_crates_names_where_they_are() {
        let registry = TEXT.replace("year: 2026\n", "year: 2026\ncrates: registry\n");
        let project = parse(&registry).unwrap();
        assert_eq!(project.crates, Crates::Registry);
        assert!(format(&project).contains("\nyear: 2026\ncrates: registry\nkinds:\n"));
        assert!(!format(&parse(TEXT).unwrap()).contains("crates"));
        let error = format!("{:#}", parse(&registry.replace("registry", "git")).unwrap_err());
        assert!(error.contains("`git`"), "{error}");
    }

    #[test]
    fn a_project_of_an_earlier_release_is_read_for_an_upgrade_alone() {
        let earlier = TEXT.replace(concat!("version: ", env!("CARGO_PKG_VERSION")), "version: 0.0.3");
        assert_eq!(parse_earlier(&earlier).unwrap().version, "0.0.3");
        let error = format!("{:#}", parse(&earlier).unwrap_err());
        assert!(
            error.contains("by kubewright 0.0.3") && error.contains("`kubewright upgrade`"),
            "{error}"
        );
    }

    #[test]
    fn errors_of_a_merge_are_named() {
        let twice = format!("{TEXT}{}\n", TEXT.lines().nth(9).unwrap());
        let own = concat!("version: ", env!("CARGO_PKG_VERSION"));
        let other = TEXT.replace(own, "version: 999.9.3");
        let module = TEXT.replace("'on'", "'te.st'").replace("group: test", "group: te-st");
        let cases = [
            (format!("<<<<<<< ours\n{TEXT}"), "merge conflict markers"),
            (twice, "`Run` of `test` is listed twice"),
            (other, "by kubewright 999.9.3, and this is the earlier"),
            (module, "share the Rust module"),
            (
                TEXT.replace("kind: FooBar", "kind: fooBar"),
                "must start with an upper case letter",
            ),
            (TEXT.replace("year", "yaer"), "yaer"),
            (TEXT.replace("plural: users", "plurel: users"), "plurel"),
            (TEXT.replace("pattern: child", "pattern: replicas"), "has no `image`"),
            (
                TEXT.replace("pattern: child", "pattern: child, image: a"),
                "does not take",
            ),
            (
                TEXT.replace("pattern: child", "pattern: internal, internalKind: Walk"),
                "`Walk`, which is not a kind",
            ),
            (
                TEXT.replace("pattern: child", "pattern: internal, internalKind: FooBar"),
                "create objects of `FooBar`",
            ),
            (
                TEXT.replace(", storage: false", ""),
                "both marked as the storage version",
            ),
            (
                TEXT.replace("{version: v2,", "{version: v1,"),
                "`FooBar` of `test/v1` is listed twice",
            ),
            (
                TEXT.replace("version: v1, pattern: child", "version: v3, pattern: child"),
                "uses version `v3` of `FooBar`, which has only `v1`, `v2`",
            ),
            (TEXT.replace("[{version: v1}],", "[],"), "has no version"),
            (TEXT.replace("name: run", "name: foobar"), "would share one file"),
        ];
        for (text, word) in cases {
            let error = format!("{:#}", parse(&text).unwrap_err());
            assert!(error.contains(word), "{error}");
        }
    }
}
