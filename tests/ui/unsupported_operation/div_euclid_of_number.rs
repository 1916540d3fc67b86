use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k<T: Number>(a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        c[i] = a[i].div_euclid(2);
    }
}

fn main() {}
