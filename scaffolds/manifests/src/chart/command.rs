//! The command line and the environment of the operator's container.

use super::marks::{Blocks, CLUSTERNAME, FULLNAME};
use super::names::Names;
use super::pod::{collection, quoted, take};
use super::switches::{self, METRICS, WEBHOOKS};
use crate::rendered::text;
use serde_json::Value;

/// The flag with the prefix of the names of webhooks' objects.
const PREFIX_FLAG: &str = "--webhook-name-prefix=";
/// The flag with the suffix of these names. A release has none.
const SUFFIX_FLAG: &str = "--webhook-name-suffix=";
/// The flag with the prefix of the names of webhook configurations, which belong to the cluster.
const CONFIGURATION_FLAG: &str = "--webhook-configuration-prefix=";
/// The flag that makes one replica work, and the others wait.
const LEADER_FLAG: &str = "--leader-elect";

/// The settings of a release for the operator.
#[derive(Clone, Copy)]
pub(super) struct OperatorRelease<'a> {
    pub names: &'a Names,
    /// Whether it looks for objects by their prefix: it has webhooks, or makes the certificate of its metrics.
    pub prefixed: bool,
    /// Whether it serves webhooks.
    pub webhooks: bool,
}

/// The value of a switch.
pub(super) fn enabled(key: &str) -> Option<&'static str> {
    match key {
        METRICS => Some("metrics.enabled"),
        WEBHOOKS => Some("webhooks.enabled"),
        _ => None,
    }
}

/// The value that leaves out an argument or a port.
pub(super) fn enabled_item(item: &Value) -> Option<&'static str> {
    if is_election(item) {
        return Some("leaderElection.enabled");
    }
    switches::of_item(item).and_then(enabled)
}

/// Whether an argument turns on the election of a leader.
fn is_election(argument: &Value) -> bool {
    argument == LEADER_FLAG || argument == &format!("{LEADER_FLAG}=true")
}

pub(super) fn elects(container: &Value) -> bool {
    container["args"].as_array().into_iter().flatten().any(is_election)
}

/// Adds the arguments of the values, and what the operator has to be told about its release.
pub(super) fn arguments(container: &mut Value, release: OperatorRelease<'_>, blocks: &mut Blocks) {
    let more = "{{- range .Values.extraArgs }}\n- {{ quote . }}\n{{- end }}";
    let elects = elects(container);
    let base = release.names.base.as_str();
    let (mut list, mut given) = (Vec::new(), false);
    if let Some(Value::Array(items)) = container.get_mut("args") {
        for item in items.iter_mut() {
            let text = item.as_str().unwrap_or_default();
            if text.starts_with(PREFIX_FLAG) {
                (*item, given) = (format!("{PREFIX_FLAG}{FULLNAME}-").into(), true);
            } else if text.starts_with(CONFIGURATION_FLAG) {
                *item = format!("{CONFIGURATION_FLAG}{CLUSTERNAME}-").into();
            }
        }
    }
    if release.prefixed && !given {
        // Without the flag, the operator takes the prefix from the name of its ServiceAccount.
        list.push(prefix_argument(PREFIX_FLAG, "fullname", base, true));
    }
    if release.prefixed {
        // The name of a ServiceAccount may be `<prefix>controller-manager<suffix>` by chance.
        list.push(format!(
            "{{{{- if .Values.serviceAccount.name }}}}\n- {SUFFIX_FLAG}\n{{{{- end }}}}"
        ));
    }
    // The value of a flag without `=` may be the next item.
    let mut before = None;
    blocks.switch(&mut container["args"], |item| match item.as_str() {
        Some(flag) if flag.starts_with('-') => {
            let own = enabled_item(item);
            before = own.filter(|_| !flag.contains('='));
            own
        }
        _ => before.take(),
    });
    if !elects {
        list.push(format!(
            "{{{{- if .Values.leaderElection.enabled }}}}\n- {LEADER_FLAG}\n{{{{- end }}}}"
        ));
    }
    if release.webhooks {
        list.push(prefix_argument(CONFIGURATION_FLAG, "clusterName", base, false));
        list.push("{{- if not .Values.webhooks.enabled }}\n- --webhook-bind-address=0\n{{- end }}".to_owned());
    }
    list.push(more.to_owned());
    if container["args"].is_array() {
        list.into_iter()
            .for_each(|text| blocks.push(&mut container["args"], text));
    } else {
        take(container, "args");
        blocks.insert(container, format!("args:\n{}", list.join("\n")));
    }
}

/// The text that passes a prefix to the operator: if it is not `base`, or if the ServiceAccount has a name of its own and the prefix is
/// `of_account`.
fn prefix_argument(flag: &str, template: &str, base: &str, of_account: bool) -> String {
    let name = format!("(include \"{base}.{template}\" .)");
    let differs = format!("ne {name} {}", quoted(base));
    let condition = match of_account {
        true => format!("or .Values.serviceAccount.name ({differs})"),
        false => differs,
    };
    format!("{{{{- if {condition} }}}}\n- {{{{ printf \"{flag}%s-\" {name} | quote }}}}\n{{{{- end }}}}")
}

/// A variable of the chart is left out if the values have one of that name.
pub(super) fn environment(container: &mut Value, blocks: &mut Blocks) {
    let Some(Value::Array(items)) = take(container, "env") else {
        blocks.insert(container, collection("env", "extraEnv"));
        return;
    };
    let given = "{{- $given := list }}\n{{- range .Values.extraEnv }}\n{{- $given = append $given .name }}\n{{- end }}";
    let list = &mut container["env"];
    blocks.push(list, given);
    for item in items {
        let name = quoted(text(&item, "/name"));
        blocks.push(list, format!("{{{{- if not (has {name} $given) }}}}"));
        if let Value::Array(list) = list {
            list.push(item);
        }
        blocks.push(list, "{{- end }}");
    }
    blocks.push(
        list,
        "{{- with .Values.extraEnv }}\n{{- toYaml . | nindent +0 }}\n{{- end }}",
    );
}
