//! Every kernel of the gallery on the CPU, in its small sizes; and through NVRTC.

use std::collections::BTreeSet;
use std::fmt::Display;

use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};
use tile_examples::all;
use tile_examples::frame::{Entry, Failure};
use tile_runtime::ir::device::known;
use tile_runtime::nvrtc::{self, CompileOptions, Image};
use tile_runtime::{Device, Kernel, Options};

#[test]
fn all_are_right_on_the_cpu() {
    let device = Device::cpu();
    for entry in all() {
        assert!(!entry.small.is_empty(), "{} has no small sizes", entry.name);
        for sizes in entry.small {
            let name = entry.name;
            assert_eq!(sizes.len(), entry.sizes.len(), "{name} {sizes:?}");
            right(&device, &entry, sizes)
                .unwrap_or_else(|error| panic!("{name} {sizes:?}: {error}"));
        }
    }
}

fn right(device: &Device, entry: &Entry, sizes: &[usize]) -> Result<(), Failure> {
    let mut prepared = (entry.prepare)(device, sizes)?;
    prepared.launch(&Options::new())?;
    prepared.verify()
}

#[test]
fn names_differ() {
    let names: Vec<_> = all().iter().map(|entry| entry.name).collect();
    let distinct: BTreeSet<_> = names.iter().collect();
    assert_eq!(names.len(), distinct.len(), "{names:?}");
}

/// One device of each architecture: Turing, Ampere, Hopper, consumer Blackwell.
const DEVICES: [&str; 4] = ["T4", "A100", "H200", "RTX 5090"];

/// Needs NVRTC, which `cargo xtask test` provides, and no GPU.
#[test]
fn all_compile_for_every_architecture() {
    if std::env::var_os("TILE_TEST_WITHOUT_NVRTC").is_some() {
        return;
    }
    let kernels: Vec<Kernel> = all().iter().flat_map(|entry| (entry.kernels)()).collect();
    let cases: Vec<(&Kernel, &str)> =
        kernels.iter().flat_map(|kernel| DEVICES.map(|device| (kernel, device))).collect();
    let errors: Vec<String> = cases
        .into_par_iter()
        .filter_map(|(kernel, device)| compile(kernel, device).err())
        .collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

/// Compiles what is chosen for a device, for sizes that are no multiple of a tile.
fn compile(kernel: &Kernel, device: &str) -> Result<(), String> {
    let device = known(device).expect("the device is in the table");
    let dims = vec![1001; kernel.dims().len()];
    let of = |error: &dyn Display| format!("{kernel:?} on {}: {error}", device.name);
    let config = kernel.config_for(&device, &dims).map_err(|error| of(&error))?;
    let source = kernel.cuda_source_for(&config, &device, &dims).map_err(|error| of(&error))?;
    let options = CompileOptions { fast: true, extra: Vec::new() };
    let code = nvrtc::compile(&source, &device.architecture(), &options);
    match code.map_err(|error| of(&error))?.image {
        Image::Cubin(bytes) if bytes.starts_with(b"\x7fELF") => Ok(()),
        Image::Cubin(_) | Image::Ptx(_) => Err(of(&"no CUBIN")),
    }
}
