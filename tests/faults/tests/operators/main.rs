//! An operator with faults: processes that die, connections that fail, and a server that shows older states.

mod histories;
mod kills;
mod past;
mod writes;
