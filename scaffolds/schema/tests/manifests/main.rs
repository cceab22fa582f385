//! CRDs as files: YAML that every parser reads alike, writing and comparing files, and hostile input.

mod compat;
mod files;
mod hostile;
mod yaml;
