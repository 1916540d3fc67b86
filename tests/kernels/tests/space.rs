//! The configurations that a search draws from, of every kernel on large and small
//! devices: there are some, and lowering refuses none.

use std::collections::BTreeSet;

use tile_kernels::list::all;
use tile_runtime::ir::config::{Breadth, Config, Numerics, Space, TilePadding, check_config};
use tile_runtime::ir::device::{all_known, known};

/// Configurations that are listed of each kernel on a device, and that are lowered.
const LISTED: usize = 12;
const LOWERED: usize = 6;
/// As many are drawn for them.
const DRAWN: usize = 60;
/// The devices on which they are lowered: the least shared memory of a block, and the most.
const DEVICES: [&str; 2] = ["T4", "H200"];

#[test]
fn every_kernel_has_configurations_on_every_device() {
    for device in all_known() {
        for listed in all() {
            let kernel = &listed.kernel;
            let space = Space::new(kernel.checked(), kernel.types(), &device, Breadth::Fast);
            let some: BTreeSet<Config> = space.iter().take(LISTED).collect();
            assert!(!some.is_empty(), "{kernel:?} on {}", device.name);
            for config in &some {
                let checked = check_config(kernel.checked().kernel(), config, &device);
                checked.unwrap_or_else(|error| panic!("{kernel:?} on {}: {error}", device.name));
            }
        }
    }
}

#[test]
fn what_is_of_a_space_is_lowered() {
    for (device, numerics) in DEVICES
        .into_iter()
        .flat_map(|name| [(name, Numerics::Exact), (name, Numerics::Reassociated)])
    {
        let device = known(device).expect("the device is in the table");
        for listed in all() {
            let kernel = &listed.kernel;
            let space = Space::new(kernel.checked(), kernel.types(), &device, Breadth::Fast);
            let dims = vec![37; kernel.dims().len()];
            // Those that take more shared memory than one buffer of each tile.
            let takes_more = |config: &Config| {
                config.slices > 1 || config.stages > 2 || config.padding != TilePadding::Counted
            };
            let space = space.with_numerics(numerics);
            for config in space.random(7).take(DRAWN).filter(takes_more).take(LOWERED) {
                if let Err(error) = kernel.program(&config, &device, &dims) {
                    panic!("{kernel:?} on {}: {error}\n{config:?}", device.name);
                }
            }
        }
    }
}
