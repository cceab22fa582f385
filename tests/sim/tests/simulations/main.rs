//! Simulations of right and of wrong operators.

mod outside;
mod random;
mod repeatable;
mod right;
mod several;
mod wrong;
