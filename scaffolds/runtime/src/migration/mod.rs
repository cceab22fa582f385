//! Moves stored objects to the version that their CRD stores now, so that an older version can be removed from it.

mod command;
mod definition;
mod objects;
mod patience;
mod progress;

use std::{fmt, time::Duration};

use k8s_openapi::jiff::Timestamp;
use kube::Client;
use tokio::time::sleep;

pub(crate) use self::command::run;
use self::{definition::Definition, patience::patiently, progress::Progress};
use crate::error::{Error, Result};

/// The field manager. It owns no fields, unless a webhook or a default changes an object when it is written.
const MANAGER: &str = "kubewright-storage-migration";

/// The maximum number of migrations of a kind whose CRD was changed meanwhile.
const TRIES: usize = 3;

/// A CRD that was changed so many seconds ago is known to every API server, also by a clock that is somewhat wrong.
const RECENT: i64 = 60;

/// The time for API servers to see a change of a CRD: their own wait for it is 5 s with several of them
/// (k8s.io/apiextensions-apiserver `pkg/apiserver/customresource_handler.go`: `QueueCRD`).
const SETTLE: Duration = Duration::from_secs(10);

/// Stores the objects of kinds in the version that is the storage version now, and then removes all other versions from
/// `status.storedVersions` of their CRDs. `<operator> migrate-storage` runs it for all kinds of the operator.
///
/// # Flow
///
/// If `status.storedVersions` names other versions than the storage version, every object gets an empty merge patch. An API
/// server that finds it in another version stores it anew, with a new resourceVersion; else it writes nothing. Then the
/// status is written, on the condition that the CRD's spec has not changed since the beginning; if it has, all of this is
/// repeated, at most twice.
///
/// # Guarantees
///
/// - `status.storedVersions` is written only after every object was written that existed at the beginning. Objects that are
///   created meanwhile are stored in the storage version.
/// - It may be ended at any moment, also by SIGKILL, and started again: objects that are stored anew already are not
///   written again.
/// - Specs, generations and field managers stay as they are. Admission webhooks and policies are asked, as for any update.
/// - Requests are repeated for a minute if they fail in a way that may pass: conflicts, busy API servers, lost connections, a
///   conversion webhook that is being replaced.
///
/// # Caveats
///
/// A CRD that has changed within the last minute may be unknown to some API servers of a cluster with several, which would
/// store objects in the former version: the migration first waits, for 10 s unless [`settle`](Self::settle) sets another time.
///
/// # Errors
///
/// Of [`run`](Self::run) and [`check`](Self::check): [`Error::Setup`] if the cluster's CRD stores another version than the
/// caller expects, or some objects cannot be written, which it names; [`Error::Kube`] if a request fails.
#[derive(Clone)]
pub struct StorageMigration {
    client: Client,
    settle: Duration,
}

/// The result of a migration.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Migrated {
    /// The CRD is not installed.
    Absent,
    /// The CRD is being deleted, and all objects with it.
    Deleting,
    /// All objects are stored in the storage version.
    Nothing {
        /// The storage version.
        storage: String,
    },
    /// Objects may be stored in other versions.
    Left {
        /// The storage version.
        storage: String,
        /// The other versions.
        others: Vec<String>,
        /// The number of all objects: in which version each is stored can be read in etcd alone.
        objects: u64,
    },
    /// All objects are stored in the storage version now.
    Done {
        /// The storage version.
        storage: String,
        /// The versions that were removed from `status.storedVersions`.
        others: Vec<String>,
        /// The number of all objects.
        objects: u64,
    },
}

impl StorageMigration {
    /// A migration by a client, which needs to get CRDs, to patch their status, and to list and patch the objects in all
    /// namespaces.
    pub fn new(client: Client) -> Self {
        Self { client, settle: SETTLE }
    }

    /// The time to wait if the CRD has changed within the last minute. Zero is right for a single API server.
    pub fn settle(mut self, settle: Duration) -> Self {
        self.settle = settle;
        self
    }

