//! The image of a release: its form, and the containers that get it.

use super::operator::{self, NoOperator};
use super::{PLACEHOLDER, text};
use serde_json::Value;

/// The longest name of an image without tag and digest: `RepositoryNameTotalLengthMax` of distribution/reference.
const LONGEST_NAME: usize = 255;
/// The longest tag.
const LONGEST_TAG: usize = 128;
/// The shortest hash of a digest, in hexadecimal digits.
const SHORTEST_HASH: usize = 32;

/// Whether container runtimes take `image` as the name of an image, with or without tag and digest: the grammar of distribution/reference.
///
/// # Errors
/// The reason.
pub(super) fn check(image: &str) -> Result<(), String> {
    let Some(why) = fault(image) else { return Ok(()) };
    Err(format!(
        "`{image}` is not an image, such as registry.example.com/NAME:TAG: {why}"
    ))
}

/// The first fault of the name of an image.
fn fault(image: &str) -> Option<&'static str> {
    if image.is_empty() {
        return Some("it is empty");
    }
    let (named, digest) = image
        .split_once('@')
        .map_or((image, None), |(named, digest)| (named, Some(digest)));
    if digest.is_some_and(|digest| !is_digest(digest)) {
        return Some("what follows `@` is not a digest such as sha256:…");
    }
    // A colon before a slash belongs to a port.
    let (name, tag) = match named.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => (name, Some(tag)),
        _ => (named, None),
    };
    if tag.is_some_and(|tag| !is_tag(tag)) {
        return Some("the tag has other characters than letters, digits, `_`, `.` and `-`, or more than 128");
    }
    if name.len() > LONGEST_NAME {
        return Some("the name has more than 255 characters");
    }
    let path = match name.split_once('/') {
        Some((host, path)) if is_host(host) => path,
        _ => name,
    };
    if path.split('/').all(is_component) {
        return None;
    }
    Some(
        "a part between slashes is empty, or has other characters than lower-case letters, digits and separators (`.`, `_`, `-`)",
    )
}

fn is_digest(digest: &str) -> bool {
    let Some((algorithm, hash)) = digest.split_once(':') else {
        return false;
    };
    let known = |c: char| c.is_ascii_alphanumeric() || "+.-_".contains(c);
    algorithm.starts_with(|c: char| c.is_ascii_alphabetic())
        && algorithm.chars().all(known)
        && hash.len() >= SHORTEST_HASH
        && hash.bytes().all(|it| it.is_ascii_hexdigit())
}

fn is_tag(tag: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    tag.len() <= LONGEST_TAG && tag.starts_with(is_word) && tag.chars().all(|c| is_word(c) || c == '.' || c == '-')
}

/// Whether the first part of a name is a registry, by the rule of container runtimes.
fn is_host(part: &str) -> bool {
    let hosts = part.contains(['.', ':']) || part == "localhost" || part.chars().any(|c| c.is_ascii_uppercase());
    let (name, port) = match part.rsplit_once(':') {
        Some((name, port)) if !port.contains(']') => (name, Some(port)),
        _ => (part, None),
    };
    let is_name = match name.strip_prefix('[') {
        Some(address) => {
            let address = address.strip_suffix(']').unwrap_or_default();
            !address.is_empty() && address.chars().all(|c| c.is_ascii_hexdigit() || c == ':')
        }
        None => name.split('.').all(|label| {
            let inner = label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
            inner && !label.is_empty() && !label.starts_with('-') && !label.ends_with('-')
        }),
    };
    hosts && is_name && port.is_none_or(|port| !port.is_empty() && port.bytes().all(|it| it.is_ascii_digit()))
}

/// Whether a part of the path has lower-case letters and digits, with separators between them: one `.`, one or two `_`, or any number of `-`.
fn is_component(part: &str) -> bool {
    let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let mut gap = String::new();
    let mut begun = false;
    for c in part.chars() {
        if is_word(c) {
            let fits = matches!(gap.as_str(), "" | "." | "_" | "__") || gap.chars().all(|c| c == '-');
            if !fits || (!begun && !gap.is_empty()) {
                return false;
            }
            begun = true;
            gap.clear();
        } else {
            gap.push(c);
        }
    }
    begun && gap.is_empty()
}

