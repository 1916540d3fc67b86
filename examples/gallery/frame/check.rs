//! What the tests of a list of entries ask, answered by what is wrong.

use std::fmt::Display;

use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};
use tile_runtime::ir::device::known;
use tile_runtime::nvrtc::{self, CompileOptions, Image};
use tile_runtime::{Device, Kernel};

use super::Entry;

/// Runs each entry in each of its small sizes, and says which are wrong.
pub fn wrong_results(device: &Device, entries: &[Entry]) -> Vec<String> {
    let cases =
        entries.iter().flat_map(|entry| entry.small.iter().map(move |sizes| (entry, *sizes)));
    let wrong = cases.filter_map(|(entry, sizes)| {
        let name = entry.name;
        if sizes.len() != entry.sizes.len() {
            return Some(format!("{name} {sizes:?}: it takes {}", entry.sizes.join(", ")));
        }
        entry.checked(device, sizes).err().map(|error| format!("{name} {sizes:?}: {error}"))
    });
    let none = entries.iter().filter(|entry| entry.small.is_empty());
    wrong.chain(none.map(|entry| format!("{} has no small sizes", entry.name))).collect()
}

/// Names that two entries have.
pub fn repeated_names(entries: &[Entry]) -> Vec<&'static str> {
    let names = entries.iter().enumerate();
    let repeated = names.filter(|(position, entry)| {
        entries[..*position].iter().any(|earlier| earlier.name == entry.name)
    });
    repeated.map(|(_, entry)| entry.name).collect()
}

/// One device of each architecture: Turing, Ampere, Hopper, consumer Blackwell.
const DEVICES: [&str; 4] = ["T4", "A100", "H200", "RTX 5090"];

/// Compiles each entry's kernels to machine code of each architecture, and says which fail.
/// Needs NVRTC, and no GPU.
pub fn failed_compilations(entries: &[Entry]) -> Vec<String> {
    let kernels: Vec<Kernel> = entries.iter().flat_map(|entry| (entry.kernels)()).collect();
    let cases: Vec<(&Kernel, &str)> =
        kernels.iter().flat_map(|kernel| DEVICES.map(|device| (kernel, device))).collect();
    let cases = cases.into_par_iter();
    cases.filter_map(|(kernel, device)| compile(kernel, device).err()).collect()
}

/// Compiles what is chosen for a device, for sizes that are no multiple of a tile.
fn compile(kernel: &Kernel, name: &str) -> Result<(), String> {
    let of = |error: &dyn Display| format!("{kernel:?} on {name}: {error}");
    let device = known(name).ok_or_else(|| of(&"the device is not in the table"))?;
    let dims = vec![1001; kernel.dims().len()];
    let config = kernel.config_for(&device, &dims).map_err(|error| of(&error))?;
    let source = kernel.cuda_source_for(&config, &device, &dims).map_err(|error| of(&error))?;
    let options = CompileOptions { fast: true, extra: Vec::new() };
    let code = nvrtc::compile(&source, &device.architecture(), &options);
    match code.map_err(|error| of(&error))?.image {
        Image::Cubin(bytes) if bytes.starts_with(b"\x7fELF") => Ok(()),
        Image::Cubin(_) | Image::Ptx(_) => Err(of(&"no CUBIN")),
    }
}
