//! The types of expressions, and their spelling in the server's messages.

use super::ast::Literal;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// A type that the checker infers, or that a signature requires.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Type {
    Bool,
    /// A type that a mutation of a policy builds: `Object`, `Object.spec`, `JSONPatch`.
    Built(Arc<str>),
    Bytes,
    Double,
    Duration,
    Dyn,
    /// The type of an expression that already has an error. It is assignable to every type, so that one mistake gives one error.
    Error,
    Int,
    List(Arc<Type>),
    Map(Arc<(Type, Type)>),
    Null,
    /// Types of libraries, with parameters: `optional_type(int)`, `net.IP`.
    Opaque(&'static str, Arc<[Type]>),
    /// Objects of the schema.
    Object(Arc<Object>),
    /// A parameter of a signature, by its letter.
    Param(char),
    String,
    /// Types of libraries that the server models as messages: `kubernetes.Quantity`.
    Message(&'static str),
    Timestamp,
    /// The type of a type.
    Meta(Option<Arc<Type>>),
    Uint,
    /// Not inferred yet.
    Var(u32),
}

/// An object of the schema, with its fields by their escaped names.
#[derive(Clone, Debug)]
pub(super) struct Object {
    pub(super) name: String,
    pub(super) fields: BTreeMap<String, Type>,
}

impl PartialEq for Object {
    /// Compares only names, which are unique within one rule: they are the path below `self`.
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Object {}

/// The variables and functions of an expression.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    pub(super) variables: Vec<Variable>,
    /// Whether it is a mutation, which may build objects.
    pub(super) mutates: bool,
}

/// The name of the type of an object that a mutation builds; the names of its fields' types begin with `Object.`.
pub(super) const OBJECT: &str = "Object";
/// The name of the type of an operation of a JSON patch.
pub(super) const JSON_PATCH: &str = "JSONPatch";

/// A variable; its name may have dots.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub(super) name: &'static str,
    pub(super) r#type: Type,
}

impl Type {
    pub(super) fn list(of: Self) -> Self {
        Self::List(Arc::new(of))
    }

    pub(super) fn map(key: Self, value: Self) -> Self {
        Self::Map(Arc::new((key, value)))
    }

    pub(super) fn optional(of: Self) -> Self {
        Self::Opaque("optional_type", Arc::from([of]))
    }

    /// The type inside an optional.
    pub(super) fn unwrapped(&self) -> Option<&Self> {
        match self {
            Self::Opaque("optional_type", of) => of.first(),
            _ => None,
        }
    }

    pub(super) fn is_dyn(&self) -> bool {
        matches!(self, Self::Dyn)
    }

    pub(super) fn is_dyn_or_error(&self) -> bool {
        matches!(self, Self::Dyn | Self::Error)
    }

    /// Whether `null` is assignable to the type.
    pub(super) fn is_nullable(&self) -> bool {
        matches!(
            self,
            Self::Opaque(..)
                | Self::Object(_)
                | Self::Built(_)
                | Self::Message(_)
                | Self::Duration
                | Self::Timestamp
                | Self::Null
        )
    }

    /// The name as Go's type prints itself, which differs from that in the messages of the checker.
    pub(super) fn declared(&self) -> String {
        let name = match self {
            Self::Null => "null_type",
            Self::Duration => "google.protobuf.Duration",
            Self::Timestamp => "google.protobuf.Timestamp",
            Self::List(of) => return format!("list({})", of.declared()),
            Self::Map(of) => return format!("map({}, {})", of.0.declared(), of.1.declared()),
            other => return other.to_string(),
        };
        name.to_owned()
    }

    /// The type's parameters.
    pub(super) fn parameters(&self) -> Vec<&Self> {
        match self {
            Self::List(of) => vec![of],
            Self::Map(of) => vec![&of.0, &of.1],
            Self::Opaque(_, of) => of.iter().collect(),
            Self::Meta(of) => of.as_deref().into_iter().collect(),
            _ => Vec::new(),
        }
    }

