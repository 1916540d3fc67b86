//! What the block has in common is no work-item's own.

use tile_runtime::tiled_kernel;

tiled_kernel! {
    fn put(base: &Tensor<i32, [B]>, c: &mut Tensor<f32, [M]>)
    where
        tile: (TN),
        grid: (bx in B),
        block: (tx in TN),
    {
        let at = base[bx];
        assume(distinct_in_block(at));
        c[at] = 1.0;
    }
}

fn main() {}
