//! The source of a crate: its files, found through their `mod` items, and the imports between its top-level modules.

use crate::imports::{self, Found, Module};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The name of the crate's root among the modules.
pub const ROOT: &str = "lib.rs";

/// The files of a crate's `src`, by their paths relative to it.
pub type Files = BTreeMap<String, String>;

/// One file that imports from another top-level module.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Import {
    pub file: String,
    pub from: String,
    /// The top-level module that defines the imported item, or [`ROOT`].
    pub to: String,
    /// The path of the imported item from the crate's root.
    pub path: String,
}

/// The parts of a crate that matter for the order of its modules.
pub struct Crate {
    /// The modules that `lib.rs` declares.
    pub modules: Vec<String>,
    pub imports: Vec<Import>,
    /// Files that no `mod` item refers to.
    pub unreached: Vec<String>,
}

/// The Rust files below a folder.
pub fn files_of(folder: &Path) -> Files {
    let mut files = Files::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                files.insert(name, std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    files
}

impl Crate {
    /// The crate of these files, whose name in other crates is `name`. `main.rs` may exist next to `lib.rs`.
    pub fn read(files: &Files, name: &str) -> Self {
        let mut walk = Walk {
            files,
            name,
            found: Vec::new(),
            reached: BTreeSet::from(["main.rs".to_owned()]),
        };
        walk.file(ROOT, &[]);
        let root = walk.found.iter().find(|(file, _)| file == ROOT);
        let modules: Vec<String> = root.map_or_else(Vec::new, |(_, root)| {
            let top = root.modules.iter().filter(|module| !module.is_test);
            top.map(|module| module.path[0].clone()).collect()
        });
        let names = Names::of(&walk.found, &modules);
        let imports = walk.found.iter().flat_map(|(file, found)| names.imports(file, found));
        let mut imports: Vec<Import> = imports.collect();
        imports.sort();
        imports.dedup();
        let unreached = files.keys().filter(|file| !walk.reached.contains(*file));
        Self {
            unreached: unreached.cloned().collect(),
            imports,
            modules,
        }
    }
}

/// The traversal of the `mod` items.
struct Walk<'a> {
    files: &'a Files,
    name: &'a str,
    found: Vec<(String, Found)>,
    reached: BTreeSet<String>,
}

impl Walk<'_> {
    fn file(&mut self, file: &str, module: &[String]) {
        self.reached.insert(file.to_owned());
        let text = self.files.get(file).unwrap_or_else(|| panic!("there is no `{file}`"));
        let found = imports::read(text, module, self.name);
        // A module of another crate, which that crate's own order holds.
        let shared = |it: &&Module| it.file.as_ref().is_some_and(|path| path.starts_with("../../"));
        for declared in found.modules.iter().filter(|it| !shared(it)) {
            let (file, below) = self.find(file, declared);
            if declared.is_test {
                let tests = self
                    .files
                    .keys()
                    .filter(|other| **other == file || other.starts_with(&below));
                self.reached.extend(tests.cloned().collect::<Vec<_>>());
            } else {
                self.file(&file, &declared.path);
            }
        }
        self.found.push((file.to_owned(), found));
    }

    /// The file of a module that `file` declares, and the folder of the modules below it.
    fn find(&self, file: &str, declared: &Module) -> (String, String) {
        let joined = |path: PathBuf| path.to_str().unwrap().to_owned();
        let below: PathBuf = declared.path.iter().collect();
        if let Some(named) = &declared.file {
            let named = Path::new(file).parent().unwrap().join(named);
            let below = named.with_extension("");
            return (joined(named), joined(below.join("")));
        }
        let flat = joined(below.with_extension("rs"));
        let below = joined(below.join(""));
        match self.files.contains_key(&flat) {
            true => (flat, below),
            false => (format!("{below}mod.rs"), below),
        }
    }
}

/// Where the names of a crate are defined.
struct Names<'a> {
    modules: &'a [String],
    /// The re-exports of `lib.rs`: name to path.
    root: BTreeMap<&'a str, &'a [String]>,
    /// Macros: name to the paths of the modules that define one.
    macros: BTreeMap<&'a str, Vec<&'a [String]>>,
}

impl<'a> Names<'a> {
    fn of(found: &'a [(String, Found)], modules: &'a [String]) -> Self {
        let all = || found.iter().map(|(_, found)| found);
        let named = all().flat_map(|found| &found.names);
        let root = named.filter(|(module, ..)| module.is_empty());
        let mut macros: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (module, name) in all().flat_map(|found| &found.macros) {
            macros.entry(name.as_str()).or_default().push(module.as_slice());
        }
        Self {
            modules,
            root: root.map(|(_, name, path)| (name.as_str(), path.as_slice())).collect(),
            macros,
        }
    }

    /// The top-level module that defines the item at a path from the root.
    fn module_of(&self, path: &[String]) -> String {
        let mut first = path.first().map_or(ROOT, String::as_str);
        // A re-export may refer to another one.
        for _ in 0..4 {
            if self.modules.iter().any(|module| module == first) {
                return first.to_owned();
            }
            let defined = || self.macros.get(first).and_then(|modules| modules.first());
            let known = self.root.get(first).or_else(defined);
            match known.and_then(|path| path.first()) {
                Some(next) => first = next,
                None => break,
            }
        }
        ROOT.to_owned()
    }

    fn imports(&self, file: &str, found: &Found) -> Vec<Import> {
        let import = |module: &[String], to: String, path: String| Import {
            file: file.to_owned(),
            from: module.first().cloned().unwrap_or_else(|| ROOT.to_owned()),
            to,
            path,
        };
        let paths = found.paths.iter();
        let paths = paths.map(|(module, path)| import(module, self.module_of(path), path.join("::")));
        let calls = found.calls.iter().filter_map(|(module, name)| {
            let top = |path: &[String]| path.first().cloned().unwrap_or_else(|| ROOT.to_owned());
            let defined = self.macros.get(name.as_str())?;
            // Another module may define a macro of the same name.
            let own = defined.iter().find(|path| top(path) == top(module));
            Some(import(module, top(own.or(defined.first())?), format!("{name}!")))
        });
        // The root may import everything, and a module may import from itself.
        paths
            .chain(calls)
            .filter(|import| import.from != ROOT && import.from != import.to)
            .collect()
    }
}
