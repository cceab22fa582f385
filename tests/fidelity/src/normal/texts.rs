//! Parts of texts that differ from run to run.

use serde_json::{Deserializer, Value};

use crate::Step;

/// Replaces the random number in the name of the type of `self` in a validation rule.
pub fn without_made_up_types(text: &str) -> String {
    let mut parts = text.split("selfType");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        format!(
            "{text}selfType0{}",
            part.trim_start_matches(|c: char| c.is_ascii_digit())
        )
    })
}

/// Removes quoted objects: Go quotes their fields in the order of its structs, which the API does not show.
pub(super) fn without_quoted_objects(text: String) -> String {
    const BEFORE: &str = "Invalid value: \"{\\\"";
    match (text.find(BEFORE), text.rfind("}\": ")) {
        (Some(at), Some(end)) if at < end => {
            format!("{}Invalid value: <an object>{}", &text[..at], &text[end + 2..])
        }
        _ => text,
    }
}

/// Sorts the fields of quoted values that are JSON: Go quotes the fields of its structs in their order.
pub(super) fn with_sorted_fields(text: &str) -> String {
    const BEFORE: &str = "Invalid value: ";
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(BEFORE) {
        let (head, after) = rest.split_at(at + BEFORE.len());
        out.push_str(head);
        rest = after;
        let mut values = Deserializer::from_str(rest).into_iter::<Value>();
        if let (true, Some(Ok(value))) = (rest.starts_with(['{', '[']), values.next()) {
            out.push_str(&match is_template(&value) {
                true => "<a template>".to_owned(),
                false => value.to_string(),
            });
            rest = &rest[values.byte_offset()..];
        }
    }
    out + rest
}

/// Whether a value is the template of a Job, or the spec of such a template, as an error quotes it: in the form of Go's structs or of the API.
fn is_template(value: &Value) -> bool {
    let has_only = |known: &[&str]| {
        let fields = value.as_object().into_iter().flatten();
        fields.into_iter().all(|(name, _)| known.contains(&name.as_str()))
    };
    let spec = value.get("Spec").or(value.get("spec")).unwrap_or(value);
    spec.get("EphemeralContainers").is_some()
        || spec.get("terminationGracePeriodSeconds").is_some() && (spec == value || has_only(&["metadata", "spec"]))
}

/// Sorts errors about entries of a map, which are in random order, and cuts differences of specs, which are Go's structs.
pub(super) fn listed(mut text: String) -> String {
    // The first unknown field ends the check of its map, whose order is random.
    let patch = "failed to create typed patch object (";
    if let (true, true, Some(at)) = (
        text.starts_with(patch),
        text.contains("field not declared in schema"),
        text.find("): "),
    ) {
        text.truncate(at);
    }
    if let Some(at) = text.find("errors:\n  ") {
        let mut lines: Vec<&str> = text[at..].split('\n').skip(1).collect();
        lines.sort_unstable();
        text = format!("{}errors:\n{}", &text[..at], lines.join("\n"));
    }
    // Go names an authority that it tried.
    if let (Some(at), Some(end)) = (text.find(" (possibly because of "), text.find("-ca\")")) {
        text.replace_range(at..end + 5, "");
    }
    // Go's protobuf writes one of two spaces into its errors, so that nobody relies on them: which one depends on the program.
    text = text.replace("proto:\u{a0}", "proto: ");
    if let Some(at) = text.find("\n@@") {
        text.truncate(at);
    }
    // Of several values in a map that are not base64, the message names a random one.
    let illegal = "illegal base64 data at input byte ";
    if let (true, Some(at)) = (text.starts_with("failed to convert new object ("), text.find(illegal)) {
        text.truncate(at + illegal.len());
    }
    text
}

/// The ports of a Service: `80:<port>/TCP,81/UDP`.
pub(super) fn without_node_ports(cell: &str) -> String {
    let ports = cell.split(',').map(|port| match port.split_once(':') {
        Some((number, rest)) => format!(
            "{number}:<port>{}",
            rest.trim_start_matches(|c: char| c.is_ascii_digit())
        ),
        None => port.to_owned(),
    });
    ports.collect::<Vec<_>>().join(",")
}

/// The length of a random suffix.
pub(super) const RANDOM: usize = 5;

/// The `generateName` of a step, cut as the server cuts it.
pub(super) fn prefix(step: &Step) -> Option<String> {
    let prefix = step.body.as_ref()?.pointer("/metadata/generateName")?.as_str()?;
    Some(prefix[..prefix.len().min(63 - RANDOM)].to_owned()).filter(|prefix| !prefix.is_empty())
}

/// The text after a generated name with this prefix.
pub(super) fn generated<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(prefix)?;
    let (suffix, rest) = rest.split_at_checked(RANDOM)?;
    let is_random = suffix
        .bytes()
        .all(|byte| b"bcdfghjklmnpqrstvwxz2456789".contains(&byte));
    (is_random && !rest.starts_with(|c: char| c.is_ascii_alphanumeric())).then_some(rest)
}

/// The text after a node port that is a duplicate; usually it is random.
pub(super) fn drawn_port(text: &str) -> Option<&str> {
    let said = text.strip_prefix("Duplicate value: ")?;
    let number: u32 = said.get(..5)?.parse().ok()?;
    (30_000..=32_767).contains(&number).then_some(&said[5..])
}

/// The text after a resource version, if `text` begins with the words that precede one in a message.
pub(super) fn said_version(text: &str) -> Option<&str> {
    let said = [
        "current: ",
        "in record (",
        "ResourceVersion in object meta: ",
        "not decodable revision=",
    ]
    .iter()
    .find_map(|words| text.strip_prefix(words))?;
    let after = said.trim_start_matches(|c: char| c.is_ascii_digit());
    (after.len() < said.len() && (after.is_empty() || after.starts_with([')', ':']))).then_some(after)
}

pub(super) fn head(text: &str, length: usize, is: fn(&str) -> bool) -> Option<&str> {
    text.get(..length).filter(|head| is(head))
}

/// Whether `text` matches `pattern`, in which `0` stands for a digit and `x` for a hexadecimal digit.
pub(super) fn alike(text: &str, pattern: &str) -> bool {
    text.len() == pattern.len()
        && text.bytes().zip(pattern.bytes()).all(|(byte, pattern)| match pattern {
            b'0' => byte.is_ascii_digit(),
            b'x' => byte.is_ascii_hexdigit(),
            exactly => byte == exactly,
        })
}

pub(super) fn is_uid(text: &str) -> bool {
    alike(text, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx")
}

pub(super) fn is_time(text: &str) -> bool {
    alike(text, "0000-00-00T00:00:00Z")
}

pub(super) fn is_micro_time(text: &str) -> bool {
    alike(text, "0000-00-00T00:00:00.000000Z")
}

/// Whether `text` is an age, such as `5s`, `3m20s` or `6y300d`, and not an amount, such as `100m`.
pub(super) fn is_age(text: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let mut parts: Vec<&str> = text.split_inclusive(|c: char| c.is_ascii_alphabetic()).collect();
    let last = parts.pop().unwrap_or_default();
    is_number(last.trim_end_matches(['y', 'd', 'h', 's']))
        && last.ends_with(['y', 'd', 'h', 's'])
        && parts
            .iter()
            .all(|part| part.ends_with(['y', 'd', 'h', 'm']) && is_number(&part[..part.len() - 1]))
}
