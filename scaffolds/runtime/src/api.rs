//! The requests that the runtime itself sends, for any kind of either scope.
//!
//! Futures of requests, and those that contain them, are boxed: otherwise each async function on the way to a request has the
//! whole of it on its stack, which overflows in a build without optimisation.

use http::{HeaderValue, header::CONTENT_TYPE};
use kube::{
    Client,
    api::{DeleteParams, ListParams, ObjectList, ObjectMeta, Patch, PatchParams, PostParams, Preconditions},
    core::{PartialObjectMeta, Request, Status, request},
};
use serde_json::{Value, json};

use crate::{
    error::{Error, Result},
    informer::decode,
    key::{ObjectKey, check_name, check_namespace},
    kind::Kind,
    object::AnyObject,
};

/// In the API server's message about a deletion of an object with another uid.
const OTHER_UID: &str = "UID in precondition";

/// Requests for objects of kind `K` in one namespace.
///
/// kube writes names into paths as they are, so each request checks the names first: a name that would change the path
/// is an [`Error::Setup`], and no request is sent.
pub(crate) struct Requests<'a, K> {
    client: &'a Client,
    request: Request,
    namespace: Option<String>,
    kind: &'a Kind<K>,
}

impl<'a, K: AnyObject> Requests<'a, K> {
    /// Requests in the namespace of `key`, or cluster-wide if it has none.
    pub(crate) fn beside(client: &'a Client, kind: &'a Kind<K>, key: &ObjectKey) -> Self {
        Self::within(client, kind, key.namespace())
    }

    /// Requests in a namespace; in all namespaces, or cluster-wide, if it is `None`.
    pub(crate) fn within(client: &'a Client, kind: &'a Kind<K>, namespace: Option<&str>) -> Self {
        Self {
            client,
            request: Request::new(kind.path(namespace)),
            namespace: namespace.map(str::to_owned),
            kind,
        }
    }

