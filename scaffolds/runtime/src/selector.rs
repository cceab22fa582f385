//! Parses label selectors in the text form of the API (`app=web, tier in (a, b), !canary`), which kube can write but
//! not parse. The in-process API server has a parser of its own, with the server's error messages and its own matching; this one
//! returns kube's type.

use std::collections::BTreeSet;

use kube::core::{Expression, ParseExpressionError, Selector};

/// Parses requirements separated by commas: `key`, `!key`, `key=value`, `key==value`, `key!=value`,
/// `key in (a, b)`, `key notin (a, b)`. The empty text selects everything.
pub(crate) fn parse(text: &str) -> Result<Selector, ParseExpressionError> {
    let mut selector = Selector::default();
    if !text.trim().is_empty() {
        for requirement in split(text) {
            selector.extend([parse_requirement(requirement.trim())?]);
        }
    }
    Ok(selector)
}

/// Splits at the commas outside of parentheses.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut inside = false;
    text.split(move |c| {
        inside = (inside || c == '(') && c != ')';
        c == ',' && !inside
    })
}

fn parse_requirement(text: &str) -> Result<Expression, ParseExpressionError> {
    if let Some(name) = text.strip_prefix('!') {
        return Ok(Expression::DoesNotExist(key(name)?));
    }
    if let Some((name, wanted)) = text.split_once("!=") {
        return Ok(Expression::NotEqual(key(name)?, value(wanted)?));
    }
    if let Some((name, wanted)) = text.split_once("==").or_else(|| text.split_once('=')) {
        return Ok(Expression::Equal(key(name)?, value(wanted)?));
    }
    let Some((head, list)) = text.split_once('(') else {
        return Ok(Expression::Exists(key(text)?));
    };
    let list = list
        .strip_suffix(')')
        .ok_or_else(|| error(text, "is missing its `)`"))?;
    let values: BTreeSet<String> = list.split(',').map(value).collect::<Result<_, _>>()?;
    match head.split_whitespace().collect::<Vec<_>>()[..] {
        [name, "in"] => Ok(Expression::In(key(name)?, values)),
        [name, "notin"] => Ok(Expression::NotIn(key(name)?, values)),
        _ => Err(error(text, "is neither `key in (…)` nor `key notin (…)`")),
    }
}

fn key(text: &str) -> Result<String, ParseExpressionError> {
    let text = text.trim();
    if text.is_empty() || !text.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c)) {
        return Err(error(text, "is not a label key"));
    }
    Ok(text.to_owned())
}

fn value(text: &str) -> Result<String, ParseExpressionError> {
    let text = text.trim();
    if !text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)) {
        return Err(error(text, "is not a label value"));
    }
    Ok(text.to_owned())
}

fn error(text: &str, what: &str) -> ParseExpressionError {
    ParseExpressionError(format!("`{text}` {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_parsed_as_kube_writes_it() {
        for text in [
            "",
            "app",
            "!app",
            "app=web",
            "app!=web",
            "app in (a,b)",
            "app notin (a,b)",
            "a/b.c=d,!e,f in (g)",
        ] {
            assert_eq!(
                parse(text).map(|selector| selector.to_string()).ok().as_deref(),
                Some(text)
            );
        }
        let spaced = parse(" app == web , tier in ( a , b ) ").map(|selector| selector.to_string());
        assert_eq!(spaced.ok().as_deref(), Some("app=web,tier in (a,b)"));
    }

    #[test]
    fn an_invalid_selector_is_refused_with_its_invalid_part() {
        for (text, part) in [
            ("a=b,,c", "``"),
            ("a in (b", "`a in (b`"),
            ("a of (b)", "`a of (b)`"),
            ("a b", "`a b`"),
            ("a=b=c", "`b=c`"),
            ("replicas>3", "`replicas>3`"),
        ] {
            let error = parse(text).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
