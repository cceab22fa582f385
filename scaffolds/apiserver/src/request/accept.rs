//! The form of the answer, negotiated as upstream from `Accept`, `pretty` and `User-Agent`.

use http::{HeaderMap, header};

use super::Query;
use crate::{kinds::protobuf, status::Status};

/// The encoding of an answer.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Format {
    /// JSON without white space.
    #[default]
    Json,
    /// JSON with line breaks and indentation.
    Pretty,
    /// YAML.
    Yaml,
    /// Protobuf, for objects of kinds that have messages.
    Protobuf,
}

impl Format {
    /// For the header `Content-Type`.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Json | Self::Pretty => "application/json",
            Self::Yaml => "application/yaml",
            Self::Protobuf => protobuf::MEDIA_TYPE,
        }
    }

    /// For the header `Content-Type` of a watch.
    pub fn media_type_of_watches(self) -> &'static str {
        match self {
            Self::Protobuf => OFFERED_OF_WATCHES[1],
            _ => self.media_type(),
        }
    }
}

/// The shape of objects.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Shape {
    /// Complete objects.
    #[default]
    Object,
    /// A Table of `meta.k8s.io`.
    Table,
    /// A PartialObjectMetadata of `meta.k8s.io`.
    Metadata,
    /// A PartialObjectMetadataList of `meta.k8s.io`.
    MetadataList,
}

/// The API version of Tables and metadata.
pub const META: &str = "meta.k8s.io/v1";
/// Their former API version, which is served too.
pub const META_BETA: &str = "meta.k8s.io/v1beta1";

/// The result of the negotiation.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Negotiated {
    /// The encoding of objects.
    pub format: Format,
    /// The shape of objects.
    pub shape: Shape,
    /// Whether a shape is in its former version.
    pub is_beta: bool,
}

/// The forms in which a resource is served, beside JSON, YAML and metadata.
#[derive(Clone, Copy, Debug, Default)]
pub struct Offers {
    /// Its objects can be encoded in Protobuf.
    pub messages: bool,
    /// Its objects can be the rows of a Table.
    pub tables: bool,
}

/// The media types of resources. Not all are listed in every answer.
const OFFERED: [&str; 3] = ["application/json", "application/yaml", protobuf::MEDIA_TYPE];
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
            "*" | "*/*" | "application/*" | "application/json" => Some(Format::Json),
            "application/yaml" => Some(Format::Yaml),
            protobuf::MEDIA_TYPE => Some(Format::Protobuf),
            _ => None,
        }
    }

    /// Whether the clause requests no other shape than that of the object.
    fn is_plain(&self) -> bool {
        ["as", "g", "v"].iter().all(|name| self.parameter(name).is_empty())
    }

    /// Whether the clause requests no stream or server version but existing ones.
    fn is_allowed(&self, server_version: &str) -> bool {
        let (stream, version) = (self.parameter("stream"), self.parameter("sv"));
        let has_stream = stream == "watch" && self.format() != Some(Format::Yaml);
        (stream.is_empty() || has_stream) && (version.is_empty() || version == server_version)
    }

    /// Whether the real server's router, which does not know these wildcards, accepts the clause.
    fn is_routed(&self) -> bool {
        !["*", "application/*"].contains(&self.media_type) && self.format().is_some()
    }

    /// The shape that the clause requests; `None` if it is unknown.
    fn shape(&self) -> Option<Shape> {
        let is_meta = self.parameter("g") == "meta.k8s.io" && ["v1", "v1beta1"].contains(&self.parameter("v"));
        match self.parameter("as") {
            "" => self.is_plain().then_some(Shape::Object),
            "Table" if is_meta => Some(Shape::Table),
            "PartialObjectMetadata" if is_meta => Some(Shape::Metadata),
            "PartialObjectMetadataList" if is_meta => Some(Shape::MetadataList),
            _ => None,
        }
    }
}

/// The format of an answer that is not a resource, for example a failure, which has no other shape. As upstream, JSON with line
/// breaks if no requested format is available.
pub fn format(headers: &HeaderMap, query: &Query) -> Format {
    let clauses = clauses(headers);
    let mut plain = clauses
        .iter()
        .filter(|clause| clause.is_plain() && clause.is_allowed(""));
    match plain.find_map(|clause| Some((clause.format()?, clause))) {
        Some((Format::Json, clause)) if clause.parameter("pretty") == "1" => Format::Pretty,
        Some((Format::Json, _)) | None if is_pretty(headers, query) => Format::Pretty,
        Some((format, _)) => format,
        None if clauses.is_empty() => Format::Json,
        None => Format::Pretty,
    }
}

