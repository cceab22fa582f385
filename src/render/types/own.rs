//! Parts of the project's own kinds: the names, columns and endpoints of their CRD, and the schema of the whole object.

use super::{ModuleSubject, Root};
use serde_json::{Map, Value};

/// rustfmt's default `attr_fn_like_width`.
const ATTRIBUTE_WIDTH: usize = 70;

/// The lines of `#[kube(…)]` after the kind's names, without indentation.
pub fn arguments(subject: &ModuleSubject, converted: bool) -> Vec<String> {
    let names = &subject.crd["spec"]["names"];
    let version = super::version(subject.crd, subject.version).unwrap_or(&Value::Null);
    let root = &version["schema"]["openAPIV3Schema"];
    let mut lines: Vec<_> = text("singular", &names["singular"]).into_iter().collect();
    lines.extend(each(&names["shortNames"]).filter_map(|name| text("shortname", name)));
    lines.extend(each(&names["categories"]).filter_map(|name| text("category", name)));
    lines.extend((version["storage"] != true).then(|| "storage = false".to_owned()));
    if version["deprecated"] == true {
        let warning = text("deprecated", &version["deprecationWarning"]);
        lines.push(warning.unwrap_or_else(|| "deprecated".to_owned()));
    }
    lines.extend(text("doc", &root["description"]));
    let own = own_annotations(subject.crd).into_iter();
    lines.extend(own.map(|(key, value)| format!("annotation({key:?}, {value:?})")));
    lines.extend(converted.then(|| "annotation(\"kubewright.dev/conversion\", \"Webhook\")".to_owned()));
    lines.extend(scale(&version["subresources"]["scale"]));
    lines.extend(each(&version["additionalPrinterColumns"]).map(column));
    lines.extend(each(&version["selectableFields"]).filter_map(|field| text("selectable", &field["jsonPath"])));
    lines
}

/// The annotations of a CRD that are its owner's: annotations in the group's own domain, such as `gateway.networking.k8s.io/bundle-version`, and
/// the approval. The others come from tools that wrote or installed the CRD.
pub fn own_annotations(crd: &Value) -> Vec<(&str, &str)> {
    let group = crd["spec"]["group"].as_str().unwrap_or_default();
    let is_own = |key: &str| {
        let domain = key.split_once('/').map_or("", |(domain, _)| domain);
        let rest = group.strip_suffix(domain).filter(|_| domain.contains('.'));
        key == APPROVED
            || rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
                && !key.starts_with("cert-manager.io/inject-")
    };
    let all = crd["metadata"]["annotations"].as_object().into_iter().flatten();
    all.filter(|(key, _)| is_own(key))
        .filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)))
        .collect()
}

/// The annotation without which API servers refuse a CRD in a group of Kubernetes.
const APPROVED: &str = "api-approved.kubernetes.io";

fn scale(scale: &Value) -> Option<String> {
    let paths = [
        ("spec_replicas_path", "specReplicasPath"),
        ("status_replicas_path", "statusReplicasPath"),
        ("label_selector_path", "labelSelectorPath"),
    ];
    let words = paths.iter().filter_map(|(word, key)| text(word, &scale[*key]));
    scale.is_object().then(|| call("scale", words.collect()))
}

fn column(column: &Value) -> String {
    let mut words: Vec<_> = [
        ("name", "name"),
        ("type_", "type"),
        ("format", "format"),
        ("description", "description"),
        ("json_path", "jsonPath"),
    ]
    .iter()
    .filter_map(|(word, key)| text(word, &column[*key]))
    .collect();
    let priority = column["priority"].as_i64().filter(|priority| *priority != 0);
    words.extend(priority.map(|priority| format!("priority = {priority}")));
    call("printcolumn", words)
}

/// `name(…)` as rustfmt breaks it inside `#[kube(…)]`.
fn call(name: &str, words: Vec<String>) -> String {
    let line = words.join(", ");
    match line.len() <= ATTRIBUTE_WIDTH {
        true => format!("{name}({line})"),
        false => format!("{name}(\n        {}\n    )", words.join(",\n        ")),
    }
}

fn text(word: &str, value: &Value) -> Option<String> {
    let value = value.as_str().filter(|text| !text.is_empty())?;
    Some(format!("{word} = {value:?}"))
}

fn each(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

/// Keywords of the whole object's schema that the derive cannot produce: it writes a required spec, and nothing more.
pub fn beyond_derive(subject: &ModuleSubject, root: &Root) -> Option<Map<String, Value>> {
    let mut rest = super::schema(subject.crd, subject.version)?.as_object()?.clone();
    rest.retain(|key, _| !["description", "properties"].contains(&key.as_str()));
    let derived = serde_json::json!({"type": "object", "required": ["spec"]});
    (!root.flat && Value::Object(rest.clone()) != derived).then_some(rest)
}

/// The implementation with these keywords.
pub fn schema(subject: &ModuleSubject, root: &Root, rest: &Map<String, Value>) -> String {
    let name = subject.type_name;
    let mut lines: Vec<_> = rest
        .iter()
        .map(|(key, value)| format!("            {key:?}: {},\n", super::attributes::literal(value)))
        .collect();
    let status = root.status.iter().map(|status| ("status", status));
    let fields = [("spec", &root.spec)].into_iter().chain(status);
    let fields: String = fields
        .map(|(field, of)| format!("                {field:?}: generator.subschema_for::<{of}>(),\n"))
        .collect();
    lines.push(format!("            \"properties\": {{\n{fields}            }},\n"));
    let described = super::schema(subject.crd, subject.version).map(|schema| &schema["description"]);
    if let Some(described) = described.filter(|text| text.is_string()) {
        lines.push(format!(
            "            \"description\": {},\n",
            super::attributes::literal(described)
        ));
    }
    format!(
        "\n// The schema of the whole object. That of the derive requires a `spec`, and has no rule.\n\
         impl JsonSchema for {name} {{\n\
         \x20   fn schema_name() -> std::borrow::Cow<'static, str> {{\n\
         \x20       {name:?}.into()\n\
         \x20   }}\n\n\
         \x20   fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {{\n\
         \x20       schemars::json_schema!({{\n{}        }})\n\
         \x20   }}\n\
         }}\n",
        lines.concat()
    )
}

/// The fields of a status that generated reconcilers can write.
#[derive(Clone, Copy, Debug, Default, serde::Serialize)]
pub struct Reports {
    /// Whether it has a list of Kubernetes' conditions, and nothing else that is required.
    pub conditions: bool,
    /// Whether it has a field for the generation that it describes.
    pub generation: bool,
}

/// The fields that a reconciler of this version can write.
pub fn reports(schema: &Value) -> Reports {
    let status = &schema["properties"]["status"];
    let fields = &status["properties"];
    let required = each(&status["required"]).next().is_some();
    let generation = &fields["observedGeneration"];
    Reports {
        conditions: !required && super::conditions::in_list(&fields["conditions"]),
        generation: generation["type"] == "integer"
            && generation["format"] != "int32"
            && generation["nullable"] != true,
    }
}