/// Gives the operator's container this image, and every other container with the image that the operator's container had, or with the
/// placeholder.
///
/// # Errors
/// No container is the operator's.
pub(super) fn set(objects: &mut [&mut Value], image: &str) -> Result<(), NoOperator> {
    let views: Vec<&Value> = objects.iter().map(|object| &**object).collect();
    let at = operator::find(&views)?;
    let container = operator::container(views[at])?;
    let path = format!("/spec/template/spec/containers/{container}");
    let old = views[at].pointer(&path).map(|it| text(it, "/image").to_owned());
    let old = old.filter(|old| !old.is_empty());
    for object in objects.iter_mut() {
        replace(object, old.as_deref(), image);
    }
    if let Some(container) = objects[at].pointer_mut(&path) {
        container["image"] = image.into();
    }
    Ok(())
}

/// Replaces the image `old` and the placeholder anywhere in a value: a Job or an init container may run the operator's program too.
pub(crate) fn replace(value: &mut Value, old: Option<&str>, image: &str) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, old, image)),
        Value::Object(map) => {
            for (key, value) in map.iter_mut() {
                match value {
                    Value::String(text) if key == "image" && (Some(text.as_str()) == old || text == PLACEHOLDER) => {
                        *text = image.to_owned();
                    }
                    value => replace(value, old, image),
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_tags_ports_and_digests_are_taken_as_container_runtimes_do() {
        let digest = format!("sha256:{}", "0a".repeat(32));
        let fine = [
            "controller:latest",
            "op",
            "registry.example/op:2",
            "localhost:5000/a/b",
            "Registry.example:5000/a__b/c---d:V_1.2-x",
            "[::1]:5000/op:1",
        ];
        let pinned = [format!("op@{digest}"), format!("localhost/op:1@{digest}")];
        for image in fine.into_iter().chain(pinned.iter().map(String::as_str)) {
            assert_eq!(check(image), Ok(()), "{image}");
        }
        let long = "a".repeat(256);
        let tag = format!("op:{}", "a".repeat(129));
        let wrong = [
            "",
            " ",
            "op:",
            "op:1 2",
            "Op:1",
            "a/B:1",
            "a//b",
            "/op",
            "op/",
            "a___b",
            "a-",
            "-a",
            ".a:1",
            "op@sha256:12",
            "op@",
            "op:1:2",
            "op\n",
            "--help",
            "ü",
            "registry.example:port/op",
            "https://registry.example/op",
            &long,
            &tag,
        ];
        for image in wrong {
            let error = check(image).unwrap_err();
            assert!(error.starts_with(&format!("`{image}` is not an image, ")), "{error}");
        }
    }

    fn deployment(containers: &Value) -> Value {
        json!({"kind": "Deployment", "metadata": {"name": "foo-controller-manager"}, "spec": {"template": {"spec": {"containers": containers}}}})
    }

    fn set_one(containers: &Value) -> Value {
        let mut deployment = deployment(containers);
        set(&mut [&mut deployment], "new:1").unwrap();
        deployment["spec"]["template"]["spec"]["containers"].take()
    }

    #[test]
    fn the_operator_gets_the_image_whatever_it_had() {
        for had in [json!("controller:latest"), json!("registry.example/op:1"), json!(null)] {
            let got = set_one(&json!([{"name": "manager", "image": had}, {"name": "proxy", "image": "proxy:3"}]));
            assert_eq!(
                got,
                json!([{"name": "manager", "image": "new:1"}, {"name": "proxy", "image": "proxy:3"}])
            );
        }
        assert_eq!(
            set_one(&json!([{"name": "other"}])),
            json!([{"name": "other", "image": "new:1"}])
        );
    }

    #[test]
    fn others_that_run_the_program_of_the_operator_get_the_image_too() {
        let mut operator = deployment(&json!([{"name": "manager", "image": "op:1"}]));
        let mut job = json!({"kind": "Job", "spec": {"template": {"spec": {"initContainers": [{"image": "op:1"}], "containers": [
            {"image": "controller:latest", "env": [{"name": "image", "value": "op:1"}]}, {"image": "op:12"},
        ]}}}});
        set(&mut [&mut job, &mut operator], "new:1").unwrap();
        let wanted = json!({"initContainers": [{"image": "new:1"}], "containers": [
            {"image": "new:1", "env": [{"name": "image", "value": "op:1"}]}, {"image": "op:12"},
        ]});
        assert_eq!(job["spec"]["template"]["spec"], wanted);
    }

    #[test]
    fn without_a_container_of_the_operator_there_is_an_error() {
        let mut service = json!({"kind": "Service"});
        let error = set(&mut [&mut service], "new:1").unwrap_err();
        assert!(
            error.to_string().contains("config/default has to contain ../manager"),
            "{error}"
        );
        let mut two = deployment(&json!([{"name": "a"}, {"name": "b"}]));
        assert!(matches!(set(&mut [&mut two], "new:1"), Err(NoOperator::Container)));
    }
}
