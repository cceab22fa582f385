//! The parser: parses CEL by precedence climbing, with the server's limits on depth and its recovery after common
//! mistakes.

mod macros;

use super::ast::{Entry, Expr, Kind, Literal, Slot, op};
use super::lex::{Lexeme, Token, binary, tokens};
use super::{issue::Issues, literal};

/// The server's limit on the nesting of one rule of the grammar.
const DEEPEST: usize = 250;

/// The server's limit on the length of an expression, in characters.
const LONGEST: usize = 100_000;

const OPERAND: &str =
    "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

/// Stops the parser after an unrecoverable error, whose issue is already recorded.
struct Stop;

type Parsed<T = Expr> = Result<T, Stop>;

pub(super) struct Parser<'a> {
    lexemes: Vec<Lexeme>,
    next: usize,
    pub(super) ids: usize,
    pub(super) issues: &'a mut Issues,
    /// The depth of the current expression.
    open: usize,
    too_high: bool,
    /// A position, and the tokens other than an operand that the server expects there.
    also: (usize, &'static str),
}

/// Parses `source`. Returns the expression and how many ids it uses; errors are added to `issues`.
pub(super) fn parse(source: &str, issues: &mut Issues) -> (Expr, usize) {
    let broken = Expr {
        id: 0,
        at: 0,
        height: 0,
        kind: Kind::Broken,
    };
    let length = source.chars().count();
    if length > LONGEST {
        let message = format!("expression code point size exceeds limit: size: {length}, limit {LONGEST}");
        issues.add(None, message);
        return (broken, 1);
    }
    let lexemes = tokens(source, issues);
    let mut parser = Parser {
        lexemes,
        next: 0,
        ids: 1,
        issues,
        open: 0,
        too_high: false,
        also: (usize::MAX, ""),
    };
    let parsed = parser.expr().and_then(|expr| parser.end().map(|()| expr));
    (parsed.unwrap_or(broken), parser.ids)
}

