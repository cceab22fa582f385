//! PROJECT as text. The only room that knows it is YAML.

use super::Project;
use super::printable::printable;
use anyhow::{Context, Error, Result, anyhow, bail};
use serde_saphyr::budget::{EnforcingPolicy, check_yaml_budget};
use serde_yaml::Value;

/// The file's name, at the root of every project.
pub const NAME: &str = "PROJECT";

const HEAD: &str = "\
# The inputs of every generated file. Commands of kubewright read and write it; after a merge resolve it by hand,
# then run `kubewright sync`.
";

/// The largest PROJECT that is read: thousands of kinds.
pub const MAX: usize = 1 << 20;
/// How deep PROJECT nests: the list of kinds, a kind, its controllers, one of them; and some more, for what a later release adds.
const MAX_DEPTH: usize = 16;

/// Reads PROJECT as this version of kubewright understands it.
pub fn parse(text: &str) -> Result<Project> {
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
    check_version(&version)?;
    let project: Project = serde_yaml::from_str(text)
        .map_err(|error| one_line(&error))
        .with_context(|| format!("`{NAME}` cannot be read"))?;
    check_apis(project)
}

fn check_size(text: &str) -> Result<()> {
    if text.len() > MAX {
        bail!(
            "`{NAME}` is larger than {} MiB\n\nhint: restore it with `git checkout -- {NAME}`",
            MAX >> 20
        );
    }
    Ok(())
}

/// Refuses what would cost the reader of YAML more than PROJECT is worth: nesting, and anchors, which no command writes. The check is
/// linear and ends with the first excess.
fn check_cost(text: &str) -> Result<()> {
    let mut budget = serde_saphyr::Budget::default();
    (budget.max_anchors, budget.max_aliases, budget.max_depth) = (0, 0, MAX_DEPTH);
    budget.flow_nesting_limit = MAX_DEPTH;
    budget.max_documents = 1;
    match check_yaml_budget(text, budget, EnforcingPolicy::AllContent) {
        Ok(report) if report.breached.is_none() => Ok(()),
        Err(error) => Err(one_line(&error)).with_context(|| format!("`{NAME}` is not a project file of kubewright")),
        Ok(_) => bail!(
            "`{NAME}` nests deeper than {MAX_DEPTH} levels, has an anchor or is several documents\n\nhint: write out what it repeats"
        ),
    }
}

/// The message of a reader can have parts of the text.
fn one_line(error: &dyn std::fmt::Display) -> Error {
    anyhow!(printable(&error.to_string()))
}

/// Only the version, which has to be read before anything else can be understood.
#[derive(serde::Deserialize)]
struct Stamp {
    version: String,
}

