//! Expands macros: calls that become loops, bindings and presence tests before type checking.

use super::Parser;
use crate::ast::{ACCUMULATOR, Expr, Fold, Kind, Literal, op};

/// The limit of nodes after expansion. Each chained `optMap` doubles the expression before it; the server expands them all, and then refuses
/// the cost.
const MOST_NODES: usize = 100_000;

/// A loop under construction: its range and its variables.
struct Loop {
    at: usize,
    range: Expr,
    var: String,
    var2: Option<String>,
}

/// A call with a receiver.
pub(super) struct Method<'a> {
    pub at: usize,
    pub name: &'a str,
    pub target: Expr,
    pub args: Vec<Expr>,
}

/// A variable for one expression.
struct Binding {
    name: String,
    value: Expr,
}

/// Expands a call without a receiver, or leaves it a call.
pub(super) fn function(parser: &mut Parser<'_>, at: usize, name: &str, mut args: Vec<Expr>) -> Expr {
    if name != "has" || args.len() != 1 {
        return parser.call(at, name, args);
    }
    match args.pop() {
        Some(Expr {
            kind: Kind::Select { operand, field, .. },
            ..
        }) => parser.node(
            at,
            Kind::Select {
                operand,
                field,
                test: true,
            },
        ),
        other => parser.wrong(other.map_or(at, |it| it.at), "invalid argument to has() macro"),
    }
}

/// Expands a call with a receiver, or leaves it a call.
pub(super) fn method(parser: &mut Parser<'_>, call: Method<'_>) -> Expr {
    match (call.name, call.args.len()) {
        ("all" | "exists" | "exists_one", 2) | ("all" | "exists" | "exists_one" | "existsOne", 3) => {
            quantifier(parser, call)
        }
        ("map", 2 | 3) => map(parser, call),
        ("filter", 2) => filter(parser, call),
        ("transformList" | "transformMap" | "transformMapEntry", 3 | 4) => transform(parser, call),
        ("optMap" | "optFlatMap", 2) => optional(parser, call),
        ("sortBy", 2) => sort_by(parser, call),
        _ => parser.node(
            call.at,
            Kind::Call {
                function: call.name.to_owned(),
                target: Some(Box::new(call.target)),
                args: call.args,
            },
        ),
    }
}

/// The loop over the receiver of a call, and the remaining arguments: the first `count` arguments are the variables.
fn begin(parser: &mut Parser<'_>, call: Method<'_>, count: usize, refusal: &str) -> Result<(Loop, Vec<Expr>), Expr> {
    let mut args = call.args;
    let mut names = Vec::new();
    for arg in args.drain(..count.min(args.len())) {
        match arg.kind {
            Kind::Ident(name) => names.push((arg.at, name)),
            _ => return Err(parser.wrong(arg.at, refusal)),
        }
    }
    if let [(_, first), (at, second)] = names.as_slice()
        && first == second
    {
        return Err(parser.wrong(*at, format!("duplicate variable name: {first}")));
    }
    if let Some((at, _)) = names
        .iter()
        .find(|(_, name)| name == "__result__" || name == ACCUMULATOR)
    {
        return Err(parser.wrong(*at, "iteration variable overwrites accumulator variable"));
    }
    let mut names = names.into_iter().map(|(_, name)| name);
    let this = Loop {
        at: call.at,
        range: call.target,
        var: names.next().unwrap_or_default(),
        var2: names.next(),
    };
    Ok((this, args))
}

impl Loop {
    fn finish(self, parser: &mut Parser<'_>, parts: [Expr; 4]) -> Expr {
        let [init, condition, step, result] = parts;
        let accu = ACCUMULATOR.to_owned();
        let fold = Fold {
            range: self.range,
            var: self.var,
            var2: self.var2,
            accu,
            init,
            condition,
            step,
            result,
        };
        parser.node(self.at, Kind::Fold(Box::new(fold)))
    }
}

fn accu(parser: &mut Parser<'_>, at: usize) -> Expr {
    parser.node(at, Kind::Ident(ACCUMULATOR.to_owned()))
}

