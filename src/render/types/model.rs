//! A model of Rust types, as far as schemas need them.

/// The type of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    Bool,
    I32,
    I64,
    F64,
    Text,
    /// A number or a string, as for ports: Kubernetes' type, whose numbers have 32 bits.
    IntOrString,
    /// A number or a string of any kind: a type of the module.
    NumberOrText,
    /// The Quantity of Kubernetes.
    Quantity,
    /// The Condition of Kubernetes.
    Condition,
    /// Any JSON.
    Any,
    /// A type of the module itself.
    Named(String),
    List(Box<Type>),
    Map(Box<Type>),
    /// A value or null.
    Nullable(Box<Type>),
}

impl Type {
    /// The type in Rust code.
    pub fn rust(&self) -> String {
        match self {
            Self::Bool => "bool".to_owned(),
            Self::I32 => "i32".to_owned(),
            Self::I64 => "i64".to_owned(),
            Self::F64 => "f64".to_owned(),
            Self::Text => "String".to_owned(),
            Self::IntOrString => "IntOrString".to_owned(),
            Self::NumberOrText => "NumberOrText".to_owned(),
            Self::Quantity => "Quantity".to_owned(),
            Self::Condition => "Condition".to_owned(),
            Self::Any => "Value".to_owned(),
            Self::Named(name) => name.clone(),
            Self::List(item) => format!("Vec<{}>", item.rust()),
            Self::Map(value) => format!("BTreeMap<String, {}>", value.rust()),
            Self::Nullable(value) => format!("Option<{}>", value.rust()),
        }
    }

    /// Its name without the arguments, and the arguments; `None` is the key of a map.
    pub fn arguments(&self) -> Option<(&'static str, Vec<Option<&Type>>)> {
        match self {
            Self::List(item) => Some(("Vec", vec![Some(item)])),
            Self::Map(value) => Some(("BTreeMap", vec![None, Some(value)])),
            Self::Nullable(value) => Some(("Option", vec![Some(value)])),
            _ => None,
        }
    }

    /// Whether it contains this type.
    pub fn names(&self, wanted: &Type) -> bool {
        self == wanted
            || match self {
                Self::List(inner) | Self::Map(inner) | Self::Nullable(inner) => inner.names(wanted),
                _ => false,
            }
    }

    /// Whether it contains a map.
    pub fn has_map(&self) -> bool {
        match self {
            Self::Map(_) => true,
            Self::List(inner) | Self::Nullable(inner) => inner.has_map(),
            _ => false,
        }
    }
}

/// A field of a struct.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its Rust name.
    pub name: String,
    /// Its name in JSON; `None` for the field that contains all other keys.
    pub key: Option<String>,
    /// Its type; without the `Option` if it is optional.
    pub kind: Type,
    /// Whether it may be absent.
    pub optional: bool,
    /// Its description in the CRD.
    pub doc: String,
    /// Parts of the schema that its type does not express; for kinds of the project only.
    pub attributes: Vec<String>,
}

/// A struct.
#[derive(Clone, Debug)]
pub struct Struct {
    pub name: String,
    pub doc: String,
    pub fields: Vec<Field>,
    /// The attributes, as for a field.
    pub attributes: Vec<String>,
}

/// An item of the module.
#[derive(Clone, Debug)]
pub enum Item {
    Struct(Struct),
    /// Its variants by name, each with its text in JSON.
    Enum {
        name: String,
        doc: String,
        variants: Vec<(String, String)>,
        default: usize,
        /// The attributes, as for a field.
        attributes: Vec<String>,
    },
    /// An alias of another type.
    Alias {
        name: String,
        doc: String,
        of: Type,
    },
}
