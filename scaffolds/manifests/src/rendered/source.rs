//! The objects that a command ships: what kubectl prints, or what is on standard input, with the image of the release.

use super::document::{self, Document};
use super::{image, names};
use crate::words::Words;
use serde_json::Value;
use std::io::{ErrorKind, Read};
use std::process::{Child, Command, ExitStatus, Stdio};

/// The options of a command that ships objects.
#[derive(Debug)]
pub(crate) struct Source {
    /// The operator's image; without a flag, the image in the manifests.
    image: Option<String>,
    /// The folder of the kustomization.
    folder: String,
    /// The words that run kubectl; empty to read the standard input.
    kubectl: Vec<String>,
}

impl Default for Source {
    fn default() -> Self {
        Self {
            image: None,
            folder: "config/default".to_owned(),
            kubectl: Vec::new(),
        }
    }
}

impl Source {
    /// Takes the flag if it is one of these options.
    ///
    /// # Errors
    /// Its value is missing, or is not an image.
    pub(crate) fn take<I: Iterator<Item = String>>(
        &mut self,
        flag: &str,
        words: &mut Words<I>,
    ) -> Result<bool, String> {
        match flag {
            "--image" => {
                let image = words.value()?;
                image::check(&image)?;
                self.image = Some(image);
            }
            "--kustomization" => self.folder = words.value()?,
            "--" => self.kubectl = words.rest(),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The objects.
    ///
    /// # Errors
    /// They cannot be read, or no container is the operator's.
    pub(crate) fn objects(&self, input: &mut dyn Read) -> Result<Vec<Value>, String> {
        let documents = self.documents(input)?;
        Ok(documents.into_iter().map(|document| document.object).collect())
    }

    /// The objects, with their texts.
    pub(crate) fn documents(&self, input: &mut dyn Read) -> Result<Vec<Document>, String> {
        let mut documents = document::split(&self.text(input)?)?;
        documents
            .iter()
            .try_for_each(|document| names::check(&document.object))?;
        if let Some(image) = &self.image {
            document::set_image(&mut documents, image)?;
        }
        Ok(documents)
    }

    fn text(&self, input: &mut dyn Read) -> Result<String, String> {
        let mut text = String::new();
        if self.kubectl.is_empty() {
            let read = input.read_to_string(&mut text);
            read.map_err(|error| format!("cannot read standard input: {error}"))?;
            return Ok(text);
        }
        self.output(&["kustomize", &self.folder])
    }

    /// The output of kubectl.
    ///
    /// # Errors
    /// It cannot be started, or fails; then it has printed why.
    pub(crate) fn output(&self, arguments: &[&str]) -> Result<String, String> {
        let command = self.command(arguments)?.stderr(Stdio::inherit()).output();
        let output = command.map_err(|error| self.cannot_start(&error))?;
        self.ended(arguments, output.status)?;
        String::from_utf8(output.stdout).map_err(|error| format!("`{}` prints no text: {error}", self.line(arguments)))
    }

    /// Runs kubectl with a text on its standard input.
    ///
    /// # Errors
    /// It cannot be started, or fails; then it has printed why.
    pub(crate) fn send(&self, arguments: &[&str], text: &str) -> Result<(), String> {
        let child = self.command(arguments)?.stdin(Stdio::piped()).spawn();
        let mut child = child.map_err(|error| self.cannot_start(&error))?;
        let written = child
            .stdin
            .take()
            .map(|mut stdin| std::io::Write::write_all(&mut stdin, text.as_bytes()));
        let status = child.wait().map_err(|error| self.cannot_start(&error))?;
        self.ended(arguments, status)?;
        match written {
            Some(Err(error)) => Err(format!("`{}` did not read all objects: {error}", self.line(arguments))),
            _ => Ok(()),
        }
    }

    /// The output of kubectl, even if it fails: a list that is not complete.
    ///
    /// # Errors
    /// It cannot be started.
    pub(crate) fn printed(&self, arguments: &[&str]) -> Result<String, String> {
        let output = self.command(arguments)?.stderr(Stdio::null()).output();
        let output = output.map_err(|error| self.cannot_start(&error))?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// The output of kubectl, without its messages; `None` if it fails.
    pub(crate) fn quiet(&self, arguments: &[&str]) -> Option<String> {
        let output = self.command(arguments).ok()?.stderr(Stdio::null()).output().ok()?;
        let printed = || String::from_utf8_lossy(&output.stdout).into_owned();
        output.status.success().then(printed)
    }

    /// Runs kubectl, which prints for the user.
    ///
    /// # Errors
    /// It cannot be started, or fails; then it has printed why.
    pub(crate) fn run(&self, arguments: &[&str]) -> Result<(), String> {
        let status = self.start(arguments)?.wait();
        self.ended(arguments, status.map_err(|error| self.cannot_start(&error))?)
    }

    /// Starts kubectl, which prints for the user.
    ///
    /// # Errors
    /// It cannot be started.
    pub(crate) fn start(&self, arguments: &[&str]) -> Result<Child, String> {
        let child = self.command(arguments)?.stdin(Stdio::null()).spawn();
        child.map_err(|error| self.cannot_start(&error))
    }

    /// The folder of the kustomization.
    pub(crate) fn folder(&self) -> &str {
        &self.folder
    }

    fn command(&self, arguments: &[&str]) -> Result<Command, String> {
        let Some((program, first)) = self.kubectl.split_first() else {
            return Err("no kubectl is named\n\nhint: end the command with `-- kubectl`".to_owned());
        };
        let mut command = Command::new(program);
        command.args(first).args(arguments);
        Ok(command)
    }

    fn cannot_start(&self, error: &std::io::Error) -> String {
        let program = self.kubectl.first().map_or("", String::as_str);
        match error.kind() {
            ErrorKind::NotFound => {
                format!("`{program}` is not installed\n\nhint: install kubectl, or name its path with KUBECTL")
            }
            _ => format!("cannot run `{program}`: {error}"),
        }
    }

    fn ended(&self, arguments: &[&str], status: ExitStatus) -> Result<(), String> {
        match status.success() {
            true => Ok(()),
            false => Err(format!("`{}` failed: {status}", self.line(arguments))),
        }
    }

    fn line(&self, arguments: &[&str]) -> String {
        let words = self.kubectl.iter().map(String::as_str).chain(arguments.iter().copied());
        words.collect::<Vec<_>>().join(" ")
    }
}