fn literal(parser: &mut Parser<'_>, at: usize, value: Literal) -> Expr {
    parser.node(at, Kind::Literal(value))
}

/// `filter ? step : accumulator`.
fn only_if(parser: &mut Parser<'_>, at: usize, filter: Option<Expr>, step: Expr) -> Expr {
    match filter {
        None => step,
        Some(filter) => {
            let unchanged = accu(parser, at);
            parser.call(at, op::CONDITIONAL, vec![filter, step, unchanged])
        }
    }
}

fn quantifier(parser: &mut Parser<'_>, call: Method<'_>) -> Expr {
    let refusal = "argument must be a simple name";
    let (at, name, names) = (call.at, call.name, call.args.len() - 1);
    let (this, mut args) = match begin(parser, call, names, refusal) {
        Ok(begun) => begun,
        Err(wrong) => return wrong,
    };
    let Some(predicate) = args.pop() else {
        return parser.wrong(at, refusal);
    };
    let so_far = accu(parser, at);
    let parts = match name {
        "all" => {
            let init = literal(parser, at, Literal::Bool(true));
            let condition = parser.call(at, op::NOT_STRICTLY_FALSE, vec![so_far]);
            let so_far = accu(parser, at);
            [
                init,
                condition,
                parser.call(at, op::AND, vec![so_far, predicate]),
                accu(parser, at),
            ]
        }
        "exists" => {
            let init = literal(parser, at, Literal::Bool(false));
            let not = parser.call(at, op::NOT, vec![so_far]);
            let condition = parser.call(at, op::NOT_STRICTLY_FALSE, vec![not]);
            let so_far = accu(parser, at);
            [
                init,
                condition,
                parser.call(at, op::OR, vec![so_far, predicate]),
                accu(parser, at),
            ]
        }
        _ => {
            let init = literal(parser, at, Literal::Int(0));
            let condition = literal(parser, at, Literal::Bool(true));
            let one = literal(parser, at, Literal::Int(1));
            let more = parser.call(at, op::ADD, vec![so_far, one]);
            let step = only_if(parser, at, Some(predicate), more);
            let (count, one) = (accu(parser, at), literal(parser, at, Literal::Int(1)));
            [init, condition, step, parser.call(at, op::EQUALS, vec![count, one])]
        }
    };
    this.finish(parser, parts)
}

/// A loop that appends `item` to a list if `filter` is true.
fn collect(parser: &mut Parser<'_>, this: Loop, filter: Option<Expr>, item: Expr) -> Expr {
    let at = this.at;
    let init = parser.node(at, Kind::List(Vec::new()));
    let condition = literal(parser, at, Literal::Bool(true));
    let so_far = accu(parser, at);
    let list = parser.node(at, Kind::List(vec![(item, false)]));
    let step = parser.call(at, op::ADD, vec![so_far, list]);
    let step = only_if(parser, at, filter, step);
    let result = accu(parser, at);
    this.finish(parser, [init, condition, step, result])
}

fn map(parser: &mut Parser<'_>, call: Method<'_>) -> Expr {
    let at = call.at;
    match begin(parser, call, 1, "argument is not an identifier") {
        Ok((this, mut args)) => match (args.pop(), args.pop()) {
            (Some(item), filter) => collect(parser, this, filter, item),
            (None, _) => parser.wrong(at, "argument is not an identifier"),
        },
        Err(wrong) => wrong,
    }
}

fn filter(parser: &mut Parser<'_>, call: Method<'_>) -> Expr {
    let var_at = call.args.first().map_or(call.at, |arg| arg.at);
    match begin(parser, call, 1, "argument is not an identifier") {
        Ok((this, mut args)) => {
            let item = parser.node(var_at, Kind::Ident(this.var.clone()));
            collect(parser, this, args.pop(), item)
        }
        Err(wrong) => wrong,
    }
}

