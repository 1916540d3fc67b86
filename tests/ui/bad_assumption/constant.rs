//! From what is false everything follows.

use tile_runtime::tiled_kernel;

tiled_kernel! {
    fn scatter(x: &Tensor<f32, [N]>, ind: &Tensor<i32, [N]>, c: &mut Tensor<f32, [M]>)
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let i = bx * TN + tx;
        if i < N {
            let to = ind[i];
            assume(false);
            c[to] = x[i];
        }
    }
}

fn main() {}