    /// Migrates the objects of a CRD, such as `foobars.test.example.com`, whose storage version has to be `storage`.
    ///
    /// # Errors
    ///
    /// As [above](Self#errors).
    pub async fn run(&self, crd: &str, storage: &str) -> Result<Migrated> {
        for attempt in 0..TRIES {
            // An API server that does not answer the first request is rather the wrong one than busy.
            let found = match attempt {
                0 => self.look(crd, storage).await?,
                _ => patiently(async || self.look(crd, storage).await).await?,
            };
            let definition = match found {
                Found::Left(definition) => definition,
                Found::Nothing(outcome) => return Ok(outcome),
            };
            let mut progress = Progress::of(crd);
            self.until_seen(&definition, &progress).await;
            let objects = objects::store_all(&self.client, &definition.kind()?, &mut progress).await?;
            if definition.cut(&self.client).await? {
                return Ok(Migrated::Done {
                    storage: storage.to_owned(),
                    others: definition.others(),
                    objects,
                });
            }
        }
        let text = format!("`{crd}` was changed during each of {TRIES} migrations");
        Err(Error::Setup(format!(
            "{text}\n\nhint: find out what changes it, and run the migration again"
        )))
    }

    /// Finds the work of a migration, without doing it. Never [`Migrated::Done`].
    ///
    /// # Errors
    ///
    /// As [above](Self#errors).
    pub async fn check(&self, crd: &str, storage: &str) -> Result<Migrated> {
        match self.look(crd, storage).await? {
            Found::Nothing(outcome) => Ok(outcome),
            Found::Left(definition) => Ok(Migrated::Left {
                storage: storage.to_owned(),
                others: definition.others(),
                objects: objects::count(&self.client, &definition.kind()?).await?,
            }),
        }
    }

    async fn look(&self, crd: &str, storage: &str) -> Result<Found> {
        let Some(definition) = Definition::read(&self.client, crd).await? else {
            return Ok(Found::Nothing(Migrated::Absent));
        };
        if definition.is_deleting() {
            return Ok(Found::Nothing(Migrated::Deleting));
        }
        if definition.storage() != storage {
            let text = format!(
                "`{crd}` of the cluster stores `{}`, and that of the operator stores `{storage}`",
                definition.storage()
            );
            return Err(Error::Setup(format!(
                "{text}\n\nhint: install the operator's CRDs first, with `make install` or `make deploy`"
            )));
        }
        Ok(match definition.others().is_empty() {
            false => Found::Left(Box::new(definition)),
            true => Found::Nothing(Migrated::Nothing {
                storage: storage.to_owned(),
            }),
        })
    }

    /// Waits until every API server has seen the CRD.
    async fn until_seen(&self, definition: &Definition, progress: &Progress<'_>) {
        let age = |changed| Timestamp::now().duration_since(changed).as_secs();
        if definition.changed().is_none_or(|changed| age(changed) < RECENT) {
            progress.waits(
                self.settle,
                "each API server has to see the CRD, which has just changed",
            );
            sleep(self.settle).await;
        }
    }
}

/// A CRD that has something to migrate, or what else was found.
enum Found {
    Left(Box<Definition>),
    Nothing(Migrated),
}

/// As a sentence about the CRD, without its name.
impl fmt::Display for Migrated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("is not installed"),
            Self::Deleting => f.write_str("is being deleted"),
            Self::Nothing { storage } => write!(f, "all objects are stored as {storage}"),
            Self::Left {
                storage,
                others,
                objects,
            } => {
                let (objects, others) = (counted(*objects), others.join(" or "));
                write!(f, "{objects} to store as {storage}: some may be stored as {others}")
            }
            Self::Done {
                storage,
                others,
                objects,
            } => {
                let (objects, others) = (counted(*objects), others.join(", "));
                write!(
                    f,
                    "{objects} stored as {storage}; no longer in status.storedVersions: {others}"
                )
            }
        }
    }
}

fn counted(objects: u64) -> String {
    format!("{objects} object{}", if objects == 1 { "" } else { "s" })
}
