//! The attributes that are found, and those that apply.

use super::{endless, in_source};

fn messages(source: &str) -> Vec<String> {
    in_source(source, "a.rs").iter().map(ToString::to_string).collect()
}

#[test]
fn an_ignored_attribute_is_reported_with_type_field_line_and_remedy() {
    let source = "
        #[derive(JsonSchema)]
        pub struct Spec {
            /// Tags.
            #[schemars(length(min = 1))]
            #[serde(default)]
            pub(crate) tags: Option<std::collections::BTreeMap<String, String>>,
        }
    ";
    assert_eq!(
        messages(source),
        [
            "`Spec`, `tags`: `length(…)` does not apply to this type and is ignored (a.rs:7)\n\n\
          hint: for a map: `#[schemars(extend(\"minProperties\" = …, \"maxProperties\" = …))]`"
        ]
    );
}

#[test]
fn exactly_the_validators_that_do_not_apply_to_a_type_are_reported() {
    for (attribute, kind, found) in [
        ("length(max = 3)", "String", false),
        ("length(max = 3)", "Option<Vec<u8>>", false),
        ("length(max = 3)", "[u8; 4]", false),
        ("length(max = 3)", "HashMap<String, u8>", true),
        ("length(max = 3)", "u8", true),
        ("length(max = 3)", "bool", true),
        ("range(max = 3)", "f64", false),
        ("range(max = 3)", "Option<i64>", false),
        ("range(max = 3)", "&'static str", true),
        ("range(max = 3)", "Vec<u8>", true),
        ("regex(pattern = \"length(\")", "String", false),
        ("regex(pattern = \"a\")", "Vec<String>", true),
        ("regex(pattern = \"a\")", "BTreeMap<String, String>", true),
        ("inner(length(min = 1))", "Vec<String>", false),
        ("inner(length(min = 1)), length(min = 2)", "Vec<String>", false),
        ("inner(range(min = 1))", "Vec<String>", true),
        ("inner(length(min = 1))", "Vec<BTreeMap<String, u8>>", true),
        ("range(min = 1)", "IntOrString", true),
        ("length(max = 3)", "Option<Quantity>", true),
        ("regex(pattern = \"a\")", "intstr::IntOrString", true),
        ("extend(\"minimum\" = 1)", "IntOrString", false),
        ("length(max = 3)", "Mine", false),
        ("with = \"String\", regex(pattern = \"a\")", "u64", false),
        ("with = \"Option<u64>\", length(max = 3)", "String", true),
        ("schema_with = \"size\", regex(pattern = \"a\")", "u64", false),
        ("title = \"length\", extend(\"a\" = {\"range\": 1})", "u8", false),
    ] {
        let named = messages(&format!("struct A {{ #[schemars({attribute})] a: {kind}, b: u8 }}"));
        assert_eq!(!named.is_empty(), found, "{attribute} {kind}: {named:?}");
        let unnamed = messages(&format!("struct A(#[schemars({attribute})] pub {kind});"));
        assert_eq!(unnamed.is_empty(), named.is_empty(), "{attribute} {kind}: {unnamed:?}");
    }
}

#[test]
fn a_type_of_the_file_that_is_named_like_one_of_kubernetes_is_another_one() {
    let field = "struct A { #[schemars(range(min = 1))] n: Quantity }";
    assert!(!messages(field).is_empty() && messages(&format!("type Quantity = u32; {field}")).is_empty());
}

#[test]
fn a_field_with_a_raw_name_is_a_field() {
    let found = messages("struct A { #[schemars(range(min = 1))] r#type: String }");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("`A`, `type`: `range(…)`"), "{found:?}");
}

#[test]
fn an_alias_of_a_field_is_reported_where_the_type_has_a_schema() {
    let of = |derive: &str, body: &str| messages(&format!("#[derive(Clone, {derive})]\npub struct A {{\n{body}\n}}"));
    for attribute in [
        "alias = \"old\"",
        "default, alias = \"old\"",
        "alias = \"a\", alias = \"b\"",
    ] {
        let found = of(
            "JsonSchema",
            &format!("#[serde({attribute})]\npub(crate) size: i32, b: u8"),
        );
        assert_eq!(found.len(), 1, "{attribute}: {found:?}");
        assert!(
            found[0].starts_with("`A`, `size`: an object that has the field by its `alias` loses it"),
            "{found:?}"
        );
        assert!(found[0].contains("(a.rs:4)\n\nhint: remove the `alias`"), "{found:?}");
    }
    for (derive, body) in [
        ("Deserialize", "#[serde(alias = \"old\")] size: i32"),
        ("JsonSchema", "#[serde(rename = \"alias\")] size: i32"),
        ("JsonSchema", "#[schemars(extend(\"a\" = {\"alias\": 1}))] size: i32"),
        ("JsonSchema", "alias: i32"),
    ] {
        assert_eq!(of(derive, body), [""; 0], "{body}");
    }
}

