//! Recordings that tests replay: a line of JSON for each request to a real server or tool, with its answer. `fidelity record` writes
//! the answers.

use std::{env, fs, path::Path};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// A line of a recording.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Exchange<Asked, Answered> {
    /// The request.
    pub asked: Asked,
    /// The answer.
    pub answered: Answered,
}

/// The requests of a recording, also of lines without an answer.
#[derive(Deserialize, Serialize)]
struct Request<Asked> {
    asked: Asked,
}

/// The lines of a recording.
///
/// # Panics
/// If a line has another form, or no answer: `fidelity record` has not been run.
pub fn read<Asked: DeserializeOwned, Answered: DeserializeOwned>(text: &str) -> Vec<Exchange<Asked, Answered>> {
    let read = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("record again: {error}: {line}"));
    text.lines().map(read).collect()
}

/// The requests of a recording.
///
/// # Panics
/// If a line has another form.
pub fn requests<Asked: DeserializeOwned>(text: &str) -> Vec<Asked> {
    let read = |line| serde_json::from_str::<Request<Asked>>(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    text.lines().map(|line| read(line).asked).collect()
}

/// Tests that a recording has these requests, in this order. With KUBEWRIGHT_BLESS, writes them; lines of requests that were
/// recorded keep their answers.
///
/// # Panics
/// If the recording has other requests.
pub fn assert_requests<Asked: DeserializeOwned + PartialEq + Serialize>(path: &Path, now: Vec<Asked>) {
    let committed = fs::read_to_string(path).unwrap();
    let mut before: Vec<(Asked, &str)> = requests(&committed).into_iter().zip(committed.lines()).collect();
    let line = |asked: Asked| match before.iter().position(|(other, _)| *other == asked) {
        Some(at) => before.remove(at).1.to_owned(),
        None => serde_json::to_string(&Request { asked }).unwrap(),
    };
    let lines: Vec<String> = now.into_iter().map(line).collect();
    let lines: String = lines.into_iter().map(|line| line + "\n").collect();
    if env::var_os("KUBEWRIGHT_BLESS").is_some() {
        fs::write(path, &lines).unwrap();
    } else {
        assert!(committed == lines, "KUBEWRIGHT_BLESS=1 writes the requests");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_requests_of_a_recording_are_compared_in_their_order() {
        let folder = env::temp_dir().join(format!("kubewright-recordings-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("recorded.jsonl");
        fs::write(&path, "{\"asked\":1,\"answered\":\"one\"}\n{\"asked\":2}\n").unwrap();
        let is_same = |now: &[u8]| std::panic::catch_unwind(|| assert_requests(&path, now.to_vec())).is_ok();
        assert!(is_same(&[1, 2]));
        assert!(!is_same(&[2, 1]) && !is_same(&[1]) && !is_same(&[1, 2, 3]));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    #[should_panic = "record again"]
    fn a_line_without_an_answer_is_recorded_first() {
        read::<u8, String>("{\"asked\":1,\"answered\":\"one\"}\n{\"asked\":2}\n");
    }
}
