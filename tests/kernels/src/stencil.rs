//! A five-point stencil on a shared tile with a border.

use tile_runtime::tiled_kernel;

tiled_kernel! {
    /// `b = a` plus its four neighbours; 0 outside.
    pub fn stencil<T: Number>(#[pad = 0] a: &Tensor<T, [R, C]>, b: &mut Tensor<T, [R, C]>)
    where
        tile: (TR, TC),
        grid: (by in tiles(R, TR), bx in tiles(C, TC)),
        block: (ty in TR, tx in TC),
    {
        shared s: [T; TR + 2, TC + 2];
        load s[i, j] = a[by * TR + i - 1, bx * TC + j - 1];
        barrier;
        let across = s[ty + 1, tx] + s[ty + 1, tx + 2];
        let along = s[ty, tx + 1] + s[ty + 2, tx + 1];
        b[by * TR + ty, bx * TC + tx] = s[ty + 1, tx + 1] + (across + along);
    }
}
