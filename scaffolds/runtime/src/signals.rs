//! SIGTERM and SIGINT: the first asks the process to stop, the second ends it.

use std::{process, sync::mpsc, thread};

use tokio::{
    runtime, select,
    signal::unix::{Signal, SignalKind, signal},
    sync::oneshot,
};
use tracing::{error, info};

use crate::error::{Error, Result};

/// Resolves at the first SIGTERM or SIGINT. At the second the process ends with exit code 1, as controller-runtime's
/// (`pkg/manager/signals/signal.go`). Both are listened for from here on, on a thread of their own: also while reconcilers
/// burn CPU on all threads of theirs.
pub(crate) fn stop() -> Result<impl Future<Output = ()>> {
    let failed = |error| Error::Setup(format!("signals cannot be listened for: {error}"));
    let (stop, stopped) = oneshot::channel();
    let (listening, heard) = mpsc::channel();
    let listen = move || match Listener::new() {
        Ok(mut listener) => {
            // An error means that the process is on its way out.
            let _ = listening.send(Ok(()));
            listener.wait();
            info!("told to stop");
            let _ = stop.send(());
            listener.wait();
            error!("told to stop a second time: what is in hand is cut off");
            exit();
        }
        Err(error) => {
            let _ = listening.send(Err(error));
        }
    };
    thread::Builder::new()
        .name("signals".to_owned())
        .spawn(listen)
        .map_err(failed)?;
    if let Ok(Err(error)) = heard.recv() {
        return Err(failed(error));
    }
    Ok(async {
        if stopped.await.is_err() {
            // The thread is gone, and nobody listens any more: the default would have ended the process.
            error!("signals are not listened for any more");
        }
    })
}

/// Whoever sends the second signal does not want to wait for destructors.
#[allow(clippy::disallowed_methods)]
fn exit() -> ! {
    process::exit(1)
}

struct Listener {
    runtime: runtime::Runtime,
    terminate: Signal,
    interrupt: Signal,
}

impl Listener {
    fn new() -> std::io::Result<Self> {
        let runtime = runtime::Builder::new_current_thread().enable_io().build()?;
        let inside = runtime.enter();
        let (terminate, interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        drop(inside);
        Ok(Self {
            runtime,
            terminate,
            interrupt,
        })
    }

    /// Waits for the next one.
    fn wait(&mut self) {
        let (terminate, interrupt) = (&mut self.terminate, &mut self.interrupt);
        self.runtime.block_on(async {
            select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        });
    }
}
