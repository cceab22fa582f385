//! Reads the architecture page: the modules of each crate, in their order.

/// The page, relative to the repository.
pub const PAGE: &str = "docs/src/contributing/architecture.md";

/// The modules in the table after the mark `<!-- order: SRC -->`, from top to bottom and from left to right.
pub fn order(page: &str, src: &str) -> Vec<String> {
    let mark = format!("<!-- order: {src} -->");
    let lines = page.lines().skip_while(|line| line.trim() != mark).skip(1);
    let table = lines
        .skip_while(|line| line.trim().is_empty())
        .take_while(|line| line.starts_with('|'));
    first_cells(table)
}

/// The names between backticks in the first cells of a table.
fn first_cells<'a>(table: impl Iterator<Item = &'a str>) -> Vec<String> {
    // The first two lines are the header.
    let cells = table.skip(2).filter_map(|line| line.split('|').nth(1));
    let names = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    names.map(str::to_owned).collect()
}

#[test]
fn the_order_is_that_of_rows_and_of_names_in_each_row() {
    let page = "text\n<!-- order: a/src -->\n\n| module | does |\n|---|---|\n| `one`, `two` | `not` this |\n| `three` | that |\n\n| `four` | |\n";
    assert_eq!(order(page, "a/src"), ["one", "two", "three"]);
    assert!(order(page, "b/src").is_empty());
}
