//! Sees to it that no program outlives this process, even one that is killed with -9.
//!
//! A child cannot be tied to its parent by safe code, so a small shell stands by: it reads which processes there are from a
//! pipe that only this process can write to, and kills them when the pipe closes, which the kernel does in every case.

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

/// From now on the process `pid` is killed when this one ends.
pub(crate) fn watch(pid: u32) -> Result<()> {
    tell(&format!("watch {pid}"))
}

/// The process `pid` has ended: the number may soon be somebody else's.
pub(crate) fn forget(pid: u32) -> Result<()> {
    tell(&format!("forget {pid}"))
}

/// From now on the folder is removed when this process ends, if it is still there.
pub(crate) fn folder(path: &Path) -> Result<()> {
    tell(&format!("folder {}", path.display()))
}

fn tell(line: &str) -> Result<()> {
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
        // Whoever came second has started a shell that watches nothing and ends at once.
        _ = PIPE.set(Mutex::new(pipe));
    }
    let pipe = PIPE.get().context("the guardian is gone")?;
    let mut pipe = pipe.lock().unwrap_or_else(PoisonError::into_inner);
    writeln!(pipe, "{line}").context("the guardian is gone")
}
