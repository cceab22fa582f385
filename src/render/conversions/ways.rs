//! Conversions of a value of one type to another: unchanged, through a function, or item by item.

/// A way.
#[derive(Debug, PartialEq, Eq)]
pub enum Way {
    /// The types are the same.
    Same,
    /// The function of that name.
    Function(String),
    /// The value in an `Option`.
    Option(Box<Way>),
    /// The value in a `Box`.
    Boxed(Box<Way>),
    /// The items of a list.
    List(Box<Way>),
    /// The values of a map.
    Map(Box<Way>),
}

/// A value, and the methods that are called on it.
struct Chain {
    root: String,
    calls: Vec<String>,
}

/// The longest chain of several calls that rustfmt leaves on one line, by default.
const CHAIN_MAX: usize = 60;
/// The longest line, by default.
const LINE_MAX: usize = 100;

impl Way {
    /// The converted value, on one line.
    fn of(&self, value: &str) -> String {
        let chain = self.chain(value);
        chain.root + &chain.calls.concat()
    }

    fn chain(&self, value: &str) -> Chain {
        let chain = |calls: Vec<String>| Chain {
            root: value.to_owned(),
            calls,
        };
        let iterated = |map: String| chain(vec![".into_iter()".to_owned(), map, ".collect()".to_owned()]);
        let plain = |root: String| Chain {
            root,
            calls: Vec::new(),
        };
        match self {
            Self::Same => chain(Vec::new()),
            Self::Function(name) => plain(format!("{name}({value})")),
            Self::Boxed(inner) => plain(format!("Box::new({})", inner.of(&format!("*{value}")))),
            Self::Option(inner) => chain(vec![format!(".map({})", inner.function("inner"))]),
            Self::List(inner) => iterated(format!(".map({})", inner.function("item"))),
            Self::Map(inner) => iterated(format!(".map(|(key, value)| (key, {}))", inner.of("value"))),
        }
    }

    /// A function that converts, with that name for its argument.
    fn function(&self, argument: &str) -> String {
        match self {
            Self::Function(name) => name.clone(),
            way => format!("|{argument}| {}", way.of(argument)),
        }
    }

    /// The field, if it is an optional list or map whose items take a chain too long for one line.
    fn block(&self, name: &str) -> Option<Vec<String>> {
        let Self::Option(inner) = self else { return None };
        let Chain { root, calls } = inner.chain("inner");
        if calls.len() < 2 || root.len() + calls.concat().len() <= CHAIN_MAX {
            return None;
        }
        let mut lines = vec![format!("{name}: {name}.map(|inner| {{"), format!("    {root}")];
        lines.extend(calls.iter().map(|call| format!("        {call}")));
        lines.push("}),".to_owned());
        Some(lines)
    }

    /// A field of a struct, in lines without indentation, as rustfmt lays it out two levels deep; only a chain within a chain
    /// can be too long for its line.
    pub fn field(&self, name: &str) -> Vec<String> {
        const INDENT: usize = 8;
        if *self == Self::Same {
            return vec![format!("{name},")];
        }
        if let Some(lines) = self.block(name) {
            return lines;
        }
        let chain = self.chain(name);
        let one = format!("{}{}", chain.root, chain.calls.concat());
        let line = format!("{name}: {one},");
        let is_short = chain.calls.len() < 2 || one.len() <= CHAIN_MAX;
        if chain.calls.is_empty() || is_short && INDENT + line.len() <= LINE_MAX {
            return vec![line];
        }
        let mut calls = chain.calls;
        let mut first = format!("{name}: {}", chain.root);
        // A value that is shorter than the indentation takes its first call along.
        if name.len() == 1 && calls.len() > 1 {
            first.push_str(&calls.remove(0));
        }
        let last = calls.len().saturating_sub(1);
        let call = |(at, call): (usize, &String)| format!("    {call}{}", if at == last { "," } else { "" });
        [first].into_iter().chain(calls.iter().enumerate().map(call)).collect()
    }
}
