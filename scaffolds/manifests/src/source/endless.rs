//! Structs that contain themselves and derive `KubeSchema`. kube-derive describes such a struct inside each struct that has it, without a
//! reference, so that the process ends with a stack overflow.

use super::lex::{self, Piece};
use super::{Pieces, closing, is, word, words};
use kubewright_schema::{Finding, lint};

/// A struct that derives `KubeSchema`.
struct Struct<'s> {
    file: &'s str,
    name: &'s str,
    /// The names of the fields with their lines, and the names in their types.
    fields: Vec<(usize, &'s str, Vec<&'s str>)>,
}

/// A finding for each field by which a struct contains itself. `sources` are files with their names.
pub(super) fn findings(sources: &[(String, String)]) -> Vec<Finding> {
    let structs: Vec<_> = sources
        .iter()
        .flat_map(|(file, source)| structs(file, source))
        .collect();
    let mut findings = Vec::new();
    for (at, one) in structs.iter().enumerate() {
        for (line, field, types) in &one.fields {
            if leads_to(&structs, named(&structs, one, types), at) {
                findings.push(Finding {
                    type_name: one.name.to_owned(),
                    field: field.trim_start_matches("r#").to_owned(),
                    message: format!(
                        "the type derives `KubeSchema` and contains itself ({}:{line})",
                        one.file
                    ),
                    remedy: Some(lint::OF_RECURSION.to_owned()),
                });
            }
        }
    }
    findings
}

/// Whether a struct is among others, or inside them.
fn leads_to(structs: &[Struct], mut next: Vec<usize>, target: usize) -> bool {
    let mut seen = Vec::new();
    while let Some(at) = next.pop() {
        if at == target {
            return true;
        }
        if !seen.contains(&at) {
            seen.push(at);
            let fields = structs[at].fields.iter();
            next.extend(fields.flat_map(|(_, _, types)| named(structs, &structs[at], types)));
        }
    }
    false
}

/// The structs of these names: the only one of the same file, or the only one of all files.
fn named(structs: &[Struct], user: &Struct, names: &[&str]) -> Vec<usize> {
    let one = |name: &&str| {
        let all = || structs.iter().enumerate().filter(|(_, it)| it.name == *name);
        let own = || all().filter(|(_, it)| it.file == user.file);
        match own().count() {
            0 => all().next().filter(|_| all().count() == 1),
            // Types of one name are in modules.
            count => own().next().filter(|_| count == 1),
        }
        .map(|(at, _)| at)
    };
    names.iter().filter_map(one).collect()
}

fn structs<'s>(file: &'s str, source: &'s str) -> Vec<Struct<'s>> {
    let pieces = lex::pieces(source);
    let (mut found, mut at, mut derives, mut is_test) = (Vec::new(), 0, false, false);
    while let Some((_, piece)) = pieces.get(at) {
        match piece {
            Piece::Mark('#') if is(&pieces, at + 1, '[') => {
                let end = closing(&pieces, at + 1);
                let names: Vec<_> = words(pieces.get(at + 2..end).unwrap_or_default()).collect();
                let has = |name: &str| names.iter().any(|(_, _, word)| *word == name);
                derives |= has("KubeSchema");
                is_test |= has("cfg") && has("test");
                at = end;
            }
            Piece::Word("struct") => {
                let name = word(&pieces, at + 1).unwrap_or_default();
                let is_body = |(_, piece): &(usize, Piece)| matches!(piece, Piece::Mark('{' | ';' | '('));
                let body = at + pieces[at..].iter().position(is_body).unwrap_or_default();
                if std::mem::take(&mut derives) && is(&pieces, body, '{') {
                    let fields = fields(pieces.get(body + 1..closing(&pieces, body)).unwrap_or_default());
                    found.push(Struct { file, name, fields });
                }
            }
            // Types of tests are described by nobody.
            Piece::Word("mod") if is_test && is(&pieces, at + 2, '{') => {
                is_test = false;
                at = closing(&pieces, at + 2);
            }
            Piece::Word("enum" | "union" | "fn" | "impl") => (derives, is_test) = (false, false),
            _ => {}
        }
        at += 1;
    }
    found
}

/// The fields of the body of a struct that are described by their types.
fn fields<'s>(body: &Pieces<'s>) -> Vec<(usize, &'s str, Vec<&'s str>)> {
    let (mut found, mut at, mut is_other) = (Vec::new(), 0, false);
    while let Some((line, piece)) = body.get(at) {
        match piece {
            Piece::Mark('#') if is(body, at + 1, '[') => {
                let end = closing(body, at + 1);
                let mut names = words(body.get(at + 2..end).unwrap_or_default());
                is_other |= names.any(|(_, depth, word)| depth == 1 && ["with", "schema_with", "skip"].contains(&word));
                at = end;
            }
            Piece::Mark('(') => at = closing(body, at),
            Piece::Word(name) if is(body, at + 1, ':') => {
                let end = end_of_type(body, at + 2);
                let is_name = |index: &usize| !is(body, index.wrapping_sub(1), ':') || *index == at + 2;
                let types = (at + 2..end).filter(is_name).filter_map(|index| last(body, index));
                let types: Vec<_> = types.collect();
                // A `PhantomData` is described as null.
                if !std::mem::take(&mut is_other) && !types.contains(&"PhantomData") {
                    found.push((*line, *name, types));
                }
                at = end;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// The name of a type whose path starts here; of paths from another crate or module, the first segment.
fn last<'s>(body: &Pieces<'s>, mut at: usize) -> Option<&'s str> {
    while matches!(word(body, at)?, "self" | "super" | "crate") && is(body, at + 1, ':') {
        at += 3;
        while is(body, at + 1, ':') && is(body, at + 2, ':') {
            at += 3;
        }
    }
    word(body, at)
}

/// The index of the comma behind the type that starts here.
fn end_of_type(body: &Pieces, start: usize) -> usize {
    let mut depth = 0i32;
    for (at, (_, piece)) in body.iter().enumerate().skip(start) {
        match piece {
            Piece::Mark('<' | '(' | '[') => depth += 1,
            Piece::Mark('>' | ')' | ']') => depth -= 1,
            Piece::Mark(',') if depth <= 0 => return at,
            _ => {}
        }
    }
    body.len()
}
