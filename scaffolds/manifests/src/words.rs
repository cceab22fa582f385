//! The words of a command line: flags, with values as `--flag value` or `--flag=value`.

use kubewright_schema::files::Streams;

/// The arguments, as parsed; `None` is `--help`. `asks` is the command that prints `help`.
///
/// # Errors
/// The exit code, after the help or the wrong argument was printed. A closed output pipe is not an error.
pub(crate) fn settled<T>(
    parsed: Result<Option<T>, String>,
    help: &str,
    asks: &str,
    streams: &mut Streams<'_>,
) -> Result<T, u8> {
    match parsed {
        Ok(Some(arguments)) => Ok(arguments),
        Ok(None) => {
            _ = streams.out.write_all(help.as_bytes());
            Err(0)
        }
        Err(wrong) => {
            _ = writeln!(streams.err, "error: {wrong}\n\nhint: {asks} shows the options");
            Err(2)
        }
    }
}

/// Reads one flag after the other.
#[derive(Debug)]
pub(crate) struct Words<I> {
    words: I,
    flag: String,
    attached: Option<String>,
}

impl<I: Iterator<Item = String>> Words<I> {
    pub(crate) fn new(words: I) -> Self {
        Self {
            words,
            flag: String::new(),
            attached: None,
        }
    }

    /// The next flag; `None` at the end.
    ///
    /// # Errors
    /// The flag before it has a value, which was not read.
    pub(crate) fn flag(&mut self) -> Result<Option<String>, String> {
        if self.attached.is_some() {
            return Err(format!("`{}` takes no value", self.flag));
        }
        let Some(word) = self.words.next() else {
            return Ok(None);
        };
        match word.split_once('=') {
            Some((flag, value)) => (self.flag, self.attached) = (flag.to_owned(), Some(value.to_owned())),
            None => self.flag = word,
        }
        Ok(Some(self.flag.clone()))
    }

    /// All words that are left.
    pub(crate) fn rest(&mut self) -> Vec<String> {
        self.words.by_ref().collect()
    }

    /// The value of that flag.
    ///
    /// # Errors
    /// The flag has no value.
    pub(crate) fn value(&mut self) -> Result<String, String> {
        let value = self.attached.take().or_else(|| self.words.next());
        value.ok_or_else(|| format!("`{}` needs a value", self.flag))
    }
}