    /// The same type with its parameters replaced by `change`.
    pub(super) fn rebuilt(&self, change: &mut dyn FnMut(&Self) -> Self) -> Self {
        match self {
            Self::List(of) => Self::list(change(of)),
            Self::Map(of) => {
                let key = change(&of.0);
                Self::map(key, change(&of.1))
            }
            Self::Opaque(name, of) => Self::Opaque(name, of.iter().map(change).collect()),
            Self::Meta(Some(of)) => Self::Meta(Some(Arc::new(change(of)))),
            other => other.clone(),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Bool => "bool",
            Self::Bytes => "bytes",
            Self::Double => "double",
            Self::Duration => "duration",
            Self::Dyn => "dyn",
            Self::Error => "!error!",
            Self::Int => "int",
            Self::List(_) => "list",
            Self::Map(_) => "map",
            Self::Null => "null",
            Self::Opaque(name, _) | Self::Message(name) => name,
            Self::Object(object) => &object.name,
            Self::Built(name) => name,
            Self::Param(letter) => return write!(f, "{letter}"),
            Self::String => "string",
            Self::Timestamp => "timestamp",
            Self::Meta(_) => "type",
            Self::Uint => "uint",
            Self::Var(number) => return write!(f, "_var{number}"),
        };
        f.write_str(name)?;
        let parameters = self.parameters();
        if parameters.is_empty() {
            return Ok(());
        }
        f.write_str("(")?;
        for (index, parameter) in parameters.into_iter().enumerate() {
            write!(f, "{}{parameter}", if index > 0 { ", " } else { "" })?;
        }
        f.write_str(")")
    }
}

/// The type with this name, and its name as a static string.
pub(super) fn type_named(name: &str) -> Option<(&'static str, Type)> {
    let open = Type::Dyn;
    Some(match name {
        "bool" => ("bool", Type::Bool),
        "bytes" => ("bytes", Type::Bytes),
        "double" => ("double", Type::Double),
        "duration" => ("duration", Type::Duration),
        "google.protobuf.Duration" => ("google.protobuf.Duration", Type::Duration),
        "google.protobuf.Timestamp" => ("google.protobuf.Timestamp", Type::Timestamp),
        "int" => ("int", Type::Int),
        "list" => ("list", Type::list(open)),
        "map" => ("map", Type::map(open.clone(), open)),
        "net.CIDR" => ("net.CIDR", Type::Opaque("net.CIDR", Arc::from([]))),
        "net.IP" => ("net.IP", Type::Opaque("net.IP", Arc::from([]))),
        "null_type" => ("null_type", Type::Null),
        "optional_type" => ("optional_type", Type::optional(open)),
        "string" => ("string", Type::String),
        "timestamp" => ("timestamp", Type::Timestamp),
        "type" => ("type", Type::Meta(None)),
        "uint" => ("uint", Type::Uint),
        _ => return None,
    })
}

/// A signature's type with its parameters replaced.
pub(super) fn instance(r#type: &Type, fresh: &[(char, Type)]) -> Type {
    match r#type {
        Type::Param(letter) => fresh
            .iter()
            .find(|(known, _)| known == letter)
            .map_or(Type::Dyn, |(_, r#type)| r#type.clone()),
        other => other.rebuilt(&mut |parameter| instance(parameter, fresh)),
    }
}

/// The type of a literal.
pub(super) fn of_literal(literal: &Literal) -> Type {
    match literal {
        Literal::Null => Type::Null,
        Literal::Bool(_) => Type::Bool,
        Literal::Int(_) => Type::Int,
        Literal::Uint(_) => Type::Uint,
        Literal::Double(_) => Type::Double,
        Literal::String(_) => Type::String,
        Literal::Bytes(_) => Type::Bytes,
    }
}