/// The format and shape of a resource.
///
/// # Errors
/// 406 when no accepted media type is available.
pub fn negotiate(headers: &HeaderMap, query: &Query, verb: &str, offers: Offers) -> Result<Negotiated, Status> {
    let is_watch = verb == "watch";
    let clauses = clauses(headers);
    if clauses.is_empty() {
        return Ok(Negotiated {
            format: format(headers, query),
            ..Negotiated::default()
        });
    }
    if offers.messages && !clauses.iter().any(Clause::is_routed) {
        return Err(unroutable(verb));
    }
    let allowed = clauses.iter().filter(|clause| clause.is_allowed("v1"));
    let mut offered = allowed.filter_map(|clause| {
        let (format, shape) = (clause.format()?, clause.shape()?);
        let is_offered = match (format, shape) {
            (Format::Protobuf, Shape::Object) => offers.messages,
            (Format::Protobuf, Shape::Table) => false,
            (_, Shape::Table) => offers.tables,
            _ => true,
        };
        is_offered.then_some((clause, format, shape))
    });
    if let Some((clause, format, shape)) = offered.next() {
        if is_watch && format == Format::Yaml {
            return Err(Status::not_acceptable(&OFFERED_OF_WATCHES));
        }
        let is_indented = clause.parameter("pretty") == "1" || is_pretty(headers, query);
        let pretty = format == Format::Json && !is_watch && is_indented;
        return Ok(Negotiated {
            format: if pretty { Format::Pretty } else { format },
            shape,
            is_beta: clause.parameter("v") == "v1beta1",
        });
    }
    // Upstream has two layers of negotiation. The outer one considers only media types, and has a message of its own.
    if clauses.iter().any(|clause| clause.format().is_some()) {
        return Err(Status::not_acceptable(&OFFERED));
    }
    Err(unroutable(verb))
}

/// 406 for a request whose media types the real server's router does not know. A list may be a watch.
fn unroutable(verb: &str) -> Status {
    match verb {
        "list" | "watch" => unavailable(&[OFFERED.as_slice(), OFFERED_OF_WATCHES.as_slice()].concat()),
        _ => unavailable(&OFFERED),
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

/// Checks that the client accepts a document of discovery. `is_routed` is whether the real server's router checks it too.
///
/// # Errors
/// 406.
pub fn check_document(headers: &HeaderMap, is_routed: bool) -> Result<(), Status> {
    let clauses = clauses(headers);
    let is_fit = |clause: &Clause| clause.format().is_some() && clause.is_plain() && clause.is_allowed("");
    match clauses.is_empty() {
        false if is_routed && !clauses.iter().any(Clause::is_routed) => Err(unavailable(&OFFERED)),
        false if !clauses.iter().any(is_fit) => Err(Status::not_acceptable(&OFFERED)),
        _ => Ok(()),
    }
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

    const KIND: Offers = Offers {
        messages: false,
        tables: true,
    };

    fn wanted(accept: &str) -> Result<Negotiated, u16> {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, accept.parse().unwrap());
        negotiate(&headers, &Query::default(), "get", KIND).map_err(|status| status.code)
    }

    #[test]
    fn kubectl_gets_tables() {
        let accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";
        assert_eq!(
            wanted(accept),
            Ok(Negotiated {
                format: Format::Json,
                shape: Shape::Table,
                is_beta: false,
            })
        );
        let beta = wanted("application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json").unwrap();
        assert_eq!((beta.shape, beta.is_beta), (Shape::Table, true));
        let alpha = "application/json;as=Table;v=v1alpha1;g=meta.k8s.io,application/json";
        assert_eq!(wanted(alpha).unwrap().shape, Shape::Object);
    }

    #[test]
    fn what_has_messages_is_sent_in_protobuf() {
        let wanted = |accept: &str, verb: &str, has_messages: bool| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT, accept.parse().unwrap());
            let offers = Offers {
                messages: has_messages,
                ..KIND
            };
            negotiate(&headers, &Query::default(), verb, offers).map(|wanted| wanted.format)
        };
        let both = "application/vnd.kubernetes.protobuf,application/json";
        assert_eq!(wanted(both, "get", true).unwrap(), Format::Protobuf);
        assert_eq!(wanted(both, "watch", true).unwrap(), Format::Protobuf);
        assert_eq!(wanted(both, "get", false).unwrap(), Format::Json);
        let shaped = |shape: &str| format!("{};as={shape};v=v1;g=meta.k8s.io", protobuf::MEDIA_TYPE);
        assert_eq!(
            wanted(&shaped("PartialObjectMetadata"), "get", false).unwrap(),
            Format::Protobuf
        );
        assert_eq!(wanted(&shaped("Table"), "get", true).unwrap_err().code, 406);
        assert_eq!(wanted(protobuf::MEDIA_TYPE, "list", false).unwrap_err().code, 406);
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
        assert_eq!(wanted("application/vnd.kubernetes.protobuf"), Err(406));
        assert_eq!(wanted("application/json;stream=foo"), Err(406));
        assert_eq!(wanted("application/json;pretty=1").unwrap().format, Format::Pretty);
    }

    #[test]
    fn browsers_and_curl_get_indented_json() {
        let mut headers = HeaderMap::new();
        headers.insert(header::USER_AGENT, "curl/8.5.0".parse().unwrap());
        assert_eq!(format(&headers, &Query::default()), Format::Pretty);
        assert_eq!(format(&headers, &Query::read("pretty=0")), Format::Json);
        assert_eq!(format(&HeaderMap::new(), &Query::read("pretty=true")), Format::Pretty);
        headers.insert(
            header::ACCEPT,
            "application/json;as=Table;v=v1;g=meta.k8s.io".parse().unwrap(),
        );
        assert_eq!(format(&headers, &Query::read("pretty=0")), Format::Pretty);
    }
}
