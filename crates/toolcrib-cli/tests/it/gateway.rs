//! The gateway from outside: the real binary, real pipes and sockets, servers that are
//! processes of their own.

mod calls;
pub(crate) mod faults;
mod http;
pub(crate) mod kit;
mod lists;
mod reverse;
mod surface;
