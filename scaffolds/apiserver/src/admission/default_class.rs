//! DefaultStorageClass and DefaultIngressClass: a new object that names no class gets the one that is marked as default.

use serde_json::{Value, json};

use super::{Attributes, Objects, Operation};
use crate::{
    meta,
    state::Core,
    status::{Status, Subject},
};

/// A kind whose objects name a class.
pub(super) struct Defaulted {
    subject: Subject<'static>,
    /// The field of the spec that names the class.
    field: &'static str,
    /// The deprecated annotation that names the class.
    annotation: &'static str,
    /// The path of the classes in the store.
    classes: &'static str,
    /// The annotations that mark the default.
    marks: &'static [&'static str],
}

/// PersistentVolumeClaims.
pub(super) const STORAGE: Defaulted = Defaulted {
    subject: Subject::new("", "persistentvolumeclaims"),
    field: "storageClassName",
    annotation: "volume.beta.kubernetes.io/storage-class",
    classes: "storage.k8s.io/storageclasses",
    marks: &[
        "storageclass.kubernetes.io/is-default-class",
        "storageclass.beta.kubernetes.io/is-default-class",
    ],
};

/// Ingresses.
pub(super) const INGRESS: Defaulted = Defaulted {
    subject: Subject::new("networking.k8s.io", "ingresses"),
    field: "ingressClassName",
    annotation: "kubernetes.io/ingress.class",
    classes: "networking.k8s.io/ingressclasses",
    marks: &["ingressclass.kubernetes.io/is-default-class"],
};

impl Defaulted {
    /// Sets the class of a new object.
    ///
    /// # Errors
    /// 500 if a class cannot be decoded.
    pub fn admit(&self, core: &Core, attributes: &Attributes<'_>, objects: &mut Objects<'_>) -> Result<(), Status> {
        if attributes.operation != Operation::Create || !attributes.is_about(self.subject) {
            return Ok(());
        }
        let Some(new) = objects.new.as_deref_mut() else {
            return Ok(());
        };
        if self.has_class(new) {
            return Ok(());
        }
        if let (Some(class), Some(spec)) = (self.default(core)?, new.get_mut("spec").and_then(Value::as_object_mut)) {
            spec.insert(self.field.to_owned(), json!(class));
        }
        Ok(())
    }

    fn has_class(&self, object: &Value) -> bool {
        let field = object.get("spec").and_then(|spec| spec.get(self.field));
        annotation(object, self.annotation).is_some() || field.is_some_and(|class| !class.is_null())
    }

    /// The class marked as default: of several, the newest, and of equally old ones the first by name.
    fn default(&self, core: &Core) -> Result<Option<String>, Status> {
        let mut found: Option<Value> = None;
        for record in core.store.all(self.classes, "") {
            let class: Value = record.read()?;
            let made = |class: &Value| meta::text(class, "creationTimestamp").to_owned();
            let is_newer = found.as_ref().is_none_or(|found| made(&class) > made(found));
            let is_marked = self.marks.iter().any(|mark| annotation(&class, mark) == Some("true"));
            if is_marked && is_newer {
                found = Some(class);
            }
        }
        Ok(found.map(|class| meta::text(&class, "name").to_owned()))
    }
}

fn annotation<'a>(object: &'a Value, name: &str) -> Option<&'a str> {
    meta::of(object).get("annotations")?.get(name)?.as_str()
}
