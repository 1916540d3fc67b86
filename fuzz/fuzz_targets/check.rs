//! Any text: what parses is resolved, what resolves is checked, and what is accepted
//! is read again from the bytes that the macro embeds.
//!
//! ```sh
//! cd fuzz
//! cargo run --bin seeds                      # the kernels of the suite, into `corpus/check`
//! export RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module \
//!     -Cllvm-args=-sanitizer-coverage-level=4 \
//!     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
//!     -Cllvm-args=-sanitizer-coverage-pc-table \
//!     -Cllvm-args=-sanitizer-coverage-trace-compares"
//! cargo build --release --bin check --target x86_64-unknown-linux-gnu
//! target/x86_64-unknown-linux-gnu/release/check corpus/check -dict=words.dict -timeout=60
//! ```
//!
//! A stable compiler knows these options. A sanitizer needs a nightly one, and there is no
//! `unsafe` code here that it would look at.
//!
//! The test `mutations` of `tile-ir` does the same, without coverage, with some
//! changed kernels of its suite.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tile_ir::check::check_kernel;
use tile_ir::encode::{decode, encode};
use tile_ir::kernel::verify_kernel;
use tile_ir::resolve::resolve_kernel;

fuzz_target!(|text: &str| {
    let Ok(item) = tile_syntax::parse_kernel_text(text) else { return };
    let Ok(kernel) = resolve_kernel(&item) else { return };
    if let Err(faults) = verify_kernel(&kernel) {
        panic!("what was resolved is no kernel: {faults:?}");
    }
    let Ok(checked) = check_kernel(kernel) else { return };
    if let Err(error) = decode(&encode(&checked.kernel)) {
        panic!("what was accepted cannot be read again: {error}");
    }
});
