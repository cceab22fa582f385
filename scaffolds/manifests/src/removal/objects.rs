//! Deletes the objects of the operator's kinds, and waits until their children are collected.

use super::{definitions, is_converted};
use crate::rendered::{Source, text};
use kubewright_schema::files::Streams;
use serde_json::Value;
use std::cell::OnceCell;
use std::io::IsTerminal;
use std::time::Duration;

/// The interval of checks for the end of a deletion.
const TICK: Duration = Duration::from_millis(100);
/// The number of ticks between two looks at the objects that it waits for: 2 s.
const LOOKS: u32 = 20;
/// The number of consecutive looks with only the garbage collector to wait for, before the objects are released: 10 s.
const CALM: u32 = 5;
/// The pauses between looks at the children that are left: two minutes in all.
const PAUSES: [u64; 13] = [0, 1, 1, 2, 2, 4, 4, 8, 8, 16, 16, 32, 32];
/// The maximum of objects in an error.
const NAMED: usize = 20;
/// The finalizer of a deletion in the foreground, as the only one of an object.
const FOREGROUND: &str = r#"["foregroundDeletion"] "#;

/// The children of an operator's objects.
#[derive(Default)]
struct Children {
    /// One a line: kind, name, and the uids of the owners.
    lines: String,
    /// The kinds that cannot be listed: the user may not, or their converter is gone.
    unlisted: Vec<String>,
}

/// The resource of a definition, as kubectl reads it. A converted kind is named in the version in which it is stored: other versions need the
/// converter, which may be gone.
fn resource(definition: &Value) -> String {
    let name = text(definition, "/metadata/name");
    let mut versions = definition["spec"]["versions"].as_array().into_iter().flatten();
    let stored = versions.find(|version| version["storage"] == true && version["served"] != false);
    match (stored, name.split_once('.')) {
        (Some(stored), Some((plural, group))) if is_converted(definition) => {
            format!("{plural}.{}.{group}", text(stored, "/name"))
        }
        _ => name.to_owned(),
    }
}

/// The cleanup of all kinds of an operator.
pub(super) struct Cleanup<'a> {
    pub source: &'a Source,
    /// The operator's name, which labels its children.
    pub operator: &'a str,
    /// The time that kubectl waits for the objects of one kind.
    pub timeout: &'a str,
    pub pause: &'a dyn Fn(Duration),
    /// The kinds that can be listed, with commas, and the others; set once not all can.
    pub listable: OnceCell<(String, Vec<String>)>,
}

