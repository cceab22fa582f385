//! Ensures that no child process outlives this process, even if it is killed with SIGKILL.
//!
//! Safe code cannot tie a child to its parent, so a small shell runs as a guardian: it reads process ids from a pipe
//! that only this process can write to, and kills the processes when the pipe is closed, which the kernel does in every
//! case.

use std::{
    io::Write,
    path::Path,
    process::{ChildStdin, Command, Stdio},
    sync::{Mutex, OnceLock, PoisonError},
};

use anyhow::{Context, Result};

const SCRIPT: &str = r#"
trap '' INT TERM HUP
pids=' ' folders=
while read -r what which; do
    case $what in
        watch) pids="$pids$which " ;;
        forget) case $pids in *" $which "*) pids="${pids%% $which *} ${pids#* $which }" ;; esac ;;
        folder) folders="$folders$which
" ;;
    esac
done
for pid in $pids; do kill -KILL "$pid" 2>/dev/null; done
printf %s "$folders" | while read -r folder; do rm -rf -- "$folder"; done
"#;

static PIPE: OnceLock<Mutex<ChildStdin>> = OnceLock::new();

/// The guardian kills the process `pid` when this process ends.
pub(crate) fn watch(pid: u32) -> Result<()> {
    send(&format!("watch {pid}"))
}

/// The process `pid` has ended: the system may reuse its number.
pub(crate) fn forget(pid: u32) -> Result<()> {
    send(&format!("forget {pid}"))
}

/// The guardian removes the folder when this process ends, if it still exists.
pub(crate) fn folder(path: &Path) -> Result<()> {
    send(&format!("folder {}", path.display()))
}

fn send(line: &str) -> Result<()> {
    if PIPE.get().is_none() {
        let mut shell = Command::new("sh");
        shell
            .args(["-c", SCRIPT])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let pipe = shell
            .spawn()
            .context("cannot run `sh`")?
            .stdin
            .take()
            .context("`sh` has no stdin")?;
        // The second caller's shell watches nothing and ends at once.
        _ = PIPE.set(Mutex::new(pipe));
    }
    let pipe = PIPE.get().context("the guardian is gone")?;
    let mut pipe = pipe.lock().unwrap_or_else(PoisonError::into_inner);
    writeln!(pipe, "{line}").context("the guardian is gone")
}
