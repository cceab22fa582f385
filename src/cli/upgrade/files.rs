//! The files of a project in two releases, and what becomes of each. Vendored crates are in `crates.rs`.

use super::renames::renames;
use crate::cli::host;
use crate::cli::session::Session;
use crate::plan::{FileKind, Plan, RelPath};
use crate::project::Project;
use crate::render::{File, Rendered, Templates, render};
use crate::write::{Intent, Intents, Outcome, Root, Succession, compare};
use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet};

/// A project as two releases render it.
pub struct Releases {
    was: Rendered,
    will: Rendered,
    /// Earlier paths by the new ones, of files that the new release renames.
    renamed: BTreeMap<RelPath, RelPath>,
    names: [String; 2],
}

impl Releases {
    /// Renders the project of the session with the templates of its release, and `project` with the templates of this one.
    pub fn new(session: &Session, project: &Project, earlier: &Templates) -> Result<Self> {
        let files = |plan: Plan| plan.only(|_, entry| entry.kind != FileKind::Vendored);
        let before = files(crate::plan::plan(&session.project, earlier.catalogue())?);
        let was = render(&session.project, &before, earlier)?;
        let will = session.render(project, &files(session.plan(project)?))?;
        let names = [session.project.version.clone(), project.version.clone()];
        Ok(Self::of(was, will, names))
    }

    fn of(was: Rendered, will: Rendered, names: [String; 2]) -> Self {
        Self {
            renamed: renames(&was, &will),
            was,
            will,
            names,
        }
    }

    /// Compares both with the disk.
    pub fn outcome(&self, session: &Session) -> Result<Outcome> {
        self.outcome_in(&session.root)
    }

    fn outcome_in(&self, root: &Root) -> Result<Outcome> {
        let left_out = self.left_out(root)?;
        let mut intents = self.intents();
        intents.retain(|path, _| !left_out.contains(path));
        let mut outcome = compare(root, &intents, false)?;
        outcome.deleted.extend(left_out);
        Ok(outcome)
    }

    /// New seeded files in folders that the earlier release had and the user has deleted.
    fn left_out(&self, root: &Root) -> Result<Vec<RelPath>> {
        let had: BTreeSet<RelPath> = self.was.keys().flat_map(RelPath::folders).collect();
        let is_new = |path: &RelPath| !self.was.contains_key(path) && !self.renamed.contains_key(path);
        let mut found = Vec::new();
        for (path, _) in self
            .will
            .iter()
            .filter(|(path, file)| file.kind == FileKind::Seeded && is_new(path))
        {
            for folder in path.folders().filter(|folder| had.contains(folder)) {
                if !root.is_folder(&folder)? {
                    found.push(path.clone());
                    break;
                }
            }
        }
        Ok(found)
    }

    fn intents(&self) -> Intents<'_> {
        let mut intents = Intents::new();
        for (path, after) in &self.will {
            if let Some(intent) = self.intent(path, after) {
                intents.insert(path.clone(), intent);
            }
        }
        for (path, file) in &self.was {
            let moved = self.renamed.values().any(|from| from == path);
            if !moved && !self.will.contains_key(path) {
                intents.insert(path.clone(), Intent::Remove(file));
            }
        }
        intents
    }

    fn intent<'a>(&'a self, path: &RelPath, after: &'a File) -> Option<Intent<'a>> {
        let from = self.renamed.get(path);
        let before = self.was.get(from.unwrap_or(path));
        match (after.kind, before) {
            (_, Some(before)) if before == after && from.is_none() => None,
            (FileKind::Managed, before) => Some(Intent::Manage { after, before }),
            (_, None) if host::is_of_host(path.as_str()) => Some(Intent::Keep(after)),
            (_, None) => Some(Intent::Seed(after)),
            (_, Some(before)) => Some(Intent::Merge(Succession {
                before,
                after,
                from,
                releases: [&self.names[0], &self.names[1]],
            })),
        }
    }
}

