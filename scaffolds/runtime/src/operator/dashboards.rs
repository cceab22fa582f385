//! `<operator> dashboards`: writes the Grafana dashboards.

use std::{fs, path::Path};

use kubewright_schema::files;

use super::Operator;
use crate::{
    dashboards,
    error::{Error, Result},
};

impl Operator {
    /// Writes the dashboards into this folder, in place of the files of an earlier run, and prints their paths.
    pub(super) fn write_dashboards(out: &Path) -> Result<()> {
        let failed = |path: &Path, error| Error::Setup(format!("`{}` cannot be written: {error}", path.display()));
        fs::create_dir_all(out).map_err(|error| failed(out, error))?;
        for (name, text) in dashboards::files() {
            let path = out.join(name);
            fs::write(&path, text).map_err(|error| failed(&path, error))?;
            let printed = files::print(&format!("{}\n", path.display()));
            printed.map_err(|error| Error::Setup(format!("the standard output cannot be written: {error}")))?;
        }
        Ok(())
    }
}
