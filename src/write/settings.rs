//! Cargo's settings in `.cargo/config.toml`, to which a project adds tables of its own. The user's stay as they are.

use super::root::Root;
use crate::plan::RelPath;
use anyhow::{Result, bail};
use toml_edit::{DocumentMut, Item};

/// Whether this file contains cargo's settings.
pub(super) fn is_settings(path: &RelPath) -> bool {
    path.as_str() == ".cargo/config.toml"
}

/// Refuses the file of cargo's settings that takes precedence over `.cargo/config.toml`.
pub(super) fn refuse_older(root: &Root) -> Result<()> {
    match root.read(&".cargo/config".parse()?) {
        Ok(Some(_)) => bail!(
            "cargo reads `.cargo/config`, and ignores `.cargo/config.toml` beside it\n\n\
             hint: rename it: `mv .cargo/config .cargo/config.toml`"
        ),
        // A link to the new name, for old releases of cargo, is not followed.
        _ => Ok(()),
    }
}

/// The user's settings with the tables of `wanted` at their end; `None` if one of them is there with other values, or this is not TOML.
pub(super) fn with_tables(own: &str, wanted: &str) -> Option<String> {
    let (mine, tables) = (own.parse::<DocumentMut>().ok()?, wanted.parse::<DocumentMut>().ok()?);
    if has(mine.as_item(), tables.as_item()) {
        return Some(own.to_owned());
    }
    let (mut text, is_crlf) = (own.replace("\r\n", "\n"), own.contains("\r\n"));
    if !text.is_empty() {
        text = format!("{}\n\n", text.trim_end_matches('\n'));
    }
    text.push_str(wanted);
    // A table that is there already makes it invalid.
    text.parse::<DocumentMut>().ok()?;
    Some(if is_crlf { text.replace('\n', "\r\n") } else { text })
}

/// The user's settings without the text of `tables`; `None` if that is not in it, or was edited.
pub(super) fn without_tables(own: &str, tables: &str) -> Option<String> {
    let (text, is_crlf) = (own.replace("\r\n", "\n"), own.contains("\r\n"));
    let (before, after) = text.split_once(tables)?;
    let before = before.trim_end_matches('\n');
    let end = if before.is_empty() { "" } else { "\n" };
    let text = format!("{before}{end}{after}");
    Some(if is_crlf { text.replace('\n', "\r\n") } else { text })
}

/// Whether each value of the second item is in the first one.
fn has(own: &Item, wanted: &Item) -> bool {
    match wanted.as_table_like() {
        Some(table) => table
            .iter()
            .all(|(key, value)| own.get(key).is_some_and(|own| has(own, value))),
        None => own.as_str().is_some() && own.as_str() == wanted.as_str(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WANTED: &str = "# why\n[source.a]\nreplace-with = \"b\"\n\n[source.b]\nlocal-registry = \"crates\"\n";

    #[test]
    fn tables_are_added_at_the_end_and_removed_again() {
        for own in [
            "# mine\n[net]\nretry = 3\n",
            "[source.crates-io]\nreplace-with = \"m\"\n[source.m]\nregistry = \"x\"\n",
            "source.m.registry = \"x\"\n",
            "[net]\r\nretry = 3\r\n",
            "",
        ] {
            let text = with_tables(own, WANTED).unwrap();
            assert!(text.starts_with(own) && text.parse::<DocumentMut>().is_ok(), "{text}");
            assert_eq!(with_tables(&text, WANTED).as_ref(), Some(&text), "a second time");
            assert_eq!(without_tables(&text, WANTED).unwrap(), own);
        }
        assert_eq!(with_tables("a = 1", WANTED).unwrap(), format!("a = 1\n\n{WANTED}"));
        let reordered = "source = { b = { local-registry = 'crates' }, a = { replace-with = 'b' } }\n";
        assert_eq!(with_tables(reordered, WANTED).unwrap(), reordered);
        assert_eq!(without_tables(reordered, WANTED), None);
    }

    #[test]
    fn tables_that_are_there_with_other_values_are_refused() {
        for own in [
            "[source.a]\nreplace-with = \"c\"\n",
            "[source.b]\ndirectory = \"vendor\"\n",
            "source = { m = {} }\n",
            "[source",
        ] {
            assert_eq!(with_tables(own, WANTED), None, "{own}");
        }
    }
}
