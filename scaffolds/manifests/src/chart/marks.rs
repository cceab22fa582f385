//! Marks: what Helm fills in, as strings among the values of an object. The object is written as YAML with its marks, and then each mark
//! becomes template text. Everything else is escaped, so that Helm prints it as it is.

use kubewright_schema::yaml;
use serde_json::Value;

/// A character that no text may have. The YAML writer escapes it, and therefore quotes every string with a mark: what Helm fills in
/// cannot change the type of the value.
const MARK: char = '\u{ffff}';
/// Its escaped form.
const WRITTEN: &str = "\\uffff";

/// The prefix of all names, without its hyphen.
pub(super) const FULLNAME: &str = "\u{ffff}FULLNAME;";
/// The same for objects of the cluster.
pub(super) const CLUSTERNAME: &str = "\u{ffff}CLUSTERNAME;";
/// The namespace of the release.
pub(super) const NAMESPACE: &str = "\u{ffff}NAMESPACE;";
/// The name of the ServiceAccount.
pub(super) const ACCOUNT: &str = "\u{ffff}ACCOUNT;";
/// The image of the operator.
pub(super) const IMAGE: &str = "\u{ffff}IMAGE;";

/// Helm's replacements of marks. `NAME` is the name of the chart.
const FILLED: [(&str, &str); 5] = [
    ("CLUSTERNAME;", "{{ include \"NAME.clusterName\" . }}"),
    ("FULLNAME;", "{{ include \"NAME.fullname\" . }}"),
    ("NAMESPACE;", "{{ .Release.Namespace }}"),
    ("ACCOUNT;", "{{ include \"NAME.serviceAccountName\" . }}"),
    ("IMAGE;", "{{ include \"NAME.image\" . }}"),
];

/// Whether a text cannot be told from a mark.
pub(super) fn is_marked(text: &str) -> bool {
    text.contains(MARK)
        || FILLED
            .iter()
            .any(|(mark, _)| text.contains(&format!("{WRITTEN}{mark}")))
}

/// The lines of template text that an object needs, each in the place of a key or of an item.
#[derive(Default)]
pub(super) struct Blocks(Vec<String>);

impl Blocks {
    /// Reserves the place of `text`: the returned key goes into a map with `null` as its value, or into a list as an item. `text` is
    /// indented as its place is, and `nindent +2` in it becomes an indentation by two more than that.
    fn add(&mut self, text: impl Into<String>) -> String {
        self.0.push(text.into());
        format!("{MARK}{};", self.0.len() - 1)
    }

    /// Puts `text` into a map.
    pub(super) fn insert(&mut self, map: &mut Value, text: impl Into<String>) {
        let key = self.add(text);
        map[key] = Value::Null;
    }

    /// Renders the items of a list for which `condition` has a value only if that value is true.
    pub(super) fn switch(&mut self, list: &mut Value, mut condition: impl FnMut(&Value) -> Option<&'static str>) {
        let Value::Array(items) = list else { return };
        for item in std::mem::take(items) {
            let value = condition(&item);
            if let Some(value) = value {
                items.push(self.add(format!("{{{{- if .Values.{value} }}}}")).into());
            }
            items.push(item);
            if value.is_some() {
                items.push(self.add("{{- end }}").into());
            }
        }
    }

    /// Appends `text` to a list, which is created if it does not exist.
    pub(super) fn push(&mut self, list: &mut Value, text: impl Into<String>) {
        let item = Value::String(self.add(text));
        match list {
            Value::Array(items) => items.push(item),
            none => *none = Value::Array(vec![item]),
        }
    }
}

/// Writes an object as the text of a template of the chart `name`.
pub(super) fn write(object: &Value, blocks: &Blocks, name: &str) -> String {
    let mut out = String::new();
    for line in yaml::to_string(object).lines() {
        match place(line, blocks) {
            Some((indent, text)) => write_block(indent, text, &mut out),
            None => {
                out.push_str(&fill(&escape(line), WRITTEN, name));
                out.push('\n');
            }
        }
    }
    out
}

/// `text` so that Helm prints it: a template starts with two braces, and nothing else is special outside of one.
pub(super) fn escape(text: &str) -> String {
    text.replace("{{", "{{ \"{{\" }}")
}

/// The indentation and the text of the block whose place this line is.
fn place<'a>(line: &str, blocks: &'a Blocks) -> Option<(usize, &'a str)> {
    let word = line.trim_start();
    let indent = line.len() - word.len();
    let word = word.strip_prefix("- ").unwrap_or(word);
    let word = word.strip_suffix(": null").unwrap_or(word);
    let number = word.strip_prefix("\"\\uffff")?.strip_suffix(";\"")?;
    let text = blocks.0.get(number.parse::<usize>().ok()?)?;
    Some((indent, text))
}

fn write_block(indent: usize, text: &str, out: &mut String) {
    for line in text.lines() {
        let line = match line.split_once("nindent +") {
            Some((before, after)) => {
                let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
                // Two digits at most: the texts are ours.
                let more: usize = after[..end].parse().unwrap_or_default();
                format!("{before}nindent {}{}", indent + more, &after[end..])
            }
            None => line.to_owned(),
        };
        out.push_str(&" ".repeat(indent));
        out.push_str(&line);
        out.push('\n');
    }
}

/// A text with marks, outside of YAML.
pub(super) fn text(text: &str, name: &str) -> String {
    fill(text, &MARK.to_string(), name)
}

/// `line` with its marks filled in, each of which starts with `start`.
fn fill(line: &str, start: &str, name: &str) -> String {
    let mut line = line.to_owned();
    if line.contains(start) {
        for (mark, filled) in FILLED {
            line = line.replace(&format!("{start}{mark}"), &filled.replace("NAME", name));
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_helm_would_read_as_a_template_is_escaped_and_marks_are_quoted() {
        let object = json!({
            "a": format!("{FULLNAME}-x.{NAMESPACE}.svc"),
            "b": "uses {{ .Values }} and {{{",
            "c": {"d": "two\nlines {{- x }}\n"},
        });
        let written = write(&object, &Blocks::default(), "foo");
        let wanted = "a: \"{{ include \"foo.fullname\" . }}-x.{{ .Release.Namespace }}.svc\"\n\
                      b: uses {{ \"{{\" }} .Values }} and {{ \"{{\" }}{\n\
                      c:\n  d: |\n    two\n    lines {{ \"{{\" }}- x }}\n";
        assert_eq!(written, wanted);
    }

    #[test]
    fn a_block_is_indented_as_its_place() {
        let mut blocks = Blocks::default();
        let mut object = json!({"a": {"b": 1, "list": [{"c": 2}], "none": null}});
        blocks.insert(
            &mut object["a"],
            "{{- with .Values.x }}\nx:\n  {{- toYaml . | nindent +2 }}\n{{- end }}",
        );
        blocks.push(
            &mut object["a"]["list"],
            "{{- with .Values.y }}\n{{- toYaml . | nindent +0 }}\n{{- end }}",
        );
        blocks.push(&mut object["a"]["none"], "- z");
        let written = write(&object, &blocks, "foo");
        let wanted = "a:\n  b: 1\n  list:\n  - c: 2\n  {{- with .Values.y }}\n  {{- toYaml . | nindent 2 }}\n  {{- end }}\n\
                      \x20 none:\n  - z\n  {{- with .Values.x }}\n  x:\n    {{- toYaml . | nindent 4 }}\n  {{- end }}\n";
        assert_eq!(written, wanted);
    }
}
