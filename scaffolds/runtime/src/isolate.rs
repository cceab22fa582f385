//! Runs the operator author's code so that a panic in it affects nothing else. No other module catches panics, or calls
//! an author's function directly; tests below check the sources for that.

use std::{
    any::Any,
    fmt, mem,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures::FutureExt;

/// The message of a panic.
#[derive(Debug)]
pub struct Panic(String);

impl fmt::Display for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Locks a mutex, even after a panic of a thread that held it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls `run`, and returns its panic as an error.
pub(crate) fn isolated<T>(run: impl FnOnce() -> T) -> Result<T, Panic> {
    catch_unwind(AssertUnwindSafe(run)).map_err(Panic::new)
}

/// Awaits `run`, and returns its panic as an error.
pub async fn isolated_future<T>(run: impl Future<Output = T>) -> Result<T, Panic> {
    AssertUnwindSafe(run).catch_unwind().await.map_err(Panic::new)
}

impl Panic {
    fn new(payload: Box<dyn Any + Send>) -> Self {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        // The payload of `panic_any` is the author's too, and may panic when it is dropped.
        mem::forget(catch_unwind(AssertUnwindSafe(|| drop(payload))));
        Self(text.unwrap_or_else(|| "without a message".to_owned()))
    }
}

/// A function that an author passed to the runtime. It can only be called isolated.
pub struct Authored<F: ?Sized>(Arc<F>);

impl<F: ?Sized> Authored<F> {
    /// The function of an author.
    pub fn new(function: Arc<F>) -> Self {
        Self(function)
    }

    /// Passes the function to `call`, and returns a panic as an error.
    pub fn call<T>(&self, call: impl FnOnce(&F) -> T) -> Result<T, Panic> {
        isolated(|| call(&self.0))
    }
}

impl<F: ?Sized> Clone for Authored<F> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, panic::panic_any, path::Path};

    use super::*;

    #[test]
    fn the_message_of_a_panic_is_kept() {
        assert_eq!(isolated(|| 1).unwrap(), 1);
        let message = |run: fn()| isolated(run).unwrap_err().to_string();
        assert_eq!(message(|| panic!("plain")), "plain");
        assert_eq!(message(|| panic!("with {}", 1)), "with 1");
        assert_eq!(message(|| panic_any(1)), "without a message");
    }

    /// Panics when it is dropped.
    struct Bomb;

    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("dropped");
        }
    }

    #[test]
    fn a_payload_that_panics_when_it_is_dropped_is_isolated_too() {
        assert!(isolated(|| panic_any(Bomb)).is_err());
    }

    /// The sources of the crate, and of the crate that adds webhooks to it.
    const SOURCES: [&str; 2] = [
        concat!(env!("CARGO_MANIFEST_DIR"), "/src"),
        concat!(env!("CARGO_MANIFEST_DIR"), "/../webhooks/src"),
    ];

    /// Lines of the sources that contain `text`, as `file: line`, without tests and comments.
    fn lines_with(text: &str) -> Vec<String> {
        fn walk([top, folder]: [&Path; 2], text: &str, found: &mut Vec<String>) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(top).unwrap().to_string_lossy().into_owned();
                if path.is_dir() {
                    walk([top, &path], text, found);
                } else if !name.contains("tests") {
                    let source = fs::read_to_string(&path).unwrap();
                    let source = source.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
                    let code = source.lines().map(str::trim).filter(|line| !line.starts_with("//"));
                    found.extend(
                        code.filter(|line| line.contains(text))
                            .map(|line| format!("{name}: {line}")),
                    );
                }
            }
        }
        let mut found = Vec::new();
        for top in SOURCES.map(Path::new) {
            walk([top, top], text, &mut found);
        }
        found
    }

    #[test]
    fn no_other_module_catches_panics() {
        let elsewhere: Vec<_> = lines_with("catch_unwind")
            .into_iter()
            .filter(|line| !line.starts_with("isolate.rs: "))
            .collect();
        assert!(elsewhere.is_empty(), "use `isolate::isolated`: {elsewhere:#?}");
    }

    #[test]
    fn functions_of_authors_are_stored_as_authored() {
        // Functions of the runtime itself, and one of an author's that is public in its plain form.
        let plain = [
            "client/mod.rs: pub struct WriteGate(",
            "context/blocked.rs: type Ask =",
            "context/blocked.rs: type Ask =",
            "context/shared.rs: pub(crate) knows:",
            "controller/sources.rs: pub(super) type SourceFn<K> =",
            "informer/config.rs: pub type Transform<K> =",
            "informer/presence.rs: type Handler =",
            "manager/component.rs: pub type Drain =",
            "manager/joining.rs: pub(crate) type Release =",
            "metrics/cache.rs: type Probe =",
            "metrics/registry.rs: Computed(",
            "pods.rs: let most =",
            "webhook/declare.rs: type AddCache =",
        ];
        let stored: Vec<_> = lines_with("dyn Fn")
            .into_iter()
            .filter(|line| !line.contains("Authored<dyn Fn") && !plain.iter().any(|known| line.starts_with(known)))
            .collect();
        assert!(stored.is_empty(), "store it as `Authored<dyn Fn…>`: {stored:#?}");
    }

    #[test]
    fn predicates_are_called_isolated() {
        let asked: Vec<_> = lines_with("predicate.test(");
        assert!(asked.is_empty(), "ask `Filter::passes`: {asked:#?}");
    }
}
