//! What a launch needs, against what a device has. Holds of a program that all
//! passes have seen, not of those between.

use super::{Place, ProgramFault, Verifier};
use crate::device::DeviceProperties;
use crate::program::{Program, SharedMemory, TileSpace};

/// Checks that `device` can launch a program.
///
/// # Errors
///
/// Each kernel that takes more threads or shared memory per block than there
/// are.
pub fn verify_launch(
    program: &Program,
    device: &DeviceProperties,
) -> Result<(), Vec<ProgramFault>> {
    let mut faults = Vec::new();
    for (number, kernel) in program.kernels.iter().enumerate() {
        let mut cx = Verifier { program, kernel, place: Place::Kernel, faults: Vec::new() };
        let (threads, most) = (kernel.threads, device.max_threads_per_block);
        cx.require(threads <= most, || {
            format!("{threads} threads per block; `{}` runs {most}", device.name)
        });
        let (bytes, most, kind) = match kernel.shared_memory {
            SharedMemory::Static => {
                let shared = kernel.tiles.values().filter(|tile| tile.space == TileSpace::Shared);
                let sizes = shared.map(|tile| tile.size_bytes().next_multiple_of(16));
                (sizes.sum(), device.shared_bytes_per_block, "static")
            }
            SharedMemory::Dynamic { bytes } => {
                (u64::from(bytes), device.shared_bytes_per_block_optin, "dynamic")
            }
        };
        cx.require(bytes <= u64::from(most), || {
            format!("{bytes} bytes of {kind} shared memory; `{}` has {most}", device.name)
        });
        faults.extend(cx.into_faults(number));
    }
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}
