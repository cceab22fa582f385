//! The parts of Kubernetes' apimachinery and of Go's standard library that several crates of kubewright need, with the messages of
//! kube-apiserver 1.37: formats, patterns, times, schedules, quantities, names (also in rules), labels, object metadata and causes.
//!
//! Everything is a pure function of its arguments, except [`cron::zone_file`]. The crate depends on `serde_json` and `regex` alone,
//! because every project compiles it before anything else of its own.
//!
//! ```
//! use kubewright_machinery::{go, quantity::Quantity, time::Moment};
//!
//! assert_eq!(go::duration("1h30m"), Ok(5_400_000_000_000));
//! assert_eq!(Quantity::parse("1000m").unwrap().canonical(), "1");
//! assert_eq!(Moment::parse("2026-01-02T03:04:05+01:00").unwrap().utc(), "2026-01-02T02:04:05Z");
//! ```

pub mod base64;
pub mod calendar;
pub mod cause;
pub mod cron;
pub mod der;
pub mod formats;
pub mod go;
pub mod labels;
pub mod names;
pub mod object_meta;
pub mod pattern;
pub mod quantity;
pub mod rule_names;
pub mod time;
pub mod url;
pub mod x509;

pub use cause::Cause;