impl Cleanup<'_> {
    /// Deletes the objects while the operator still runs: deleting their CRD would delete them too, but not what the operator made for them.
    ///
    /// # Errors
    /// Objects or their children are still there. The text names the first of them.
    pub fn run(&self, streams: &mut Streams<'_>) -> Result<(), String> {
        let definitions = definitions(self.source)?;
        for definition in &definitions {
            self.delete_all(&resource(definition))?;
        }
        let deleted = definitions.iter().map(|it| text(it, "/metadata/name"));
        self.wait_for_children(&deleted.collect::<Vec<_>>(), streams)
    }

    fn delete_all(&self, kind: &str) -> Result<(), String> {
        let delete = ["delete", kind, "--all", "--all-namespaces"];
        let foreground = [&delete[..], &["--cascade=foreground", "--timeout", self.timeout]].concat();
        if self.delete_watched(kind, &foreground)? {
            return Ok(());
        }
        let background = [&delete[..], &["--cascade=background", "--timeout", "10s"]].concat();
        if self.source.kubectl.run(&background).is_ok() {
            return Ok(());
        }
        let left = self.source.kubectl.output(&["get", kind, "--all-namespaces"])?;
        let left: Vec<_> = left.lines().take(NAMED).collect();
        Err(format!(
            "these are still there after {}:\n{}\n\nhint: is the operator running, and what does it log?",
            self.timeout,
            left.join("\n")
        ))
    }

    /// Deletes in the foreground, and releases the objects for which that would never end. Whether all are gone.
    fn delete_watched(&self, kind: &str, arguments: &[&str]) -> Result<bool, String> {
        let mut deletion = self.source.kubectl.start(arguments)?;
        let mut calm = 0;
        for tick in 1_u32.. {
            let ended = deletion
                .try_wait()
                .map_err(|error| format!("kubectl is lost: {error}"))?;
            if let Some(status) = ended {
                return Ok(status.success());
            }
            (self.pause)(TICK);
            if tick.is_multiple_of(LOOKS) {
                calm = self.release(kind, calm);
            }
        }
        Ok(false)
    }

    /// A garbage collector that has first seen an object in a version which is gone by now deletes its children, but never ends its deletion in
    /// the foreground. This releases the objects of a kind, by a second deletion, in the background, once all that are left have waited for
    /// nothing but the collector for [`CALM`] looks, and have no children any more. Returns the number of calm looks so far.
    fn release(&self, kind: &str, calm: u32) -> u32 {
        let form = r#"jsonpath={range .items[*]}{.metadata.finalizers} {.metadata.uid}{"\n"}{end}"#;
        let left = self
            .source
            .kubectl
            .quiet(&["get", kind, "--all-namespaces", "--output", form]);
        let left = left.unwrap_or_default();
        if !left.lines().all(|object| object.starts_with(FOREGROUND)) {
            return 0;
        }
        let calm = calm + 1;
        let Some(children) = (calm >= CALM).then(|| self.children()).and_then(Result::ok) else {
            return calm;
        };
        let mut owners = left.lines().filter_map(|object| object.strip_prefix(FOREGROUND));
        let has_children = |owner: &str| children.lines.lines().any(|child| child.contains(owner));
        if children.unlisted.is_empty() && owners.all(|owner| !has_children(owner)) {
            let delete = [
                "delete",
                kind,
                "--all",
                "--all-namespaces",
                "--cascade=background",
                "--wait=false",
            ];
            _ = self.source.kubectl.quiet(&delete);
        }
        calm
    }

    /// The deleted kinds have no objects any more, whether or not they can be listed.
    fn wait_for_children(&self, deleted: &[&str], streams: &mut Streams<'_>) -> Result<(), String> {
        let mut left = Children::default();
        for (tried, pause) in PAUSES.into_iter().enumerate() {
            (self.pause)(Duration::from_secs(pause));
            left = self.children()?;
            if left.lines.is_empty() {
                left.unlisted.retain(|kind| !deleted.contains(&kind.as_str()));
                if !left.unlisted.is_empty() {
                    let kinds = left.unlisted.join(", ");
                    _ = writeln!(
                        streams.err,
                        "warning: these kinds cannot be listed, so their objects may be left: {kinds}"
                    );
                }
                return Ok(());
            }
            if tried == 2 && std::io::stderr().is_terminal() {
                let count = left.lines.lines().count();
                _ = writeln!(
                    streams.err,
                    "waiting for the garbage collector: {count} children are left"
                );
            }
        }
        let named: Vec<_> = left.lines.lines().take(NAMED).map(|child| words(child, 2)).collect();
        Err(format!(
            "these are not collected, though their owners are gone:\n{}\n\nhint: does the cluster's garbage collector run?",
            named.join("\n")
        ))
    }

    /// The objects that the operator has made for others. If not all kinds can be listed at once, each is listed by itself.
    fn children(&self) -> Result<Children, String> {
        let kubectl = &self.source.kubectl;
        let selector = format!("kubewright.dev/operator={}", self.operator);
        let form = r#"jsonpath={range .items[?(@.metadata.ownerReferences)]}{.kind} {.metadata.namespace}/{.metadata.name} {.metadata.ownerReferences[*].uid}{"\n"}{end}"#;
        let selected = [
            "--all-namespaces",
            "--ignore-not-found",
            "--selector",
            &selector,
            "--output",
            form,
        ];
        if let Some((listable, unlisted)) = self.listable.get() {
            let lines = kubectl.output(&[&["get", listable], &selected[..]].concat())?;
            let unlisted = unlisted.clone();
            return Ok(Children { lines, unlisted });
        }
        // A kind that cannot be found, such as one whose API service is down, has no children that anybody could wait for.
        let kinds = kubectl.printed(&["api-resources", "--verbs", "list,delete", "--output", "name"])?;
        let kinds: Vec<_> = kinds.lines().collect();
        let all = kinds.join(",");
        let of_all = [&["get", &all], &selected[..]].concat();
        let mut children = Children::default();
        if let Some(lines) = kubectl.quiet(&of_all) {
            children.lines = lines;
            return Ok(children);
        }
        let mut listable = Vec::new();
        for kind in kinds {
            match kubectl.quiet(&[&["get", kind], &selected[..]].concat()) {
                Some(lines) => {
                    children.lines += &lines;
                    listable.push(kind);
                }
                None => children.unlisted.push(kind.to_owned()),
            }
        }
        if listable.is_empty() {
            children.lines = kubectl.output(&of_all)?;
        } else {
            _ = self.listable.set((listable.join(","), children.unlisted.clone()));
        }
        Ok(children)
    }
}

fn words(line: &str, count: usize) -> String {
    line.split(' ').take(count).collect::<Vec<_>>().join(" ")
}
