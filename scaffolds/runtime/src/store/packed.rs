//! The texts of a store's objects, compressed by what the objects of a kind have in common: a tenth to a quarter of the memory that
//! the decoded object takes.

use std::sync::Arc;

use kube::Resource;
use lz4_flex::block::{compress_into_with_dict, decompress_with_dict, get_maximum_output_size};
use serde::de::{DeserializeOwned, Error};

use super::text::Text;

/// The longest part of an object that others are compressed with, in bytes.
const SAMPLE: usize = 8 << 10;
/// The longest dictionary, in bytes. It is read once for each object that is packed, which takes some 2 µs.
const DICTIONARY: usize = 16 << 10;

/// Packs the texts of one kind.
#[derive(Debug, Default)]
pub(super) struct Packing {
    /// Objects of the kind, one after the other. Objects that are already packed keep the dictionary that they were packed with.
    dictionary: Arc<Vec<u8>>,
    /// The text before, and the one that it was packed to: their memory is used again.
    plain: Vec<u8>,
    output: Vec<u8>,
}

/// The text of an object, compressed.
#[derive(Debug)]
pub(super) struct Packed {
    bytes: Box<[u8]>,
    /// `None` if `bytes` are the text itself, which does not become shorter.
    dictionary: Option<Arc<Vec<u8>>>,
    /// The length of the object's text; the text of its `managedFields` follows.
    object: u32,
    /// The length of both.
    len: u32,
    version: u64,
}

impl Packing {
    /// Packs a text. The first texts of a kind, and later ones that are unlike them, become part of the dictionary.
    pub(super) fn pack(&mut self, text: &Text) -> Packed {
        let records = text.records.as_deref().unwrap_or_default();
        self.plain.clear();
        self.plain.extend_from_slice(text.object.as_bytes());
        self.plain.extend_from_slice(records.as_bytes());
        let mut len = self.compress();
        if len > self.plain.len() / 2 && self.learn() {
            len = self.compress();
        }
        let is_shorter = len < self.plain.len();
        let bytes = if is_shorter { &self.output[..len] } else { &self.plain };
        Packed {
            bytes: bytes.into(),
            dictionary: is_shorter.then(|| self.dictionary.clone()),
            // Their texts have at most some ten thousand bytes.
            object: text.object.len() as u32,
            len: self.plain.len() as u32,
            version: text.version,
        }
    }

    /// Compresses the text into the output, and returns how long it is.
    fn compress(&mut self) -> usize {
        let most = get_maximum_output_size(self.plain.len());
        if self.output.len() < most {
            self.output.resize(most, 0);
        }
        // The output is long enough, so it does not fail; a text as it is would be right too.
        compress_into_with_dict(&self.plain, &mut self.output, &self.dictionary).unwrap_or(usize::MAX)
    }

    /// Adds the text to the dictionary, if there is room.
    fn learn(&mut self) -> bool {
        let sample = &self.plain[..self.plain.len().min(SAMPLE)];
        let room = self.dictionary.len() + sample.len() <= DICTIONARY;
        if room {
            self.dictionary = Arc::new([&self.dictionary, sample].concat());
        }
        room
    }
}

impl Packed {
    /// The object, as it was when it was decoded first.
    ///
    /// # Panics
    /// If the type cannot be decoded from the same text twice.
    pub(super) fn decode<K: Resource + DeserializeOwned>(&self) -> K {
        let decode = |text: &[u8]| {
            let (object, records) = text.split_at(self.object as usize);
            // From a string, as the informer decodes objects: each source has a decoder of its own for all types.
            let text = |bytes| str::from_utf8(bytes).map_err(Error::custom);
            let mut object: K = serde_json::from_str(text(object)?)?;
            let records = (!records.is_empty()).then(|| serde_json::from_str(text(records)?));
            object.meta_mut().managed_fields = records.transpose()?;
            serde_json::Result::Ok(object)
        };
        let decoded = match &self.dictionary {
            None => decode(&self.bytes),
            Some(dictionary) => {
                let text = decompress_with_dict(&self.bytes, self.len as usize, dictionary);
                decode(&text.unwrap_or_else(|error| panic!("an object that was packed cannot be unpacked: {error}")))
            }
        };
        decoded.unwrap_or_else(|error| panic!("an object that was decoded before cannot be decoded any more: {error}"))
    }

    pub(super) fn version(&self) -> u64 {
        self.version
    }

