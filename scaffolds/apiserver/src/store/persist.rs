//! A store in a directory: one redb file, written by a thread of its own. Each commit has all changes that arrived
//! since the last one. Acknowledged changes survive the end of the process, and a power failure as far as fsync
//! guarantees it.

use std::{
    fs::{DirBuilder, File, OpenOptions},
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        mpsc::{Receiver, Sender, channel},
    },
    thread::{self, JoinHandle},
};

use bytes::Bytes;
use redb::{Database, DatabaseError, ReadableDatabase, ReadableTable, TableDefinition, backends::FileBackend};

use super::{Change, ChangeKind, Key, Record, SharedStore, Store, StoreState, settle::Progress};

/// Resource, namespace and name → revision and text.
const OBJECTS: TableDefinition<(&str, &str, &str), (u64, &[u8])> = TableDefinition::new("objects");
/// [`FORMAT`] and [`REVISION`].
const NUMBERS: TableDefinition<&str, u64> = TableDefinition::new("numbers");
/// The key of the file's format; there is one format so far.
const FORMAT: &str = "format";
/// The key of the revision of the last change.
const REVISION: &str = "revision";
/// The maximum number of changes in one commit, besides the first.
const BATCH: usize = 1_000;

/// The reason that a store could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process uses it.
    #[error("`{}` is in use by another process", .0.display())]
    InUse(PathBuf),
    /// A later release has written it.
    #[error("`{}` has format {found}; this release supports only format 1", .path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// The format in the file.
        found: u64,
    },
    /// The directory cannot be created.
    #[error("the directory `{}` cannot be created: {error}", .path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The file cannot be read or written, or is damaged.
    #[error("`{}` cannot be opened: {error}", .path.display())]
    Database {
        /// The file.
        path: PathBuf,
        /// The database's error.
        error: Box<redb::Error>,
    },
}

impl Store {
    /// Opens the store in this directory, which is created if it does not exist. It contains Secrets: on Unix a new
    /// directory gets the mode 0700, and the file gets 0600, also if an earlier release created it. The store keeps as
    /// many changes as with [`Store::new`]. Its history begins at its last revision, so watches from before expire, as
    /// after a compaction of etcd.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open(directory: &Path, history: usize) -> Result<Self, OpenError> {
        make_private(directory).map_err(|error| OpenError::Directory {
            path: directory.to_owned(),
            error,
        })?;
        let path = directory.join("objects.redb");
        let opening = |error| match error {
            DatabaseError::DatabaseAlreadyOpen => OpenError::InUse(path.clone()),
            error => OpenError::Database {
                path: path.clone(),
                error: Box::new(error.into()),
            },
        };
        let database = open_private(&path).map_err(opening)?;
        let failed = |error| OpenError::Database {
            path: path.clone(),
            error: Box::new(error),
        };
        let found = prepare(&database).map_err(failed)?;
        if found != 1 {
            return Err(OpenError::Format { path, found });
        }
        let state = load(&database, history).map_err(failed)?;
        Ok(Self::on(database, state))
    }

    fn on(database: Database, state: StoreState) -> Self {
        let (queue, changes) = channel();
        let inner = Arc::new(SharedStore::new(state));
        let settling = Arc::clone(&inner);
        let thread = thread::spawn(move || write(&database, &changes, &settling));
        let disk = Disk {
            queue: Some(queue),
            thread: Some(thread),
        };
        Self {
            inner,
            disk: Some(Arc::new(disk)),
        }
    }
}

/// Creates a directory and its parents for this user alone. An existing directory keeps its mode.
fn make_private(directory: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

/// Opens a database whose file is for this user alone.
fn open_private(path: &Path) -> Result<Database, DatabaseError> {
    let file = private_file(path).map_err(redb::StorageError::Io)?;
    Database::builder().create_with_backend(FileBackend::new(file)?)
}

/// Opens or creates a file for this user alone.
fn private_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    Ok(file)
}

/// The thread that writes. Dropping this waits until the thread has written all changes and closed the file.
pub(super) struct Disk {
    queue: Option<Sender<Arc<Change>>>,
    thread: Option<JoinHandle<()>>,
}

impl Disk {
    /// Passes a change to the thread. Changes must come in order. If the thread has ended, it has reported its failure.
    pub fn take(&self, change: Arc<Change>) {
        if let Some(queue) = &self.queue {
            let _ = queue.send(change);
        }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been reported by `End`.
            let _ = thread.join();
        }
    }
}

/// Creates the tables; returns the format.
fn prepare(database: &Database) -> Result<u64, redb::Error> {
    let transaction = database.begin_write()?;
    let found = {
        transaction.open_table(OBJECTS)?;
        let mut numbers = transaction.open_table(NUMBERS)?;
        let found = numbers.get(FORMAT)?.map(|format| format.value());
        match found {
            Some(found) => found,
            None => {
                numbers.insert(FORMAT, 1)?;
                1
            }
        }
    };
    transaction.commit()?;
    Ok(found)
}

fn load(database: &Database, history: usize) -> Result<StoreState, redb::Error> {
    let transaction = database.begin_read()?;
    let revision = transaction
        .open_table(NUMBERS)?
        .get(REVISION)?
        .map_or(1, |revision| revision.value());
    let mut state = StoreState::new(revision, history);
    for entry in transaction.open_table(OBJECTS)?.iter()? {
        let (key, value) = entry?;
        let (resource, namespace, name) = key.value();
        let (revision, object) = value.value();
        let key = Key::new(resource, namespace, name);
        let shelf = state.shelves.entry(&key.resource);
        shelf.place(
            &key.path(),
            Some(Arc::new(Record::new(key, revision, Bytes::copy_from_slice(object)))),
        );
    }
    Ok(state)
}

/// Reports the end of the thread, also after a panic: no change settles any more, and tasks that wait for one get an
/// error.
struct WriterEnd<'a> {
    store: &'a SharedStore,
    why: String,
}

impl Drop for WriterEnd<'_> {
    fn drop(&mut self) {
        self.store.settle.say(Progress::Failed(self.why.as_str().into()));
    }
}

/// The thread's loop: receives changes, commits them, and reports them as settled. Ends when all senders are dropped.
fn write(database: &Database, changes: &Receiver<Arc<Change>>, store: &SharedStore) {
    let mut end = WriterEnd {
        store,
        why: "the thread that writes has ended".to_owned(),
    };
    while let Ok(first) = changes.recv() {
        let batch: Vec<_> = std::iter::once(first).chain(changes.try_iter().take(BATCH)).collect();
        if let Err(error) = commit(database, &batch) {
            end.why = error.to_string();
            return;
        }
        if let Some(last) = batch.last() {
            store.settle(last.revision);
        }
    }
}

/// Writes all changes of the batch or none; they are on disk when it returns.
fn commit(database: &Database, batch: &[Arc<Change>]) -> Result<(), redb::Error> {
    let transaction = database.begin_write()?;
    {
        let mut objects = transaction.open_table(OBJECTS)?;
        let mut numbers = transaction.open_table(NUMBERS)?;
        for change in batch {
            let key = &change.record.key;
            let place = (key.resource.as_ref(), key.namespace.as_str(), key.name.as_str());
            match change.kind {
                ChangeKind::Deleted => drop(objects.remove(place)?),
                _ => drop(objects.insert(place, (change.revision, change.record.object.as_ref()))?),
            }
            numbers.insert(REVISION, change.revision)?;
        }
    }
    transaction.commit()?;
    Ok(())
}

#[cfg(test)]
mod tests;
