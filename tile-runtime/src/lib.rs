//! Runtime.

mod cpu;
