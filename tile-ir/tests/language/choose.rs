//! The choice of a configuration against all that there are.

use tile_ir::check::{CheckedKernel, check_kernel};
use tile_ir::config::{Estimate, MAX_REGISTERS, Model, default_config, first_choices};
use tile_ir::device::known;
use tile_ir::dtype::DType;
use tile_ir::kernel::VarKind;
use tile_ir::resolve::resolve_kernel;

/// Of the suite's kernels, each so many-th.
const EVERY: usize = 11;
/// Code so long that a choice avoids it where it can, in bytes.
const LONG_CODE: f64 = 49152.0;

fn checked(text: &str) -> Option<CheckedKernel> {
    let item = tile_syntax::parse_kernel_text(text).ok()?;
    Some(check_kernel(resolve_kernel(&item).ok()?).ok()?.kernel)
}

/// Layouts are skipped by what they take at the least: none may be that takes less than
/// what was chosen.
#[test]
fn nothing_that_fits_takes_less_than_what_is_chosen() {
    let fits = |cost: &Estimate| cost.blocks_per_sm > 0 && cost.registers <= MAX_REGISTERS;
    let is_good = |cost: &Estimate| fits(cost) && cost.code_bytes <= LONG_CODE;
    let mut n_compared = 0;
    for (at, text) in crate::suite::placed_texts().into_iter().step_by(EVERY) {
        let Some(kernel) = checked(&text) else { continue };
        let types = vec![DType::F32; kernel.kernel().type_params.len()];
        let is_dim = |kind: VarKind| kind == VarKind::Dim;
        let n_dims = kernel.kernel().vars.values().filter(|var| is_dim(var.kind)).count();
        for (device, size) in [("H200", 4096), ("T4", 1000)] {
            let device = known(device).expect("the device is in the table");
            let dims = vec![size; n_dims];
            let Ok(chosen) = default_config(&kernel, &types, &device, &dims) else { continue };
            let model = Model::new(kernel.kernel(), &types, &device, &dims);
            let of_chosen = model.cost(&chosen);
            let all = first_choices(&kernel, &device, &[]).expect("no name is given");
            n_compared += all.len();
            let costs = all.iter().map(|config| model.cost(config)).filter(is_good);
            let least = costs.map(|cost| cost.seconds).fold(f64::INFINITY, f64::min);
            assert!(of_chosen.seconds <= least * (1.0 + 1e-9), "{at}: {chosen:?} {least}");
        }
    }
    assert!(n_compared > 5_000, "{n_compared}");
}
