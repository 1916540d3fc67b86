//! The language, from text: what resolves, what is refused and in which words,
//! what the checks find, what the embedded bytes hold.

mod assume;
mod check_arrays;
mod check_atomics;
mod check_bounds;
mod check_divergence;
mod check_exchange;
mod check_initialised;
mod check_pad;
mod check_races;
mod check_redundant;
mod check_warps;
mod choose;
mod encode;
mod exact;
mod functions;
mod hints;
mod judged;
mod jumps;
mod kernels;
mod mutations;
mod oracle;
mod resolve_accept;
mod resolve_header;
mod resolve_names;
mod resolve_types;
mod rules;
mod suite;
mod support;
mod time;
mod uniform;
mod verify_kernel;
