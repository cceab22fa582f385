//! The catalogue of templates. The path of a template determines the generated file: `<unit>/<output path>.tera`.

use super::RelPath;
use anyhow::{Result, bail};
use std::collections::BTreeMap;

/// The first line of a template for a managed file.
const MANAGED: &str = "{# managed #}";

/// The parts of a template's path that a subject replaces.
const PLACEHOLDERS: [&str; 6] = [
    "__group__",
    "__group_full__",
    "__version__",
    "__kind__",
    "__plural__",
    "__name__",
];

/// A folder of templates that are rendered together, for one subject.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unit(String);

impl Unit {
    /// The unit of this folder.
    pub fn new(folder: &str) -> Self {
        Self(folder.to_owned())
    }
}

/// One template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// Its path in the folder of templates, which is also its name in the template engine.
    pub name: String,
    /// Whether the file is managed; otherwise it is seeded.
    pub managed: bool,
}

/// The templates by unit, and the crates.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    units: BTreeMap<Unit, Vec<Template>>,
    /// Folders of `scaffolds/` that are vendored.
    pub crates: Vec<String>,
}

impl Catalogue {
    /// Without templates yet.
    pub fn new(crates: Vec<String>) -> Self {
        Self {
            units: BTreeMap::new(),
            crates,
        }
    }

    /// Adds a template. Folders whose names start with `_` contain texts for inclusion, which generate no file.
    pub fn add(&mut self, name: &str, text: &str) -> Result<()> {
        let Some((unit, output)) = name.split_once('/') else {
            bail!("template `{name}` has no unit: the first folder of its path is the unit");
        };
        if unit.starts_with('_') {
            return Ok(());
        }
        if !output.ends_with(".tera") {
            bail!("template `{name}` does not end in `.tera`");
        }
        let managed = text.lines().next() == Some(MANAGED);
        self.units.entry(Unit::new(unit)).or_default().push(Template {
            name: name.to_owned(),
            managed,
        });
        Ok(())
    }

    /// The paths of all managed files, with `*` in the place of names.
    pub fn managed(&self) -> Result<impl Iterator<Item = RelPath>> {
        let names = PLACEHOLDERS.map(|placeholder| (placeholder, String::from("*")));
        let managed = self.units.values().flatten().filter(|template| template.managed);
        let paths: Result<Vec<_>> = managed.map(|template| template.output(&names)).collect();
        Ok(paths?.into_iter())
    }

    /// The templates of a unit; empty if the folder does not exist.
    pub fn unit(&self, unit: &Unit) -> &[Template] {
        self.units.get(unit).map_or(&[], Vec::as_slice)
    }
}

impl Template {
    /// The path of the generated file.
    pub fn output(&self, placeholders: &[(&str, String)]) -> Result<RelPath> {
        let output = self.name.split_once('/').map_or("", |(_, output)| output);
        let mut path = output.strip_suffix(".tera").unwrap_or(output).to_owned();
        for (placeholder, value) in placeholders {
            path = path.replace(placeholder, value);
        }
        if let Some(left) = PLACEHOLDERS.iter().find(|placeholder| path.contains(**placeholder)) {
            bail!("template `{}` names `{left}`, which its unit does not have", self.name);
        }
        path.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_may_touch_underscores() {
        let template = Template {
            name: "api/config/__group_____version_____kind__.yaml.tera".into(),
            managed: false,
        };
        let values = [
            ("__group__", "test".into()),
            ("__version__", "v1".into()),
            ("__kind__", "foobar".into()),
        ];
        assert_eq!(template.output(&values).unwrap().as_str(), "config/test_v1_foobar.yaml");
        assert!(
            template
                .output(&values[..2])
                .unwrap_err()
                .to_string()
                .contains("__kind__")
        );
    }
}
