//! Results of several rounds, as Markdown.

use std::fmt;

/// The cell of a contender without a figure.
const NOTHING: &str = "–";

/// One measured quantity, for each contender.
pub struct Row {
    what: String,
    columns: Vec<Vec<f64>>,
}

/// Rows of the same contenders.
pub struct Table {
    pub title: String,
    pub columns: Vec<String>,
    /// The column by which the others are divided.
    pub reference: Option<usize>,
    pub rows: Vec<Row>,
}

impl Row {
    pub fn new(what: &str, columns: impl Iterator<Item = Vec<f64>>) -> Self {
        Self {
            what: what.to_owned(),
            columns: columns.collect(),
        }
    }
}

/// The value below which the share `q` of all values is; 0 if there are none.
pub fn quantile(values: &[f64], q: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = (q * sorted.len().saturating_sub(1) as f64).round() as usize;
    sorted.get(at).copied().unwrap_or(0.0)
}

/// min, median, max.
pub fn summary(values: &[f64]) -> [f64; 3] {
    [0.0, 0.5, 1.0].map(|q| quantile(values, q))
}

/// Three significant digits.
fn number(value: f64) -> String {
    match value {
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value if value >= 1.0 => format!("{value:.2}"),
        value => format!("{value:.3}"),
    }
}

fn cell(values: &[f64]) -> String {
    if values.is_empty() {
        return NOTHING.to_owned();
    }
    let [min, median, max] = summary(values).map(number);
    if min == max {
        median
    } else {
        format!("{median} ({min}–{max})")
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n{}; median (min–max) of the rounds\n", self.title)?;
        let ratios: Vec<_> = (0..self.columns.len())
            .filter(|at| self.reference.is_some_and(|it| it != *at))
            .collect();
        write!(f, "| | {} |", self.columns.join(" | "))?;
        for at in &ratios {
            write!(
                f,
                " {} ÷ {} |",
                self.columns[*at],
                self.columns[self.reference.unwrap_or(0)]
            )?;
        }
        writeln!(f, "\n|---|{}", "---|".repeat(self.columns.len() + ratios.len()))?;
        for row in &self.rows {
            let cells: Vec<_> = row.columns.iter().map(|values| cell(values)).collect();
            write!(f, "| {} | {} |", row.what, cells.join(" | "))?;
            for at in &ratios {
                let median = |column: usize| quantile(&row.columns[column], 0.5);
                match row.columns[*at].is_empty() {
                    true => write!(f, " {NOTHING} |")?,
                    false => write!(f, " {:.2} |", median(*at) / median(self.reference.unwrap_or(0)))?,
                }
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_shows_the_spread_and_the_ratio_of_the_medians() {
        let table = Table {
            title: "T".to_owned(),
            columns: ["a", "b", "c"].map(str::to_owned).into(),
            reference: Some(1),
            rows: vec![Row::new(
                "time, s",
                [vec![1.0, 3.0, 2.0], vec![4.0], vec![]].into_iter(),
            )],
        };
        assert!(table.to_string().ends_with(
            "| | a | b | c | a ÷ b | c ÷ b |\n|---|---|---|---|---|---|\n| time, s | 2.00 (1.00–3.00) | 4.00 | – | 0.50 | – |\n"
        ));
    }

    #[test]
    fn quantiles_are_values_that_were_measured() {
        let values: Vec<f64> = (1..=101).map(f64::from).collect();
        assert_eq!(
            (quantile(&values, 0.5), quantile(&values, 0.99), quantile(&[], 0.5)),
            (51.0, 100.0, 0.0)
        );
    }
}
