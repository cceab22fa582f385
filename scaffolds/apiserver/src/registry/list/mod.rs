//! Lists: whole collections, pages, and past revisions.

mod body;
pub mod options;
pub mod revision;
mod token;

use std::sync::Arc;

use super::{Reply, convert};
use crate::{
    call::Call,
    state::Core,
    status::Status,
    store::{Compacted, Range, Record},
};
use options::ListParameters;
use token::Token;

/// The minimum of objects that are matched with a selector at a time.
const AT_ONCE: usize = 500;

/// The range and the revision of a list.
struct ListQuery {
    /// The exact revision of the list, if it must be an earlier one.
    at: Option<u64>,
    /// The oldest revision that the list may have.
    not_older: u64,
    /// The path at which the page begins, without the range's prefix.
    from: String,
    /// At most this many objects; 0 for all.
    limit: usize,
}

/// One page, and how many objects remain after it.
struct Page {
    range: Range,
    revision: u64,
    records: Vec<Arc<Record>>,
    remaining: usize,
}

/// Lists the objects of a call's collection.
///
/// # Errors
/// 400 and 422 for parameters, 410 for a compacted revision or token, 504 for a revision that is not reached in time.
pub(super) async fn list(core: &Core, call: &Call) -> Result<Reply, Status> {
    let options = ListParameters::read(call)?;
    let wanted = ListQuery::by(&options)?;
    let not_older = wanted.at.unwrap_or(wanted.not_older);
    revision::wait(&core.store, not_older).await?;
    chosen(core, call, &options, &wanted).await.map(|chosen| chosen.reply)
}

/// The objects of a list, and the parts of its answer.
pub(super) struct Chosen {
    pub records: Vec<Arc<Record>>,
    pub reply: Reply,
}

/// Like [`list`], for callers that process the objects themselves. Does not wait for a future revision.
///
/// # Errors
/// As for [`list`].
pub(super) async fn choose(core: &Core, call: &Call, options: &ListParameters) -> Result<Chosen, Status> {
    let mut wanted = ListQuery::by(options)?;
    // Upstream, these lists always have a limit, so they are of the exact revision.
    if options.resource_version_match.is_empty() && wanted.not_older > 0 {
        wanted.at = Some(wanted.not_older);
    }
    let (not_older, present) = (wanted.at.unwrap_or(wanted.not_older), core.store.revision());
    if not_older > present {
        return Err(Status::too_large_resource_version(not_older, present));
    }
    chosen(core, call, options, &wanted).await
}

async fn chosen(core: &Core, call: &Call, options: &ListParameters, wanted: &ListQuery) -> Result<Chosen, Status> {
    let page = page(core, call, options, wanted).await?;
    let object = body::write(&call.resource, &page.metadata(call, options), &page.records)?;
    Ok(Chosen {
        records: page.records,
        reply: Reply { code: 200, object },
    })
}

/// The range of a call's collection in the store.
pub(super) fn range(call: &Call) -> Range {
    Range::new(&call.resource.store_name(), call.namespace())
}

impl ListQuery {
    fn by(options: &ListParameters) -> Result<Self, Status> {
        // Upstream answers resourceVersion 0 from its cache, which ignores the limit.
        let limit = if options.resource_version == "0" {
            0
        } else {
            options.limit
        };
        if !options.token.is_empty() {
            let token = Token::decode(&options.token)?;
            if !["", "0"].contains(&options.resource_version.as_str()) {
                return Err(Status::bad_request(
                    "specifying resource version is not allowed when using continue",
                ));
            }
            let (at, from) = (token.revision, token.start);
            return Ok(Self {
                at,
                not_older: 0,
                from,
                limit,
            });
        }
        let revision = revision::parse(&options.resource_version)
            .map_err(|why| Status::bad_request(format!("invalid resource version: {why}")))?;
        let not_older = revision.unwrap_or_default();
        let exact = match options.resource_version_match.as_str() {
            "Exact" => true,
            // The behaviour from before the parameter `resourceVersionMatch` existed.
            "" => options.limit > 0 && not_older > 0,
            _ => false,
        };
        Ok(Self {
            at: exact.then_some(not_older),
            not_older,
            from: String::new(),
            limit,
        })
    }
}

