//! `string.format`: formats values by the clauses of a text, such as `%s` or `%.2f`.

use crate::language::value::{Fault, Outcome, Val};
use kubewright_machinery::go::quote;

/// A clause: its letter and its number of decimals.
#[derive(Clone, Copy)]
pub(in crate::language) struct Clause {
    pub(in crate::language) letter: char,
    decimals: usize,
}

/// A piece of a format.
pub(in crate::language) enum Piece<'a> {
    Text(&'a str),
    Clause(Clause),
}

/// More decimals than a double has.
const MOST_DECIMALS: usize = 1100;

/// Reads the piece at the start of `rest` (which is not empty), and what follows it.
pub(in crate::language) fn piece(rest: &str) -> Result<(Piece<'_>, &str), String> {
    let Some(clause) = rest.strip_prefix('%') else {
        let end = rest.find('%').unwrap_or(rest.len());
        return Ok((Piece::Text(&rest[..end]), &rest[end..]));
    };
    if let Some(after) = clause.strip_prefix('%') {
        return Ok((Piece::Text("%"), after));
    }
    let mut clause = clause;
    let mut decimals = 6;
    let failed = |why: String| format!("could not parse formatting clause: {why}");
    if let Some(after) = clause.strip_prefix('.') {
        let count = after.bytes().take_while(u8::is_ascii_digit).count();
        let number = &after[..count];
        clause = &after[count..];
        if clause.is_empty() {
            return Err(failed(
                "error while parsing precision: could not find end of precision specifier".to_owned(),
            ));
        }
        decimals = number.parse().map_err(|_| {
            let why = if number.is_empty() { "invalid syntax" } else { "value out of range" };
            failed(format!(
                "error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing {}: {why}",
                quote(number)
            ))
        })?;
    }
    let Some(letter) = clause.chars().next() else {
        return Err("unexpected end of string".to_owned());
    };
    if !"sdfebxXo".contains(letter) {
        return Err(failed(format!("unrecognized formatting clause \"{letter}\"")));
    }
    let decimals = decimals.min(MOST_DECIMALS);
    Ok((Piece::Clause(Clause { letter, decimals }), &clause[letter.len_utf8()..]))
}