    /// Whether the object has `managedFields`.
    pub(super) fn has_records(&self) -> bool {
        self.len > self.object
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn text(name: &str, value: &str) -> Text {
        let metadata = json!({"name": name, "namespace": "default", "resourceVersion": "7", "labels": {"app": "web"}});
        Text::new(
            json!({"metadata": metadata, "data": {"value": value}})
                .to_string()
                .into(),
            None,
        )
        .unwrap()
    }

    #[test]
    fn a_text_is_decoded_to_the_object_with_the_records_that_are_kept() {
        let record = json!({"manager": "ours/foobar", "operation": "Apply", "fieldsV1": "{\"f:data\":{}}"});
        let kept: ConfigMap = serde_json::from_value(json!({
            "metadata": {"name": "a", "resourceVersion": "7", "managedFields": [record, {}]}, "data": {"b": "ä\n"}
        }))
        .unwrap();
        let sent = r#"{"kind":"ConfigMap","metadata":{"name":"a","resourceVersion":"7","managedFields":null},"data":{"b":"ä\n"}}"#;
        let mut packing = Packing::default();
        let packed = packing.pack(&Text::new(sent.into(), kept.metadata.managed_fields.as_ref()).unwrap());
        assert_eq!((packed.version(), packed.has_records()), (7, true));
        assert_eq!(packed.decode::<ConfigMap>(), kept);
        let packed = packing.pack(&Text::new(sent.into(), None).unwrap());
        assert!(!packed.has_records());
        assert_eq!(packed.decode::<ConfigMap>().metadata.managed_fields, None);
    }

    #[test]
    fn an_object_takes_the_memory_of_what_others_of_its_kind_do_not_have() {
        let mut packing = Packing::default();
        packing.pack(&text("first", "one"));
        let second = packing.pack(&text("second", "two"));
        assert!(second.bytes.len() < 40, "{}", second.bytes.len());
        assert_eq!(second.decode::<ConfigMap>().metadata.name.as_deref(), Some("second"));
    }

    /// A Pod of a Deployment, with what the API server and the kubelet add.
    fn pod(number: u64) -> Text {
        let random = |salt: u64| format!("{:016x}", (number + salt).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let app = ["web", "api", "worker"][number as usize % 3];
        let time = format!(
            "2026-11-{:02}T{:02}:{:02}:11Z",
            1 + number % 28,
            number % 24,
            number % 60
        );
        let condition =
            |kind: &str| json!({"type": kind, "status": "True", "lastProbeTime": null, "lastTransitionTime": time});
        let conditions = [
            "PodReadyToStartContainers",
            "Initialized",
            "Ready",
            "ContainersReady",
            "PodScheduled",
        ]
        .map(condition);
        let pod = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {
                "name": format!("{app}-{}", &random(1)[..10]), "namespace": format!("team-{}", number % 20), "uid": random(2) + &random(3),
                "resourceVersion": (1_000_000 + number * 17).to_string(), "creationTimestamp": time, "labels": {"app": app},
                "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": app, "uid": random(number % 3), "controller": true}],
            },
            "spec": {
                "nodeName": format!("node-{}", number % 50), "serviceAccountName": app, "restartPolicy": "Always",
                "containers": [{
                    "name": app, "image": format!("registry.example.com/{app}:v1.{}", number % 9), "imagePullPolicy": "IfNotPresent",
                    "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "256Mi"}},
                    "volumeMounts": [{"name": "token", "readOnly": true, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}],
                    "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
                }],
                "tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}],
            },
            "status": {
                "phase": "Running", "conditions": conditions, "podIP": format!("10.244.{}.{}", number % 255, number / 255), "startTime": time,
                "containerStatuses": [{"name": app, "ready": true, "containerID": random(4) + &random(5) + &random(6) + &random(7)}],
            },
        });
        Text::new(pod.to_string().into(), None).unwrap()
    }

    #[test]
    fn pods_of_several_deployments_take_a_fifth_of_their_texts() {
        let mut packing = Packing::default();
        let texts: Vec<_> = (0..500).map(pod).collect();
        let packed: Vec<_> = texts.iter().map(|text| packing.pack(text)).collect();
        let plain: usize = texts.iter().map(|text| text.object.len()).sum();
        let took: usize = packed.iter().map(|packed| packed.bytes.len()).sum();
        assert!(took * 5 < plain, "{took} bytes of {plain}");
    }

    /// Letters of which no four are the same again.
    fn unlike(seed: u32, len: u32) -> String {
        let letter = |at: u32| char::from(b'a' + ((at.wrapping_mul(seed | 1) ^ (at * at / 7)) % 26) as u8);
        (0..len).map(letter).collect()
    }

    #[test]
    fn the_dictionary_is_bounded_and_what_was_packed_with_an_earlier_one_can_still_be_read() {
        let mut packing = Packing::default();
        let values: Vec<_> = (0..30).map(|seed| unlike(seed * 2_654_435 + 77, 3_000)).collect();
        let packed: Vec<_> = values.iter().map(|value| packing.pack(&text("a", value))).collect();
        assert!(packing.dictionary.len() <= DICTIONARY);
        for (packed, value) in packed.iter().zip(&values) {
            assert_eq!(&packed.decode::<ConfigMap>().data.unwrap()["value"], value);
        }
        let long = unlike(5, 15_000);
        let mut packing = Packing::default();
        assert_eq!(
            packing.pack(&text("a", &long)).decode::<ConfigMap>().data.unwrap()["value"],
            long
        );
        assert_eq!(packing.dictionary.len(), SAMPLE);
    }

    proptest! {
        #[test]
        fn whatever_is_packed_is_decoded_as_it_was(objects in proptest::collection::vec(("[a-z]{1,20}", ".{0,300}"), 1..20)) {
            let mut packing = Packing::default();
            let packed: Vec<_> = objects.iter().map(|(name, value)| packing.pack(&text(name, value))).collect();
            for (packed, (name, value)) in packed.iter().zip(&objects) {
                let object = packed.decode::<ConfigMap>();
                prop_assert_eq!(object.metadata.name.as_ref(), Some(name));
                prop_assert_eq!(object.data.as_ref().map(|data| &data["value"]), Some(value));
            }
        }
    }
}
