//! Signals that end the program: the test outlives them, so that it deletes its cluster. Programs that it runs get them too and end, which fails
//! the test.

/// Handlers of signals, which stay installed.
///
/// # Errors
/// The handlers cannot be installed.
pub(super) fn outlived() -> Result<impl Sized, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
    let runtime = runtime.map_err(|error| format!("cannot handle signals: {error}"))?;
    let guard = runtime.enter();
    let handlers = handlers().map_err(|error| format!("cannot handle signals: {error}"))?;
    drop(guard);
    Ok((runtime, handlers))
}

#[cfg(unix)]
fn handlers() -> std::io::Result<[tokio::signal::unix::Signal; 3]> {
    use tokio::signal::unix::{SignalKind, signal};
    Ok([
        signal(SignalKind::interrupt())?,
        signal(SignalKind::terminate())?,
        signal(SignalKind::hangup())?,
    ])
}

#[cfg(windows)]
fn handlers() -> std::io::Result<tokio::signal::windows::CtrlC> {
    tokio::signal::windows::ctrl_c()
}
