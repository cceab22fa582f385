//! The form of the answer, negotiated as upstream from `Accept`, `pretty` and `User-Agent`.

use http::{HeaderMap, header};

use super::Query;
use crate::status::Status;

/// The format of text.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Format {
    /// JSON without white space.
    #[default]
    Json,
    /// JSON with line breaks and indentation.
    Pretty,
    /// YAML.
    Yaml,
}

impl Format {
    /// For the header `Content-Type`.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Json | Self::Pretty => "application/json",
            Self::Yaml => "application/yaml",
        }
    }
}

/// The shape of objects.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Shape {
    /// Complete objects.
    #[default]
    Object,
    /// `meta.k8s.io/v1 Table`.
    Table,
    /// `meta.k8s.io/v1 PartialObjectMetadata`.
    Metadata,
    /// `meta.k8s.io/v1 PartialObjectMetadataList`.
    MetadataList,
}

/// The result of the negotiation.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Wanted {
    /// The format of text.
    pub format: Format,
    /// The shape of objects.
    pub shape: Shape,
}

/// The media types of resources. The last two are not listed in every answer, and are never served here.
const OFFERED: [&str; 3] = [
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
];
const OFFERED_OF_WATCHES: [&str; 2] = [
    "application/json;stream=watch",
    "application/vnd.kubernetes.protobuf;stream=watch",
];

/// One clause of the header `Accept`.
struct Clause<'a> {
    media_type: &'a str,
    parameters: Vec<(&'a str, &'a str)>,
    quality: f32,
}

impl<'a> Clause<'a> {
    fn read(text: &'a str) -> Self {
        let mut parts = text.split(';').map(str::trim);
        let media_type = parts.next().unwrap_or_default();
        let parameters: Vec<_> = parts.filter_map(|part| part.split_once('=')).collect();
        let quality = parameters
            .iter()
            .find(|(name, _)| *name == "q")
            .and_then(|(_, value)| value.parse().ok());
        Self {
            media_type,
            parameters,
            quality: quality.unwrap_or(1.0),
        }
    }

    fn parameter(&self, name: &str) -> &'a str {
        self.parameters
            .iter()
            .find(|(key, _)| *key == name)
            .map_or("", |(_, value)| value)
    }

    fn format(&self) -> Option<Format> {
        match self.media_type {
            "*/*" | "application/*" | "application/json" => Some(Format::Json),
            "application/yaml" => Some(Format::Yaml),
            _ => None,
        }
    }

    /// The shape that the clause requests; `None` if it is unknown.
    fn shape(&self) -> Option<Shape> {
        let is_meta = self.parameter("g") == "meta.k8s.io" && self.parameter("v") == "v1";
        match self.parameter("as") {
            "" => Some(Shape::Object),
            "Table" if is_meta => Some(Shape::Table),
            "PartialObjectMetadata" if is_meta => Some(Shape::Metadata),
            "PartialObjectMetadataList" if is_meta => Some(Shape::MetadataList),
            _ => None,
        }
    }
}

/// The format of an answer that is not a resource, for example a failure: JSON if no requested format is available.
pub fn format(headers: &HeaderMap, query: &Query) -> Format {
    let wanted = clauses(headers).iter().find_map(Clause::format).unwrap_or_default();
    if wanted == Format::Json && is_pretty(headers, query) {
        Format::Pretty
    } else {
        wanted
    }
}

/// The format and shape of a resource.
///
/// # Errors
/// 406 when no accepted media type is available; 501 for Protobuf, which only the real server supports.
pub fn negotiate(headers: &HeaderMap, query: &Query, verb: &str) -> Result<Wanted, Status> {
    let is_watch = verb == "watch";
    let clauses = clauses(headers);
    if clauses.is_empty() {
        return Ok(Wanted {
            format: format(headers, query),
            shape: Shape::Object,
        });
    }
    let fits = |clause: &&Clause| !(is_watch && clause.format() == Some(Format::Yaml));
    let found = clauses
        .iter()
        .filter(fits)
        .find_map(|clause| Some((clause.format()?, clause.shape()?)));
    if let Some((format, shape)) = found {
        let pretty = format == Format::Json && !is_watch && is_pretty(headers, query);
        return Ok(Wanted {
            format: if pretty { Format::Pretty } else { format },
            shape,
        });
    }
    if clauses
        .iter()
        .any(|clause| clause.media_type == "application/vnd.kubernetes.protobuf")
    {
        return Err(Status::not_implemented(
            "an answer in application/vnd.kubernetes.protobuf",
        ));
    }
    // Upstream has two layers of negotiation. The outer one considers only media types, and has a message of its own.
    if clauses.iter().any(|clause| clause.format().is_some()) {
        return Err(Status::not_acceptable(if is_watch {
            &OFFERED_OF_WATCHES
        } else {
            &OFFERED
        }));
    }
    // A list may be a watch.
    match verb {
        "list" | "watch" => Err(unavailable(
            &[OFFERED.as_slice(), OFFERED_OF_WATCHES.as_slice()].concat(),
        )),
        _ => Err(unavailable(&OFFERED)),
    }
}