fn transform(parser: &mut Parser<'_>, call: Method<'_>) -> Expr {
    let (at, name) = (call.at, call.name);
    let (this, mut args) = match begin(parser, call, 2, "argument must be a simple name") {
        Ok(begun) => begun,
        Err(wrong) => return wrong,
    };
    let (item, filter) = (args.pop(), args.pop());
    let Some(item) = item else {
        return parser.wrong(at, "argument must be a simple name");
    };
    if name == "transformList" {
        return collect(parser, this, filter, item);
    }
    let init = parser.node(at, Kind::Map(Vec::new()));
    let condition = literal(parser, at, Literal::Bool(true));
    let mut insert = vec![accu(parser, at)];
    if name == "transformMap" {
        insert.push(parser.node(at, Kind::Ident(this.var.clone())));
    }
    insert.push(item);
    let step = parser.call(at, "cel.@mapInsert", insert);
    let step = only_if(parser, at, filter, step);
    let result = accu(parser, at);
    this.finish(parser, [init, condition, step, result])
}

/// Computes `result` with a binding: a loop over an empty list.
fn bind(parser: &mut Parser<'_>, at: usize, Binding { name, value }: Binding, result: Expr) -> Expr {
    let range = parser.node(at, Kind::List(Vec::new()));
    let condition = literal(parser, at, Literal::Bool(false));
    let step = parser.node(at, Kind::Ident(name.clone()));
    let var = "#unused".to_owned();
    let fold = Fold {
        range,
        var,
        var2: None,
        accu: name,
        init: value,
        condition,
        step,
        result,
    };
    parser.node(at, Kind::Fold(Box::new(fold)))
}

fn member(parser: &mut Parser<'_>, at: usize, target: Expr, function: &str) -> Expr {
    let (function, target) = (function.to_owned(), Some(Box::new(target)));
    parser.node(
        at,
        Kind::Call {
            function,
            target,
            args: Vec::new(),
        },
    )
}

fn optional(parser: &mut Parser<'_>, call: Method<'_>) -> Expr {
    let Method {
        at,
        name,
        target,
        mut args,
    } = call;
    let (Some(inner), Some(var)) = (args.pop(), args.pop()) else {
        return parser.wrong(at, "argument must be a simple name");
    };
    let Kind::Ident(var) = var.kind else {
        return parser.wrong(var.at, format!("{name}() variable name must be a simple identifier"));
    };
    if parser.ids > MOST_NODES {
        return parser.wrong(at, "expression is too large once its macros are expanded");
    }
    let copy = renumbered(parser, &target);
    let value = member(parser, at, copy, "value");
    let mut bound = bind(parser, at, Binding { name: var, value }, inner);
    if name == "optMap" {
        bound = parser.call(at, "optional.of", vec![bound]);
    }
    let has = member(parser, at, target, "hasValue");
    let none = parser.call(at, "optional.none", Vec::new());
    parser.call(at, op::CONDITIONAL, vec![has, bound, none])
}

fn sort_by(parser: &mut Parser<'_>, call: Method<'_>) -> Expr {
    const INPUT: &str = "@__sortBy_input__";
    let (at, target) = (call.at, call.target);
    let sortable = matches!(
        target.kind,
        Kind::List(_) | Kind::Select { .. } | Kind::Ident(_) | Kind::Fold(_) | Kind::Call { .. }
    );
    if !sortable {
        let message = "sortBy can only be applied to a list, identifier, comprehension, call or select expression";
        return parser.wrong(target.at, message);
    }
    let input = parser.node(at, Kind::Ident(INPUT.to_owned()));
    let pairs = Method { target: input, ..call };
    let keys = map(parser, pairs);
    if matches!(keys.kind, Kind::Broken) {
        return keys;
    }
    let input = parser.node(at, Kind::Ident(INPUT.to_owned()));
    let function = "@sortByAssociatedKeys".to_owned();
    let sorted = parser.node(
        at,
        Kind::Call {
            function,
            target: Some(Box::new(input)),
            args: vec![keys],
        },
    );
    let input = Binding {
        name: INPUT.to_owned(),
        value: target,
    };
    bind(parser, at, input, sorted)
}

/// A copy with new ids.
fn renumbered(parser: &mut Parser<'_>, expr: &Expr) -> Expr {
    let mut copy = expr.clone();
    copy.renumber(&mut || {
        parser.ids += 1;
        parser.ids - 1
    });
    copy
}
