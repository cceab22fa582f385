//! Operators whose requests are not the same in each run.

use std::{
    collections::{HashMap, hash_map::RandomState},
    hash::BuildHasher,
    sync::{Arc, Barrier, Mutex},
    thread,
    time::{SystemTime, UNIX_EPOCH},
};

use kubewright_runtime::{Action, Context, Manager, Reconciler, Result};

use crate::{
    FooBar, Register,
    wrong::{owned, owning, ready, write},
};

/// The operators: what each depends on, and its controllers.
pub const ALL: [(&str, Register); 4] = [
    ("the wall clock", |m| of(m, || wall_clock().to_string())),
    ("random numbers", |m| {
        of(m, || RandomState::new().hash_one(0).to_string())
    }),
    ("the order of a HashMap", |m| of(m, unordered)),
    ("threads", |m| of(m, racing)),
];

/// Enough that two runs do not have the same order.
const THREADS: usize = 24;

/// Writes a text into its child.
struct Writing(fn() -> String);

fn of(manager: &Manager, text: fn() -> String) -> Result<()> {
    owning(manager, Writing(text))
}

impl Reconciler<FooBar> for Writing {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        let mut child = owned(&object, "foobar");
        child.data.get_or_insert_default().insert("text".to_owned(), (self.0)());
        write(cx, &child).await?;
        ready(cx, &object).await
    }
}

fn wall_clock() -> u128 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| now.as_nanos())
}

fn unordered() -> String {
    let names: HashMap<_, _> = (0..20).map(|n| (n, n.to_string())).collect();
    names.into_values().collect::<Vec<_>>().join(",")
}

/// The order in which threads have their turn.
fn racing() -> String {
    let (order, begin) = (&Mutex::new(Vec::new()), &Barrier::new(THREADS));
    thread::scope(|scope| {
        for n in 0..THREADS {
            scope.spawn(move || {
                begin.wait();
                if let Ok(mut order) = order.lock() {
                    order.push(n.to_string());
                }
            });
        }
    });
    order.lock().map(|order| order.join(",")).unwrap_or_default()
}
