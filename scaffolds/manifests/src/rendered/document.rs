//! The documents of kustomize's output, each with its text: a document that does not change is written as it came.

use super::image;
use kubewright_schema::yaml;
use serde_json::Value;

/// One object and the text that it was read from.
#[derive(Debug)]
pub(crate) struct Document {
    text: String,
    /// The object as it was read.
    read: Value,
    /// The object as it is shipped.
    pub object: Value,
}

/// The documents of a text.
///
/// # Errors
/// The text is not YAML, or has no object.
pub(super) fn split(text: &str) -> Result<Vec<Document>, String> {
    let mut documents = Vec::new();
    let mut chunk = String::new();
    // Inside of a block such a line would be indented.
    for line in text.lines().chain(["---"]) {
        if line != "---" {
            chunk.push_str(line);
            chunk.push('\n');
            continue;
        }
        let read = yaml::documents(&chunk).map_err(|error| format!("the output of kustomize is not YAML: {error}"))?;
        for object in read {
            documents.push(Document {
                text: std::mem::take(&mut chunk),
                read: object.clone(),
                object,
            });
        }
        chunk.clear();
    }
    match documents.is_empty() {
        true => Err("the output of kustomize has no objects".to_owned()),
        false => Ok(documents),
    }
}

/// Gives the operator the image.
///
/// # Errors
/// No container is the operator's.
pub(super) fn set_image(documents: &mut [Document], image: &str) -> Result<(), String> {
    let mut objects: Vec<&mut Value> = documents.iter_mut().map(|document| &mut document.object).collect();
    image::set(&mut objects, image).map_err(|error| error.to_string())
}

/// The text of the documents.
pub(crate) fn join(documents: &[Document]) -> String {
    let texts = documents.iter().map(|document| match document.object == document.read {
        true => document.text.clone(),
        false => yaml::to_string(&document.object),
    });
    texts.collect::<Vec<_>>().join("---\n")
}
