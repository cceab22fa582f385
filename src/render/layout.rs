//! Filters and functions for templates: they format Rust as rustfmt does for names of any length, and quote free text.

use crate::project::rust;
use serde_json::json;
use tera::{Kwargs, State, Tera, TeraResult};

/// rustfmt's default `max_width`.
const WIDTH: usize = 100;
/// The line that separates two layouts.
const OR: &str = "~~~";

/// Adds the filters `fit`, `rust`, `toml` and `yaml` and the function `uses`.
pub fn register(tera: &mut Tera) {
    tera.register_filter("fit", fit);
    // A JSON string is a string of YAML and, except for control characters, which names cannot have, of TOML.
    for name in ["toml", "yaml"] {
        tera.register_filter(name, |text: &str, _: Kwargs, _: &State| json!(text).to_string());
    }
    tera.register_filter("rust", |text: &str, _: Kwargs, _: &State| format!("{text:?}"));
    tera.register_function("uses", uses);
}

/// The first layout whose lines are all short enough, or the last one. A line `~~~` separates layouts.
fn fit(text: &str, kwargs: Kwargs, _: &State) -> TeraResult<String> {
    let width = kwargs.get::<usize>("width")?.unwrap_or(WIDTH);
    let mut layouts = vec![Vec::new()];
    for line in text.split('\n') {
        match line.trim() == OR {
            true => layouts.push(Vec::new()),
            false => layouts.last_mut().expect("it starts with one").push(line),
        }
    }
    let fitting = layouts
        .iter()
        .find(|lines| lines.iter().all(|line| line.chars().count() <= width));
    Ok(fitting
        .or(layouts.last())
        .map(|lines| lines.join("\n"))
        .unwrap_or_default())
}

/// One `use` of several names, sorted, without duplicates, and wrapped.
fn uses(kwargs: Kwargs, _: &State) -> TeraResult<String> {
    let path = kwargs.must_get::<&str>("path")?;
    let mut names = kwargs.must_get::<Vec<String>>("names")?;
    let width = kwargs.get::<usize>("width")?.unwrap_or(WIDTH);
    // A template passes an empty name if it does not need it.
    names.retain(|name| !name.is_empty());
    names.sort_by(|a, b| rust::import_order(a, b));
    names.dedup();
    Ok(use_lines(path, &names, width))
}

fn use_lines(path: &str, names: &[String], width: usize) -> String {
    if let [name] = names {
        return format!("use {path}::{name};");
    }
    let one = format!("use {path}::{{{}}};", names.join(", "));
    // rustfmt counts two columns more.
    if one.len() + 2 <= width {
        return one;
    }
    let mut lines = vec![String::from("   ")];
    for (at, name) in names.iter().enumerate() {
        // rustfmt leaves the last column free, except on the last line.
        let limit = if at + 1 == names.len() { width } else { width - 1 };
        let last = lines.last_mut().expect("it starts with one");
        if last.len() > 4 && last.len() + name.len() + 2 > limit {
            lines.push(format!("    {name},"));
        } else {
            last.push_str(&format!(" {name},"));
        }
    }
    format!("use {path}::{{\n{}\n}};", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tera::Context;

    fn rendered(template: &str) -> String {
        let mut tera = Tera::new();
        tera.autoescape_on(Vec::<&str>::new());
        register(&mut tera);
        tera.add_raw_template("t", template).unwrap();
        tera.render("t", &Context::new()).unwrap()
    }

    #[test]
    fn the_first_layout_that_fits_is_used() {
        assert_eq!(
            rendered("{% filter fit(width=5) %}12345\n~~~\n1\n2{% endfilter %}"),
            "12345"
        );
        assert_eq!(
            rendered("{% filter fit(width=4) %}12345\n~~~\n1\n2{% endfilter %}"),
            "1\n2"
        );
    }

    #[test]
    fn uses_are_sorted_and_wrapped() {
        assert_eq!(rendered(r#"{{ uses(path="a", names=["B", "A"]) }}"#), "use a::{A, B};");
        assert_eq!(rendered(r#"{{ uses(path="a", names=["B", ""]) }}"#), "use a::B;");
        assert_eq!(
            rendered(r#"{{ uses(path="a", names=["B", "A"], width=8) }}"#),
            "use a::{\n    A,\n    B,\n};"
        );
        let named = |width: usize| {
            rendered(&format!(
                r#"{{{{ uses(path="abcd", names=["F", "EEEEE"], width={width}) }}}}"#
            ))
        };
        assert_eq!(named(23), "use abcd::{EEEEE, F};");
        assert_eq!(named(22), "use abcd::{\n    EEEEE, F,\n};", "as rustfmt does");
    }

    #[test]
    fn free_text_is_quoted() {
        assert_eq!(rendered(r#"{{ 'a "b" {{ c' | yaml }}"#), r#""a \"b\" {{ c""#);
    }
}
