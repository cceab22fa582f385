//! Every form of import from another module of the crate is found, and nothing else.

use crate::against;
use crate::source::{Crate, Files, ROOT};

/// A crate `one` of these files.
fn read(files: &[(&str, &str)]) -> Crate {
    let files: Files = files
        .iter()
        .map(|(file, text)| ((*file).to_owned(), (*text).to_owned()))
        .collect();
    Crate::read(&files, "one")
}

/// The imports of `above.rs` from other modules, in a crate of the modules `below`, which `lib.rs` re-exports in part,
/// and `above`.
fn imports(above: &str) -> Vec<String> {
    let lib = "mod above;\npub mod below;\npub use below::{inner::Deep, Shown as Renamed};\npub struct Own;\n";
    let below = "pub mod inner;\npub struct Shown;\n#[macro_export]\nmacro_rules! make { () => {} }\nmacro_rules! near { () => {} }\n";
    let source = read(&[
        ("lib.rs", lib),
        ("above.rs", above),
        ("below/mod.rs", below),
        ("below/inner.rs", "pub struct Deep;\n"),
    ]);
    assert_eq!(source.modules, ["above", "below"]);
    assert!(source.unreached.is_empty());
    let from_above = source.imports.into_iter().filter(|import| import.from == "above");
    from_above
        .map(|import| format!("{} {}", import.to, import.path))
        .collect()
}

#[test]
fn uses_are_found_in_every_form() {
    for (text, found) in [
        ("use crate::below::Shown;", "below below::Shown"),
        ("pub use crate::below::Shown;", "below below::Shown"),
        ("pub(crate) use crate::below;", "below below"),
        ("use crate::{below::Shown};", "below below::Shown"),
        ("use crate::{other, below::{self}};", "below below"),
        ("use {crate::below::{inner::{Deep as D}}};", "below below::inner::Deep"),
        ("use crate::below::*;", "below below::*"),
        ("use super::below::Shown;", "below below::Shown"),
        ("use self::super::below::Shown;", "below below::Shown"),
        ("use one::below::Shown;", "below below::Shown"),
        ("use crate::Deep;", "below Deep"),
        ("use crate::{Renamed as R};", "below Renamed"),
        ("use crate::make;", "below make"),
        ("mod nested { use super::super::below::Shown; }", "below below::Shown"),
        ("fn f() { use crate::below::Shown; }", "below below::Shown"),
    ] {
        let found = [found.to_owned()];
        let imports: Vec<_> = imports(text)
            .into_iter()
            .filter(|import| !import.ends_with(" other"))
            .collect();
        assert_eq!(imports, found, "{text}");
    }
}

#[test]
fn paths_are_found_in_every_position() {
    for text in [
        "fn f() { crate::below::Shown; }",
        "fn f() { g(&[1, crate::below::Shown]) }",
        "fn f(x: crate::below::Shown) {}",
        "struct S { field: Vec<super::below::Shown> }",
        "impl Trait for crate::below::Shown {}",
        "fn f() -> impl Iterator + use<> { crate::below::Shown }",
        "fn f() { let x = <crate::below::Shown as T>::new(); }",
        "fn f() { println!(\"{}\", crate::below::Shown) }",
        "macro_rules! m { () => { $crate::below::Shown } }",
        "#[derive(crate::below::Shown)] struct S;",
        "struct S { #[serde(with = \"crate::below::Shown\")] field: u8 }",
        "mod nested { fn f() { super::super::below::Shown } }",
        "fn f() { match x { crate::below::Shown => {} } }",
        "enum E { #[cfg(test)] A, B(crate::below::Shown) }",
    ] {
        assert_eq!(imports(text), ["below below::Shown"], "{text}");
    }
    assert_eq!(imports("fn f() { near!() }"), ["below near!"]);
    assert_eq!(imports("fn f() { crate::make!() }"), ["below make"]);
}

#[test]
fn items_of_the_root_are_imports_from_the_root() {
    for (text, path) in [
        ("use crate::Own;", "Own"),
        ("use super::Own;", "Own"),
        ("use super::*;", "*"),
        ("use crate as root;", ""),
        ("fn f() -> crate::Own {}", "Own"),
    ] {
        assert_eq!(imports(text), [format!("{ROOT} {path}")], "{text}");
    }
}

#[test]
fn paths_out_of_the_crate_and_test_code_are_no_imports() {
    for text in [
        "mod inner { pub struct X; }\nuse inner::X;\nuse self::inner::X as Y;",
        "use std::collections::BTreeMap;\nuse ::below::Shown;",
        "// use crate::below::Shown;\n/// [`crate::below::Shown`]\nfn f() { \"crate::below::Shown\"; }",
        "fn f() { other::crate_::below(); below::f(); }",
        "#[cfg(test)]\nmod tests { use crate::below::Shown; }",
        "#[cfg(test)]\nuse crate::below::Shown;",
        "#[cfg(all(test, unix))]\npub(crate) fn f<A, B>() where A: T { crate::below::Shown }",
        "enum E { #[cfg(test)] A(crate::below::Shown), B(u8) }",
        "pub(crate) struct S { pub(super) x: u8, pub(in crate::above) y: u8 }",
    ] {
        assert_eq!(imports(text), [""; 0], "{text}");
    }
}

#[test]
fn files_are_found_through_mod_items() {
    let source = read(&[
        ("lib.rs", "mod a;\nmod b;\n#[cfg(test)]\npub(crate) mod tests;\n"),
        (
            "a.rs",
            "#[cfg(feature = \"x\")]\nmod deep;\n#[cfg(test)]\n#[path = \"a_tests.rs\"]\nmod tests;\n",
        ),
        ("a/deep.rs", "use super::super::b::B;"),
        ("a_tests.rs", "use crate::b;"),
        ("b.rs", ""),
        ("left.rs", "use crate::b;"),
        ("main.rs", "fn main() { one::run() }"),
        ("tests/mod.rs", "mod more;"),
        ("tests/more.rs", ""),
    ]);
    assert_eq!(source.unreached, ["left.rs"]);
    let [import] = &source.imports[..] else {
        panic!("{:?}", source.imports)
    };
    assert_eq!(
        (import.file.as_str(), import.from.as_str(), import.to.as_str()),
        ("a/deep.rs", "a", "b")
    );
}

#[test]
fn an_import_against_the_order_is_found_and_one_in_the_order_is_not() {
    let source = read(&[("lib.rs", "mod a;\nmod b;"), ("a.rs", ""), ("b.rs", "use crate::a::A;")]);
    let order = |names: [&str; 2]| names.map(str::to_owned);
    assert!(against(&source.imports, &order(["a", "b"])).is_empty());
    assert_eq!(against(&source.imports, &order(["b", "a"])).len(), 1);
    let source = read(&[("lib.rs", "mod a;\npub fn run() {}"), ("a.rs", "use crate::run;")]);
    assert_eq!(against(&source.imports, &order(["a", "b"])).len(), 1);
}
