//! The path and method of a request, like upstream's RequestInfo: group, version, resource, namespace, name and verb.
//! Does not depend on which resources exist.

use http::Method;
use percent_encoding::percent_decode_str;

use super::Query;

/// The parsed path of a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Info {
    /// The path, percent-decoded.
    pub path: String,
    /// Whether the path names a resource: `/api/VERSION/…` or `/apis/GROUP/VERSION/…`.
    pub is_resource: bool,
    /// The verb for authorization: `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`;
    /// for other paths the method in lower case; empty for methods that no resource supports.
    pub verb: String,
    /// Empty for the core group.
    pub group: String,
    /// For example `v1`.
    pub version: String,
    /// Empty if the path has none.
    pub namespace: String,
    /// The plural of the resource.
    pub resource: String,
    /// Empty for a collection.
    pub name: String,
    /// Empty for the resource itself.
    pub subresource: String,
    /// Whether the path has a segment for the namespace, which is empty.
    pub has_empty_namespace: bool,
    /// Whether the path has no further segments and begins with one slash: only such paths are served.
    pub is_whole: bool,
}

/// The subresources of a Namespace; all other paths below `namespaces/NAME/` are resources in that namespace.
const OF_NAMESPACES: [&str; 2] = ["status", "finalize"];

impl Info {
    /// Parses a path as the client sent it. Percent-decoding comes first, so an encoded slash separates segments too.
    ///
    /// # Errors
    /// A path with an invalid percent-encoding.
    pub fn read(method: &Method, path: &str, query: &Query) -> Result<Self, BadPath> {
        if !well_encoded(path) {
            return Err(BadPath);
        }
        let decoded = percent_decode_str(path).decode_utf8_lossy().into_owned();
        let mut info = Self {
            verb: method.as_str().to_ascii_lowercase(),
            ..Self::default()
        };
        let segments: Vec<&str> = decoded.trim_matches('/').split('/').collect();
        info.is_whole = !decoded.starts_with("//");
        let (group, version, rest) = match segments.as_slice() {
            ["api", version, rest @ ..] => ("", *version, rest),
            ["apis", group, version, rest @ ..] => (*group, *version, rest),
            _ => ("", "", &[][..]),
        };
        if !rest.is_empty() {
            (info.group, info.version) = (group.to_owned(), version.to_owned());
            info.resource(rest, method, query);
        }
        info.path = decoded;
        Ok(info)
    }

    /// Reads what is behind group and version.
    fn resource(&mut self, rest: &[&str], method: &Method, query: &Query) {
        self.is_resource = true;
        verb(method).clone_into(&mut self.verb);
        let rest = match rest {
            // Deprecated since 1.11, but still supported.
            ["watch", rest @ ..] if !rest.is_empty() => {
                "watch".clone_into(&mut self.verb);
                rest
            }
            _ => rest,
        };
        let rest = match rest {
            ["namespaces", namespace, inside, ..] if !OF_NAMESPACES.contains(inside) => {
                (*namespace).clone_into(&mut self.namespace);
                self.has_empty_namespace = namespace.is_empty();
                rest.get(2..).unwrap_or_default()
            }
            ["namespaces", namespace, ..] => {
                (*namespace).clone_into(&mut self.namespace);
                rest
            }
            _ => rest,
        };
        let mut segments = rest.iter().map(|segment| (*segment).to_owned());
        self.resource = segments.next().unwrap_or_default();
        self.name = segments.next().unwrap_or_default();
        self.subresource = segments.next().unwrap_or_default();
        self.is_whole &= segments.next().is_none();
        if self.name.is_empty() {
            match self.verb.as_str() {
                "get" if query.flag("watch") => "watch".clone_into(&mut self.verb),
                "get" => "list".clone_into(&mut self.verb),
                "delete" => "deletecollection".clone_into(&mut self.verb),
                _ => {}
            }
        }
    }

    /// Whether the request is for Namespaces themselves, which are cluster-scoped.
    pub fn is_namespace(&self) -> bool {
        self.group.is_empty() && self.resource == "namespaces"
    }
}

/// A path with an invalid percent-encoding: HTTP 400 in plain text, as Go's server answers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BadPath;

fn verb(method: &Method) -> &'static str {
    match method.as_str() {
        "POST" => "create",
        "GET" | "HEAD" => "get",
        "PUT" => "update",
        "PATCH" => "patch",
        "DELETE" => "delete",
        _ => "",
    }
}

fn well_encoded(path: &str) -> bool {
    path.split('%').skip(1).all(|rest| {
        let mut digits = rest.bytes();
        let hex = |digit: Option<u8>| digit.is_some_and(|digit| digit.is_ascii_hexdigit());
        hex(digits.next()) && hex(digits.next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(method: Method, uri: &str) -> Info {
        let (path, query) = uri.split_once('?').unwrap_or((uri, ""));
        Info::read(&method, path, &Query::read(query)).unwrap()
    }

    /// Verb, group/version, namespace, resource, name, subresource.
    fn parts(info: &Info) -> [&str; 6] {
        [
            &info.verb,
            &info.group,
            &info.namespace,
            &info.resource,
            &info.name,
            &info.subresource,
        ]
    }

    #[test]
    fn a_path_names_its_resource() {
        let info = read(Method::GET, "/apis/apps/v1/namespaces/a/deployments/b/status");
        assert_eq!(parts(&info), ["get", "apps", "a", "deployments", "b", "status"]);
        let info = read(Method::DELETE, "/api/v1/namespaces/a/pods?watch=1");
        assert_eq!(parts(&info), ["deletecollection", "", "a", "pods", "", ""]);
        assert_eq!(
            parts(&read(Method::GET, "/api/v1/pods?watch=1")),
            ["watch", "", "", "pods", "", ""]
        );
        assert_eq!(
            parts(&read(Method::GET, "/api/v1/pods?watch=false")),
            ["list", "", "", "pods", "", ""]
        );
    }

    #[test]
    fn the_path_of_a_namespace_names_a_resource() {
        assert_eq!(
            parts(&read(Method::GET, "/api/v1/namespaces/a")),
            ["get", "", "a", "namespaces", "a", ""]
        );
        let info = read(Method::PUT, "/api/v1/namespaces/a/finalize");
        assert_eq!(parts(&info), ["update", "", "a", "namespaces", "a", "finalize"]);
    }

    #[test]
    fn the_deprecated_watch_prefix_is_supported() {
        let info = read(Method::GET, "/api/v1/watch/namespaces/a/pods/b");
        assert_eq!(parts(&info), ["watch", "", "a", "pods", "b", ""]);
    }

    #[test]
    fn an_encoded_slash_divides_segments_and_other_paths_name_no_resource() {
        let info = read(Method::GET, "/api/v1/namespaces/a/pods/..%2f..");
        assert_eq!(parts(&info), ["get", "", "a", "pods", "..", ".."]);
        assert!(read(Method::GET, "/api/v1/pods/").is_whole);
        assert!(!read(Method::GET, "//api/v1/pods").is_whole);
        let info = read(Method::GET, "/api/v1/namespaces//pods");
        assert_eq!(parts(&info), ["list", "", "", "pods", "", ""]);
        assert!(info.is_whole && info.has_empty_namespace);
        assert!(!read(Method::GET, "/api/v1/namespaces/a/pods/b/c/d").is_whole);
        assert!(!read(Method::GET, "/apis/apps").is_resource);
        assert!(Info::read(&Method::GET, "/api/%zz", &Query::default()).is_err());
        assert!(Info::read(&Method::GET, "/api/%", &Query::default()).is_err());
    }
}
