//! Any text: what parses is resolved, what resolves is checked, and what is accepted
//! is read again from the bytes that the macro embeds.
//!
//! ```sh
//! cargo run --manifest-path fuzz/Cargo.toml --bin seeds      # the suite's kernels
//! cargo fuzz run --sanitizer none check -- -dict=fuzz/words.dict -timeout=20
//! ```
//!
//! Without a sanitizer, `cargo-fuzz` uses no option of a nightly compiler. There is no
//! `unsafe` code here that one would look at.
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
