//! The Jobs that back up and restore a Store, and the steps of the objects that run one each.

use std::time::Duration;

use api::test::v1::{Store, StoreBackup};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::serde_json::json;
use kube::ResourceExt;
use kubewright_runtime::{Completion, Result};

use super::children::of;
use super::name_of;

/// The commands of the Jobs, in the image of the members: replace them. All three get the environment variable `BACKUP`, the name of
/// the data. `BACK_UP` and `RESTORE` also get `HOST`, `TYPE`, and the variables of the members' Secret.
/// `DELETE` has to succeed without data too: it may run twice.
pub const BACK_UP: &[&str] = &["back-up"];
pub const RESTORE: &[&str] = &["restore"];
pub const DELETE: &[&str] = &["delete-backup"];

/// The interval at which a step that waits is tried again.
pub const PAUSE: Duration = Duration::from_secs(5);

/// The next step of an object that runs one Job.
#[derive(Debug, PartialEq)]
pub enum Step {
    /// The run has ended, and is never repeated.
    Rest,
    Wait(String),
    Run,
    Follow(Completion),
}

impl Step {
    /// `obstacle` is the reason why the Job must not be created now.
    pub fn of(has_ended: bool, job: Option<&Job>, obstacle: Option<String>) -> Self {
        match (has_ended, job, obstacle) {
            (true, ..) => Self::Rest,
            (false, Some(job), _) => Self::Follow(Completion::of(job)),
            (false, None, Some(obstacle)) => Self::Wait(obstacle),
            (false, None, None) => Self::Run,
        }
    }

    pub fn is_final(&self) -> bool {
        matches!(self, Self::Follow(completion) if completion.is_final())
    }

    /// The reason and the message of the condition.
    pub fn reason(&self) -> (&str, &str) {
        match self {
            Self::Wait(obstacle) => ("Waiting", obstacle),
            Self::Follow(Completion::Complete) => ("Complete", "the run has succeeded"),
            Self::Follow(Completion::Failed { reason, message }) => (reason, message),
            Self::Rest | Self::Run | Self::Follow(_) => ("Running", "the run has not ended"),
        }
    }
}

/// A command about the data of a backup.
pub struct BackupJob<'a> {
    pub name: String,
    pub image: String,
    pub command: &'a [&'a str],
    pub backup: &'a StoreBackup,
    /// The object whose members the command talks to.
    pub object: Option<&'a Store>,
    pub r#type: Option<&'a str>,
}

impl BackupJob<'_> {
    /// The Job. The context adds the namespace and the owner.
    pub fn manifest(&self) -> Result<Job> {
        let mut variables = vec![json!({ "name": "BACKUP", "value": data_of(self.backup) })];
        let mut secrets = Vec::new();
        if let Some(object) = self.object {
            let members = name_of(object);
            variables.push(json!({ "name": "HOST", "value": members }));
            variables.push(json!({ "name": "TYPE", "value": self.r#type }));
            secrets.push(json!({ "secretRef": { "name": members } }));
        }
        let container = json!({
            "name": "main",
            "image": self.image,
            "command": self.command,
            "env": variables,
            "envFrom": secrets,
            "securityContext": {
                "allowPrivilegeEscalation": false,
                "capabilities": { "drop": ["ALL"] },
            },
        });
        of(json!({
            "metadata": { "name": self.name },
            "spec": {
                "backoffLimit": 2,
                "activeDeadlineSeconds": 86400,
                // The Job of a deletion has no owner that deletes it.
                "ttlSecondsAfterFinished": self.object.is_none().then_some(3600),
                "template": {
                    "spec": {
                        "restartPolicy": "Never",
                        "containers": [container],
                        "automountServiceAccountToken": false,
                        "securityContext": {
                            "runAsNonRoot": true,
                            "seccompProfile": { "type": "RuntimeDefault" },
                        },
                    },
                },
            },
        }))
    }
}

/// The name of the data of a backup.
pub fn data_of(backup: &StoreBackup) -> String {
    format!("{}-{}", backup.name_any(), backup.uid().unwrap_or_default())
}