/// The text of PROJECT. Each kind is one line, so that two branches which add one each merge by keeping both lines.
pub fn format(project: &Project) -> String {
    let tree = |project: &Project| serde_yaml::to_value(project).expect("strings, numbers and lists are YAML");
    let head = Project {
        apis: Vec::new(),
        ..project.clone()
    };
    let mut text = format!(
        "{HEAD}{}",
        serde_yaml::to_string(&head).expect("strings and numbers are YAML")
    );
    let apis = tree(project)
        .get("apis")
        .and_then(Value::as_sequence)
        .cloned()
        .unwrap_or_default();
    if !apis.is_empty() {
        text.push_str("apis:\n");
    }
    apis.iter().for_each(|api| text.push_str(&format!("- {}\n", flow(api))));
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

/// Whether a name needs no quotes, for readers of YAML 1.1 too. Names hold no quotes themselves.
fn is_plain(text: &str) -> bool {
    let switch = ["y", "n", "yes", "no", "on", "off"].contains(&text.to_ascii_lowercase().as_str());
    !switch && serde_yaml::from_str::<Value>(text).is_ok_and(|value| value.as_str() == Some(text))
}

/// Refuses a project of another minor release.
fn check_version(project: &str) -> Result<()> {
    let own = env!("CARGO_PKG_VERSION");
    if !is_release(project) {
        bail!(
            "`{NAME}` has the version `{}`, which is no release of kubewright",
            printable(project)
        );
    }
    let minor = |version: &str| version.split('.').take(2).map(str::to_owned).collect::<Vec<_>>();
    if minor(project) != minor(own) {
        bail!(
            "this project is of kubewright {project}, and this is kubewright {own}\n\n\
             hint: install the project's own with `{}`; `kubewright upgrade`, which will move projects on, is not built yet",
            install(project)
        );
    }
    Ok(())
}

/// Whether it is three numbers with dots between them, and perhaps the name of a pre-release: it stands in the headers of generated code.
fn is_release(text: &str) -> bool {
    let (numbers, pre) = text
        .split_once('-')
        .map_or((text, None), |(numbers, pre)| (numbers, Some(pre)));
    let numbers: Vec<_> = numbers.split('.').collect();
    let number = |text: &&str| !text.is_empty() && text.len() < 10 && text.bytes().all(|byte| byte.is_ascii_digit());
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'-';
    let pre = pre.is_none_or(|pre| !pre.is_empty() && pre.len() < 40 && pre.bytes().all(word));
    numbers.len() == 3 && numbers.iter().all(number) && pre
}

/// The command that installs a release.
pub fn install(release: &str) -> String {
    format!(
        "cargo install --locked --git {} --tag v{release} kubewright",
        env!("CARGO_PKG_REPOSITORY")
    )
}

/// PROJECT may have been edited or merged by hand, so it goes through the same checks as a new kind.
fn check_apis(written: Project) -> Result<Project> {
    let mut checked = Project {
        apis: Vec::new(),
        ..written.clone()
    };
    for api in &written.apis {
        if checked.api(&api.group, &api.version, &api.kind).is_some() {
            bail!(
                "`{NAME}` lists `{}` of `{}/{}` twice\n\nhint: remove one of them",
                api.kind,
                api.group,
                api.version
            );
        }
        checked = checked
            .with_listed(api)
            .with_context(|| format!("`{NAME}` contradicts itself"))?;
    }
    checked
        .patterns_fit()
        .with_context(|| format!("`{NAME}` contradicts itself"))?;
    Ok(checked)
}

impl Project {
    /// Takes in a kind as PROJECT lists it, controllers included.
    fn with_listed(&self, api: &super::Api) -> Result<Self> {
        use super::change::{NewApi, NewController};
        let mut new = NewApi {
            group: api.group.clone(),
            version: api.version.clone(),
            kind: api.kind.clone(),
            plural: Some(api.plural.clone()),
            short_names: Some(api.short_names.clone()),
            cluster: Some(api.cluster),
            storage: Some(api.storage),
            origin: api.origin,
            definition: api.definition.clone(),
            resource: true,
            controller: None,
            replace: false,
        };
        let mut project = self.joined(&new)?;
        new.resource = false;
        for controller in &api.controllers {
            new.controller = Some(NewController {
                name: Some(controller.name.clone()),
                pattern: controller.pattern.clone(),
            });
            project = project.joined(&new)?;
        }
        Ok(project)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "version: 0.1.0\nname: op\ndomain: example.com\nlicense: none\nowner: 'A: \"b\" #'\nyear: 2026\napis:\n\
        - {group: test, version: v1, kind: FooBar, plural: foobars, shortNames: [fb], controllers: [{name: foobar, pattern: child}]}\n\
        - {group: test, version: v1, kind: Run, plural: runs, controllers: [{name: run, pattern: replicas, image: host:5000/a:1}]}\n\
        - {group: test, version: v1, kind: User, plural: users, controllers: [{name: user, pattern: internal, internalKind: Run}]}\n\
        - {group: 'on', version: v1, kind: 'True', plural: trues, cluster: true}\n";

    #[test]
    fn what_is_written_is_read_again_one_line_a_kind() {
        let project = parse(TEXT).unwrap();
        let text = format(&project);
        assert_eq!(parse(&text).unwrap(), project);
        assert!(TEXT.lines().skip(6).all(|line| text.contains(line)), "{text}");
    }

    #[test]
    fn what_a_merge_can_do_to_it_is_named() {
        let twice = format!("{TEXT}{}\n", TEXT.lines().nth(9).unwrap());
        let other = TEXT.replace("version: 0.1.0", "version: 0.9.3");
        let module = TEXT.replace("'on'", "'te.st'").replace("group: test", "group: te-st");
        let cases = [
            (format!("<<<<<<< ours\n{TEXT}"), "merge conflict markers"),
            (twice, "twice"),
            (other, "of kubewright 0.9.3"),
            (module, "share the Rust module"),
            (
                TEXT.replace("kind: FooBar", "kind: fooBar"),
                "must start with an upper case letter",
            ),
            (TEXT.replace("year", "yaer"), "yaer"),
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
                "made of",
            ),
        ];
        for (text, word) in cases {
            let error = format!("{:#}", parse(&text).unwrap_err());
            assert!(error.contains(word), "{error}");
        }
    }
}