/// The error if a clause does not accept a type.
pub(in crate::language) fn refusal(letter: char, r#type: &str) -> String {
    let why = match letter {
        's' => {
            "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps"
        }
        'd' => "decimal clause can only be used on integers",
        'f' => "fixed-point clause can only be used on doubles",
        'e' => "scientific clause can only be used on doubles",
        'b' => "only integers and bools can be formatted as binary",
        'o' => "octal clause can only be used on integers",
        _ => "only integers, byte buffers, and strings can be formatted as hex",
    };
    format!("error during formatting: {why}, was given {}", r#type)
}

/// The text with its clauses replaced by the values.
pub(super) fn format(text: &str, args: &[Val<'_>]) -> Outcome<String> {
    let (mut out, mut rest, mut index) = (String::new(), text, 0);
    while !rest.is_empty() {
        let next = piece(rest);
        if matches!(next, Ok((Piece::Clause(_), _)) | Err(_)) && index >= args.len() {
            return Err(Fault::new(format!("index {index} out of range")));
        }
        let (piece, after) = next.map_err(Fault::new)?;
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Clause(clause) => {
                if let Some(arg) = args.get(index) {
                    let refused = || Fault::new(refusal(clause.letter, arg.type_name()));
                    out.push_str(&clause.fill(arg).ok_or_else(refused)?);
                }
                index += 1;
            }
        }
        rest = after;
    }
    Ok(out)
}

impl Clause {
    fn fill(self, value: &Val<'_>) -> Option<String> {
        Some(match (self.letter, value) {
            ('s', value) => shown(value, false)?,
            ('d', Val::Int(number)) => number.to_string(),
            ('d', Val::Uint(number)) => number.to_string(),
            ('f', value) => fixed(double(value)?, self.decimals),
            ('e', value) => scientific(double(value)?),
            ('b', Val::Bool(flag)) => u8::from(*flag).to_string(),
            ('b' | 'o' | 'x' | 'X', Val::Int(number)) => {
                let sign = if *number < 0 { "-" } else { "" };
                format!("{sign}{}", self.radix(number.unsigned_abs()))
            }
            ('b' | 'o' | 'x' | 'X', Val::Uint(number)) => self.radix(*number),
            ('x' | 'X', Val::String(text)) => self.hex(text.as_bytes()),
            ('x' | 'X', Val::Bytes(bytes)) => self.hex(bytes),
            _ => return None,
        })
    }

    fn radix(self, number: u64) -> String {
        match self.letter {
            'b' => format!("{number:b}"),
            'o' => format!("{number:o}"),
            'x' => format!("{number:x}"),
            _ => format!("{number:X}"),
        }
    }

    fn hex(self, bytes: &[u8]) -> String {
        let digits = bytes.iter().map(|byte| {
            if self.letter == 'x' {
                format!("{byte:02x}")
            } else {
                format!("{byte:02X}")
            }
        });
        digits.collect()
    }
}

fn double(value: &Val<'_>) -> Option<f64> {
    match value {
        Val::Double(number) => Some(*number),
        Val::String(text) => match &**text {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            _ => None,
        },
        _ => None,
    }
}

/// The text of a number that is not finite.
fn special(number: f64) -> Option<String> {
    if number.is_finite() {
        return None;
    }
    Some(
        if number.is_nan() {
            "NaN"
        } else if number > 0.0 {
            "∞"
        } else {
            "-∞"
        }
        .to_owned(),
    )
}

/// A number with fixed decimals and commas between thousands.
fn fixed(number: f64, decimals: usize) -> String {
    if let Some(text) = special(number) {
        return text;
    }
    let text = format!("{number:.decimals$}");
    let (whole, fraction) = text
        .split_once('.')
        .map_or((text.as_str(), None), |(whole, rest)| (whole, Some(rest)));
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("-", digits));
    let mut out = sign.to_owned();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    if let Some(fraction) = fraction {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

/// A number in scientific notation: `1.500000×10⁰³`. The server ignores the number of decimals in the clause.
fn scientific(number: f64) -> String {
    if let Some(text) = special(number) {
        return text;
    }
    let text = format!("{number:.6e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, digits) = exponent
        .strip_prefix('-')
        .map_or(("", exponent), |digits| ("\u{207b}", digits));
    let raised = |digit: char| match digit {
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        other => other
            .to_digit(10)
            .and_then(|it| char::from_u32(0x2070 + it))
            .unwrap_or(other),
    };
    let digits: String = format!("{digits:0>2}").chars().map(raised).collect();
    format!("{mantissa}×10{sign}{digits}")
}

/// The text of a value for `%s`; inside lists and maps, strings are quoted, and times have their type's name.
fn shown(value: &Val<'_>, inside: bool) -> Option<String> {
    let text = |value: &Val<'_>| match crate::language::operators::convert("string", value) {
        Ok(Val::String(text)) => Some(text.into_owned()),
        _ => None,
    };
    Some(match value {
        Val::List(list) => {
            let items: Option<Vec<String>> = list.all().ok()?.iter().map(|item| shown(item, true)).collect();
            format!("[{}]", items?.join(", "))
        }
        Val::Map(map) => {
            let mut entries = Vec::new();
            for key in map.keys() {
                let value = map.find(&key).ok()??;
                entries.push(format!("{}:{}", shown(&key, true)?, shown(&value, true)?));
            }
            entries.sort();
            format!("{{{}}}", entries.join(", "))
        }
        Val::Optional(_) | Val::Foreign(_) | Val::Unknown(_) => return None,
        Val::String(text) if inside => quote(text),
        Val::Bytes(_) if inside => format!("b{}", quote(&text(value)?)),
        Val::Double(number) if inside => format!("{number:.6}"),
        Val::Duration(_) if inside => format!("duration({})", quote(&text(value)?)),
        Val::Timestamp(_) if inside => format!("timestamp({})", quote(&text(value)?)),
        other => text(other)?,
    })
}
