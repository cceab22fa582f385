//! A CPU profile as `go tool pprof` reads it: google/pprof, `proto/profile.proto`, in protocol buffers.

use std::{collections::HashMap, hash::Hash, time::Duration};

/// Field numbers of the messages of `profile.proto` that are used here.
mod field {
    pub(super) const SAMPLE_TYPE: u64 = 1;
    pub(super) const SAMPLE: u64 = 2;
    pub(super) const LOCATION: u64 = 4;
    pub(super) const FUNCTION: u64 = 5;
    pub(super) const STRING_TABLE: u64 = 6;
    pub(super) const TIME_NANOS: u64 = 9;
    pub(super) const DURATION_NANOS: u64 = 10;
    pub(super) const PERIOD_TYPE: u64 = 11;
    pub(super) const PERIOD: u64 = 12;
}

/// The result of sampling.
pub(super) struct Profile {
    /// The time since 1970 at which it began.
    pub(super) began: Duration,
    pub(super) length: Duration,
    /// The CPU time between two samples.
    pub(super) period: Duration,
    pub(super) stacks: Vec<Stack>,
}

/// A stack, and in how many samples it was found.
pub(super) struct Stack {
    /// From the innermost frame on; each has the functions that were inlined there, the innermost first.
    pub(super) frames: Vec<Vec<Function>>,
    /// The name of the thread.
    pub(super) thread: String,
    pub(super) count: u64,
}

/// A function at a line.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) system_name: String,
    pub(super) file: String,
    pub(super) line: u32,
}

/// A message in the wire format.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            // Seven bits, and that more follow.
            self.0.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn number(&mut self, field: u64, value: u64) {
        self.varint(field << 3);
        self.varint(value);
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn numbers(&mut self, field: u64, values: impl IntoIterator<Item = u64>) {
        let mut packed = Self::default();
        values.into_iter().for_each(|value| packed.varint(value));
        self.bytes(field, &packed.0);
    }

    fn message(&mut self, field: u64, fields: &[(u64, u64)]) {
        let mut inner = Self::default();
        fields.iter().for_each(|(field, value)| inner.number(*field, *value));
        self.bytes(field, &inner.0);
    }
}

/// Numbers values by their first use, from 0 on.
struct Table<T> {
    numbers: HashMap<T, u64>,
    values: Vec<T>,
}

impl<T: Clone + Eq + Hash> Table<T> {
    fn new() -> Self {
        Self {
            numbers: HashMap::new(),
            values: Vec::new(),
        }
    }

    fn number(&mut self, value: &T) -> u64 {
        if let Some(number) = self.numbers.get(value) {
            return *number;
        }
        let number = self.values.len() as u64;
        self.numbers.insert(value.clone(), number);
        self.values.push(value.clone());
        number
    }
}

impl Profile {
    /// The message `Profile`. Ids of locations and functions begin at 1; the first string is empty.
    pub(super) fn encode(&self) -> Vec<u8> {
        let (mut strings, mut locations, mut functions) = (Table::new(), Table::new(), Table::new());
        let mut text = |text: &str| strings.number(&text.to_owned());
        text("");
        let mut out = Message::default();
        for [kind, unit] in [["samples", "count"], ["cpu", "nanoseconds"]] {
            out.message(field::SAMPLE_TYPE, &[(1, text(kind)), (2, text(unit))]);
        }
        for stack in &self.stacks {
            let mut sample = Message::default();
            sample.numbers(1, stack.frames.iter().map(|frame| locations.number(frame) + 1));
            sample.numbers(2, [stack.count, stack.count * nanos(self.period)]);
            sample.message(3, &[(1, text("thread")), (2, text(&stack.thread))]);
            out.bytes(field::SAMPLE, &sample.0);
        }
        for (number, frame) in locations.values.iter().enumerate() {
            let mut location = Message::default();
            location.number(1, number as u64 + 1);
            for function in frame {
                // A function has one number for all of its lines.
                let known = Function {
                    line: 0,
                    ..function.clone()
                };
                location.message(4, &[(1, functions.number(&known) + 1), (2, u64::from(function.line))]);
            }
            out.bytes(field::LOCATION, &location.0);
        }
        for (number, function) in functions.values.iter().enumerate() {
            let names = [&function.name, &function.system_name, &function.file].map(|name| text(name));
            let fields = [(1, number as u64 + 1), (2, names[0]), (3, names[1]), (4, names[2])];
            out.message(field::FUNCTION, &fields);
        }
        out.number(field::TIME_NANOS, nanos(self.began));
        out.number(field::DURATION_NANOS, nanos(self.length));
        out.message(field::PERIOD_TYPE, &[(1, text("cpu")), (2, text("nanoseconds"))]);
        out.number(field::PERIOD, nanos(self.period));
        for string in &strings.values {
            out.bytes(field::STRING_TABLE, string.as_bytes());
        }
        out.0
    }
}

/// Enough for 584 years.
fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(name: &str, line: u32) -> Function {
        Function {
            name: name.to_owned(),
            system_name: format!("_{name}"),
            file: "a.rs".to_owned(),
            line,
        }
    }

    #[test]
    fn numbers_have_seven_bits_in_each_byte() {
        let mut message = Message::default();
        message.number(1, 150);
        // The example of the specification of protocol buffers.
        assert_eq!(message.0, [0x08, 0x96, 0x01]);
    }

    #[test]
    fn strings_functions_and_locations_are_written_once() {
        let frames = vec![
            vec![function("inlined", 1), function("outer", 2)],
            vec![function("main", 3)],
        ];
        let stack = |thread: &str| Stack {
            frames: frames.clone(),
            thread: thread.to_owned(),
            count: 2,
        };
        let profile = Profile {
            began: Duration::from_secs(1),
            length: Duration::from_secs(2),
            period: Duration::from_millis(10),
            stacks: vec![stack("one"), stack("two")],
        };
        let bytes = profile.encode();
        let count = |text: &str| {
            bytes
                .windows(text.len())
                .filter(|part| *part == text.as_bytes())
                .count()
        };
        // Also in the names of the system.
        assert_eq!(
            ["inlined", "outer", "main", "a.rs", "thread", "one", "two"].map(count),
            [2, 2, 2, 1, 1, 1, 1]
        );
    }
}
