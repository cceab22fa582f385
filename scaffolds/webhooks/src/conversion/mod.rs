//! Conversion between the versions of a kind: the declaration of an author's functions, and the webhook that calls them.
//! Values that a version cannot hold are kept beside it. HTTP is the server's business.

mod answer;
mod body;
mod convert;
mod each;
mod failure;
mod hub;
mod kept;
mod marks;
mod review;
#[cfg(feature = "testing")]
mod reviews;
mod shell;
mod step;
mod stored;

pub use self::hub::Hub;
#[cfg(feature = "testing")]
pub use self::reviews::Reviews;
#[cfg(feature = "testing")]
pub(crate) use self::{
    convert::Converter,
    kept::{annotation, hidden},
};

#[cfg(test)]
pub(crate) mod tests;