/// Kept files that the kustomization of their folder listed until now.
pub fn unlisted(outcome: &Outcome) -> Vec<RelPath> {
    let is_unlisted = |path: &&RelPath| {
        let Some((folder, name)) = path.as_str().rsplit_once('/') else {
            return false;
        };
        let kustomization = format!("{folder}/kustomization.yaml");
        let mut changes = outcome.changes.iter();
        changes.find(|it| it.path.as_str() == kustomization).is_some_and(|it| {
            let before = String::from_utf8_lossy(it.before.as_deref().unwrap_or_default());
            before.contains(name) && it.after.as_ref().is_none_or(|after| !after.text.contains(name))
        })
    };
    outcome.kept.iter().filter(is_unlisted).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::plan;
    use crate::project::file;
    use crate::write::Access;
    use std::fs;

    fn rendered(files: &[(&str, FileKind, &str)]) -> Rendered {
        let file = |(path, kind, text): &(&str, FileKind, &str)| {
            let file = File {
                kind: *kind,
                executable: false,
                text: (*text).to_owned(),
                carried: None,
            };
            (path.parse().unwrap(), file)
        };
        files.iter().map(file).collect()
    }

    /// The outcome in a folder with these files.
    fn outcome(was: Rendered, will: Rendered, disk: &[(&str, &str)]) -> Result<Outcome> {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in disk {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let releases = Releases::of(was, will, ["0.1.0".into(), "0.2.0".into()]);
        releases.outcome_in(&Root::open(dir.path(), Access::Read, || {})?)
    }

    fn changes(outcome: &Outcome) -> Vec<(&str, Option<&str>)> {
        let changes = outcome.changes.iter();
        changes
            .map(|change| {
                (
                    change.path.as_str(),
                    change.after.as_ref().map(|file| file.text.as_str()),
                )
            })
            .collect()
    }

    const OLD: &str = "one\ntwo\nthree\nfour\nfive\n";
    const NEW: &str = "one\ntwo\nthree\nfour\n5\n";

    #[test]
    fn a_renamed_file_takes_the_users_changes_along() {
        use FileKind::Seeded;
        let (was, will) = (
            rendered(&[("src/a.rs", Seeded, OLD)]),
            rendered(&[("src/b.rs", Seeded, NEW)]),
        );
        let mine = OLD.replace("one", "mine");
        let found = outcome(was.clone(), will.clone(), &[("src/a.rs", &mine)]).unwrap();
        assert_eq!(
            changes(&found),
            [("src/a.rs", None), ("src/b.rs", Some("mine\ntwo\nthree\nfour\n5\n"))]
        );
        // The user has deleted or moved it: the new one is not created.
        let found = outcome(was.clone(), will.clone(), &[]).unwrap();
        assert!(found.changes.is_empty());
        assert_eq!(found.deleted, ["src/b.rs".parse().unwrap()]);
        let error = outcome(was, will, &[("src/a.rs", OLD), ("src/b.rs", "own")]).unwrap_err();
        assert!(error.to_string().contains("`src/b.rs` exists already"), "{error}");
    }

    /// A project with crates from a registry, rendered by a release with today's templates.
    fn of_registry(version: &str) -> Rendered {
        let text =
            "version: VERSION\nname: op\ndomain: example.com\nlicense: none\nowner: me\nyear: 2026\ncrates: registry\n";
        let own = file::parse(&text.replace("VERSION", env!("CARGO_PKG_VERSION"))).unwrap();
        let project = Project {
            version: version.to_owned(),
            ..own
        };
        let templates = Templates::load(&[]).unwrap();
        render(&project, &plan(&project, templates.catalogue()).unwrap(), &templates).unwrap()
    }

    #[test]
    fn a_project_with_crates_of_a_registry_asks_for_those_of_the_release_and_leaves_the_lock_to_cargo() {
        let (was, will) = (of_registry("0.8.0"), of_registry("0.9.0"));
        let text = |path: &str| was[&path.parse().unwrap()].text.clone();
        let mine = "serde_json = \"1\"\nmine = \"2\"\n";
        let manifest = text("Cargo.toml").replace("serde_json = \"1\"\n", mine);
        let built = text("Cargo.lock")
            + "\n[[package]]\nname = \"kubewright-runtime\"\nversion = \"0.8.3\"\nchecksum = \"00\"\n";
        let disk = [("Cargo.toml", manifest.as_str()), ("Cargo.lock", &built)];
        let found = outcome(was, will, &disk).unwrap();
        let changed: BTreeMap<_, _> = changes(&found).into_iter().collect();
        let manifest = changed["Cargo.toml"].unwrap();
        for line in [
            mine,
            "kubewright-runtime = \"0.9.0\"\n",
            "kubewright-apiserver = \"0.9.0\"\n",
        ] {
            assert!(manifest.contains(line), "{manifest}");
        }
        assert!(!manifest.contains("0.8.0") && !manifest.contains("<<<<"), "{manifest}");
        assert!(!changed.contains_key("Cargo.lock"));
        assert!(changed.keys().all(|path| !path.starts_with("crates/")));
    }

    #[test]
    fn nothing_is_added_to_a_folder_that_the_user_has_deleted() {
        use FileKind::Seeded;
        let was = rendered(&[("ci/test.yml", Seeded, OLD), ("a.md", Seeded, OLD)]);
        let files = [
            ("ci/test.yml", Seeded, OLD),
            ("ci/release.yml", Seeded, NEW),
            ("docs/new.md", Seeded, NEW),
            ("a.md", Seeded, OLD),
        ];
        let found = outcome(was, rendered(&files), &[("a.md", OLD)]).unwrap();
        assert_eq!(changes(&found), [("docs/new.md", Some(NEW))]);
        assert_eq!(found.deleted, ["ci/release.yml".parse().unwrap()]);
    }

    #[test]
    fn a_file_that_a_release_drops_is_deleted_unless_it_was_edited() {
        use FileKind::Seeded;
        let was = || rendered(&[("a", Seeded, OLD)]);
        assert_eq!(
            changes(&outcome(was(), Rendered::new(), &[("a", OLD)]).unwrap()),
            [("a", None)]
        );
        let kept = outcome(was(), Rendered::new(), &[("a", "mine")]).unwrap();
        assert!(kept.changes.is_empty());
        assert_eq!(kept.kept, ["a".parse().unwrap()]);
    }

    #[test]
    fn a_kept_file_that_no_kustomization_lists_any_more_is_found() {
        use FileKind::Seeded;
        let path = "config/prometheus/kustomization.yaml";
        let (old, new) = ("patches:\n  - path: certificate_patch.yaml\n", "patches: []\n");
        let was = rendered(&[
            (path, Seeded, old),
            ("config/prometheus/certificate_patch.yaml", Seeded, OLD),
        ]);
        let disk = [(path, old), ("config/prometheus/certificate_patch.yaml", "mine")];
        let found = outcome(was.clone(), rendered(&[(path, Seeded, new)]), &disk).unwrap();
        assert_eq!(unlisted(&found), found.kept);
        assert_eq!(
            found.kept,
            ["config/prometheus/certificate_patch.yaml".parse().unwrap()]
        );
        let found = outcome(was, rendered(&[(path, Seeded, old)]), &disk).unwrap();
        assert_eq!((found.kept.len(), unlisted(&found).len()), (1, 0));
    }

    #[test]
    fn a_new_file_is_created_and_refused_where_the_user_has_another() {
        use FileKind::Seeded;
        let will = || rendered(&[("a", Seeded, NEW)]);
        assert_eq!(
            changes(&outcome(Rendered::new(), will(), &[]).unwrap()),
            [("a", Some(NEW))]
        );
        assert!(
            outcome(Rendered::new(), will(), &[("a", NEW)])
                .unwrap()
                .changes
                .is_empty()
        );
        assert!(outcome(Rendered::new(), will(), &[("a", "mine")]).is_err());
    }

    #[test]
    fn a_seeded_file_that_becomes_managed_is_replaced_or_stays_the_users() {
        use FileKind::{Managed, Seeded};
        let managed = crate::render::header::stamp(&"a".parse().unwrap(), "0.2.0", NEW);
        let (was, will) = (
            || rendered(&[("a", Seeded, OLD)]),
            || rendered(&[("a", Managed, &managed)]),
        );
        assert_eq!(
            changes(&outcome(was(), will(), &[("a", OLD)]).unwrap()),
            [("a", Some(managed.as_str()))]
        );
        let mine = outcome(was(), will(), &[("a", "mine\nfive\n")]).unwrap();
        assert!(mine.changes.is_empty());
        assert!(mine.by_hand[0].add.contains(&"5".to_owned()));
        assert_eq!(mine.by_hand[0].remove, ["five"]);
    }
}
