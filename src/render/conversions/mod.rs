//! The conversions of a kind as templates see them: the registry, and the functions between the hub and a spoke.

mod functions;
mod ways;

use crate::project::{Api, Conversion, Declared, Kind, Version, rust};
use anyhow::{Context as _, Result};
use serde::Serialize;
use tera::Context;

/// The conversion of a kind.
#[derive(Serialize)]
pub struct ConversionView<'a> {
    module: String,
    /// The modules of its functions, one for each spoke.
    spokes: Vec<&'a str>,
}

/// The view of that conversion.
pub fn view(own: &Conversion) -> ConversionView<'_> {
    let mut spokes: Vec<_> = own.spokes.iter().map(Version::as_str).collect();
    spokes.sort_by(|a, b| rust::module_order(a, b));
    ConversionView {
        module: rust::module(&own.file()),
        spokes,
    }
}

/// The kind in the version of the hub, and in the version of the spoke of this number.
pub fn versions(kind: &Kind, nth: usize) -> Option<[Api<'_>; 2]> {
    let conversion = kind.conversion.as_ref()?;
    let api = |version| {
        Some(Api {
            kind,
            version: kind.version(version)?,
        })
    };
    Some([api(&conversion.hub)?, api(conversion.spokes.get(nth)?)?])
}

/// The functions to and from the hub of that spoke. `types` returns the types of a version.
pub fn functions(
    context: &mut Context,
    kind: &Kind,
    nth: usize,
    types: impl Fn(Api<'_>) -> Result<Declared>,
) -> Result<()> {
    let versions = versions(kind, nth).context("a conversion of a version that the kind does not have")?;
    let [hub_types, spoke_types] = [types(versions[0])?, types(versions[1])?];
    let [hub, spoke] = versions;
    let (hub, spoke) = (side(hub, &hub_types), side(spoke, &spoke_types));
    context.insert("to_hub", &functions::write("to_hub", spoke, hub));
    context.insert("from_hub", &functions::write("from_hub", hub, spoke));
    Ok(())
}

fn side<'a>(api: Api<'a>, types: &'a Declared) -> functions::Side<'a> {
    functions::Side {
        version: api.version.name.as_str(),
        types,
    }
}
