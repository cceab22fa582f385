//! LimitRanges.

use serde_json::Value;

use crate::{
    kinds::{
        edit::{Fields, made, set, text},
        kind::BuiltInKind,
    },
    strategy::{MetadataPass, Rules},
};

pub(in crate::kinds) fn kind() -> BuiltInKind {
    BuiltInKind {
        rules: Rules {
            creates_on_update: true,
            metadata_passes: MetadataPass::VALIDATE,
            ..Rules::default()
        },
        defaults: &[("core.v1.LimitRangeItem", default_item)],
        cells: |row| vec![row.name(), row.text("metadata.creationTimestamp")],
        ..BuiltInKind::default()
    }
}

fn default_item(item: &mut Fields) {
    if text(item, "type") != "Container" {
        return;
    }
    for (target, source) in [
        ("default", "max"),
        ("defaultRequest", "default"),
        ("defaultRequest", "min"),
    ] {
        let Some(Value::Object(from)) = item.get(source).cloned() else {
            continue;
        };
        if let Some(to) = made(item, target) {
            from.into_iter().for_each(|(name, amount)| set(to, &name, amount));
        }
    }
}
