//! Every kernel of PolyBench on the CPU, in its small sizes; and through NVRTC.

use tile_examples::frame::check::{failed_compilations, repeated_names, wrong_results};
use tile_polybench::all;
use tile_runtime::Device;

#[test]
fn all_are_right_on_the_cpu() {
    let wrong = wrong_results(&Device::cpu(), &all());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(repeated_names(&all()), [""; 0]);
}

/// Needs NVRTC, which `cargo xtask test` provides, and no GPU.
#[test]
fn all_compile_for_every_architecture() {
    if std::env::var_os("TILE_TEST_WITHOUT_NVRTC").is_none() {
        let failed = failed_compilations(&all());
        assert!(failed.is_empty(), "{}", failed.join("\n"));
    }
}
