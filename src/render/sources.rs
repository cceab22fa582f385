//! The sources of the projects of one release: its templates and the crates that it vendors.

use super::archive::{self, Texts};
use super::local_registry::{self, CrateArchive};
use super::{embedded, vendor};
use crate::project::Release;
use anyhow::{Context, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{LazyLock, OnceLock};

const TEMPLATES: &str = "templates/";
const SCAFFOLDS: &str = "scaffolds/";

/// The files of a release, by their paths in the repository.
#[derive(Clone, Debug)]
pub struct Sources {
    files: Texts,
    /// Made when they are first needed, because they are compressed.
    archives: OnceLock<BTreeMap<String, CrateArchive>>,
}

impl Sources {
    fn new(files: Texts) -> Self {
        Self {
            files,
            archives: OnceLock::new(),
        }
    }

    /// The sources of this release.
    pub fn own() -> &'static Self {
        static OWN: LazyLock<Sources> = LazyLock::new(|| Sources::new(embedded::files()));
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
        Ok(Some(Self::new(files)))
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

    /// The hash of a crate, as its VERSION records it; `None` if the release has no such crate.
    pub fn crate_hash(&self, name: &str) -> Option<String> {
        let files = self.crate_files(name);
        (!files.is_empty()).then(|| vendor::hash(&files))
    }

    /// The crates as archives, by the name of their folder.
    ///
    /// # Errors
    /// If a crate of the release has no valid manifest.
    pub fn archives(&self) -> Result<&BTreeMap<String, CrateArchive>> {
        if let Some(made) = self.archives.get() {
            return Ok(made);
        }
        let pack = |name: String| {
            let archive = CrateArchive::pack(&name, &local_registry::contents(self, &name)?)?;
            Ok((name, archive))
        };
        let made = self.crates().into_iter().map(pack).collect::<Result<_>>()?;
        Ok(self.archives.get_or_init(|| made))
    }

    /// A crate as an archive.
    pub fn archive(&self, name: &str) -> Result<&CrateArchive> {
        let found = self.archives()?.get(name);
        found.with_context(|| format!("the release has no crate `{name}`"))
    }

    /// The checksums of the archives, by the names of their packages.
    pub fn checksums(&self) -> Result<BTreeMap<String, String>> {
        let archives = self.archives()?.values();
        Ok(archives
            .map(|archive| (format!("kubewright-{}", archive.name), archive.checksum()))
            .collect())
    }

    fn below(&self, folder: &str) -> BTreeMap<&str, &str> {
        let from = self.files.range(folder.to_owned()..);
        let inside = from.map_while(|(path, text)| Some((path.strip_prefix(folder)?, text.as_ref())));
        inside.collect()
    }
}
