//! The CustomResourceDefinitions of the kinds that the operator converts: each names the operator's converter once that
//! answers, and not before.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use http::{Request, header::CONTENT_TYPE};
use k8s_openapi::ByteString;
use kube::{Client, Config, core::DynamicObject};
use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_rustls::rustls::pki_types::{CertificateDer, pem::PemObject};

use super::{Converting, WebhookAddress, plan::State};

/// The time limit of a question to the own converter. It has nothing to convert.
const PATIENCE: Duration = Duration::from_secs(5);

/// The converter of one kind.
pub(super) struct Converter {
    converting: Converting,
    /// The address for API servers: a `clientConfig` without `caBundle`.
    place: Value,
    /// The address at which this process itself calls the converter.
    own: Option<String>,
    /// The Service, if this process reaches it.
    service: Option<String>,
    /// Whether API servers reach it only if this process is ready.
    by_service: bool,
    /// Since when the definition names it, as far as this process has seen the change.
    named: Mutex<Named>,
}

/// Whether a definition names the converter.
#[derive(Clone, Copy)]
enum Named {
    /// This process has not looked yet.
    Unseen,
    No,
    /// Since it was first looked at.
    Always,
    Since(Instant),
}

impl Converter {
    /// Behind the Service of this name and namespace, unless it is reached by a URL.
    pub(super) fn new(converting: Converting, reach: &WebhookAddress, [service, namespace]: [&str; 2]) -> Self {
        let path = &converting.path;
        let own = reach.address.map(|address| format!("https://{address}"));
        let mut through = None;
        let place = match &reach.url {
            Some(url) => json!({"url": format!("{}{path}", url.trim_end_matches('/'))}),
            None => {
                if reach.in_cluster {
                    through = Some(format!("https://{service}.{namespace}.svc"));
                }
                json!({"service": {"namespace": namespace, "name": service, "path": path, "port": 443}})
            }
        };
        Self {
            by_service: reach.url.is_none(),
            converting,
            place,
            own,
            service: through,
            named: Mutex::new(Named::Unseen),
        }
    }

    /// The name of the definition.
    pub(super) fn definition(&self) -> &str {
        &self.converting.definition
    }

    /// Passes the storage version on to the converter, and drops what is not looked at, which is most of a definition.
    pub(super) fn trim(&self) -> impl Fn(&mut DynamicObject) + Send + Sync + 'static {
        let stored = self.converting.stored.clone();
        move |definition| {
            let versions = definition.data["spec"]
                .as_object_mut()
                .and_then(|spec| spec.remove("versions"));
            let mut versions = versions.iter().filter_map(Value::as_array).flatten();
            if let Some(name) = versions.find_map(|it| it["name"].as_str().filter(|_| it["storage"] == true)) {
                stored.set(name);
            }
        }
    }

    /// The authorities of a definition that names this converter; `None` if it does not.
    pub(super) fn bundle(&self, definition: &DynamicObject) -> Option<ByteString> {
        let (place, bundle) = named(definition)?;
        (place == self.place)
            .then(|| serde_json::from_value(bundle?).ok())
            .flatten()
    }

    /// The message if the definition names another converter.
    pub(super) fn rival(&self, definition: &DynamicObject) -> Option<String> {
        let (place, _) = named(definition).filter(|(place, _)| *place != self.place)?;
        let definition = self.definition();
        Some(format!(
            "`{definition}` names another converter again: {place}\n\nhint: let one operator \
             convert, and start the other with --webhook-bind-address=0"
        ))
    }

    /// Notes whether the definition names it now, and returns for how long it does.
    pub(super) fn named_for(&self, is_named: bool) -> Option<Duration> {
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        *named = match (*named, is_named) {
            (_, false) => Named::No,
            (Named::Unseen, true) => Named::Always,
            (Named::No, true) => Named::Since(Instant::now()),
            (known, true) => known,
        };
        match *named {
            Named::Unseen | Named::No => None,
            Named::Always => Some(Duration::MAX),
            Named::Since(since) => Some(since.elapsed()),
        }
    }

    /// Whether API servers reach the converter through its Service.
    pub(super) fn is_behind_service(&self) -> bool {
        self.by_service
    }

    /// Records that API servers convert objects by this converter.
    pub(super) fn set_named(&self) {
        self.converting
            .named
            .send_if_modified(|named| !std::mem::replace(named, true));
    }

    /// The fields of a definition that names this converter.
    pub(super) fn spec(&self, bundle: &ByteString) -> Value {
        let mut place = self.place.clone();
        place["caBundle"] = json!(bundle);
        json!({"conversion": {
            "strategy": "Webhook",
            "webhook": {"clientConfig": place, "conversionReviewVersions": ["v1"]},
        }})
    }

    /// Whether API servers accept a definition that does not name the converter yet. They reach a Service only if this
    /// process is ready, so readiness cannot wait for what waits for the Service.
    ///
    /// # Errors
    ///
    /// If readiness has to wait.
    pub(super) fn may_be_unnamed(&self) -> Result<(), String> {
        if self.by_service {
            return Ok(());
        }
        let definition = self.definition();
        Err(format!(
            "the CustomResourceDefinition `{definition}` does not name the converter yet"
        ))
    }

    /// Asks the converter, by the certificate of a state, as an API server does: at its own address, and in a cluster
    /// through the Service. The Service is not asked if the definition names the converter, with other authorities: API servers would not
    /// accept the certificate, so the process is not ready, and the Service does not lead to it.
    ///
    /// # Errors
    ///
    /// The reason, if it does not answer.
    pub(super) async fn answers(&self, definition: &DynamicObject, state: &State, name: &str) -> Result<(), String> {
        let service = self.service.iter().filter(|_| self.bundle(definition).is_none());
        for address in self.own.iter().chain(service) {
            self.ask(address, state, name).await.map_err(|why| {
                let definition = self.definition();
                format!("`{definition}` does not name the converter yet, which does not answer at {address}: {why}")
            })?;
        }
        Ok(())
    }

    async fn ask(&self, address: &str, state: &State, name: &str) -> Result<(), String> {
        let mut config = Config::new(address.parse().map_err(|error| format!("{error}"))?);
        let bundle = state.bundle();
        let authorities = CertificateDer::pem_slice_iter(bundle.as_bytes());
        let authorities: Result<Vec<_>, _> = authorities.map(|it| it.map(|it| it.to_vec())).collect();
        config.root_cert = Some(authorities.map_err(|error| error.to_string())?);
        config.tls_server_name = Some(name.to_owned());
        (config.connect_timeout, config.read_timeout) = (Some(PATIENCE), Some(PATIENCE));
        let client = Client::try_from(config).map_err(|error| error.to_string())?;
        let question = empty_review(&self.converting.api_version).to_string();
        let request = Request::post(&self.converting.path).header(CONTENT_TYPE, "application/json");
        let request = request.body(question.into_bytes()).map_err(|error| error.to_string())?;
        let answer = Box::pin(client.request::<Value>(request)).await;
        let answer = answer.map_err(|error| crate::error::Error::from(error).to_string())?;
        match answer["response"]["result"]["status"].as_str() {
            Some("Success") => Ok(()),
            _ => Err(format!("it answers {answer}")),
        }
    }
}

