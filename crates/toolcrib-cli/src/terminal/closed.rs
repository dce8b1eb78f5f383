//! Whether there was a standard output when the process began.
//!
//! The runtime opens the null device in the place of a standard stream that is closed,
//! before anything of the program runs: what is written is lost without an error, and
//! nobody can tell that from somebody who wants nothing. So it is looked at before,
//! where the system calls what a program names for that.

use std::os::fd::AsFd as _;
use std::sync::atomic::{AtomicBool, Ordering};

static CLOSED: AtomicBool = AtomicBool::new(false);

extern "C" fn look() {
    let closed = rustix::io::fcntl_getfd(std::io::stdout().as_fd()).is_err();
    CLOSED.store(closed, Ordering::Relaxed);
}

#[used]
#[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
#[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
#[allow(
    unsafe_code,
    reason = "the section holds functions to call before `main`, and this is one of their type"
)]
static LOOK: extern "C" fn() = look;

/// Whether standard output was closed from the start; never known but on Linux and macOS.
pub(super) fn from_the_start() -> bool {
    CLOSED.load(Ordering::Relaxed)
}
