//! An object contains line breaks and terminal sequences in fields that the operator logs, to forge log lines or to
//! control the reader's terminal.

use std::{
    io::{self, Write},
    sync::{Arc, Mutex},
};

use kubewright_runtime::{Action, Context, Controller, Error, Reconciler, Result, testing::log_lines};
use tracing_subscriber::layer::SubscriberExt;

use crate::support::{
    kinds::{FooBar, Running, at, foobar, seconds, world},
    notes::manager,
};

/// Logs the object's target in a message, in a field, in an error and in a panic.
struct Repeats;

impl Reconciler<FooBar> for Repeats {
    async fn reconcile(&self, _: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        let target = foobar.spec.target.as_str();
        tracing::info!(target_of_it = target, "looking at {target}");
        if foobar.metadata.name.as_deref() == Some("panics") {
            panic!("{target}");
        }
        Err(Error::terminal("BadTarget", target.to_owned()))
    }
}

#[derive(Clone, Default)]
struct Page(Arc<Mutex<Vec<u8>>>);

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn an_object_cannot_forge_a_log_line_or_control_a_terminal() {
    for colour in [false, true] {
        let page = Page::default();
        let writer = page.clone();
        let log = tracing_subscriber::registry().with(log_lines(move || writer.clone(), colour));
        // All tasks of this test run on this thread.
        let guard = tracing::subscriber::set_default(log);
        let forged = "x\n2026-01-01T00:00:00Z  INFO forged: all is well\r\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}";
        let world = world();
        world.put(&at("fails"), foobar(forged));
        world.put(&at("panics"), foobar(forged));
        let manager = manager(&world);
        Controller::<FooBar>::new("foobar").register(&manager, Repeats).unwrap();
        let running = Running::start(manager);
        seconds(1).await;
        running.stop().await.unwrap();
        drop(guard);

        let text = String::from_utf8(page.0.lock().unwrap().clone()).unwrap();
        assert!(
            text.contains("forged: all is well"),
            "the forged text is a line of its own: {text}"
        );
        for line in text.lines() {
            let at = line.find("forged:");
            assert!(at.is_none_or(|at| line[..at].contains("\\n2026")), "{line:?}");
            // The remaining sequences are the formatter's: it dims and colours.
            let plain = line.replace("\u{1b}[", "");
            assert!(colour || plain == line, "{line:?}");
            assert!(!plain.contains(|c: char| c.is_control() || c == '\u{202e}'), "{line:?}");
            assert!(!line.contains("\u{1b}[2J"), "{line:?}");
        }
    }
}
