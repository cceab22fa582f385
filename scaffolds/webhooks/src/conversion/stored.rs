//! Reads objects as they are stored, to write those that another version does not show.

use std::time::Duration;

use http::Request;
use kube::Client;
use kubewright_runtime::Error;
use serde_json::Value;
use tokio::time::timeout;

/// The longest time of a read: others wait for its thread.
const LIMIT: Duration = Duration::from_secs(5);

/// The objects of a kind in the API server.
pub(super) struct Stored {
    pub(super) client: Client,
    /// The name of the kind in paths.
    pub(super) plural: String,
}

impl Stored {
    /// The JSON of the object with this metadata, in the version that is stored (`group/version`), which API servers read
    /// without a conversion; or why it cannot be read.
    ///
    /// # Errors
    ///
    /// No object has such metadata.
    pub(super) fn read(
        &self,
        shell: &Value,
        api_version: &str,
    ) -> Result<impl Future<Output = Result<String, String>> + Send + use<>, String> {
        let text = |field: &str| shell["metadata"][field].as_str().unwrap_or_default();
        let [namespace, name] = ["namespace", "name"].map(text);
        if !is_segment(name) || !(namespace.is_empty() || is_segment(namespace)) {
            return Err("it has an invalid name".to_owned());
        }
        let namespaces = if namespace.is_empty() { "" } else { "/namespaces/" };
        let path = format!("/apis/{api_version}{namespaces}{namespace}/{}/{name}", self.plural);
        let request = Request::get(path).body(Vec::new()).map_err(|error| error.to_string())?;
        let client = self.client.clone();
        Ok(async move {
            match timeout(LIMIT, Box::pin(client.request_text(request))).await {
                Ok(Ok(text)) => Ok(text),
                Ok(Err(error)) => Err(Error::from(error).to_string()),
                Err(_) => Err("the API server does not answer".to_owned()),
            }
        })
    }
}

/// Whether a client could have given an object this name (apimachinery, `pkg/api/validation/path/name.go`), and a path with it is
/// the path of one object.
fn is_segment(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:".contains(&byte);
    !name.is_empty() && name != "." && name != ".." && name.len() <= 253 && name.bytes().all(plain)
}
