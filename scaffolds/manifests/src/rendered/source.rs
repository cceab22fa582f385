//! The objects that a command ships: what kubectl prints, or what is on standard input, with the image of the release.

use super::document::{self, Document};
use super::{image, names};
use crate::tool::Tool;
use crate::words::Words;
use serde_json::Value;
use std::io::Read;

/// The options of a command that ships objects.
#[derive(Debug)]
pub(crate) struct Source {
    /// The operator's image; without a flag, the image in the manifests.
    image: Option<String>,
    /// The folder of the kustomization.
    folder: String,
    /// Kubectl; missing to read the standard input.
    pub kubectl: Tool,
}

impl Default for Source {
    fn default() -> Self {
        Self {
            image: None,
            folder: "config/default".to_owned(),
            kubectl: Tool::new(Vec::new(), "KUBECTL"),
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
            "--" => self.kubectl = Tool::new(words.rest(), "KUBECTL"),
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
        let documents = self.unchecked(input)?;
        documents
            .iter()
            .try_for_each(|document| names::check(&document.object))?;
        Ok(documents)
    }

    /// The objects as they are rendered: an earlier release may have applied objects that are refused today.
    pub(crate) fn unchecked(&self, input: &mut dyn Read) -> Result<Vec<Document>, String> {
        let mut documents = document::split(&self.text(input)?)?;
        if let Some(image) = &self.image {
            document::set_image(&mut documents, image)?;
        }
        Ok(documents)
    }

    fn text(&self, input: &mut dyn Read) -> Result<String, String> {
        let mut text = String::new();
        if self.kubectl.is_missing() {
            let read = input.read_to_string(&mut text);
            read.map_err(|error| format!("cannot read standard input: {error}"))?;
            return Ok(text);
        }
        self.kubectl.output(&["kustomize", &self.folder])
    }
}
