// errors: 2
use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k<T: Number>(#[pad = 0] c: &mut Tensor<T, [N, N]>)
    where tile: (TN), grid: (by in tiles(N, TN), bx in tiles(N, TN)), block: (ty in TN, tx in TN),
    {
        c[bx * TN + tx, by * TN + ty] = c[by * TN + ty, bx * TN + tx];
    }
}

fn main() {}
