//! Sessions as files: what survives crashes, second writers and full disks.

mod crash;
mod files;
mod full;
mod processes;
mod support;
