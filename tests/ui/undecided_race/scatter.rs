use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k<T: Number>(#[pad = 0] a: &Tensor<T, [N]>, #[pad = 0] ind: &Tensor<i32, [N]>, c: &mut Tensor<T, [M]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        if i < N {
            c[ind[i]] = a[i];
        }
    }
}

fn main() {}