    /// The kind of the objects.
    pub(crate) fn kind(&self) -> &'a Kind<K> {
        self.kind
    }

    /// Reads the object from the API server; `None` if it does not exist.
    pub(crate) async fn get(&self, name: &str) -> Result<Option<K>> {
        self.check(name)?;
        let request = self.request.get(name, &Default::default()).map_err(build)?;
        self.read(name, request, decode::one).await
    }

    /// As [`get`](Self::get), but only the object's metadata.
    pub(crate) async fn get_metadata(&self, name: &str) -> Result<Option<PartialObjectMeta<K>>> {
        self.check(name)?;
        let request = self.request.get_metadata(name, &Default::default()).map_err(build)?;
        self.read(name, request, decode::metadata).await
    }

    /// One page of the metadata of the objects that `params` selects.
    pub(crate) async fn list_metadata(&self, params: &ListParams) -> Result<ObjectList<PartialObjectMeta<K>>> {
        self.check_place()?;
        let request = self.request.list_metadata(params).map_err(build)?;
        let text = Box::pin(self.client.request_text(request)).await?;
        Ok(decode::metadata_of_each(&text).map_err(kube::Error::SerdeError)?)
    }

    /// Creates the object, and returns it with packed `managedFields`; fails with 409 if an object of this name exists.
    pub(crate) async fn create(&self, object: &Value, manager: &str) -> Result<K> {
        self.post(object, manager, false).await
    }

    /// As [`create`](Self::create), but nothing is stored: returns what would be.
    pub(crate) async fn try_create(&self, object: &Value, manager: &str) -> Result<K> {
        self.post(object, manager, true).await
    }

    async fn post(&self, object: &Value, manager: &str, dry_run: bool) -> Result<K> {
        self.check_place()?;
        let params = PostParams {
            dry_run,
            field_manager: Some(manager.to_owned()),
        };
        let body = serde_json::to_vec(object).map_err(kube::Error::SerdeError)?;
        let request = self.request.create(&params, body).map_err(build)?;
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        self.written(name, request).await
    }

    /// Deletes the object if it still has this uid, and returns whether it did. Its own children are deleted after it.
    pub(crate) async fn delete(&self, name: &str, uid: &str) -> Result<bool> {
        let only = Preconditions {
            uid: Some(uid.to_owned()),
            ..Preconditions::default()
        };
        match self.delete_if(name, only).await {
            // Another object has its name. A webhook may refuse a deletion with the same code.
            Err(error) if error.code() == Some(409) && error.to_string().contains(OTHER_UID) => Ok(false),
            deleted => deleted,
        }
    }

    /// As [`delete`](Self::delete), but any change since this version is a conflict.
    pub(crate) async fn delete_version(&self, name: &str, metadata: &ObjectMeta) -> Result<bool> {
        let only = Preconditions {
            uid: metadata.uid.clone(),
            resource_version: metadata.resource_version.clone(),
        };
        self.delete_if(name, only).await
    }

    async fn delete_if(&self, name: &str, only: Preconditions) -> Result<bool> {
        self.check(name)?;
        let params = DeleteParams::background().preconditions(only);
        let request = self.request.delete(name, &params).map_err(build)?;
        match Box::pin(self.client.request_status::<K>(request)).await {
            Ok(_) => Ok(true),
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Patches the object, or its subresource, and returns it as [`create`](Self::create) does.
    pub(crate) async fn patch(&self, name: &str, part: Option<&str>, patch: &Patch<Value>, manager: &str) -> Result<K> {
        self.check(name)?;
        let mut params = PatchParams {
            field_manager: Some(manager.to_owned()),
            ..PatchParams::default()
        };
        params.force = matches!(patch, Patch::Apply(_));
        let request = match part {
            Some(part) => self.request.patch_subresource(part, name, &params, patch),
            None => self.request.patch(name, &params, patch),
        };
        self.written(name, request.map_err(build)?).await
    }

    /// Writes the object as it is, by an empty merge patch, and returns whether it exists. An API server that stores another
    /// version of the kind than when the object was last written stores it anew; else it writes nothing.
    pub(crate) async fn store_anew(&self, name: &str, manager: &str) -> Result<bool> {
        self.check(name)?;
        let params = PatchParams {
            field_manager: Some(manager.to_owned()),
            ..PatchParams::default()
        };
        let request = self.request.patch_metadata(name, &params, &Patch::Merge(json!({})));
        match Box::pin(self.client.request_text(request.map_err(build)?)).await {
            Ok(_) => Ok(true),
            // A 404 that names no object is about the kind: an API server may not serve this version of it yet.
            Err(kube::Error::Api(status)) if status.code == 404 && names(&status, name) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Sends a JSON patch (RFC 6902), and returns the object as [`create`](Self::create) does.
    pub(crate) async fn patch_json(&self, name: &str, steps: Vec<Value>, manager: &str) -> Result<K> {
        self.check(name)?;
        let params = PatchParams {
            field_manager: Some(manager.to_owned()),
            ..PatchParams::default()
        };
        let body = Patch::Merge(Value::Array(steps));
        let mut request = self.request.patch(name, &params, &body).map_err(build)?;
        // kube's own type of JSON patches needs another crate.
        let media = HeaderValue::from_static("application/json-patch+json");
        request.headers_mut().insert(CONTENT_TYPE, media);
        self.written(name, request).await
    }

    fn check(&self, name: &str) -> Result<()> {
        self.check_place()?;
        check_name(name).map_err(|why| refused(self.kind.kind(), "name", name, why))
    }

    fn check_place(&self) -> Result<()> {
        let Some(namespace) = self.namespace.as_deref() else {
            return Ok(());
        };
        check_namespace(namespace).map_err(|why| refused(self.kind.kind(), "namespace", namespace, why))
    }

    async fn read<T>(
        &self,
        name: &str,
        request: http::Request<Vec<u8>>,
        decode: fn(&str) -> serde_json::Result<T>,
    ) -> Result<Option<T>> {
        let text = found(Box::pin(self.client.request_text(request)).await)?;
        let decoded = text.map(|text| decode(&text).map_err(|error| self.undecodable(name, &error)));
        decoded.transpose()
    }

    async fn written(&self, name: &str, request: http::Request<Vec<u8>>) -> Result<K> {
        let text = Box::pin(self.client.request_text(request)).await?;
        decode::answer(&text).map_err(|error| self.undecodable(name, &error))
    }

    /// The decoder's error names no object.
    fn undecodable(&self, name: &str, error: &serde_json::Error) -> Error {
        let text = format!("the {} `{name}` cannot be decoded: {error}", self.kind.kind());
        kube::Error::SerdeError(serde::de::Error::custom(text)).into()
    }
}

fn found<T>(answer: kube::Result<T>) -> Result<Option<T>> {
    match answer {
        Ok(object) => Ok(Some(object)),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn names(status: &Status, name: &str) -> bool {
    status.details.as_ref().is_some_and(|details| details.name == name)
}

fn refused(kind: &str, what: &str, text: &str, why: &str) -> Error {
    let text = text.escape_debug();
    Error::Setup(format!("`{text}` cannot be the {what} of a {kind}: {why}"))
}

fn build(error: request::Error) -> Error {
    Error::from(kube::Error::BuildRequest(error))
}
