//! In which order keys are handed out, and when.

use kubewright_runtime::{Held, Priority};
use tokio::time::{Instant, advance};

use crate::{SECOND, key, names, queue, ready};

#[tokio::test(start_paused = true)]
async fn k12_keys_are_handed_out_in_arrival_order() {
    let queue = queue();
    let expected: Vec<String> = (0..3000).map(|n| format!("{:x}", n * 7919 % 3001)).collect();
    for name in &expected {
        queue.add(key(name), Priority::Normal);
        queue.add(key(&expected[0]), Priority::Normal);
    }
    let held: Vec<Held> = std::iter::from_fn(|| ready(&queue)).collect();
    assert_eq!(names(&held), expected);
}

#[tokio::test(start_paused = true)]
async fn live_changes_go_before_objects_of_the_initial_list() {
    let queue = queue();
    for name in ["a", "b", "c"] {
        queue.add(key(name), Priority::Low);
    }
    queue.add(key("d"), Priority::Normal);
    queue.add(key("c"), Priority::Normal);
    queue.add(key("d"), Priority::Low);
    let held: Vec<Held> = std::iter::from_fn(|| ready(&queue)).collect();
    assert_eq!(
        names(&held),
        ["c", "d", "a", "b"],
        "raised keys keep the position of their arrival, and are never lowered"
    );
    assert_eq!(held[0].priority(), Priority::Normal);
}

#[tokio::test(start_paused = true)]
async fn urgent_keys_go_before_all_others() {
    let queue = queue();
    queue.add(key("a"), Priority::Low);
    queue.add(key("b"), Priority::Normal);
    queue.add(key("c"), Priority::High);
    queue.add(key("a"), Priority::High);
    let held: Vec<Held> = std::iter::from_fn(|| ready(&queue)).collect();
    assert_eq!(names(&held), ["a", "c", "b"]);
}

#[tokio::test(start_paused = true)]
async fn k20_a_hot_key_is_not_postponed_by_its_own_events() {
    let queue = queue();
    queue.add_after(key("hot"), Priority::Normal, SECOND);
    for _ in 0..99 {
        advance(SECOND / 100).await;
        queue.add_after(key("hot"), Priority::Normal, SECOND);
    }
    assert!(ready(&queue).is_none());
    advance(SECOND / 100).await;
    let held = ready(&queue).expect("due since the first add");
    for _ in 0..5 {
        queue.add(key("hot"), Priority::Normal);
    }
    assert!(ready(&queue).is_none(), "held");
    drop(held);
    assert!(
        ready(&queue).is_some(),
        "events while the key was held run it once more"
    );
    assert!(ready(&queue).is_none(), "once");
}

#[tokio::test(start_paused = true)]
async fn a_delay_requested_while_held_counts_from_the_request() {
    let queue = queue();
    queue.add(key("a"), Priority::Normal);
    let held = ready(&queue).expect("added");
    queue.add_after(key("a"), Priority::Normal, 3 * SECOND);
    advance(SECOND).await;
    drop(held);
    let asked = Instant::now();
    let held = queue.next().await.expect("due");
    assert_eq!(asked.elapsed(), 2 * SECOND);
    queue.add_after(key("a"), Priority::Low, SECOND);
    advance(2 * SECOND).await;
    drop(held);
    assert!(ready(&queue).is_some(), "due while held");
}
