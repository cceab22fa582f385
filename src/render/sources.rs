//! The sources of the projects of one release: its templates and the crates that it vendors.

use super::archive::{self, Texts};
use super::{embedded, vendor};
use crate::project::{Crates, Release};
use anyhow::{Context, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

const TEMPLATES: &str = "templates/";
const SCAFFOLDS: &str = "scaffolds/";

/// The files of a release, by their paths in the repository.
#[derive(Clone, Debug)]
pub struct Sources {
    files: Texts,
}

impl Sources {
    /// The sources of this release.
    pub fn own() -> &'static Self {
        static OWN: LazyLock<Sources> = LazyLock::new(|| Sources {
            files: embedded::files(),
        });
        &OWN
    }

    /// The sources of this or of an earlier release; `None` if this binary does not contain it.
    ///
    /// # Errors
    /// If the archive in the binary is damaged.
    pub fn of(release: &Release) -> Result<Option<Self>> {
        if *release == Release::own() {
            return Ok(Some(Self::own().clone()));
        }
        let Some(packed) = embedded::archive(&release.to_string()) else {
            return Ok(None);
        };
        let files = archive::unpack(packed, &Self::own().files);
        let files =
            files.with_context(|| format!("this binary is damaged: it cannot read its archive of {release}"))?;
        Ok(Some(Self { files }))
    }

    /// The earlier releases that this binary carries, the oldest first.
    pub fn carried() -> Vec<Release> {
        let names = embedded::archives();
        let mut releases: Vec<Release> = names.iter().filter_map(|name| name.parse().ok()).collect();
        releases.retain(|release| *release < Release::own());
        releases.sort();
        releases
    }

    /// All of them, compressed; the contents of `releases/<release>.zlib`.
    pub fn packed(&self) -> Result<Vec<u8>> {
        archive::pack(&self.files, &Texts::new()).context("the files of the release cannot be compressed")
    }

    /// The templates by name.
    pub fn templates(&self) -> BTreeMap<&str, &str> {
        self.below(TEMPLATES)
    }

    /// The crates to vendor, by the name of their folder.
    pub fn crates(&self) -> Vec<String> {
        let files = self.below(SCAFFOLDS).into_keys();
        let folders: BTreeSet<_> = files.filter_map(|path| path.split('/').next()).collect();
        folders.into_iter().map(str::to_owned).collect()
    }

    /// The files of a crate to vendor, by their path in it.
    pub fn crate_files(&self, name: &str) -> BTreeMap<&str, &str> {
        self.below(&format!("{SCAFFOLDS}{name}/"))
    }

    /// Whether the release has a crate with these files, in the form that they have.
    ///
    /// # Errors
    /// If the crate cannot be packed.
    pub fn has_crate(&self, name: &str, found: &vendor::Texts) -> Result<bool> {
        let files = self.crate_files(name);
        Ok(match found.contains_key(vendor::SOURCE) {
            _ if files.is_empty() => false,
            true => vendor::same(&self.unit(name, Crates::Archives)?, found),
            false => vendor::same(&files, found),
        })
    }

    /// The files of a crate in a project of this form, without its release and hash.
    ///
    /// # Errors
    /// If the release cannot make archives.
    pub fn unit(&self, name: &str, crates: Crates) -> Result<vendor::Texts> {
        let files = self.crate_files(name);
        if crates != Crates::Archives {
            let owned = |(path, text): (&str, &str)| (path.to_owned(), text.to_owned());
            return Ok(files.into_iter().map(owned).collect());
        }
        vendor::packed(&files).with_context(|| format!("crate `{name}` cannot be packed"))
    }

    fn below(&self, folder: &str) -> BTreeMap<&str, &str> {
        let from = self.files.range(folder.to_owned()..);
        let inside = from.map_while(|(path, text)| Some((path.strip_prefix(folder)?, text.as_ref())));
        inside.collect()
    }
}
