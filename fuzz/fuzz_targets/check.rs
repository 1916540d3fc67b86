//! Any text: what parses is resolved, and what resolves is checked.
//!
//! ```sh
//! cargo +nightly fuzz run check -- -dict=fuzz/words.dict
//! ```
//!
//! On a stable compiler the test `mutations` of `tile-ir` does the same with the
//! kernels of its suite, words of which it changes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tile_ir::check::check_kernel;
use tile_ir::resolve::resolve_kernel;

fuzz_target!(|text: &str| {
    let Ok(item) = tile_syntax::parse_kernel_text(text) else { return };
    let Ok(kernel) = resolve_kernel(&item) else { return };
    let _ = check_kernel(kernel);
});
