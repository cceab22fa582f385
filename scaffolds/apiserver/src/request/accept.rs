//! What the client wants to get, by `Accept`, `pretty` and `User-Agent`, as upstream negotiates it.

use http::{HeaderMap, header};

use super::Query;
use crate::status::Status;

/// How text is written.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Format {
    /// Without white space.
    #[default]
    Json,
    /// With, for people.
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

/// As what objects are wanted.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Shape {
    /// As they are.
    #[default]
    Object,
    /// `meta.k8s.io/v1 Table`.
    Table,
    /// `meta.k8s.io/v1 PartialObjectMetadata`.
    Metadata,
    /// `meta.k8s.io/v1 PartialObjectMetadataList`.
    MetadataList,
}

/// What was agreed on.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Wanted {
    /// How text is written.
    pub format: Format,
    /// As what objects are sent.
    pub shape: Shape,
}

/// What resources can be had as. The last two are not listed in every answer, and never served here.
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

    /// None for a shape that nobody has.
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

/// The format for an answer that is no resource, failures included: whatever is wanted, there is JSON.
pub fn format(headers: &HeaderMap, query: &Query) -> Format {
    let wanted = clauses(headers).iter().find_map(Clause::format).unwrap_or_default();
    if wanted == Format::Json && is_pretty(headers, query) {
        Format::Pretty
    } else {
        wanted
    }
}

/// What a resource is sent as.
///
/// # Errors
/// 406 when nothing that is accepted can be had; 501 where only the real server has it: Protobuf.
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
    // Two layers negotiate upstream: the outer one, which knows media types only, has an answer of its own.
    if clauses.iter().any(|clause| clause.format().is_some()) {
        return Err(Status::not_acceptable(if is_watch {
            &OFFERED_OF_WATCHES
        } else {
            &OFFERED
        }));
    }
    // A list may be watched.
    match verb {
        "list" | "watch" => Err(unavailable(
            &[OFFERED.as_slice(), OFFERED_OF_WATCHES.as_slice()].concat(),
        )),
        _ => Err(unavailable(&OFFERED)),
    }
}

/// 406 as the router of the real server says it.
pub fn unavailable(offered: &[&str]) -> Status {
    let message = format!(
        "406: Not Acceptable\n\nAvailable representations: {}",
        offered.join(", ")
    );
    Status::generic(406, "NotAcceptable", &message)
}

/// Whether discovery is wanted in one document: the first clause that discovery can answer says so.
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

/// By falling quality; of two alike the first.
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

/// Asked for, or a program that people look at.
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
    fn the_best_that_can_be_had_is_taken() {
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
    fn people_get_white_space() {
        let mut headers = HeaderMap::new();
        headers.insert(header::USER_AGENT, "curl/8.5.0".parse().unwrap());
        assert_eq!(format(&headers, &Query::default()), Format::Pretty);
        assert_eq!(format(&headers, &Query::read("pretty=0")), Format::Json);
        assert_eq!(format(&HeaderMap::new(), &Query::read("pretty=true")), Format::Pretty);
    }
}