async fn page(core: &Core, call: &Call, options: &ListParameters, wanted: &ListQuery) -> Result<Page, Status> {
    let expired = |Compacted { .. }| expired(options, wanted);
    let range = options.fields.narrow(range(call));
    let from = match wanted.from.as_str() {
        "" => String::new(),
        from => format!("{}{from}", prefix(&range)),
    };
    if options.selects_all() {
        let page = core
            .store
            .page(&range, wanted.at, &from, wanted.limit)
            .map_err(expired)?;
        let (revision, remaining) = (page.revision, page.remaining);
        let records = convert::all(&call.resource, page.records).await?;
        return Ok(Page {
            range,
            revision,
            records,
            remaining,
        });
    }
    matching(core, call, options, wanted, range, from).await
}

/// The page of a list that selects objects. They are matched outside the store's lock, some at a time: if each page looked at all that are
/// left, a whole list would take the square of their number. Like upstream, the remaining objects are counted before they are matched, so the
/// page after a full one may be empty.
async fn matching(
    core: &Core,
    call: &Call,
    options: &ListParameters,
    wanted: &ListQuery,
    range: Range,
    mut from: String,
) -> Result<Page, Status> {
    let expired = |Compacted { .. }| expired(options, wanted);
    let (limit, some) = match wanted.limit {
        0 => (usize::MAX, 0),
        limit => (limit, limit.max(AT_ONCE)),
    };
    let (mut at, mut records) = (wanted.at, Vec::new());
    loop {
        let page = core.store.page(&range, at, &from, some).map_err(expired)?;
        let (revision, behind) = (page.revision, page.remaining);
        let last = page.records.last().map(|record| record.key.path());
        let mut left = convert::all(&call.resource, page.records).await?.into_iter();
        let room = limit - records.len();
        records.extend(left.by_ref().filter(|record| options.matches(call, record)).take(room));
        let remaining = left.len() + behind;
        if let Some(last) = last.filter(|_| behind > 0 && records.len() < limit) {
            (at, from) = (Some(revision), format!("{last}\0"));
            continue;
        }
        if let Some(last) = records.last().filter(|_| left.len() > 0) {
            core.store.ended(&range, revision, last, remaining);
        }
        return Ok(Page {
            range,
            revision,
            records,
            remaining,
        });
    }
}

impl Page {
    fn metadata(&self, call: &Call, options: &ListParameters) -> body::ListMetadata {
        let last = self.records.last().filter(|_| self.remaining > 0);
        let token = last.map(|record| {
            let path = record.key.path();
            let path = path.strip_prefix(&prefix(&self.range)).unwrap_or(&path);
            let token = Token::behind(self.revision, path);
            // Upstream reads a kind without a cache under a prefix that ends in a slash.
            match call.resource.rules().storage.is_uncached {
                true => token.encode_plain(),
                false => token.encode(),
            }
        });
        let remaining = (token.is_some() && options.selects_all()).then_some(self.remaining);
        body::ListMetadata {
            revision: self.revision,
            token,
            remaining,
        }
    }
}

/// The prefix that all paths of a list have, which tokens leave out.
fn prefix(range: &Range) -> String {
    range
        .namespace
        .as_ref()
        .map(|namespace| format!("{namespace}/"))
        .unwrap_or_default()
}

/// The 410 for an expired list. A client in the middle of a list gets a token to continue with the objects as they are
/// now.
fn expired(options: &ListParameters, wanted: &ListQuery) -> Status {
    if options.token.is_empty() {
        return Status::expired("The resourceVersion for the provided list is too old.");
    }
    let token = Token {
        revision: None,
        start: wanted.from.clone(),
    };
    let message = "The provided continue parameter is too old to display a consistent list result. You can start a new \
                   list without the continue parameter, or use the continue token in this response to retrieve the \
                   remainder of the results. Continuing with the provided token results in an inconsistent list - \
                   objects that were created, modified, or deleted between the time the first chunk was returned and \
                   now may show up in the list.";
    Status::expired(message).continuing_with(&token.encode_plain())
}
