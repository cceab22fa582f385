//! SIGTERM and SIGINT: the first asks the process to stop, the second ends it at once.

use std::{process, sync::mpsc, thread};

use tokio::{
    runtime, select,
    signal::unix::{Signal, SignalKind, signal},
    sync::oneshot,
};
use tracing::{error, info};

use crate::error::{Error, Result};

/// Resolves at the first SIGTERM or SIGINT. At the second the process exits with code 1, as in controller-runtime
/// (`pkg/manager/signals/signal.go`). Signals are handled from the time of this call, on a thread of their own: also
/// while reconcilers use all of their threads.
pub(crate) fn stop() -> Result<impl Future<Output = ()>> {
    let failed = |error| Error::Setup(format!("cannot handle signals: {error}"));
    let (stop, stopped) = oneshot::channel();
    let (listening, heard) = mpsc::channel();
    let listen = move || match Listener::new() {
        Ok(mut listener) => {
            // An error means that the process is shutting down.
            let _ = listening.send(Ok(()));
            listener.wait();
            info!("received a signal to stop");
            let _ = stop.send(());
            listener.wait();
            error!("received a second signal to stop: running reconciles are cut off");
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
            // The thread has ended, and its handlers have replaced the default action, which would end the process.
            error!("signals are not handled any more");
        }
    })
}

/// After a second signal the user does not want to wait for destructors.
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

    /// Waits for the next signal.
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
