//! Label selectors, for example `a=b,c in (d,e),!f`, parsed as apimachinery parses them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    lexer::{Lexer, Token},
    requirement::{self, Operator, Requirement},
};

/// A label selector: requirements that must all match. The default has none and matches every object.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct LabelSelector {
    /// In the order of the selector.
    pub requirements: Vec<Requirement>,
}

impl LabelSelector {
    /// Parses a selector.
    ///
    /// # Errors
    /// The message of the server's 400.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut lexer = Lexer::new(text);
        let mut selector = Self::default();
        loop {
            match lexer.peek() {
                Token::Word(_) | Token::Symbol("!") => {}
                Token::End => return Ok(selector),
                found => {
                    return Err(format!(
                        "found '{}', expected: !, identifier, or 'end of string'",
                        found.text()
                    ));
                }
            }
            let read = read(&mut lexer).map_err(|why| format!("unable to parse requirement: {why}"))?;
            selector.requirements.push(read);
            match lexer.next() {
                Token::End => return Ok(selector),
                Token::Symbol(",") => {}
                found => return Err(format!("found '{}', expected: ',' or 'end of string'", found.text())),
            }
            let next = lexer.peek();
            if !matches!(next, Token::Word(_) | Token::Symbol("!")) {
                return Err(format!("found '{}', expected: identifier after ','", next.text()));
            }
        }
    }

    /// The selector in a LabelSelector (`matchLabels` and `matchExpressions`), which has been validated. The expressions may
    /// also have the operators `Gt` and `Lt` of node selectors.
    pub fn of(object: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let labels = object["matchLabels"].as_object().into_iter().flatten();
        let labels = labels.map(|(key, value)| Requirement {
            key: key.clone(),
            operator: Operator::In(BTreeSet::from([text(value)])),
        });
        let expressions = object["matchExpressions"].as_array().into_iter().flatten();
        let expressions = expressions.map(|expression| {
            let values: BTreeSet<String> = expression["values"]
                .as_array()
                .into_iter()
                .flatten()
                .map(text)
                .collect();
            let number = || values.first().and_then(|value| value.parse().ok());
            Requirement {
                key: text(&expression["key"]),
                operator: match expression["operator"].as_str() {
                    Some("Gt") => Operator::GreaterThan(number().unwrap_or(i64::MAX)),
                    Some("Lt") => Operator::LessThan(number().unwrap_or(i64::MIN)),
                    Some("In") => Operator::In(values),
                    Some("NotIn") => Operator::NotIn(values),
                    Some("Exists") => Operator::Exists,
                    _ => Operator::DoesNotExist,
                },
            }
        });
        Self {
            requirements: labels.chain(expressions).collect(),
        }
    }

    /// Whether labels meet all requirements.
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.requirements.iter().all(|requirement| requirement.matches(labels))
    }

    /// Whether every object matches.
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }
}

fn read(lexer: &mut Lexer<'_>) -> Result<Requirement, String> {
    let mut token = lexer.next();
    let negated = token.is("!");
    if negated {
        token = lexer.next();
    }
    let Token::Word(key) = token else {
        return Err(format!("found '{}', expected: identifier", token.text()));
    };
    requirement::check_key(key)?;
    let alone = matches!(lexer.peek(), Token::End | Token::Symbol(","));
    let operator = match (negated, alone) {
        (true, _) => Operator::DoesNotExist,
        (false, true) => Operator::Exists,
        (false, false) => operator(lexer, key)?,
    };
    Ok(Requirement {
        key: key.to_owned(),
        operator,
    })
}

fn operator(lexer: &mut Lexer<'_>, key: &str) -> Result<Operator, String> {
    let (operator, values) = match lexer.next() {
        operator @ Token::Word("in" | "notin") => (operator.text(), several(lexer)?),
        operator @ Token::Symbol("=" | "==" | "!=" | ">" | "<") => (operator.text(), BTreeSet::from([one(lexer)?])),
        found => {
            return Err(format!(
                "found '{}', expected: in, notin, =, ==, !=, gt, lt",
                found.text()
            ));
        }
    };
    let mut faults = Vec::new();
    let bound = match (operator, values.first()) {
        (">" | "<", Some(text)) => requirement::number(text).map_err(|fault| faults.push(fault)).ok(),
        _ => None,
    };
    faults.extend(requirement::faults(key, &values));
    match faults.as_slice() {
        [] => {}
        [one] => return Err(one.clone()),
        several => return Err(format!("[{}]", several.join(", "))),
    }
    Ok(match (operator, bound) {
        (">", Some(bound)) => Operator::GreaterThan(bound),
        ("<", Some(bound)) => Operator::LessThan(bound),
        ("!=" | "notin", _) => Operator::NotIn(values),
        _ => Operator::In(values),
    })
}

/// The value after `=` and similar operators; may be missing, which means the empty string.
fn one(lexer: &mut Lexer<'_>) -> Result<String, String> {
    if matches!(lexer.peek(), Token::End | Token::Symbol(",")) {
        return Ok(String::new());
    }
    match lexer.next() {
        Token::Word(value) => Ok(value.to_owned()),
        found => Err(format!("found '{}', expected: identifier", found.text())),
    }
}

/// The values after `in` and `notin`. A missing value next to a comma means the empty string.
fn several(lexer: &mut Lexer<'_>) -> Result<BTreeSet<String>, String> {
    let open = lexer.next();
    if !open.is("(") {
        return Err(format!("found '{}' expected: '('", open.text()));
    }
    let first = lexer.peek();
    match first {
        Token::Symbol(")") => {
            lexer.next();
            return Ok(BTreeSet::from([String::new()]));
        }
        Token::Word(_) | Token::Symbol(",") => {}
        _ => return Err(format!("found '{}', expected: ',', ')' or identifier", first.text())),
    }
    let values = listed(lexer)?;
    let close = lexer.next();
    if !close.is(")") {
        return Err(format!("found '{}', expected: ')'", close.text()));
    }
    Ok(values)
}

fn listed(lexer: &mut Lexer<'_>) -> Result<BTreeSet<String>, String> {
    let mut values = BTreeSet::new();
    loop {
        match lexer.next() {
            Token::Word(value) => {
                values.insert(value.to_owned());
                match lexer.peek() {
                    Token::Symbol(",") => {}
                    Token::Symbol(")") => return Ok(values),
                    found => return Err(format!("found '{}', expected: ',' or ')'", found.text())),
                }
            }
            Token::Symbol(",") => {
                if values.is_empty() {
                    values.insert(String::new());
                }
                match lexer.peek() {
                    Token::Symbol(")") => {
                        values.insert(String::new());
                        return Ok(values);
                    }
                    Token::Symbol(",") => {
                        lexer.next();
                        values.insert(String::new());
                    }
                    _ => {}
                }
            }
            found => return Err(format!("found '{}', expected: ',', or identifier", found.text())),
        }
    }
}
