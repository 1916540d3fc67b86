// errors: 2
use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k<T: Number>(#[pad = 0] c: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        if tx + 1 < TN {
            c[i] = c[i + 1];
        }
    }
}

fn main() {}