#[test]
fn structs_that_contain_themselves_and_derive_kube_schema_are_reported() {
    let of = |sources: &[(&str, &str)]| {
        let sources: Vec<_> = sources
            .iter()
            .map(|(file, source)| ((*file).into(), (*source).into()))
            .collect();
        endless::findings(&sources)
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
    };
    let tree = |field: &str| format!("#[derive(Clone, KubeSchema)]\npub struct Tree {{\n{field}\n}}");
    let found = of(&[("a.rs", &tree("pub(crate) children: Option<Vec<Tree>>,"))]);
    let start = "`Tree`, `children`: the type derives `KubeSchema` and contains itself (a.rs:3)\n\nhint: the type contains itself";
    assert!(found.len() == 1 && found[0].starts_with(start), "{found:?}");
    assert_eq!(of(&[("a.rs", &tree("children: Vec<crate::a::Tree>,"))]).len(), 1);
    let part = "#[derive(KubeSchema)] struct Part { a: BTreeMap<String, (u8, Part2)> }";
    let both = of(&[
        ("a.rs", &tree("part: Box<Part>,")),
        ("b.rs", part),
        ("c.rs", "#[derive(KubeSchema)] struct Part2 { b: u8, tree: Tree }"),
    ]);
    assert_eq!(both.len(), 3, "each struct of the cycle: {both:?}");
    for (field, other) in [
        ("children: Vec<Part>,", part),
        ("children: Vec<core::Tree>,", part),
        ("#[schemars(with = \"Vec<Value>\")] children: Vec<Tree>,", part),
        ("#[serde(skip)] children: Vec<Tree>,", part),
        ("of: PhantomData<Tree>,", part),
        (
            "part: Part, } mod a { #[derive(KubeSchema)] struct Part { tree: Tree } } mod b { #[derive(KubeSchema)] struct Part {",
            part,
        ),
        (
            "a: u8 } #[cfg(test)] mod tests { #[derive(KubeSchema)] struct Part { part: Part }",
            part,
        ),
        ("part: Part,", "#[derive(JsonSchema)] struct Part { tree: Tree }"),
        (
            "part: Part,",
            "#[derive(KubeSchema)] struct Part {} #[derive(JsonSchema)] struct A { part: Tree }",
        ),
    ] {
        assert_eq!(of(&[("a.rs", &tree(field)), ("b.rs", other)]), [""; 0], "{field}");
    }
}

#[test]
fn scale_needs_a_status() {
    let kind = |attributes: &str| format!("#[kube(kind = \"A\", {attributes})]\npub struct ASpec {{}}");
    let scale = "scale(spec_replicas_path = \".spec.a\", status_replicas_path = \".status.a\")";
    assert_eq!(messages(&kind(&format!("{scale}, status = \"AStatus\""))), [""; 0]);
    let found = messages(&kind(scale));
    assert_eq!(found.len(), 1);
    assert!(
        found[0].starts_with("`ASpec`: `scale(…)` without `status = …`"),
        "{}",
        found[0]
    );
}

#[test]
fn a_file_that_is_not_rust_has_no_findings() {
    for source in [
        "#[schemars(length",
        "struct A { #[schemars(length(min=1))]",
        "#[schemars(length())] : [",
        ")]}",
        "#[derive(KubeSchema)] struct A {",
        "#[derive(KubeSchema)] struct A { #[",
        "#[derive(KubeSchema)] struct A { a:",
    ] {
        messages(source);
        assert!(endless::findings(&[(String::new(), source.to_owned())]).is_empty());
    }
}

#[cfg(unix)]
#[test]
fn files_that_editors_and_desktops_leave_beside_sources_are_not_read() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.rs"), "pub struct Spec;").unwrap();
    std::fs::write(folder.path().join("._a.rs"), [0, 5, 22, 7, 255]).unwrap();
    std::os::unix::fs::symlink("user@host.1:1", folder.path().join(".#a.rs")).unwrap();
    let found = super::findings(folder.path()).unwrap();
    assert!(found.ignored.is_empty());
}
