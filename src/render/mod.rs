//! Renders the text of every planned file. Pure: the templates come from the binary, or from the user's folder, which
//! `cli` reads. Names and texts of the user are values in templates, and are never parsed as templates.

mod archive;
pub mod cargo_lock;
mod context;
mod conversions;
mod definitions;
mod embedded;
mod finalizers;
pub mod header;
mod imports;
mod layout;
pub mod licence;
mod policies;
mod samples;
mod sources;
mod types;
pub mod vendor;
mod webhooks;

pub use sources::Sources;
pub use types::{check as check_types, first_optional_null, own_annotations};

use crate::plan::{Catalogue, Entry, FileKind, Plan, RelPath, Source, Subject};
use crate::project::{Api, Crates, Declared, Project};
use anyhow::{Context as _, Result, anyhow};
use std::borrow::Cow;
use std::collections::BTreeMap;
use tera::Tera;

/// All templates of a release, parsed, and its scaffolds.
pub struct Templates {
    tera: Tera,
    catalogue: Catalogue,
    sources: Cow<'static, Sources>,
}

/// The template of the type of a kind.
const TYPE: &str = "api/api/src/__group__/__version__/__kind__.rs.tera";

/// A file as it should be on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its kind. Each file of a vendored crate has the kind `Vendored`.
    pub kind: FileKind,
    /// Whether it is executable.
    pub executable: bool,
    /// Its whole text.
    pub text: String,
    /// The hash of the text, if this program [can make it again](vendor::carried).
    pub carried: Option<String>,
}

impl File {
    /// The bytes of the file.
    pub fn bytes(&self) -> &[u8] {
        self.text.as_bytes()
    }
}

/// The files of a project, by path.
pub type Rendered = BTreeMap<RelPath, File>;

impl Templates {
    /// The templates of this binary; the user's own templates, as pairs of name and text, replace those of the same
    /// name.
    pub fn load(own: &[(String, String)]) -> Result<Self> {
        Self::of(Cow::Borrowed(Sources::own()), own)
    }

    /// The same with the templates of any release.
    pub fn of(sources: Cow<'static, Sources>, own: &[(String, String)]) -> Result<Self> {
        let mut texts: BTreeMap<&str, &str> = sources.templates();
        texts.extend(own.iter().map(|(name, text)| (name.as_str(), text.as_str())));
        let mut catalogue = Catalogue::new(sources.crates());
        for (name, text) in &texts {
            catalogue.add(name, text)?;
        }
        let mut tera = Tera::new();
        tera.autoescape_on(Vec::<&str>::new());
        layout::register(&mut tera);
        tera.add_raw_templates(texts)
            .map_err(|error| anyhow!("a template does not parse\n{error}"))?;
        Ok(Self {
            tera,
            catalogue,
            sources,
        })
    }

    /// The catalogue of the templates.
    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// The sources of the templates.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    fn file(&self, project: &Project, shared: &tera::Context, path: &RelPath, entry: &Entry) -> Result<Option<File>> {
        let (name, subject) = match &entry.source {
            Source::Template(name, subject) => (name, *subject),
            Source::Crate(_) | Source::Manifests => return Ok(None),
        };
        let mut context = shared.clone();
        context::about(&mut context, project, subject)?;
        if let Subject::Spoke(at, nth) = subject {
            let types = |api: Api<'_>| self.types(project, shared, api);
            conversions::functions(&mut context, &project.kinds[at], nth, types)?;
        }
        let mut text = self.text(name, &context)?;
        if path.as_str() == "Cargo.lock" {
            text = cargo_lock::sort(&text);
            if project.crates == Crates::Registry {
                text = cargo_lock::without(&text, &self.packages());
            }
        }
        let text = match entry.kind {
            // The line that marks a template as managed leaves an empty line behind.
            FileKind::Managed => header::stamp(path, &project.version, text.strip_prefix('\n').unwrap_or(&text)),
            _ => licence::licensed(project, path, text),
        };
        Ok(Some(file(entry.kind, text)))
    }

    /// The names of the packages of the crates.
    pub fn packages(&self) -> Vec<String> {
        let crates = self.catalogue.crates.iter();
        crates.map(|name| format!("kubewright-{name}")).collect()
    }

    fn text(&self, template: &str, context: &tera::Context) -> Result<String> {
        self.tera
            .render(template, context)
            .map_err(|error| anyhow!("template `{template}` does not render\n{error}"))
    }

    /// The types of a kind in one version: as they were read, or as they are generated.
    fn types(&self, project: &Project, shared: &tera::Context, api: Api<'_>) -> Result<Declared> {
        if let Some(types) = &api.version.types {
            return Ok(types.clone());
        }
        let mut context = shared.clone();
        context::of_type(&mut context, project, api);
        Declared::read(&self.text(TYPE, &context)?, &api.kind.name)
            .with_context(|| format!("template `{TYPE}` makes a type that no conversion can be generated for"))
    }
}

fn file(kind: FileKind, text: String) -> File {
    File {
        kind,
        executable: text.starts_with("#!"),
        text,
        carried: None,
    }
}

/// Renders a plan, or a part of one.
pub fn render(project: &Project, plan: &Plan, templates: &Templates) -> Result<Rendered> {
    let shared = context::shared(project);
    let mut rendered = Rendered::new();
    for (path, entry) in &plan.entries {
        if let Some(file) = templates.file(project, &shared, path, entry)? {
            rendered.insert(path.clone(), file);
        }
        if let Source::Crate(name) = &entry.source {
            rendered.extend(vendor::files(&templates.sources, path, name, project)?);
        }
    }
    Ok(rendered)
}