impl Parser<'_> {
    /// A node with a new id. A tree that would get too deep is cut off, so that no tree can exhaust a stack.
    pub(super) fn node(&mut self, at: usize, kind: Kind) -> Expr {
        let step = match &kind {
            Kind::Select { .. } | Kind::Fold(_) | Kind::Call { target: Some(_), .. } => 1,
            Kind::Call { function, .. } if matches!(function.as_str(), op::AND | op::OR) => 0,
            Kind::Call { function, .. } => usize::from(function.starts_with('_')),
            _ => 0,
        };
        let id = self.ids;
        self.ids += 1;
        let mut expr = Expr {
            id,
            at,
            height: 0,
            kind,
        };
        expr.height = step + expr.children().iter().map(|child| child.height).max().unwrap_or(0);
        if expr.height > DEEPEST {
            if !self.too_high {
                self.issues.add(None, "max recursion depth exceeded".to_owned());
            }
            self.too_high = true;
            return Expr {
                id,
                at,
                height: 0,
                kind: Kind::Broken,
            };
        }
        expr
    }

    pub(super) fn call(&mut self, at: usize, function: &str, args: Vec<Expr>) -> Expr {
        self.node(
            at,
            Kind::Call {
                function: function.to_owned(),
                target: None,
                args,
            },
        )
    }

    /// Records an error, and returns a broken node, so that parsing continues.
    pub(super) fn wrong(&mut self, at: usize, message: impl Into<String>) -> Expr {
        self.issues.add(Some(at), message.into());
        self.node(at, Kind::Broken)
    }

    fn peek(&self) -> &Lexeme {
        // The last token is the end, which is never passed.
        &self.lexemes[self.next.min(self.lexemes.len() - 1)]
    }

    fn after(&self) -> &Lexeme {
        &self.lexemes[(self.next + 1).min(self.lexemes.len() - 1)]
    }

    fn advance(&mut self) -> Lexeme {
        let lexeme = self.peek().clone();
        self.next = (self.next + 1).min(self.lexemes.len() - 1);
        lexeme
    }

    /// Reads an identifier in backquotes.
    fn escaped(&mut self) -> Lexeme {
        let mut lexeme = self.advance();
        lexeme.text = lexeme.text.trim_matches('`').to_owned();
        lexeme
    }

    fn is(&self, sign: &str) -> bool {
        is_sign(self.peek(), sign)
    }

    fn eat(&mut self, sign: &str) -> Option<usize> {
        self.is(sign).then(|| self.advance().at)
    }

    fn syntax(&mut self, message: &str) {
        let at = self.peek().at;
        self.issues.add(Some(at), format!("Syntax error: {message}"));
    }

    fn mismatch<T>(&mut self, expected: &str) -> Parsed<T> {
        self.syntax(&format!("mismatched input '{}' expecting {expected}", self.peek().text));
        Err(Stop)
    }

    /// Reads a closing sign. As on the server, one superfluous token before it is skipped, and a missing one is assumed.
    fn close(&mut self, sign: &str) -> Parsed<()> {
        if self.eat(sign).is_some() {
            return Ok(());
        }
        if is_sign(self.after(), sign) {
            self.syntax(&format!("extraneous input '{}' expecting '{sign}'", self.peek().text));
            self.advance();
            self.advance();
            return Ok(());
        }
        if follows(self.peek()) {
            self.syntax(&format!("missing '{sign}' at '{}'", self.peek().text));
            return Ok(());
        }
        self.mismatch(&format!("'{sign}'"))
    }

    fn end(&mut self) -> Parsed<()> {
        if self.peek().token == Token::End {
            return Ok(());
        }
        if self.after().token != Token::End {
            return self.mismatch("<EOF>");
        }
        self.syntax(&format!("extraneous input '{}' expecting <EOF>", self.peek().text));
        Ok(())
    }

    fn expr(&mut self) -> Parsed {
        self.open += 1;
        if self.open > DEEPEST {
            self.issues
                .add(None, format!("expression recursion limit exceeded: {DEEPEST}"));
            return Err(Stop);
        }
        let expr = self.ternary();
        self.open -= 1;
        expr
    }

    fn ternary(&mut self) -> Parsed {
        let condition = self.either()?;
        let Some(at) = self.eat("?") else {
            return Ok(condition);
        };
        let yes = self.either()?;
        if self.eat(":").is_none() {
            return self.mismatch("':'");
        }
        let no = self.expr()?;
        Ok(self.call(at, op::CONDITIONAL, vec![condition, yes, no]))
    }

    fn either(&mut self) -> Parsed {
        self.logical("||", op::OR, |this| {
            this.logical("&&", op::AND, |this| this.operators(1))
        })
    }

    /// `term op term op …` becomes one node with all terms.
    fn logical(&mut self, sign: &str, function: &str, term: impl Fn(&mut Self) -> Parsed) -> Parsed {
        let first = term(self)?;
        let Some(at) = self.eat(sign) else {
            return Ok(first);
        };
        let mut terms = vec![first, term(self)?];
        while self.eat(sign).is_some() {
            terms.push(term(self)?);
        }
        Ok(self.call(at, function, terms))
    }

    /// Reads operators with at least the precedence `least`; they are left-associative.
    fn operators(&mut self, least: u8) -> Parsed {
        let mut left = self.unary()?;
        while self.peek().token == Token::Sign
            && let Some((function, level)) = binary(&self.peek().text)
            && level >= least
        {
            let at = self.advance().at;
            let right = self.operators(level + 1)?;
            left = self.call(at, function, vec![left, right]);
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed {
        let sign = if self.is("!") { "!" } else { "-" };
        let number = |lexeme: &Lexeme| matches!(lexeme.token, Token::Int | Token::Float);
        if !self.is(sign) || (sign == "-" && number(self.after())) {
            return self.member();
        }
        let at = self.peek().at;
        let mut count = 0;
        while self.is(sign) {
            self.advance();
            count += 1;
        }
        if sign == "-" && self.is("!") {
            return self.dead_end("-");
        }
        let operand = self.member()?;
        // Pairs cancel out, before type checking.
        if count % 2 == 0 {
            return Ok(operand);
        }
        Ok(self.call(at, if sign == "!" { op::NOT } else { op::NEGATE }, vec![operand]))
    }

    fn member(&mut self) -> Parsed {
        let mut expr = self.primary()?;
        while self.is(".") || self.is("[") {
            expr = self.link(expr)?;
        }
        Ok(expr)
    }

    /// `.field`, `.?field`, `.method(…)`, `[index]` or `[?index]`.
    fn link(&mut self, operand: Expr) -> Parsed {
        let link = self.advance();
        let optional = self.eat("?").is_some();
        if link.text == "[" {
            if !optional {
                self.also = (self.next, "?");
            }
            let index = self.expr()?;
            self.close("]")?;
            let function = if optional { op::OPT_INDEX } else { op::INDEX };
            return Ok(self.call(link.at, function, vec![operand, index]));
        }
        if !matches!(self.peek().token, Token::Ident | Token::EscapedIdent) {
            let text = if self.peek().token == Token::End {
                ""
            } else {
                self.peek().text.as_str()
            };
            let message = match text {
                "true" | "false" | "null" => format!("mismatched input '{text}' expecting IDENTIFIER"),
                _ => format!(
                    "no viable alternative at input '.{}{text}'",
                    if optional { "?" } else { "" }
                ),
            };
            self.syntax(&message);
            return Err(Stop);
        }
        let escaped = self.peek().token == Token::EscapedIdent;
        let name = if escaped { self.escaped() } else { self.advance() };
        if optional {
            let field = self.node(name.at, Kind::Literal(name.text.as_str().into()));
            return Ok(self.call(link.at, op::OPT_SELECT, vec![operand, field]));
        }
        if !escaped && let Some(at) = self.eat("(") {
            let args = self.arguments()?;
            let call = macros::Method {
                at,
                name: &name.text,
                target: operand,
                args,
            };
            return Ok(macros::method(self, call));
        }
        let kind = Kind::Select {
            operand: Box::new(operand),
            field: name.text,
            test: false,
        };
        Ok(self.node(link.at, kind))
    }

    fn arguments(&mut self) -> Parsed<Vec<Expr>> {
        let mut args = Vec::new();
        if self.eat(")").is_some() {
            return Ok(args);
        }
        self.also = (self.next, ")");
        args.push(self.expr()?);
        while self.eat(",").is_some() {
            args.push(self.expr()?);
        }
        self.close(")")?;
        Ok(args)
    }

    fn primary(&mut self) -> Parsed {
        if !begins(self.peek()) {
            let expected = self.expected();
            if !begins(self.after()) {
                return self.mismatch(&expected);
            }
            self.syntax(&format!("extraneous input '{}' expecting {expected}", self.peek().text));
            self.advance();
            return self.unary();
        }
        let lexeme = self.advance();
        let at = lexeme.at;
        match lexeme.token {
            Token::Ident => self.name(lexeme, ""),
            Token::Sign => match lexeme.text.as_str() {
                "(" => {
                    let inner = self.expr()?;
                    self.close(")")?;
                    Ok(inner)
                }
                "[" => self.list(at),
                "{" => self.map(at),
                "." if self.peek().token == Token::Ident => {
                    let name = self.advance();
                    self.name(Lexeme { at, ..name }, ".")
                }
                "true" => Ok(self.node(at, Kind::Literal(Literal::Bool(true)))),
                "false" => Ok(self.node(at, Kind::Literal(Literal::Bool(false)))),
                "null" => Ok(self.node(at, Kind::Literal(Literal::Null))),
                "-" if !matches!(self.peek().token, Token::Int | Token::Float) => self.dead_end("-"),
                "-" => {
                    let number = self.advance();
                    Ok(self.literal(at, &number, true))
                }
                sign => self.dead_end(sign),
            },
            _ => Ok(self.literal(at, &lexeme, false)),
        }
    }

    /// The error if the next token cannot follow `before`.
    fn dead_end<T>(&mut self, before: &str) -> Parsed<T> {
        let message = format!("no viable alternative at input '{before}{}'", self.peek().text);
        self.syntax(&message);
        Err(Stop)
    }

    /// The tokens that are expected here, in the order of the grammar.
    fn expected(&self) -> String {
        match self.also {
            (at, ")") if at == self.next => OPERAND.replacen("'(', ", "'(', ')', ", 1),
            (at, "?") if at == self.next => OPERAND.replacen("'!', ", "'!', '?', ", 1),
            _ => OPERAND.to_owned(),
        }
    }

    fn literal(&mut self, at: usize, lexeme: &Lexeme, minus: bool) -> Expr {
        match literal::value(lexeme, minus) {
            Ok(value) => self.node(at, Kind::Literal(value)),
            Err(message) => self.wrong(at, message),
        }
    }

    /// Reads a variable, a function call or a message, which all start with a name.
    fn name(&mut self, name: Lexeme, dot: &str) -> Parsed {
        if let Some(last) = self.message_name() {
            let mut full = format!("{dot}{}", name.text);
            while self.next < last {
                full.push_str(&self.advance().text);
            }
            return self.message(full);
        }
        let reserved = kubewright_machinery::rule_names::RESERVED.contains(&name.text.as_str());
        let full = format!("{dot}{}", name.text);
        if let Some(at) = self.eat("(") {
            let start = self.peek().at;
            let args = self.arguments().inspect_err(|_| {
                // The server expands the macro in spite of the errors in it.
                if full == "has" {
                    self.issues
                        .add(Some(start), "invalid argument to has() macro".to_owned());
                }
            })?;
            if reserved {
                return Ok(self.wrong(name.at, format!("reserved identifier: {}", name.text)));
            }
            return Ok(macros::function(self, at, &full, args));
        }
        if reserved {
            return Ok(self.wrong(name.at, format!("reserved identifier: {}", name.text)));
        }
        Ok(self.node(name.at, Kind::Ident(full)))
    }

    /// The position of the `{`, if the next tokens are of the form `a.b.c{`.
    fn message_name(&self) -> Option<usize> {
        let mut at = self.next;
        while is_sign(self.lexemes.get(at)?, ".") && self.lexemes.get(at + 1)?.token == Token::Ident {
            at += 2;
        }
        is_sign(self.lexemes.get(at)?, "{").then_some(at)
    }

    /// Whether a list ends here, possibly after a trailing comma.
    fn ends(&self, close: &str) -> bool {
        self.is(close) || (self.is(",") && is_sign(self.after(), close))
    }

    /// Reads items separated by commas, and the closing brace or bracket; the opening one has been read.
    fn separated<T>(&mut self, close: &str, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = Vec::new();
        while !self.ends(close) {
            items.push(item(self)?);
            if !self.ends(close) && self.eat(",").is_none() {
                let expected = format!("{{'{close}', ','}}");
                if !is_sign(self.after(), close) && !is_sign(self.after(), ",") {
                    return self.mismatch(&expected);
                }
                self.syntax(&format!("extraneous input '{}' expecting {expected}", self.peek().text));
                self.advance();
                self.eat(",");
            }
        }
        self.eat(",");
        self.close(close)?;
        Ok(items)
    }

    /// Reads `: value`.
    fn value(&mut self) -> Parsed {
        if self.eat(":").is_none() {
            if !begins(self.peek()) {
                return self.mismatch("':'");
            }
            self.syntax(&format!("missing ':' at '{}'", self.peek().text));
        }
        self.expr()
    }

    fn message(&mut self, name: String) -> Parsed {
        let at = self.advance().at;
        let slots = self.separated("}", |this| {
            let optional = this.eat("?").is_some();
            let field = match this.peek().token {
                Token::Ident => this.advance().text,
                Token::EscapedIdent => this.escaped().text,
                _ => return this.mismatch("{'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}"),
            };
            let at = this.peek().at;
            let value = this.value()?;
            Ok(Slot {
                at,
                field,
                value,
                optional,
            })
        })?;
        Ok(self.node(at, Kind::Struct(name, slots)))
    }

    fn list(&mut self, at: usize) -> Parsed {
        let items = self.separated("]", |this| {
            let optional = this.eat("?").is_some();
            Ok((this.expr()?, optional))
        })?;
        Ok(self.node(at, Kind::List(items)))
    }

    fn map(&mut self, at: usize) -> Parsed {
        let entries = self.separated("}", |this| {
            let optional = this.eat("?").is_some();
            let key = this.expr()?;
            let value = this.value()?;
            Ok(Entry { key, value, optional })
        })?;
        Ok(self.node(at, Kind::Map(entries)))
    }
}

fn is_sign(lexeme: &Lexeme, sign: &str) -> bool {
    lexeme.token == Token::Sign && lexeme.text == sign
}

/// Whether an operand can start with the token.
fn begins(lexeme: &Lexeme) -> bool {
    match lexeme.token {
        Token::End | Token::EscapedIdent => false,
        Token::Sign => ["[", "{", "(", ".", "-", "!", "true", "false", "null"].contains(&lexeme.text.as_str()),
        _ => true,
    }
}

/// Whether the token can follow an operand.
fn follows(lexeme: &Lexeme) -> bool {
    match lexeme.token {
        Token::End => true,
        Token::Sign => {
            binary(&lexeme.text).is_some()
                || [")", "]", "}", ",", ":", "?", "&&", "||", ".", "["].contains(&lexeme.text.as_str())
        }
        _ => false,
    }
}