/// The address of the converter that a definition names, and its authorities.
fn named(definition: &DynamicObject) -> Option<(Value, Option<Value>)> {
    let conversion = &definition.data["spec"]["conversion"];
    let mut place = conversion["webhook"]["clientConfig"].clone();
    let bundle = place.as_object_mut().and_then(|place| place.remove("caBundle"));
    (conversion["strategy"] == "Webhook").then_some((place, bundle))
}

/// A ConversionReview with a request for a list without objects.
pub fn empty_review(api_version: &str) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "ConversionReview",
        "request": {"uid": "self", "desiredAPIVersion": api_version, "objects": []},
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manager::StorageVersion;

    fn converter(url: Option<&str>) -> Converter {
        let converting = Converting {
            definition: "foobars.test.example.com".to_owned(),
            api_version: "test.example.com/v1".to_owned(),
            path: "/convert".to_owned(),
            stored: StorageVersion::default(),
            named: Default::default(),
        };
        let reach = WebhookAddress {
            address: None,
            url: url.map(str::to_owned),
            in_cluster: true,
        };
        Converter::new(converting, &reach, ["webhook-service", "system"])
    }

    fn definition(conversion: &Value) -> DynamicObject {
        serde_json::from_value(json!({"metadata": {}, "spec": {"conversion": conversion, "versions": [1]}})).unwrap()
    }

    #[test]
    fn a_definition_names_the_converter_if_all_but_the_bundle_is_ours() {
        let (ours, bundle) = (converter(None), ByteString(b"authorities".to_vec()));
        let named = ours.spec(&bundle)["conversion"].clone();
        assert_eq!(ours.bundle(&definition(&named)), Some(bundle.clone()));
        assert_eq!(converter(Some("https://127.0.0.1:1")).bundle(&definition(&named)), None);
        let unnamed = definition(&json!({"strategy": "None"}));
        assert_eq!((ours.bundle(&unnamed), ours.rival(&unnamed)), (None, None));
        assert_eq!(ours.rival(&definition(&named)), None);
        let mut moved = named;
        moved["webhook"]["clientConfig"]["service"]["path"] = json!("/other");
        assert_eq!(ours.bundle(&definition(&moved)), None);
        let rival = ours.rival(&definition(&moved)).unwrap();
        assert!(rival.contains("/other") && !rival.contains("caBundle"), "{rival}");
    }

    #[test]
    fn a_pod_asks_through_its_service_and_a_laptop_does_not_wait_for_one() {
        let (ours, laptop) = (converter(None), converter(Some("https://127.0.0.1:9443/")));
        assert_eq!(ours.service.as_deref(), Some("https://webhook-service.system.svc"));
        assert!(ours.may_be_unnamed().is_ok());
        assert_eq!((&laptop.own, &laptop.service), (&None, &None));
        assert_eq!(laptop.place, json!({"url": "https://127.0.0.1:9443/convert"}));
        assert!(laptop.may_be_unnamed().is_err());
    }
}