/// 406 with the message of the real server's router.
pub fn unavailable(offered: &[&str]) -> Status {
    let message = format!(
        "406: Not Acceptable\n\nAvailable representations: {}",
        offered.join(", ")
    );
    Status::generic(406, "NotAcceptable", &message)
}

/// Whether the client requests aggregated discovery: the first clause that discovery supports decides.
pub fn wants_aggregated(headers: &HeaderMap) -> bool {
    let clauses = clauses(headers);
    let mut known = clauses.iter().filter(|clause| clause.format() == Some(Format::Json));
    known.find_map(
        |clause| match (clause.parameter("g"), clause.parameter("v"), clause.parameter("as")) {
            ("apidiscovery.k8s.io", "v2", "APIGroupDiscoveryList") => Some(true),
            ("", _, "") => Some(false),
            _ => None,
        },
    ) == Some(true)
}

/// The first of the `offered` media types that the most preferred clause accepts; the very first if the client accepts
/// anything, `None` if it accepts none of them.
pub fn preferred(headers: &HeaderMap, offered: &[&'static str]) -> Option<&'static str> {
    let clauses = clauses(headers);
    if clauses.is_empty() {
        return offered.first().copied();
    }
    let accepts = |clause: &Clause, media_type: &str| match clause.media_type.strip_suffix('*') {
        Some("*/") => true,
        Some(start) => media_type.starts_with(start),
        None => media_type == clause.media_type,
    };
    let mut found = clauses
        .iter()
        .filter_map(|clause| offered.iter().find(|media_type| accepts(clause, media_type)));
    found.next().copied()
}

/// The clauses by descending quality; in the order of the header if that is equal.
fn clauses(headers: &HeaderMap) -> Vec<Clause<'_>> {
    let accepted = headers
        .get_all(header::ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok());
    let mut clauses: Vec<Clause> = accepted
        .flat_map(|value| value.split(','))
        .map(|text| Clause::read(text.trim()))
        .collect();
    clauses.retain(|clause| !clause.media_type.is_empty());
    clauses.sort_by(|a, b| b.quality.total_cmp(&a.quality));
    clauses
}

/// Whether indentation is requested, or the user agent is a program for people.
fn is_pretty(headers: &HeaderMap, query: &Query) -> bool {
    if query.get("pretty").is_some() {
        return matches!(query.get("pretty"), Some("1" | "t" | "T" | "true" | "TRUE" | "True"));
    }
    let agent = headers
        .get(header::USER_AGENT)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    ["curl", "Wget", "Mozilla/5.0"]
        .iter()
        .any(|program| agent.starts_with(program))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(accept: &str) -> Result<Wanted, u16> {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, accept.parse().unwrap());
        negotiate(&headers, &Query::default(), "get").map_err(|status| status.code)
    }

    #[test]
    fn kubectl_gets_tables() {
        let accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";
        assert_eq!(
            wanted(accept),
            Ok(Wanted {
                format: Format::Json,
                shape: Shape::Table
            })
        );
        let beta = "application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";
        assert_eq!(wanted(beta).unwrap().shape, Shape::Object);
    }

    #[test]
    fn the_most_preferred_supported_type_is_chosen() {
        assert_eq!(
            wanted("application/vnd.kubernetes.protobuf,application/json")
                .unwrap()
                .format,
            Format::Json
        );
        assert_eq!(wanted("foo/bar, application/yaml;q=0.1").unwrap().format, Format::Yaml);
        assert_eq!(
            wanted("application/yaml;q=0.1, */*;q=0.2").unwrap().format,
            Format::Json
        );
        assert_eq!(wanted("text/html"), Err(406));
        assert_eq!(wanted("application/json;as=Foo;v=v1;g=meta.k8s.io"), Err(406));
        assert_eq!(wanted("application/vnd.kubernetes.protobuf"), Err(501));
    }

    #[test]
    fn browsers_and_curl_get_indented_json() {
        let mut headers = HeaderMap::new();
        headers.insert(header::USER_AGENT, "curl/8.5.0".parse().unwrap());
        assert_eq!(format(&headers, &Query::default()), Format::Pretty);
        assert_eq!(format(&headers, &Query::read("pretty=0")), Format::Json);
        assert_eq!(format(&HeaderMap::new(), &Query::read("pretty=true")), Format::Pretty);
    }
}
