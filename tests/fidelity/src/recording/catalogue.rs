//! The list of recordings.

use anyhow::Result;

use super::{
    Recorder, Recording,
    definitions::{ANSWERS, OBJECT_META},
    embedded,
    probes::recording,
    role_rules, schemas, values,
};
use crate::probes;

/// All recordings, by name.
///
/// # Errors
/// When the probes cannot be read.
pub fn all() -> Result<Vec<Recording>> {
    let files = [
        (
            "kinds",
            "scaffolds/apiserver/tests/kinds/recorded.jsonl",
            Recorder::Kinds,
        ),
        (
            "resources",
            "scaffolds/apiserver/src/kinds/resources.txt",
            Recorder::Resources,
        ),
        ("shapes", "scaffolds/apiserver/src/kinds/shapes.txt", Recorder::Shapes),
        (
            "object-meta",
            "scaffolds/schema/src/typed/metadata.json",
            Recorder::Definitions(&OBJECT_META),
        ),
        (
            "answers",
            "scaffolds/apiserver/src/openapi/answers.json",
            Recorder::Definitions(&ANSWERS),
        ),
        ("schema-verdicts", schemas::VERDICTS, Recorder::SchemaVerdicts),
        ("schema-rules", schemas::RULES, Recorder::SchemaRules),
        ("schema-values", values::FILE, Recorder::SchemaValues),
        (
            "rule-functions",
            "scaffolds/cel/src/language/library/signatures.txt",
            Recorder::RuleFunctions,
        ),
        ("role-rules", role_rules::FILE, Recorder::RoleRules),
        ("embedded-types", embedded::TYPES, Recorder::EmbeddedTypes),
        ("embedded", embedded::EXAMPLE, Recorder::Embedded),
        (
            "discovery",
            "scaffolds/apiserver/tests/api/custom/recorded/aggregated.jsonl",
            Recorder::Discovery,
        ),
        (
            "openapi",
            "scaffolds/apiserver/tests/api/custom/recorded/openapi.jsonl",
            Recorder::OpenApi,
        ),
        (
            "bookmarks",
            "scaffolds/apiserver/src/registry/empty.txt",
            Recorder::Bookmarks,
        ),
        ("zones", "scaffolds/apiserver/src/kinds/zones.txt", Recorder::Zones),
        (
            "roles",
            "scaffolds/apiserver/src/authorize/bootstrap.txt",
            Recorder::Roles,
        ),
        (
            "protobuf",
            "scaffolds/apiserver/tests/api/protobuf.jsonl",
            Recorder::Protobuf,
        ),
        ("forms", "scaffolds/apiserver/tests/forms.jsonl", Recorder::Forms),
        (
            "autoscalers",
            "scaffolds/apiserver/tests/workloads/autoscalers.jsonl",
            Recorder::Autoscalers,
        ),
    ];
    let files = files.into_iter().map(|(name, file, recorder)| Recording {
        name: name.to_owned(),
        file: file.to_owned(),
        recorder,
    });
    let of_probes = probes()?.into_keys();
    Ok(files.chain(of_probes.map(|file| recording(&file))).collect())
}
