//! PROJECT, which a merge or an editor may have left in any state.

use kubewright::project::file;

/// A text is read or refused, and what is read comes back from the text that a command would write of it.
pub fn project(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let Ok(read) = file::parse_earlier(text) else { return };
    let written = file::format(&read);
    let again = file::parse_earlier(&written).unwrap_or_else(|error| panic!("{error:#}:\n{written}"));
    assert_eq!(again, read, "{written}");
    assert_eq!(file::format(&again), written);
}
